model M
  Real x = time;
  connector C Real v; flow Real i; end C;
  C a;
equation
  reinit(x, 1);
  // error: `reinit` can only be used inside of `when`
  Connections.isRoot(a.v);
  // error: `Connections.isRoot` is an expression, not an equation
  a.v = 1;
end M;
