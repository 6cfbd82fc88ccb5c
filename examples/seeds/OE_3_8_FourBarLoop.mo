model OE_3_8_FourBarLoop "Positions of four bars around a loop: integer equations with a constraint between the bars hidden in them (Otter & Elmqvist 2017, §5)"
  Real R1, R2, R3 "joints";
  Real R41(start = 1, fixed = true), R12(start = 2, fixed = true), R23(start = 3, fixed = true), R34 "bars";
  Real f "what keeps the loop closed";
equation
  R1 = R41;
  R2 = R12 + R1;
  R3 = R23 + R2;
  0 = R34 + R3;
  der(R41) = -R41 + f;
  der(R12) = -R12 + f;
  der(R23) = -R23 + f;
  der(R34) = -R34 + f;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end OE_3_8_FourBarLoop;
