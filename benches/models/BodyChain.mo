model BodyChain "N heavy bodies on rigid rods in space, hanging from a fixed point; index three"
  parameter Integer N = 50;
  parameter Real m = 1, l = 1/N, g = 9.81;
  parameter Real damping = 0.5 "of the air";
  Real r[N, 3](each stateSelect = StateSelect.prefer, start = {{k*l*0.8, 0, -k*l*0.6} for k in 1:N}) "positions";
  Real v[N, 3](each stateSelect = StateSelect.prefer, each start = 0) "velocities";
  Real a[N, 3](start = {{l*0.8, 0, -l*0.6} for k in 1:N}) "directions of the rods, times their length";
  Real lambda[N + 1](each nominal = 100) "forces in the rods per length; the last one is none";
initial equation
  for k in 1:N loop
    r[k, 2] = 0;
    r[k, 3] = -k*l*0.6;
    v[k, 2] = 0;
    v[k, 3] = 0;
  end for;
equation
  a[1, :] = r[1, :];
  for k in 2:N loop
    a[k, :] = r[k, :] - r[k - 1, :];
  end for;
  for k in 1:N - 1 loop
    for j in 1:3 loop
      m*der(v[k, j]) = lambda[k + 1]*a[k + 1, j] - lambda[k]*a[k, j] - damping*v[k, j] + (if j == 3 then -m*g elseif j == 2 then m*g*0.1*sin(5*time) else 0);
    end for;
  end for;
  for j in 1:3 loop
    m*der(v[N, j]) = -lambda[N]*a[N, j] - damping*v[N, j] + (if j == 3 then -m*g elseif j == 2 then m*g*0.1*sin(5*time) else 0);
  end for;
  lambda[N + 1] = 0;
  der(r) = v;
  for k in 1:N loop
    sum(a[k, j]^2 for j in 1:3) = l^2;
  end for;
  annotation(experiment(StopTime = 1));
end BodyChain;
