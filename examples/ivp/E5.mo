model E5 "Pyrolysis, problem E5 of the stiff DETEST set: concentrations from 1e-3 down to 1e-290"
  parameter Real A = 7.89e-10, B = 1.1e7, C = 1.13e3, M = 1e6;
  Real y[4](start = {1.76e-3, 0, 0, 0}, fixed = {true, true, false, true}, each nominal = 1e-22);
  Real r[4] = {A*y[1], B*y[1]*y[3], M*C*y[2]*y[3], C*y[4]} "reaction rates";
equation
  der(y[1]) = -r[1] - r[2];
  der(y[2]) = r[1] - r[3];
  der(y[4]) = r[2] - r[4];
  // Conserved by the reactions; as a fourth differential equation it would drown in rounding errors.
  y[2] = y[3] + y[4];
  annotation(experiment(StopTime = 1e13));
end E5;
