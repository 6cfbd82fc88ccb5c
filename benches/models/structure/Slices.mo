model Slices "All elements equal, said by slices"
  parameter Integer N = 10;
  Real x[N], y[N];
equation
  x[1:N - 1] = x[2:N];
  x[1] = sin(time);
  y[1:N - 1] = y[2:N] + x[2:N];
  der(y[N]) = -y[N];
end Slices;
