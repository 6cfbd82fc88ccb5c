model M
  model A Real x = 1; end A;
  connector C Real v; flow Real i; end C;
  A a;
  C c;
equation
  connect(a, c);
  // error: `a` is not a connector but of class M.A
end M;
