model M
  Real velocity = 1;
  Real y = velocty + 1;
  // error: `velocty` is not declared in `M`
equation
  der(z) = 1;
  // error: `z` is not declared in `M`
end M;
