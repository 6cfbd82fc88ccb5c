model M
  Real v = time;
  Integer k = integer(time);
  parameter Real p = v;
  // error: the parameter `p` cannot depend on `v`, which varies
  parameter Real q = time;
  // error: the parameter `q` cannot depend on `time`, which varies
  Real y;
  Real x[k];
  // error: `k` varies, but a constant or parameter is needed here
equation
  for i in 1:k loop
  // error: the length of a range must be a constant or parameter expression
    y = i;
  end for;
end M;
