model OE_3_1_SlidingMass "A mass on a rail with spring and damper, in vectors (Otter & Elmqvist 2017, (8))"
  parameter Real m = 2 "mass", c = 50 "spring", d = 4 "damper";
  parameter Real n[3] = {2/3, -1/3, 2/3} "direction of the rail";
  parameter Real g[3] = {0, 0, -9.81} "gravity";
  Real s(start = 0.5, fixed = true) "way along the rail";
  Real r[3] "position", v[3] "velocity", f[3] "force of the rail", u[3] "force of spring and damper";
initial equation
  der(s) = 0;
equation
  r = n*s;
  v = der(r);
  m*der(v) = f + m*g + u;
  0 = n*f "the rail pushes at right angles to itself only";
  u = -(c*s + d*der(s))*n;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8, Interval = 0.01));
end OE_3_1_SlidingMass;
