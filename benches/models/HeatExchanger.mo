model HeatExchanger "Two streams in counter-current on the sides of a wall, N cells each"
  parameter Integer N = 8 "number of cells";
  parameter Real tau = 0.1 "residence time in a cell";
  parameter Real k = 0.3 "heat transfer number";
  Real hot[N + 1] "temperatures at the boundaries of the hot stream, in its direction";
  Real cold[N + 1] "temperatures at the boundaries of the cold stream, in its direction";
  Real wall[N](each start = 20, each fixed = true) "temperature of the wall";
  Real qh[N] "heat from the hot stream to the wall";
  Real qc[N] "heat from the wall to the cold stream";
initial equation
  for j in 1:N loop
    hot[j + 1] = 20;
    cold[j + 1] = 20;
  end for;
equation
  hot[1] = 20 + 60*(1 - exp(-time));
  cold[1] = 20;
  for j in 1:N loop
    qh[j] = k*(hot[j + 1] - wall[j]);
    qc[j] = k*(wall[j] - cold[N + 2 - j]);
    tau*der(hot[j + 1]) = hot[j] - hot[j + 1] - qh[j];
    tau*der(cold[j + 1]) = cold[j] - cold[j + 1] + qc[N + 1 - j];
    0.5*der(wall[j]) = qh[j] - qc[j];
  end for;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end HeatExchanger;
