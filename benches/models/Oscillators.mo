model Oscillators "N masses in a row, coupled by springs"
  parameter Integer N = 8 "number of masses";
  parameter Real c = 1 "stiffness of a spring";
  Real x[N](start = {if k == 1 then 1 else 0 for k in 1:N}, each fixed = true) "displacement";
  Real v[N](each start = 0, each fixed = true) "velocity";
equation
  der(x) = v;
  der(v[1]) = c*(x[2] - 2*x[1]);
  for k in 2:N - 1 loop
    der(v[k]) = c*(x[k - 1] - 2*x[k] + x[k + 1]);
  end for;
  der(v[N]) = c*(x[N - 1] - 2*x[N]);
  annotation(experiment(StopTime = 1, Interval = 0.1));
end Oscillators;
