// `end` missing, misspelt or of another block.
  package P
    model A
      Real x;
    end B;
//  ^ syntax-end: expected `end A`, found `end B`
    model C
      Real x;
    equation
      if x > 0 then
        x = 1;
      for i in 1:3 loop
        y[i] = 1;
      end for;
    end C;
//  ^ syntax-missing-end: expected `end if;`, found `end`
    model D
      Real x;
    model E
      Real y;
    end E;
    block F
    algorithm
      if a then
        b := 1;
      else if c then
        b := 2;
      else
        b := 3;
      end if;
    end F;
//  ^ syntax-missing-end: expected `end if;`, found `end`
    block G
    algorithm
      while a loop
        b := 1;
      end for;
//    ^ syntax-end: expected `end while`, found `end for`
      for i in 1:2 loop
        b := i;
      end;
//    ^ syntax-end: expected `end for`, found `end` alone
    end;
//  ^ syntax-end: expected `end G`, found `end` alone
  end P;
//^ syntax-missing-end: expected `end D;`, found `end`
