model M
  Real x;
equation
  when time > 1 then
    2*x = 1;
    // error: an equation inside of `when` must be `variable = expression`
  end when;
end M;
