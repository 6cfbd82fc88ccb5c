model M
  Real x = sin(1, 2);
  // error: `sin` takes 1 argument, found 2
  Real y = atan2(1);
  // error: `atan2` takes 2 arguments, found 1
  Real z = der();
  // error: `der` takes one argument
end M;
