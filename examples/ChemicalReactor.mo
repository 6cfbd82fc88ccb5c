model ChemicalReactor "A stirred tank in which a reaction sets heat free: it ignites when the coolant gets warmer"
  parameter Real q(unit = "1/min") = 1 "throughput per volume";
  parameter Real c_feed(unit = "mol/l") = 1 "concentration of the feed";
  parameter Real T_feed(unit = "K") = 350 "temperature of the feed";
  parameter Real k0(unit = "1/min") = 7.2e10 "frequency factor";
  parameter Real E_R(unit = "K") = 8750 "activation energy over the gas constant";
  parameter Real heat(unit = "K.l/mol") = 209.2 "heating by the reaction";
  parameter Real cooling(unit = "1/min") = 2.09 "heat exchange with the coolant";
  Real c(start = 0.88, fixed = true, unit = "mol/l") "concentration in the tank";
  Real T(start = 324, fixed = true, unit = "K") "temperature in the tank";
  Real T_coolant(unit = "K") "temperature of the coolant";
  Real rate(unit = "mol/(l.min)") "reaction rate (Arrhenius)";
equation
  T_coolant = if time < 5 then 300 else 305;
  rate = k0*exp(-E_R/T)*c;
  der(c) = q*(c_feed - c) - rate;
  der(T) = q*(T_feed - T) + heat*rate - cooling*(T - T_coolant);
  annotation(experiment(StopTime = 20));
end ChemicalReactor;
