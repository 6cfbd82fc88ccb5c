model M
  record R Real a; Real b; end R;
  parameter R r = R(1);
  // error: `b` of M.R is not given and has no default
end M;
