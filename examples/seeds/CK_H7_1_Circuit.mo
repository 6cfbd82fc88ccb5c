model CK_H7_1_Circuit "A circuit with a controlled current source (Cellier & Kofman 2006, homework H7.1)"
  parameter Real R1 = 100, R2 = 20, R3 = 50, C = 1e-7, L = 1.5e-3, k = 0.02;
  Real u0, i0, u1, i1, u2, i2, i3, i4, u4, uL;
  Real iL(start = 0, fixed = true, nominal = 0.1), u3(start = 0, fixed = true), iC;
equation
  u0 = 10;
  u1 = R1*i1;
  u2 = R2*i2;
  u3 = R3*i3;
  iC = C*der(u3);
  uL = L*der(iL);
  i4 = k*u3;
  u0 = u1 + u3;
  uL = u1 + u2;
  u3 = u2 + u4;
  i0 = i1 + iL;
  i1 = i2 + i3 + iC;
  i2 + iL = i4;
  annotation(experiment(StopTime = 5e-5, Tolerance = 1e-8));
end CK_H7_1_Circuit;
