model HeatEquations "Heat conduction in a rod: equations"
  parameter Integer N = 8 "number of cells";
  parameter Real dx = 1/N "size of a cell";
  Real T[N](each start = 0, each fixed = true) "temperature of each cell";
equation
  der(T[1]) = (2*(1 - exp(-10*time)) - 3*T[1] + T[2])/dx^2;
  for k in 2:N - 1 loop
    der(T[k]) = (T[k - 1] - 2*T[k] + T[k + 1])/dx^2;
  end for;
  der(T[N]) = (T[N - 1] - T[N])/dx^2;
  annotation(experiment(StopTime = 0.1, Interval = 0.01));
end HeatEquations;
