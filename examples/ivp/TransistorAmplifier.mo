model TransistorAmplifier "Two stages of amplification, node equations with capacitors between nodes: index one"
  parameter Real Ub = 6, UF = 0.026, alpha = 0.99, beta = 1e-6;
  parameter Real R0 = 1000, R = 9000 "all other resistances";
  parameter Real C[5] = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6};
  constant Real pi = 3.141592653589793;
  Real Ue = 0.1*sin(200*pi*time);
  Real U[8](start = {0, 3, 3, 6, 3, 3, 6, 0}) "node voltages";
  Real Uc[5](start = {-3, 3, 3, 3, 6}, each fixed = true) = {U[1] - U[2], U[3], U[4] - U[5], U[6], U[7] - U[8]} "of the capacitors";
  Real f1 = beta*(exp((U[2] - U[3])/UF) - 1) "emitter current of the first transistor";
  Real f2 = beta*(exp((U[5] - U[6])/UF) - 1);
equation
  (U[1] - Ue)/R0 + C[1]*der(Uc[1]) = 0;
  U[2]/R + (U[2] - Ub)/R + (1 - alpha)*f1 = C[1]*der(Uc[1]);
  U[3]/R - f1 + C[2]*der(Uc[2]) = 0;
  (U[4] - Ub)/R + alpha*f1 + C[3]*der(Uc[3]) = 0;
  U[5]/R + (U[5] - Ub)/R + (1 - alpha)*f2 = C[3]*der(Uc[3]);
  U[6]/R - f2 + C[4]*der(Uc[4]) = 0;
  (U[7] - Ub)/R + alpha*f2 + C[5]*der(Uc[5]) = 0;
  U[8]/R = C[5]*der(Uc[5]);
  annotation(experiment(StopTime = 0.2));
end TransistorAmplifier;
