model Pendulum "A pendulum on a rigid rod, released from one radian"
  parameter Real L(unit = "m") = 1 "length of the rod";
  parameter Real g(unit = "m/s2") = 9.81 "gravity";
  Real phi(start = 1, fixed = true, unit = "rad") "angle from the vertical";
  Real w(start = 0, fixed = true, unit = "rad/s") "angular velocity";
equation
  der(phi) = w;
  der(w) = -(g/L)*sin(phi);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Pendulum;
