model CarAxis "An axis on two springs over a bumpy road: two point masses, two constraints, index three"
  parameter Real eps = 0.01, M = 10, L = 1, L0 = 0.5, r = 0.1, w = 10, g = 1;
  parameter Real m = M*eps^2/2 "scaled mass of an end";
  Real left[2](start = {0, L0}, fixed = {false, true}) "position of the left end";
  Real right[2](start = {L, L0}, fixed = {false, true});
  Real vl[2](start = {-L0/L, 0}, fixed = {false, true}), vr[2](start = {-L0/L, 0}, fixed = {false, true});
  Real lambda[2](each nominal = 1e-3) "multipliers";
  Real yb = r*sin(w*time), xb = sqrt(L^2 - yb^2);
  Real base[2] = {xb, yb} "where the right spring stands";
  Real Ll = sqrt(left*left), Lr = sqrt((right - base)*(right - base)) "lengths of the springs";
equation
  der(left) = vl;
  der(right) = vr;
  m*der(vl) = (L0 - Ll)/Ll*left + lambda[1]*base + 2*lambda[2]*(left - right) - {0, m*g};
  m*der(vr) = (L0 - Lr)/Lr*(right - base) - 2*lambda[2]*(left - right) - {0, m*g};
  left*base = 0;
  (left - right)*(left - right) = L^2;
  annotation(experiment(StopTime = 3));
end CarAxis;
