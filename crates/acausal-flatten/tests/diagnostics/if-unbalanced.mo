model M
  Real x, y;
equation
  if time > 1 then
  // error: the branches of this `if` have different numbers of equations: 2 equations and 1
    x = 1;
    y = 2;
  else
    x = 3;
  end if;
end M;
