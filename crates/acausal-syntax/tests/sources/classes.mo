within Lib.Sub;
final encapsulated package P "Everything a class can be" + " made of"
  import A.B.C;
  import D = A.B.C "renamed";
  import A.B.*;
  import A.B . * ;
  import A.B.{C, D, E} annotation(Evaluate = true);
  partial model M "first"
    extends .Base.Class(x = 1, break c, break connect(a.b, c[1])) annotation(Icon());
    extends N;
    parameter Real p(final min = 0, each max = {1, 2}) = 2.5e-3 if n > 1 "text" annotation(Dialog(group = "G"));
    inner outer replaceable Medium.State s[2, :](redeclare each final replaceable model F = G(a = 1) constrainedby H(b = 2) "c", k = break)
      constrainedby Medium.Base(T(start = 300)) "constraint" annotation(choicesAllMatching = true);
    final flow Real f;
    stream Real h_outflow;
    flow parameter input Real odd;
    discrete output Integer i, j = 2, k[3](start = {1, 2, 3});
    Real[n, 2] a[m];
    Real x := 3;
    Real y();
    redeclare replaceable package Medium = Other "other" constrainedby Base;
    redeclare model extends Inner(q = 3) "more"
      Real z;
    equation
      z = 1;
    end Inner;
    replaceable model Q
      Real r;
    end Q constrainedby R;
  protected
    constant Boolean b = true;
  public
    Integer n;
  initial equation
    x = 1;
  initial algorithm
    y := 2;
  equation
    der(x) = y;
  algorithm
    y := x;
  protected
    Real late;
    annotation(Documentation(info = "<html>
  <p>\"quoted\" and \\ and	tab</p>
</html>"), version = "1.0");
  end M;
  type E = enumeration(one "first" annotation(x = 1), two, 'three four');
  type Any = enumeration(:);
  type T = input Real[3, n](unit = "m") "short" annotation(absoluteValue = false);
  type Empty = enumeration();
  connector In = input Real;
  function df = der(f.g, x, y) "partial derivative";
  expandable connector Bus end Bus;
  operator record Complex
    Real re;
    operator '+'
      function add
        input Complex a;
        output Complex b;
      algorithm
        b := a;
      end add;
    end '+';
    encapsulated operator function '-' = minus;
  end Complex;
  impure function now
    output Real t;
    external "C" t = now_c(1, {2, 3}) annotation(Library = "clock");
    annotation(Inline = false);
  end now;
  pure function g
    external;
  end g;
  pure operator function h = k;
  function sub
    external "FORTRAN 77" work(a, size(a, 1));
  end sub;
  class C end C;
  block K annotation(); end K;
  record R end R;
  partial function F end F;
end P;
