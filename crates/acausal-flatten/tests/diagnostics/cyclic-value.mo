model M
  parameter Integer n = m;
  // error: the value of `n` depends on itself
  parameter Integer m = n;
  Real x[n];
  parameter Real a = b + 1;
  // error: the value of `a` depends on itself
  parameter Real b = 2*a;
  parameter Real self = self;
  // error: the value of `self` depends on itself
end M;
