model WaterTubes "Eighteen tubes between thirteen nodes, two of them with buffers; index two in the other pressures"
  parameter Integer from[18] = {1, 2, 2, 3, 3, 4, 5, 6, 7, 7, 8, 8, 9, 11, 11, 12, 12, 13};
  parameter Integer to[18] = {2, 3, 6, 4, 5, 5, 10, 5, 4, 8, 5, 10, 8, 9, 12, 7, 8, 11};
  parameter Real nu = 1.31e-6 "kinematic viscosity", rho = 1e3, g = 9.8, Rcrit = 2.3e3, l = 1e3 "length of a tube",
    k = 2e-4 "roughness", d = 1 "diameter", b = 200 "area of the buffers";
  constant Real pi = 3.141592653589793;
  parameter Real A = pi*d^2/4, V = rho*l/A "inertia", C = b/(rho*g) "capacity of a buffer";
  Real phi[18](each start = 0, each nominal = 1e-3) "flows";
  Real lambda[18](each start = 0.0475, each nominal = 0.05) "resistance coefficients";
  Real p[13](each start = 109800, each nominal = 1e5) "pressures";
  Real R[18] = abs(phi)*d/(nu*A) "Reynolds numbers";
  Real hours = time/3600;
  Real inflow[13] "what enters the network at each node";
  Real net[13] "what enters a node, tubes included";
initial equation
  p[5] = 109800;
  p[8] = 109800;
  phi[{3, 4, 9, 11, 12, 15, 16}] = zeros(7);
equation
  for i in 1:13 loop
    inflow[i] = if i == 1 then (1 - cos(exp(-hours) - 1))/200 elseif i == 13 then (1 - cos(exp(-hours) - 1))/80
      elseif i == 10 then -hours^2*(3*hours^2 - 92*hours + 720)/1e6 else 0;
    net[i] = inflow[i] + sum((if to[j] == i then phi[j] elseif from[j] == i then -phi[j] else 0) for j in 1:18);
    if i == 5 or i == 8 then
      C*der(p[i]) = net[i];
    else
      net[i] = 0;
    end if;
  end for;
  for j in 1:18 loop
    V*der(phi[j]) = p[from[j]] - p[to[j]] - (if R[j] > Rcrit then lambda[j]*rho*l*phi[j]^2/(A^2*d)
      else 32*nu*rho*l*phi[j]/(A*d^2));
    1/sqrt(lambda[j]) = 1.74 - 2*log10(2*k/d + 18.7/((if R[j] > Rcrit then R[j] else Rcrit)*sqrt(lambda[j])));
  end for;
  annotation(experiment(StopTime = 61200));
end WaterTubes;
