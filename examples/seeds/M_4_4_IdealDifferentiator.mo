model M_4_4_IdealDifferentiator "Differentiator with an ideal amplifier: no state, the input is differentiated (Mattsson 1986, example 4.3)"
  parameter Real R = 2, C = 0.5;
  Real vin = sin(time), vc, vout, i;
equation
  der(vc) = i/C;
  vin = vc;
  vin = vc + vout + R*i;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end M_4_4_IdealDifferentiator;
