function random
  input Integer state[2];
  output Real r;
  output Integer next[:];
external "C" ModelicaRandom_xorshift64star(state, next, r);
end random;
model M
  Integer next[2];
  Real r;
  Real x[:];
  // error: the size of `x` does not follow from a binding
equation
  (r, next) = random({1, 2});
  // error: the size of the output `next` of the external function `ModelicaRandom_xorshift64star` is not known before the call
end M;
