model M
  parameter Integer n = m;
  // error: the value of `n` depends on itself
  parameter Integer m = n;
  Real x[n];
end M;
