// What is not a token.
  model A
    Real größe = 1;
//       ^ syntax-identifier: `größe` is not an identifier
    Real 2nd;
//       ^ syntax-identifier: `2nd` is not an identifier
    String s = "tab \t bad \d";
//                         ^ syntax-escape: unknown escape `\d`
    Real x = 1e;
//           ^ syntax-number: the exponent of this number has no digits
    Real y = 3 % 2;
//             ^ syntax-character: unexpected character `%`
    Real z = “4”;
//           ^ syntax-character: unexpected character `“`
//             ^ syntax-character: unexpected character `”`
    Real w = 1 # comment
//             ^ syntax-character: unexpected character `#`
    ;
    Real v = a−b;
//            ^ syntax-character: unexpected character `−`
    Real big = 1e999;
//             ^ syntax-number-range: this number overflows
    Integer huge = 123456789012345678901234567890;
    Real 'a b' = 1;
    Real 'open = 2;
//       ^ syntax-unterminated-identifier: this quoted identifier is not closed
  end A;
