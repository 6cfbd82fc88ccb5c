model OE_3_3_Chain "A ring of equations: one tearing variable, whatever its length (Otter & Elmqvist 2017, (23)); z = 2"
  parameter Integer n = 50;
  Real z[n];
equation
  z[1] = 0.5*z[n] + 1;
  for i in 2:n loop
    z[i] = 0.5*z[i - 1] + 1;
  end for;
  annotation(experiment(StopTime = 1));
end OE_3_3_Chain;
