model Controller
  Real y(start = 0, fixed = true), u, e, integral(start = 0);
equation
  der(y) = -y + hold(u);
  e = 1 - sample(y, Clock(0.1));
  integral = previous(integral) + 0.3*e;
  u = 2*e + integral;
end Controller;
