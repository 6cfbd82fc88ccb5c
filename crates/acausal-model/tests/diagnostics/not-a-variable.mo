model M
  Real x = time;
  Boolean b = pre(x) > pre(x + 1);
  // error: `pre` takes a variable, not an expression
end M;
