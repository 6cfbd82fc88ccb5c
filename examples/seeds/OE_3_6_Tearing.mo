model OE_3_6_Tearing "Four equations in a loop, one tearing variable (Otter & Elmqvist 2017, slides on tearing)"
  Real z1, z2, z3, z4, z5;
equation
  z1 = 0.5*z4 + 1;
  z2 = z1 - z5;
  z3 = z2 + z1;
  z4 = 0.1*z3 + 0.2*z2;
  z5 = 1;
  annotation(experiment(StopTime = 1));
end OE_3_6_Tearing;
