model Oregonator "Belousov-Zhabotinskii reaction in the form of Field and Noyes: a limit cycle with steep fronts"
  parameter Real s = 77.27, w = 0.161, q = 8.375e-6;
  Real y[3](start = {1, 2, 3}, each fixed = true);
equation
  der(y[1]) = s*(y[2] + y[1]*(1 - q*y[1] - y[2]));
  der(y[2]) = (y[3] - (1 + y[1])*y[2])/s;
  der(y[3]) = w*(y[1] - y[3]);
  annotation(experiment(StopTime = 360));
end Oregonator;
