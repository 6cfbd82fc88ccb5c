// `=`, `==` and `:=` in each other's places.
  model A
    Real a == 1;
//         ^ syntax-expected: expected `=`, found `==`
    Real b(start == 1);
//               ^ syntax-expected: expected `=`, found `==`
    Real c := 2;
  equation
    x := 1;
//    ^ syntax-expected: expected `=`, found `:=`
    x == 2;
//  ^ syntax-equality: this compares, it is not an equation
    if x = 1 then
//       ^ syntax-expected: expected `then`, found `=`
      y = 1;
    end if;
    z = if x = 1 then 2 else 3;
//           ^ syntax-expected: expected `then`, found `=`
    f(n := 1);
//      ^ syntax-expected: expected `=`, found `:=`
  algorithm
    x = 1;
//    ^ syntax-expected: expected `:=`, found `=`
    (a, b) = f(x);
//         ^ syntax-expected: expected `:=`, found `=`
    when x = 1 then
//         ^ syntax-expected: expected `then`, found `=`
      y := 1;
    end when;
    while x = 1 loop
//          ^ syntax-expected: expected `loop`, found `=`
      y := 1;
    end while;
    for i = 1:3 loop
//        ^ syntax-expected: expected `in`, found `=`
      y := i;
    end for;
    2 * x := 1;
//  ^ syntax-assignment: only a variable can stand on the left of `:=`
    (a, b) := 3;
//            ^ syntax-assignment: several variables are assigned by a function call only
    return y;
//         ^ syntax-expected: expected `;`, found `y`
  end A;
