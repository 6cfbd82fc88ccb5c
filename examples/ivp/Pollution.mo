model Pollution "Air pollution: twenty species and twenty-five reactions, rate constants over fifteen decades"
  parameter Real k[25] = {0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 0.022, 1.2e4, 1.88,
    1.63e4, 4.8e6, 3.5e-4, 0.0175, 1e8, 4.44e11, 1240, 2.1, 5.78, 0.0474, 1780, 3.12} "rate constants";
  Real y[20](start = {0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0}, each fixed = true,
    nominal = {0.1, 0.1, 1e-8, 1e-2, 1e-7, 1e-7, 0.1, 0.1, 1e-2, 1e-8, 1e-8, 1e-3, 1e-4, 1e-5, 1e-3, 1e-17, 1e-3, 1e-4,
      1e-6, 1e-5});
  Real r[25] "reaction rates";
equation
  r = k.*{y[1], y[2]*y[4], y[5]*y[2], y[7], y[7], y[7]*y[6], y[9], y[9]*y[6], y[11]*y[2], y[11]*y[1], y[13], y[10]*y[2],
    y[14], y[1]*y[6], y[3], y[4], y[4], y[16], y[16], y[17]*y[6], y[19], y[19], y[1]*y[4], y[19]*y[1], y[20]};
  der(y[1]) = r[2] + r[3] + r[9] + r[11] + r[12] + r[22] + r[25] - r[1] - r[10] - r[14] - r[23] - r[24];
  der(y[2]) = r[1] + r[21] - r[2] - r[3] - r[9] - r[12];
  der(y[3]) = r[1] + r[17] + r[19] + r[22] - r[15];
  der(y[4]) = r[15] - r[2] - r[16] - r[17] - r[23];
  der(y[5]) = 2*r[4] + r[6] + r[7] + r[13] + r[20] - r[3];
  der(y[6]) = r[3] + 2*r[18] - r[6] - r[8] - r[14] - r[20];
  der(y[7]) = r[13] - r[4] - r[5] - r[6];
  der(y[8]) = r[4] + r[5] + r[6] + r[7];
  der(y[9]) = -r[7] - r[8];
  der(y[10]) = r[7] + r[9] - r[12];
  der(y[11]) = r[8] + r[11] - r[9] - r[10];
  der(y[12]) = r[9];
  der(y[13]) = r[10] - r[11];
  der(y[14]) = r[12] - r[13];
  der(y[15]) = r[14];
  der(y[16]) = r[16] - r[18] - r[19];
  der(y[17]) = -r[20];
  der(y[18]) = r[20];
  der(y[19]) = r[23] + r[25] - r[21] - r[22] - r[24];
  der(y[20]) = r[24] - r[25];
  annotation(experiment(StopTime = 60));
end Pollution;
