model M
  Real x[3] = {1, 2, 3};
  Real y = x[1, 2];
  // error: `x` has one dimension, but 2 subscripts are given
  Real z = y[1];
  // error: `y` is a scalar, but a subscript is given
end M;
