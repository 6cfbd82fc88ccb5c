// Mistakes inside of modifications and calls stay inside of their argument.
  model A
    extends B(final each x = 1, redeclare model M, y(z = ) = 2, break c, w);
//                  ^ syntax-prefix: `each` comes too late
//                                               ^ syntax-expected: expected `=` and the name of a class, found `,`
//                                                       ^ syntax-expected: expected an expression, found `)`
    extends C(break connect(a));
//                  ^ syntax-connect: `connect` takes two connectors
    Real x(break y);
//         ^ syntax-break: only an `extends` clause can leave out inherited elements
    M m(redeclare Real a, b, c = break, n(redeclare replaceable package P = Q constrainedby R));
    Real y = f(a = 1, 2, function g(3), b = function h(c = 1));
//                    ^ syntax-argument-order: a positional argument cannot follow a named one
//                       ^ syntax-argument-order: a positional argument cannot follow a named one
//                                  ^ syntax-expected: expected the name of an input, found `3`
    Real z = sum(i, j for i in 1:3);
//                  ^ syntax-reduction: a reduction has one argument before `for`
    import A = B.*;
//         ^ syntax-import: an import of several names cannot be renamed
    import A.{};
//           ^ syntax-expected: expected names to import between the braces
    import A.B.{C, D};
  end A;
