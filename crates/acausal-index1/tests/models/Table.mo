function interpolate input Real u; input Real x[3]; input Real y[3]; output Real v;
algorithm
  v := if u < x[2] then y[1] + (y[2] - y[1])*(u - x[1])/(x[2] - x[1]) else y[2] + (y[3] - y[2])*(u - x[2])/(x[3] - x[2]);
end interpolate;
model Heater
  parameter Real times[3] = {0, 1, 3}, powers[3] = {0, 100, 40};
  Real T(start = 20, fixed = true), P;
equation
  P = interpolate(time, times, powers);
  500*der(T) = P - 2*(T - 20);
end Heater;
