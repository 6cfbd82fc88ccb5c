model M
  parameter Integer n = 2;
  Real x[n - 3];
  // error: a size cannot be negative, but this is -1
  Real y[n] = zeros(-1);
  // error: a size cannot be negative, but this is -1
end M;
