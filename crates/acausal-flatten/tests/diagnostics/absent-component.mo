model M
  parameter Boolean on = false;
  Real x = 1 if on;
  Real y = x;
  // error: `x` does not exist: its condition is false
end M;
