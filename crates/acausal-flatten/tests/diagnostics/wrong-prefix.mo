model P
  Real x = 1;
end P;
model M
  parameter P p;
  // error: `P` is a model or block, so a component of it cannot be `parameter`
  connector C Real e; flow Integer f; end C;
  // error: `c.f` is `flow` and must be a Real
  C c(e = 1);
end M;
