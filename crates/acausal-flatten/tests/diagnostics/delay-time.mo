model M
  Real x = time;
  Real y = delay(x, 5.5, 1);
  // error: the delay 5.5 is not between 0 and the largest delay 1
end M;
