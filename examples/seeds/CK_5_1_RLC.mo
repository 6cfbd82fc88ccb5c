model CK_5_1_RLC "A circuit without any loop to solve (Cellier & Kofman 2006, (7.1))"
  parameter Real R1 = 2, R2 = 3, L = 0.5, C = 0.1;
  Real u0, i0 "source", u1, i1, u2, i2 "resistors";
  Real uL, iL(start = 0, fixed = true) "inductor", uC(start = 0, fixed = true), iC "capacitor";
equation
  u0 = 10;
  u1 = R1*i1;
  u2 = R2*i2;
  uL = L*der(iL);
  iC = C*der(uC);
  u0 = u1 + uC;
  uL = u1 + u2;
  uC = u2;
  i0 = i1 + iL;
  i1 = i2 + iC;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-8));
end CK_5_1_RLC;
