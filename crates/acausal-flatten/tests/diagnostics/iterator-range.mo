model M
  Real x[3];
equation
  for i in 3 loop
  // error: an iterator runs over a vector, not over Integer
    x[i] = i;
  end for;
end M;
