model M
  Real x[2, 2] = {{1, 2}, {3}};
  // error: the elements of an array must be alike: this is Integer[1], the first is Integer[2]
  Real y[2] = {1, true};
  // error: the elements of an array must be alike: this is Boolean, the first is Integer
  Real z[2, 2] = [1, 2; 3];
  // error: Integer[1, 1] cannot be put beside Integer[1, 2]
end M;
