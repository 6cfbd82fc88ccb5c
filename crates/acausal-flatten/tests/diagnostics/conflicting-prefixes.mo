connector C
  input Real x;
  // error: `x` is `input` or `output`, and so is the component that it is part of
end C;
model M
  output C c(x = 2);
end M;
