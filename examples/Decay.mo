model Decay "The smallest model: exponential decay, with the exact solution beside it"
  Real x(start = 1, fixed = true) "what remains";
  Real exact "solution of the equation";
  Real error "how far the computed value is off; it falls with --tolerance";
equation
  der(x) = -x;
  exact = exp(-time);
  error = x - exact;
  annotation(experiment(StopTime = 5, Tolerance = 1e-6));
end Decay;
