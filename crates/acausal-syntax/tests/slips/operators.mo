// Operators of other languages and forms that the grammar does not have.
  model A
  equation
    b = x != y && z || !w;
//        ^ syntax-operator: `!=` is not an operator of Modelica
//             ^ syntax-operator: `&&` is not an operator of Modelica
//                  ^ syntax-operator: `||` is not an operator of Modelica
//                     ^ syntax-operator: `!` is not an operator of Modelica
    p = a * -b;
//          ^ syntax-sign: `-` cannot follow another operator directly
    p = a + - b + c;
//          ^ syntax-sign: `-` cannot follow another operator directly
    q = a^b^c;
//         ^ syntax-associativity: `^` cannot be chained
    r = a < b < c;
//            ^ syntax-associativity: `<` cannot be chained
    s = 1 + if b then 1 else 2;
//          ^ syntax-if-operand: an `if` expression cannot be an operand as it stands
    t = if b then 1;
//                 ^ syntax-expected: expected `else` or `elseif`, found `;`
    u = a and not b or not c;
    v = -2^2 + (-2)^2;
    w = a * not b;
//          ^ syntax-sign: `not` cannot follow another operator directly
    i++;
//    ^ syntax-expected: expected an expression, found `+`
  end A;
