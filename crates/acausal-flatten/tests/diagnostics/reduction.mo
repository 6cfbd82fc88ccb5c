model M
  Real x = sin(i for i in 1:3);
  // error: `sin` is not a reduction
end M;
