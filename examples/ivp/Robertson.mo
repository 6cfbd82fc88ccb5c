model Robertson "Robertson's autocatalytic reaction over eleven decades of time, as an ODE of three species"
  Real y[3](start = {1, 0, 0}, each fixed = true, nominal = {1e-7, 1e-13, 1});
  Real slow = 0.04*y[1] "decay of the first species";
  Real fast = 3e7*y[2]^2 "the second species with itself";
  Real back = 1e4*y[2]*y[3] "the way back, catalysed by the third";
equation
  der(y[1]) = back - slow;
  der(y[2]) = slow - back - fast;
  der(y[3]) = fast;
  annotation(experiment(StopTime = 1e11));
end Robertson;
