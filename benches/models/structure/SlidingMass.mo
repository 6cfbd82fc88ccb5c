model SlidingMass "A mass that slides along a line in N dimensions (Otter & Elmqvist 2017, equation (8))"
  parameter Integer N = 3;
  parameter Real m = 2, c = 50, d = 4;
  parameter Real n[N] = fill(1/sqrt(N), N), g[N] = fill(-9.81/sqrt(N), N);
  Real s(start = 0.5, fixed = true), r[N], v[N], f[N], u[N];
initial equation
  der(s) = 0;
equation
  r = n*s;
  v = der(r);
  m*der(v) = f + m*g + u;
  0 = n*f;
  u = -(c*s + d*der(s))*n;
end SlidingMass;
