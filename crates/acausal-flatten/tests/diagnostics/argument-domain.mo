model M
  Real x = sqrt(-1);
  // error: `sqrt` is not defined for -1.0
  Real y = log(0);
  // error: `log` is not defined for 0.0
  Real z = acos(2);
  // error: `acos` is not defined for 2.0
end M;
