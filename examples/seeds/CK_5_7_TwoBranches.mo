model CK_5_7_TwoBranches "x = der(x)^2 has two solutions, (1 + t/2)^2 and (1 - t/2)^2; the start of w chooses (Cellier & Kofman 2006, (7.72))"
  parameter Real w0 = 1;
  Real x(start = 1, fixed = true), w(start = w0) "derivative of x";
equation
  w = der(x);
  x - w^2 = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end CK_5_7_TwoBranches;
