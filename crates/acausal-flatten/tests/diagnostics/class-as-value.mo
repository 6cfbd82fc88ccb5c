model M
  type E = enumeration(a, b);
  Real x = E;
  // error: `E` is a class, not a value
end M;
