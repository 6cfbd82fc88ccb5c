model M
  parameter Integer n;
  // warning: the parameter `n` has no value; zero is used
  parameter Real p(start = 2);
  // warning: the parameter `p` has no value; its start value is used
  parameter Real free(fixed = false);
  Real x[n];
  // error: the value of `n` is needed here, but it has none
initial equation
  free = 2;
equation
  x = fill(p + free, n);
end M;
