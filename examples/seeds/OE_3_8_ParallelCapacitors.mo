model OE_3_8_ParallelCapacitors "Two capacitors in parallel, grounded, as connection equations: the constraint between their voltages is hidden in them (Otter & Elmqvist 2017, §5)"
  parameter Real C1 = 1, C2 = 2, R = 1;
  Real C1_v(start = 1, fixed = true), C1_p_v, C1_n_v, C1_i "first capacitor";
  Real C2_v, C2_i "second capacitor", R_i "resistor in parallel";
equation
  C1_v = C1_p_v - C1_n_v;
  C2_v = C1_p_v - C1_n_v;
  C1_n_v = 0;
  C1_i + C2_i + R_i = 0;
  C1*der(C1_v) = C1_i;
  C2*der(C2_v) = C2_i;
  R*R_i = C1_v;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end OE_3_8_ParallelCapacitors;
