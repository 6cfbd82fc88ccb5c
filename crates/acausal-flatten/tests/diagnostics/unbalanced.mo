model M
// error: too few equations in M: 2 equations for 3 unknowns
  Real x, y, z;
equation
  x = 1;
  y = x;
end M;
