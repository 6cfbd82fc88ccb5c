model M_4_4_Differentiator "Differentiator with an amplifier of gain K (Mattsson 1986, example 4.3)"
  parameter Real R = 2, C = 0.5, K = 100;
  Real vin = sin(time), vc(start = 0, fixed = true), vout, i;
equation
  der(vc) = i/C;
  vin = vc - vout/K;
  vin = vc + vout + R*i;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end M_4_4_Differentiator;
