model VanDerPol "Van der Pol's oscillator, very stiff: slow branches with sudden jumps between them"
  parameter Real mu = 1000 "strength of the nonlinear damping";
  Real x(start = 2, fixed = true);
  Real v(start = 0, fixed = true, nominal = 1e-3);
equation
  der(x) = v;
  der(v) = mu*(1 - x^2)*v - x;
  annotation(experiment(StopTime = 2000));
end VanDerPol;
