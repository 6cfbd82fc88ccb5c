model M
  Real x[2] = cross({1, 2}, {3, 4});
  // error: `cross` takes vectors of length 3, not Integer[2]
  Real y = scalar({1, 2});
  // error: `scalar` takes an array with one element, not Integer[2]
  Real z[2, 2] = transpose({1, 2});
  // error: `transpose` takes an array with at least two dimensions, not Integer[2]
end M;
