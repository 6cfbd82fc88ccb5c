model OE_3_4a_PendulumXY "Pendulum in Cartesian coordinates, y points down: index 3 (Otter & Elmqvist 2017, (11)-(16))"
  parameter Real m = 1 "mass", L = 1 "length", g = 9.81 "gravity";
  parameter Real x0 = 0.8414709848078965 "sin(1): 1 rad from the vertical", vx0 = 0;
  Real x(start = x0, fixed = true), y(start = 0.5403023059) "the start value chooses the sign";
  Real vx(start = vx0, fixed = true), vy;
  Real F "force in the rod";
equation
  m*der(vx) = -F*x/L;
  m*der(vy) = m*g - F*y/L;
  der(x) = vx;
  der(y) = vy;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8, Interval = 0.01));
end OE_3_4a_PendulumXY;
