model MedicalAkzoNobel "Antibodies that diffuse into a tumour and bind there: a moving front, by the method of lines"
  parameter Integer N = 200 "grid points";
  parameter Real k = 100 "rate of binding";
  parameter Real c = 4 "stretches the half line to the unit interval, z = x/(x + c)";
  parameter Real dz = 1/N;
  parameter Real a[N] = {2*(i*dz - 1)^3/c^2 for i in 1:N} "convection that the stretching brings";
  parameter Real b[N] = {(i*dz - 1)^4/c^2 for i in 1:N} "diffusion in the stretched coordinate";
  Real u[N](each start = 0, each fixed = true, each nominal = 1e-3) "antibodies";
  Real v[N](each start = 1, each fixed = true) "free places";
  Real phi = if time <= 5 then 2 else 0 "concentration in the blood";
equation
  der(u[1]) = b[1]*(phi - 2*u[1] + u[2])/dz^2 + a[1]*(u[2] - phi)/(2*dz) - k*u[1]*v[1];
  for i in 2:N - 1 loop
    der(u[i]) = b[i]*(u[i - 1] - 2*u[i] + u[i + 1])/dz^2 + a[i]*(u[i + 1] - u[i - 1])/(2*dz) - k*u[i]*v[i];
  end for;
  der(u[N]) = -k*u[N]*v[N];
  der(v) = -k*u.*v;
  annotation(experiment(StopTime = 20));
end MedicalAkzoNobel;
