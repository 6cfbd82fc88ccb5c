model CK_5_4_CapacitorAtSource "A capacitor at a voltage source: index 2, one state (Cellier & Kofman 2006, (7.52))"
  parameter Real R1 = 1, R2 = 2, L = 0.5, C = 0.25;
  Real u0, i0 "source", u1, i1, u2, i2 "resistors";
  Real uL, iL(start = 0, fixed = true) "inductor", uC, iC "capacitor";
equation
  u0 = sin(time);
  u1 = R1*i1;
  u2 = R2*i2;
  uL = L*der(iL);
  iC = C*der(uC);
  u0 = u1 + uL;
  uC = u1 + u2;
  uL = u2;
  i0 = i1 + iC;
  i1 = i2 + iL;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end CK_5_4_CapacitorAtSource;
