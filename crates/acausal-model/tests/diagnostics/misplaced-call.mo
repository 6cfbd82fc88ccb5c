model M
  Real x = time;
equation
  reinit(x, 1);
  // error: `reinit` can only be used inside of `when`
end M;
