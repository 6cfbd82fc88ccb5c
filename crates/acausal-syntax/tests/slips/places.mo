// Things in the wrong section, keywords as names, prefixes out of order.
  model A
    Real x;
    x = 1;
//    ^ syntax-expected: expected the name of a component, found `=`
    Real input;
//       ^ syntax-keyword: expected the name of a component, found the keyword `input`
    parameter Real end = 1;
//                 ^ syntax-keyword: expected the name of a component, found the keyword `end`
    Real y = type.start;
//           ^ syntax-expected: expected an expression, found `type`
    input flow Real z;
//        ^ syntax-prefix: `flow` comes too late
    parameter constant Real k = 1;
//            ^ syntax-prefix: `constant` excludes the prefix before it
    replaceable final model M = N;
//              ^ syntax-prefix: `final` comes too late
    model Q = R constrainedby S;
//              ^ syntax-constrainedby: `constrainedby` needs a replaceable element
    Real a b;
//         ^ syntax-expected: expected `;` after this declaration, found `b`
    Real "text";
//       ^ syntax-expected: expected the name of a component, found a string
  equation
    Real late;
//       ^ syntax-expected: expected `=`, found `late`
    parameter Real later = 1;
//  ^ syntax-expected: expected an equation, found `parameter`
    x + y;
//       ^ syntax-expected: expected `=`, found `;`
    connect(a, b, c);
//  ^ syntax-connect: `connect` takes two connectors
    connect(a);
//  ^ syntax-connect: `connect` takes two connectors
    when x > 1 then
      y = 1;
    else
//  ^ syntax-expected: expected `elsewhen` or `end when`, found `else`
      y = 2;
    end when;
    {} = x;
//  ^ syntax-empty-array: an array constructor is not empty
  algorithm
    connect(a, b);
//  ^ syntax-expected: expected a statement, found `connect`
  equation
    y = 1 "one" "two";
//              ^ syntax-expected: expected `;` after this equation, found a string
  end A;

  Real outside;
//^ syntax-expected: expected a class definition, found `Real`

  model block
//      ^ syntax-keyword: the name of a class is expected here, and `block` is a keyword
  end block;
  model B "closed properly"
    annotation(Icon());
    annotation(Documentation());
//  ^ syntax-annotation: a class has one annotation, at its end
  end B;
