model M
  Real x[:];
  // error: the size of `x` does not follow from a binding
end M;
