model VanDerPol "Relaxation oscillation"
  parameter Real mu = 5 "strength of the damping";
  Real x(start = 2, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = mu*(1 - x^2)*v - x;
  annotation(experiment(StopTime = 40));
end VanDerPol;
