model M
  parameter Boolean on = true;
  Real x = 1 if on;
  Real y = x;
  // error: `x` exists under a condition and can only be used in `connect`
end M;
