model M
  Real x = true;
  // error: `x` is Real, but this is Boolean
  Boolean b = 1;
  // error: `b` is Boolean, but this is Integer
  Integer i = 2.5;
  // error: `i` is Integer, but this is Real
  String s = 3;
  // error: `s` is String, but this is Integer
  Real y, z;
  parameter Real p = "text";
  // error: `p` is Real, but this is String
equation
  y = if b then true else false;
  // error: the sides of this equation differ: Real on the left, Boolean on the right
  der(i) = 1;
  // error: `der` takes a Real expression; an Integer has no derivative
  z = ({1, 2})[1] + sin("a");
  // error: `sin` takes a number, not String
  when y then
  // error: the condition of `when` must be Boolean or a vector of Booleans, not Real
    z = 1;
  end when;
end M;
