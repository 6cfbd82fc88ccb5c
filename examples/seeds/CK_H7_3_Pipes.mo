model CK_H7_3_Pipes "Turbulent flow through a pipe that branches into two (Cellier & Kofman 2006, homework H7.3)"
  parameter Real k1 = 3, k2 = 1, k3 = 2 "pipe constants";
  parameter Real p2 = 5, p0 = 1 "pressures at the ends";
  Real p1(start = 2) "pressure at the branching point";
  Real q1, q2, q3 "flows";
equation
  q1 = k1*sign(p2 - p1)*sqrt(abs(p2 - p1));
  q2 = k2*sign(p1 - p0)*sqrt(abs(p1 - p0));
  q3 = k3*sign(p1 - p0)*sqrt(abs(p1 - p0));
  q1 = q2 + q3;
end CK_H7_3_Pipes;
