model M
  connector C Real v; flow Real i; end C;
  C a;
equation
  a.v = 1;
  Connections.root(a.v);
  // error: `a.v` is not overdetermined: Real has no function `equalityConstraint`
end M;
