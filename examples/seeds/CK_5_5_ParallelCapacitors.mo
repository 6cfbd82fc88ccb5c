model CK_5_5_ParallelCapacitors "Two capacitors in parallel: one state (Cellier & Kofman 2006, (7.54))"
  parameter Real R = 100, C1 = 1e-3, C2 = 2e-3;
  Real u0, uR, i0, u1(start = 0, fixed = true), i1, u2, i2;
equation
  u0 = 10;
  uR = R*i0;
  i1 = C1*der(u1);
  i2 = C2*der(u2);
  u0 = uR + u1;
  u2 = u1;
  i0 = i1 + i2;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end CK_5_5_ParallelCapacitors;
