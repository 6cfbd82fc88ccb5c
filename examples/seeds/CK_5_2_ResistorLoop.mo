model CK_5_2_ResistorLoop "Three resistors: six equations that must be solved together (Cellier & Kofman 2006, (7.5))"
  parameter Real R1 = 1, R2 = 2, R3 = 3, L = 0.5;
  Real u0, i0 "source", u1, i1, u2, i2, u3, i3 "resistors", uL, iL(start = 0, fixed = true) "inductor";
equation
  u0 = 10;
  u1 = R1*i1;
  u2 = R2*i2;
  u3 = R3*i3;
  uL = L*der(iL);
  u0 = u1 + u3;
  uL = u1 + u2;
  u3 = u2;
  i0 = i1 + iL;
  i1 = i2 + i3;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end CK_5_2_ResistorLoop;
