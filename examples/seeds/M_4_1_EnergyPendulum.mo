model M_4_1_EnergyPendulum "Not well-posed: the energy of a pendulum does not say where it goes from rest (Mattsson 1986, example 2.1)"
  parameter Real l = 1, g = 9.81;
  parameter Real x0 = 0.5403023058681398, y0 = 0.8414709848078965, xd0 = 0, yd0 = 0 "start; x points down";
  Real x(start = x0), y(start = y0);
equation
  der(x)^2 + der(y)^2 - 2*g*x = xd0^2 + yd0^2 - 2*g*x0;
  x^2 + y^2 = l^2;
  annotation(experiment(StopTime = 1));
end M_4_1_EnergyPendulum;
