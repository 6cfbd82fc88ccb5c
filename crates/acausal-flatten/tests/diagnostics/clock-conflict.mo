model M
  Real u = time;
  Real y;
  Real z;
equation
  y = sample(u, Clock(0.1));
  z = y + superSample(y, 2);
  // error: the variables of this equation would have two different clocks
end M;
