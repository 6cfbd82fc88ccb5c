model M
  discrete Real d;
  Real y = der(d);
  // error: `d` is discrete and has no derivative
equation
  when time > 1 then
    d = 1;
  end when;
end M;
