model M
  Real x[2];
equation
  x = if time > 1 then {1, 2} else {1, 2, 3};
  // error: the branches of this `if` differ: one is Integer[2], another Integer[3]
end M;
