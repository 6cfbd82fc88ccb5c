// A class that is never closed.
  package P
    model A
      Real x;
    equation
      when x > 0 then
        reinit(x, 0);
// EOF syntax-missing-end: expected `end when;`, found end of file
