model M
  connector C Real v; flow Real i; end C;
  C a[3], b[2];
equation
  connect(a, b);
  // error: connected arrays must have the same size
end M;
