model M_4_3_Rigid "Two rotors on one shaft: index 2, one state (Mattsson 1986, example 3.2)"
  parameter Real J1 = 2, J2 = 1 "inertias", Ql1 = 1, Qr2 = -2 "torques";
  Real w1(start = 1, fixed = true), w2 "speeds", Qr1, Ql2 "torques in the coupling";
equation
  J1*der(w1) = Ql1 + Qr1;
  J2*der(w2) = Ql2 + Qr2;
  Qr1 = -Ql2;
  w1 = w2;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end M_4_3_Rigid;
