model A
  parameter Boolean on = false;
  Real x = 1 if on;
  // error: the condition of `a.x` is not the same for all elements of the array around it
end A;
model M
  A a[2](on = {true, false});
end M;
