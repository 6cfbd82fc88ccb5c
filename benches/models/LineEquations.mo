model LineEquations "Electrical transmission line: the telegraph equations in N cells"
  parameter Integer N = 8 "number of cells";
  parameter Real L = 1 "inductance of a cell";
  parameter Real C = 1 "capacitance of a cell";
  parameter Real R = 0.01 "resistance of a cell";
  Real v[N + 1] "voltage; v[1] is that of the source";
  Real i[N + 1] "current; i[N + 1] is that of the load";
initial equation
  for k in 1:N loop
    v[k + 1] = 0;
    i[k] = 0;
  end for;
equation
  v[1] = 1 - exp(-time);
  for k in 1:N loop
    L*der(i[k]) = v[k] - v[k + 1] - R*i[k];
    C*der(v[k + 1]) = i[k] - i[k + 1];
  end for;
  i[N + 1] = v[N + 1];
  annotation(experiment(StopTime = 10, Interval = 1));
end LineEquations;
