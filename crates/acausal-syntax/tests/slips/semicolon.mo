// A missing `;` before a line end is taken as written, so each one is reported on its own.
  model A
    Real x
//        ^ syntax-semicolon: expected `;` after this declaration, found `Real`
    Real y;
    parameter Real p = 3 "first" annotation(Evaluate = true)
//                                                          ^ syntax-semicolon: expected `;` after this declaration, found `Real`
    Real z, w
//           ^ syntax-semicolon: expected `;` after this declaration, found `equation`
  equation
    x = 1
//       ^ syntax-semicolon: expected `;` after this equation, found `y`
    y = 2;
    connect(a, b)
//               ^ syntax-semicolon: expected `;` after this equation, found `z`
    z = w
//       ^ syntax-semicolon: expected `;` after this equation, found `algorithm`
  algorithm
    x := 1
//        ^ syntax-semicolon: expected `;` after this statement, found `y`
    y := 2
//        ^ syntax-semicolon: expected `;` after this statement, found `end`
  end A;

  model B
    Real u
//        ^ syntax-semicolon: expected `;` after this declaration, found `end`
  end B
//     ^ syntax-semicolon: expected `;` after this class, found end of file
