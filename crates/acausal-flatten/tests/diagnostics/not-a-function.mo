model M
  Real x = 1;
  Real y = x(2);
  // error: `x` is not a function
end M;
