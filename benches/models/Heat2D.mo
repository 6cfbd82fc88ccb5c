model Heat2D "Heat conduction in a square plate of N by N cells; the edges are kept at 0"
  parameter Integer N = 8 "cells along each side";
  parameter Real h = 1/N "size of a cell";
  Real T[N, N](each start = 0, each fixed = true) "temperature of each cell";
  Real qx[N + 1, N] "heat flux across faces of constant x";
  Real qy[N, N + 1] "heat flux across faces of constant y";
equation
  for j in 1:N loop
    qx[1, j] = -2*T[1, j]/h;
    for i in 2:N loop
      qx[i, j] = (T[i - 1, j] - T[i, j])/h;
    end for;
    qx[N + 1, j] = 2*T[N, j]/h;
  end for;
  for i in 1:N loop
    qy[i, 1] = -2*T[i, 1]/h;
    for j in 2:N loop
      qy[i, j] = (T[i, j - 1] - T[i, j])/h;
    end for;
    qy[i, N + 1] = 2*T[i, N]/h;
  end for;
  for i in 1:N loop
    for j in 1:N loop
      der(T[i, j]) = (qx[i, j] - qx[i + 1, j] + qy[i, j] - qy[i, j + 1])/h + 1;
    end for;
  end for;
  annotation(experiment(StopTime = 0.1, Interval = 0.01));
end Heat2D;
