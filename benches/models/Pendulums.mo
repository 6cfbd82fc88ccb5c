model Pendulums "N pendulums of different lengths in Cartesian coordinates (index 3)"
  parameter Integer N = 8 "number of pendulums";
  parameter Real g = 9.81;
  parameter Real L[N] = {1 + k/N for k in 1:N};
  Real x[N](start = 0.6*L, each fixed = true);
  Real y[N](start = -0.8*L);
  Real vx[N](each start = 0, each fixed = true);
  Real vy[N](each start = 0);
  Real F[N] "force of the rod per length and mass";
equation
  for k in 1:N loop
    der(x[k]) = vx[k];
    der(y[k]) = vy[k];
    der(vx[k]) = -F[k]*x[k];
    der(vy[k]) = -F[k]*y[k] - g;
    x[k]^2 + y[k]^2 = L[k]^2;
  end for;
  annotation(experiment(StopTime = 0.5, Interval = 0.05));
end Pendulums;
