model M
  parameter Integer n = 3;
  Real x[n] = {1, 2, 3};
  Real y = x[4];
  // error: subscript 4 is outside of 1:3, the size of this dimension of `x`
  Real z = x[0];
  // error: subscript 0 is outside of 1:3, the size of this dimension of `x`
  Real d[n], e[2];
equation
  for i in 1:n loop
    d[i] = x[i + 1];
    // error: subscript 4 is outside of 1:3, the size of this dimension of `x`
  end for;
  e = x[3:4];
  // error: subscript 4 is outside of 1:3, the size of this dimension of `x`
end M;
