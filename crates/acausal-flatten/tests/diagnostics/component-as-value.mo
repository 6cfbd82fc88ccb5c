model M
  model A Real x = 1; end A;
  A a;
  Real y = a;
  // error: `a` is a component of class M.A, not a value
end M;
