model M
  record R Real a; end R;
  parameter R r = R(a = 1, b = 2);
  // error: M.R has no field `b`
end M;
