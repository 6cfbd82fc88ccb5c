record Frame
  Real angle;
  function equalityConstraint
    input Frame a;
    input Frame b;
    output Real residue[0];
  algorithm
    residue := fill(0.0, 0);
  end equalityConstraint;
end Frame;
model M
  Real v = time;
  Integer k = integer(time);
  parameter Real p = v;
  // error: the parameter `p` cannot depend on `v`, which varies
  parameter Real q = time;
  // error: the parameter `q` cannot depend on `time`, which varies
  constant Real c = r;
  // error: `r` is a parameter, but a constant is needed here
  parameter Real r = 1;
  Real late = delay(v, v);
  // error: the largest delay must be a parameter expression, but depends on `v`, which varies
  Frame frame(angle = 0);
  Integer rows[2] = {1, 2};
  Real z[2];
  Real y;
  Real x[k];
  // error: `k` varies, but a constant or parameter is needed here
equation
  for i in 1:k loop
  // error: the length of a range must be a constant or parameter expression
    y = i;
  end for;
  Connections.potentialRoot(frame, k);
  // error: `k` varies, but a constant or parameter is needed here
  Connections.potentialRoot(frame, integer(time));
  // error: `time` varies, but a constant or parameter is needed here
  for i in rows loop
  // error: what an iterator runs over must be a constant or parameter expression
    z[i] = i;
  end for;
end M;
