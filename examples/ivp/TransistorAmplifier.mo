model TransistorAmplifier "Two stages of amplification, node equations with capacitors between nodes: index one"
  parameter Real Ub = 6, UF = 0.026, alpha = 0.99, beta = 1e-6;
  parameter Real R0 = 1000, R = 9000 "all other resistances";
  parameter Real C[5] = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6};
  constant Real pi = 3.141592653589793;
  Real Ue = 0.1*sin(200*pi*time);
  Real U[8](start = {0, 3, 3, 6, 3, 3, 6, 0}) "node voltages";
  Real f1 = beta*(exp((U[2] - U[3])/UF) - 1) "emitter current of the first transistor";
  Real f2 = beta*(exp((U[5] - U[6])/UF) - 1);
initial equation
  U[1] - U[2] = -3;
  U[3] = 3;
  U[4] - U[5] = 3;
  U[6] = 3;
  U[7] - U[8] = 6;
equation
  C[1]*der(U[2] - U[1]) = (U[1] - Ue)/R0;
  C[1]*der(U[1] - U[2]) = U[2]/R + (U[2] - Ub)/R + (1 - alpha)*f1;
  -C[2]*der(U[3]) = U[3]/R - f1;
  C[3]*der(U[5] - U[4]) = (U[4] - Ub)/R + alpha*f1;
  C[3]*der(U[4] - U[5]) = U[5]/R + (U[5] - Ub)/R + (1 - alpha)*f2;
  -C[4]*der(U[6]) = U[6]/R - f2;
  C[5]*der(U[8] - U[7]) = (U[7] - Ub)/R + alpha*f2;
  C[5]*der(U[7] - U[8]) = U[8]/R;
  annotation(experiment(StopTime = 0.2));
end TransistorAmplifier;
