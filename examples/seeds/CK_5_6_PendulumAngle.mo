model CK_5_6_PendulumAngle "Cartesian pendulum with its angle as a further variable (Cellier & Kofman 2006, (7.78))"
  parameter Real m = 1, L = 1, g = 9.81;
  parameter Real phi0 = 1, w0 = 0 "start";
  Real x, y, vx, vy, F "force in the rod";
  Real phi(start = phi0, fixed = true) "angle from the vertical";
initial equation
  der(phi) = w0;
equation
  m*der(vx) = -F*x/L;
  m*der(vy) = m*g - F*y/L;
  der(x) = vx;
  der(y) = vy;
  x = L*sin(phi);
  y = L*cos(phi);
  annotation(experiment(StopTime = 10, Tolerance = 1e-8, Interval = 0.01));
end CK_5_6_PendulumAngle;
