model M_4_2_Slip "Two shafts, coupled by a viscous slip (Mattsson 1986, example 3.1)"
  parameter Real J1 = 2, J2 = 1 "inertias", d = 3 "friction of the coupling";
  parameter Real Ql1 = 1, Qr2 = -2 "torques at the outer ends";
  Real w1(start = 0, fixed = true), w2(start = 4, fixed = true) "speeds";
  Real Qr1, Ql2 "torques at the coupling";
equation
  J1*der(w1) = Ql1 + Qr1;
  J2*der(w2) = Ql2 + Qr2;
  Qr1 = -Ql2;
  Qr1 = d*(w2 - w1);
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end M_4_2_Slip;
