model TiedMasses "N inertias on one rigid shaft"
  parameter Integer N = 10;
  parameter Real J = 1;
  Real phi[N](each start = 0), w[N](each start = 0);
  Real tau[N + 1] "Torque between neighbours";
equation
  tau[1] = 1;
  tau[N + 1] = 0.1*w[N];
  for i in 1:N loop
    der(phi[i]) = w[i];
    J*der(w[i]) = tau[i] - tau[i + 1];
  end for;
  for i in 1:N - 1 loop
    phi[i] = phi[i + 1];
  end for;
end TiedMasses;
