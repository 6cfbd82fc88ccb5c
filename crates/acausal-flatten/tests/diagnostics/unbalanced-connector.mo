connector C
  // error: the connector `C` is not balanced: 2 potentials and 1 flow variable
  Real e1, e2;
  flow Real f;
end C;
model Part
  C a;
end Part;
model M
  Part p;
equation
  p.a.e1 = 1;
end M;
