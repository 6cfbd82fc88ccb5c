model CK_H7_2_Nonlinear
  "Three nonlinear equations that can be solved one after another: F2 for x2, F3 for x1, F1 for x3 (Cellier & Kofman 2006, homework H7.2)"
  // The source gives the incidence only; these functions have the solution x1 = 2, x2 = 1, x3 = 3.
  Real x1(start = 1), x2(start = 0.5), x3(start = 2);
equation
  x3^3 + x3 = 15*x1 "F1";
  x2^3 + x2 = 2 "F2";
  x1^3 + x1*x2 = 10 "F3";
end CK_H7_2_Nonlinear;
