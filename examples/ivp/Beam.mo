model Beam "A clamped elastic beam of N links under a force that follows a sine until t = pi"
  parameter Integer N = 40;
  constant Real pi = 3.141592653589793;
  Real th[N](each start = 0, each fixed = true) "angles of the links";
  Real om[N](each start = 0, each fixed = true) "angular velocities";
  Real v[N], w[N](each start = 0) "the inverse of the mass matrix, as a tridiagonal system";
  Real c[N - 1] = cos(th[2:N] - th[1:N - 1]), s[N - 1] = sin(th[2:N] - th[1:N - 1]);
  Real F = if time <= pi then 1.5*sin(time)^2 else 0;
  Real f[N] = N^2*F*(cos(th) + sin(th)) "torque of the force at the tip";
equation
  v[1] = N^4*(th[2] - 3*th[1]) + f[1];
  v[2:N - 1] = N^4*(th[1:N - 2] - 2*th[2:N - 1] + th[3:N]) + f[2:N - 1];
  v[N] = N^4*(th[N - 1] - th[N]) + f[N];
  w[1] - c[1]*w[2] = s[1]*v[2] + om[1]^2;
  for i in 2:N - 1 loop
    2*w[i] - c[i - 1]*w[i - 1] - c[i]*w[i + 1] = s[i]*v[i + 1] - s[i - 1]*v[i - 1] + om[i]^2;
  end for;
  3*w[N] - c[N - 1]*w[N - 1] = om[N]^2 - s[N - 1]*v[N - 1];
  der(th) = om;
  der(om[1]) = v[1] - c[1]*v[2] + s[1]*w[2];
  for i in 2:N - 1 loop
    der(om[i]) = 2*v[i] - c[i - 1]*v[i - 1] - c[i]*v[i + 1] - s[i - 1]*w[i - 1] + s[i]*w[i + 1];
  end for;
  der(om[N]) = 3*v[N] - c[N - 1]*v[N - 1] - s[N - 1]*w[N - 1];
  annotation(experiment(StopTime = 5));
end Beam;
