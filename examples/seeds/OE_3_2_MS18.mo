model OE_3_2_MS18 "Constraints of several orders that meet in one block (Otter & Elmqvist 2017, (18), after Mattsson & Söderlind)"
  Real x1, x2(start = 0, fixed = true), x3, x4, x5, x6, x7, x8(start = 2.5);
  Real x1d, x2d(start = 0, fixed = true), x3d, x6d, x6dd "derivatives";
  Real u[8] = {sin(time), sin(2*time), sin(3*time), sin(4*time), sin(5*time), sin(6*time), sin(7*time),
               -2 - 0.5*sin(8*time)} "given; u[8] stays away from 0, where x8 - sin(x8) has no slope";
equation
  x1d = der(x1);
  x2d = der(x2);
  x3d = der(x3);
  x6d = der(x6);
  x6dd = der(x6d);
  0 = u[1] + x1 - x2;
  0 = u[2] + x1 + x2 - x3 + der(x6);
  0 = u[3] + x1 + der(x3) - x4;
  0 = u[4] + 2*der(x1d) + der(x2d) + der(x3d) + der(x4) + der(x6dd);
  0 = u[5] + 3*der(x1d) + 2*der(x2d) + x5 + 0.1*x8;
  0 = u[6] + 2*x6 + x7;
  0 = u[7] + 3*x6 + 4*x7;
  0 = u[8] + x8 - sin(x8);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8, Interval = 0.05));
end OE_3_2_MS18;
