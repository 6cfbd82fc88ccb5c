model A
  parameter Real k = 1;
  Real x = k;
end A;
model M
  A a[3](k = 2);
  // warning: `each` is missing: the value holds for every element of `a.k`
end M;
