model M
  Real x[3] = {1, 2};
  // error: `x` is Real[3], but this is Integer[2]
  Real y[2, 2] = zeros(2);
  // error: `y` is Real[2, 2], but this is Integer[2]
  Real z = {1};
  // error: `z` is Real, but this is Integer[1]
  Real a[3], b[2];
equation
  a = b;
  // error: the sides of this equation differ: Real[3] on the left, Real[2] on the right
  b = 1;
  // error: the sides of this equation differ: Real[2] on the left, Integer on the right
end M;
