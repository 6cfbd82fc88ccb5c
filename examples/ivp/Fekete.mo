model Fekete "N points on a sphere that repel each other until they rest: elliptic Fekete points; index three"
  parameter Integer N = 20;
  parameter Real friction = 0.5;
  constant Real pi = 3.141592653589793;
  parameter Real alpha[N] = {if i <= 3 then 2*pi*i/3 + pi/13 elseif i <= 10 then 2*pi*(i - 3)/7 + pi/29
    elseif i <= 16 then 2*pi*(i - 10)/6 + pi/7 else 2*pi*(i - 17)/4 + pi/17 for i in 1:N} "longitudes at the start";
  parameter Real beta[N] = {if i <= 3 then 3*pi/8 elseif i <= 10 then pi/8 elseif i <= 16 then -2*pi/15
    else -3*pi/10 for i in 1:N} "latitudes at the start";
  Real p[N, 3](start = {{cos(alpha[i])*cos(beta[i]), sin(alpha[i])*cos(beta[i]), sin(beta[i])} for i in 1:N},
    fixed = {{true, true, false} for i in 1:N}) "positions";
  Real q[N, 3](each start = 0, fixed = {{true, true, false} for i in 1:N}) "velocities";
  Real lambda[N](each start = -5) "forces that keep the points on the sphere";
  Real d[N, N](each start = 1) "squares of the distances, with ones in the diagonal";
equation
  for i in 1:N, j in 1:N loop
    d[i, j] = sum((p[i, k] - p[j, k])^2 for k in 1:3) + (if i == j then 1 else 0);
  end for;
  for i in 1:N, k in 1:3 loop
    der(p[i, k]) = q[i, k];
    der(q[i, k]) = sum((p[i, k] - p[j, k])/d[i, j] for j in 1:N) - friction*q[i, k] + 2*lambda[i]*p[i, k];
  end for;
  for i in 1:N loop
    sum(p[i, k]^2 for k in 1:3) = 1;
  end for;
  annotation(experiment(StopTime = 1000));
end Fekete;
