model HeatedRodFlux "The same rod as a modeller writes it: cells with temperatures, faces with heat fluxes"
  parameter Integer N = 40 "number of cells";
  parameter Real dx = 1/N "size of a cell";
  Real T[N](each start = 0, each fixed = true, each unit = "K") "temperature of each cell";
  Real q[N + 1] "heat flux through each face";
equation
  q[1] = (1 - exp(-10*time) - T[1])*2/dx;
  q[2:N] = (T[1:N - 1] - T[2:N])/dx;
  q[N + 1] = 0;
  der(T) = (q[1:N] - q[2:N + 1])/dx;
  annotation(experiment(StopTime = 1));
end HeatedRodFlux;
