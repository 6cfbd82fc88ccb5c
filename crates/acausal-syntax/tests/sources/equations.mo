model Equations
equation
  connect(a.b[1].c, .d.e[:]) "wire" annotation(Line(points = {{1, 2}, {-3, -4.5}}, color = {0, 0, 127}));
  if a then
    b = 1;
  elseif c then
  else
    if d then
      e = 1;
    end if;
  end if "description" annotation(e = 1);
  if a then end if;
  if a then else end if;
  for i in 1:n, j, k in {1, 2} loop
    x[i, j, k] = i;
    for l loop
      assert(l > 0, "positive", AssertionLevel.warning);
    end for;
  end for;
  when {a, b} then
    reinit(x, 0) "bounce";
  elsewhen initial() then
    y = pre(y) + 1;
    (p, q) = f(y);
  end when;
  a.b.c(1);
  x = y "one" + " two";
algorithm
  x := 1 "assign" annotation(a = 1);
  x[1].y[end] := f(2);
  (a, , b[1]) := f(x);
  (a) := f(x);
  (,) := f(x);
  f(x);
  if a then
    return;
  elseif b then
    break;
  else
    x := 2;
  end if;
  for i loop
    x := i;
  end for;
  while x > 0 loop
    x := x - 1;
    break;
  end while;
  when a then
    x := 1;
  elsewhen b then
    x := 2;
  end when;
initial equation
initial algorithm
equation
end Equations;
