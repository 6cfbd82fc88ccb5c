model ChemicalAkzoNobel "A batch of two species under a constant inflow of carbon dioxide, with one equilibrium: index one"
  parameter Real k[4] = {18.7, 0.58, 0.09, 0.42} "rate constants";
  parameter Real K = 34.4 "equilibrium constant of the second reaction";
  parameter Real Ks = 115.83 "equilibrium constant of the fast reaction";
  parameter Real klA = 3.3 "mass transfer";
  parameter Real p = 0.9 "partial pressure of carbon dioxide", H = 737 "Henry constant";
  Real y[6](start = {0.444, 0.00123, 0, 0.007, 0, 0.36}, fixed = {true, true, true, true, true, false},
    nominal = {0.1, 1e-3, 0.1, 1e-3, 1e-2, 1e-2});
  Real r[5] "reaction rates";
  Real inflow = klA*(p/H - y[2]);
equation
  r = {k[1]*y[1]^4*sqrt(y[2]), k[2]*y[3]*y[4], k[2]/K*y[1]*y[5], k[3]*y[1]*y[4]^2, k[4]*y[6]^2*sqrt(y[2])};
  der(y[1]) = -2*r[1] + r[2] - r[3] - r[4];
  der(y[2]) = inflow - 0.5*r[1] - r[4] - 0.5*r[5];
  der(y[3]) = r[1] - r[2] + r[3];
  der(y[4]) = -r[2] + r[3] - 2*r[4];
  der(y[5]) = r[2] - r[3] + r[5];
  y[6] = Ks*y[1]*y[4];
  annotation(experiment(StopTime = 180));
end ChemicalAkzoNobel;
