model CK_5_3_Potentials "The circuit of (7.52) with potentials of its nodes: a capacitor at the source (Cellier & Kofman 2006, (7.53))"
  parameter Real R1 = 1, R2 = 2, L = 0.5, C = 0.25;
  Real v0, v1, v2 "potentials", u0, i0 "source", u1, i1, u2, i2 "resistors";
  Real uL, iL(start = 0, fixed = true) "inductor", uC, iC "capacitor";
equation
  u0 = sin(time);
  u0 = v1 - v0;
  u1 = R1*i1;
  u1 = v1 - v2;
  u2 = R2*i2;
  u2 = v2 - v0;
  uL = L*der(iL);
  uL = v2 - v0;
  iC = C*der(uC);
  uC = v1 - v0;
  v0 = 0;
  i0 = i1 + iC;
  i1 = i2 + iL;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end CK_5_3_Potentials;
