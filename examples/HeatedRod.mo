model HeatedRod "Heat conduction in a rod that is heated at its left end; N sets the number of cells"
  parameter Integer N = 40 "number of cells";
  parameter Real dx = 1/(N - 1) "distance of the cells";
  Real T[N](each unit = "K") "temperature above ambient";
initial equation
  T[2:N - 1] = zeros(N - 2);
equation
  T[1] = 1 - exp(-10*time);
  for i in 2:N - 1 loop
    der(T[i]) = (T[i - 1] - 2*T[i] + T[i + 1])/dx^2;
  end for;
  T[N] = T[N - 1];
  annotation(experiment(StopTime = 1));
end HeatedRod;
