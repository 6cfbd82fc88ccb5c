model CK_H7_5_Bridge "Resistor bridge (Cellier & Kofman 2006, H7.5)"
  parameter Real R[5] = {1, 2, 3, 4, 5}, u0 = 10;
  Real u1, u2, u3, u4, u5, i1, i2, i3, i4, i5;
equation
  u1 = R[1]*i1;
  u2 = R[2]*i2;
  u3 = R[3]*i3;
  u4 = R[4]*i4;
  u5 = R[5]*i5;
  u1 + u4 = u0;
  u2 + u5 = u0;
  u1 + u3 = u2;
  i1 = i3 + i4;
  i2 + i3 = i5;
  annotation(experiment(StopTime = 1));
end CK_H7_5_Bridge;
