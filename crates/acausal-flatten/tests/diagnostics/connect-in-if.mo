model M
  connector C Real v; flow Real i; end C;
  C a, b;
equation
  if time > 1 then
    connect(a, b);
    // error: `connect` in an `if` needs a condition of parameters
  else
    a.v = 1;
    b.v = 2;
  end if;
end M;
