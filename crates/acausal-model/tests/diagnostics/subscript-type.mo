model M
  Real x[3] = {1, 2, 3};
  Real y = x[1.5];
  // error: a subscript must be an Integer, not Real
  Real z = x[{{1}}];
  // error: a subscript is a scalar or a vector, not Integer[1, 1]
end M;
