model M
  Integer x = 1;
  Boolean b = pre(x) > pre(x + 1);
  // error: `pre` takes a variable, not an expression
end M;
