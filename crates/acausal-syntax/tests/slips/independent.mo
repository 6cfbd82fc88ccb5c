// Six independent mistakes, six messages.
  model A
    Real 1x;
//       ^ syntax-identifier: `1x` is not an identifier
    Real y(start = 1, fixed true, min = 0);
//                          ^ syntax-expected: expected `,` or `)`, found `true`
    Real z = 3 +;
//              ^ syntax-expected: expected an expression, found `;`
  equation
    x == y;
//  ^ syntax-equality: this compares, it is not an equation
    if y > 0 then
      z := 2;
//      ^ syntax-expected: expected `=`, found `:=`
    end if;
    y = [1, 2; 3 4; 5, 6] * z;
//               ^ syntax-expected: expected `,` or `]`, found `4`
  end A;
