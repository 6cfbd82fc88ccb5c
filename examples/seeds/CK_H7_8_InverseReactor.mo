model CK_H7_8_InverseReactor "Which cooling makes a reactor follow a given concentration? Index 3, no state (Cellier & Kofman 2006, H7.8)"
  parameter Real K1 = 1, K2 = 50, K3 = 10, K4 = 1000, C0 = 1, T0 = 300;
  Real C "concentration", T(start = 400) "temperature", R "reaction rate", TC "temperature of the cooling";
equation
  der(C) = K1*(C0 - C) - R;
  der(T) = K1*(T0 - T) + K2*R - K3*(T - TC);
  R = K3*exp(-K4/T)*C;
  C = 0.5 + 0.1*sin(time);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end CK_H7_8_InverseReactor;
