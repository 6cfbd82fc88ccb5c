model M
  Real x[3] = {1, 2, 3};
  Real y = x[1.5];
  // error: a subscript must be an Integer, not Real
  Real z = x[{{1}}];
  // error: a subscript is a scalar or a vector, not Integer[1, 1]
  type E = enumeration(a, b);
  Real e[E] = {1, 2};
  Real f = e[1] + e[E.a];
  // error: this dimension of `e` is subscripted by M.E, not by Integer
  Real g[Boolean] = {1, 2};
  Real h = g[2];
  // error: this dimension of `g` is subscripted by Boolean, not by Integer
end M;
