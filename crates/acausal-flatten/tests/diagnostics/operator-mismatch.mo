model M
  Real x[3] = {1, 2, 3} + {1, 2};
  // error: `+` cannot be applied to Integer[3] and Integer[2]
  Real y[3] = {1, 2, 3} + 1;
  // error: `+` cannot be applied to Integer[3] and Integer
  Real A[2, 3] = {{1, 2, 3}, {4, 5, 6}};
  Real z[2] = A*{1, 2};
  // error: `*` cannot be applied to Real[2, 3] and Integer[2]
  Real w[3] = {1, 2, 3}*{{1, 2, 3}};
  // error: `*` cannot be applied to Integer[3] and Integer[1, 3]
  Real q[2] = 1/{1, 2};
  // error: `/` cannot be applied to Integer and Integer[2]
  Boolean b = 1 and true;
  // error: `and` cannot be applied to Integer and Boolean
  Boolean c = {1, 2} < 3;
  // error: `<` cannot be applied to Integer[2] and Integer
  Real p = "a" - "b";
  // error: `-` cannot be applied to String and String
  Real r[2] = {1, 2}^2;
  // error: `^` cannot be applied to Integer[2] and Integer
end M;
