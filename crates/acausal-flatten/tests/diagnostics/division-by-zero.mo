model M
  Real x = 1/0;
  // error: division by zero
  Integer i = mod(3, 0);
  // error: division by zero
end M;
