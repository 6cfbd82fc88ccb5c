// Brackets that are not closed, closed twice or closed by the wrong kind.
  model A
    Real a(start = 1;
//                  ^ syntax-expected: expected `,` or `)`, found `;`
    Real b(start = 1));
//                   ^ syntax-expected: expected `;` after this declaration, found `)`
    Real c = {1, 2;
//                ^ syntax-expected: expected `,` or `}`, found `;`
    Real d[3 = 1;
//           ^ syntax-expected: expected `,` or `]`, found `=`
    Real e = f(1, 2];
//                 ^ syntax-expected: expected `,` or `)`, found `]`
    Real f = (1 + (2 * 3);
//                       ^ syntax-expected: expected `,` or `)`, found `;`
    Real g = [1, 2; 3, 4;
    Real h;
//       ^ syntax-expected: expected `,` or `]`, found `h`
  equation
    if (a > b then
//            ^ syntax-expected: expected `,` or `)`, found `then`
      a = f(1, (2 + 3);
//                    ^ syntax-expected: expected `,` or `)`, found `;`
    end if;
    b = {1, f(2, 3};
//                ^ syntax-expected: expected `,` or `)`, found `}`
    c = ok;
  end A;
