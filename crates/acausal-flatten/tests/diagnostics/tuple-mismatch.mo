model M
  Real x, y;
equation
  (x, y) = 1;
  // error: a call with several outputs is expected here
end M;
