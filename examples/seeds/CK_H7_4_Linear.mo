model CK_H7_4_Linear "A linear system of equations: Newton's method needs one step (Cellier & Kofman 2006, homework H7.4)"
  parameter Real A[3, 3] = [4, 1, 0; 1, 3, -1; 0, -1, 2];
  parameter Real b[3] = {6, 4, 4};
  Real x[3];
equation
  A*x = b;
end CK_H7_4_Linear;
