model CK_H7_7_CurrentSources "Three current sources force the current of an inductor: index 2, no state (Cellier & Kofman 2006, H7.7)"
  parameter Real L = 0.1, R1 = 10, R2 = 20, R3 = 30;
  Real I1, I2, I3 "sources", uL, iL "inductor", u1, i1, u2, i2, u3, i3 "resistors", vA "potential of the first node";
equation
  I1 = sin(time);
  I2 = sin(2*time);
  I3 = sin(3*time);
  I1 + I2 = I3 + iL;
  uL = L*der(iL);
  u1 = R1*i1;
  u2 = R2*i2;
  u3 = R3*i3;
  iL = i1 + i2;
  i2 = i3;
  u1 = u2 + u3;
  vA = uL + u1;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end CK_H7_7_CurrentSources;
