model M
  Real x = ticksInState();
  // error: `ticksInState` is not supported yet
end M;
