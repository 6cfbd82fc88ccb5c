model OE_3_4c_FourBar "Closed four-bar of three planar bodies in Cartesian coordinates with eight joint forces (Otter & Elmqvist 2017, (11))"
  constant Integer n = 3 "moving bars: crank, coupler, rocker";
  parameter Real l[n] = {1, 3, 2} "lengths", d = 3 "distance of the pivots", m[n] = {1, 3, 2} "masses";
  parameter Real J[n] = {1/12, 27/12, 8/12} "moments of inertia about the centres, m*l^2/12", g = 9.81;
  Real x[n], y[n] "centres", phi[n](start = {1.2, 0.3, -2}) "angles of the bars";
  Real vx[n], vy[n], w[n] "velocities";
  Real fx[n + 1], fy[n + 1] "forces in the joints, on the bar to the right";
  Real energy;
initial equation
  phi[1] = 1.2;
  w[1] = 0;
equation
  der(x) = vx;
  der(y) = vy;
  der(phi) = w;
  for i in 1:n loop
    m[i]*der(vx[i]) = fx[i] - fx[i + 1];
    m[i]*der(vy[i]) = fy[i] - fy[i + 1] - m[i]*g;
    J[i]*der(w[i]) = l[i]/2*(sin(phi[i])*(fx[i] + fx[i + 1]) - cos(phi[i])*(fy[i] + fy[i + 1]));
  end for;
  // The left end of the first bar sits at the origin, each next bar starts where the one before ends.
  x[1] - l[1]/2*cos(phi[1]) = 0;
  y[1] - l[1]/2*sin(phi[1]) = 0;
  for i in 2:n loop
    x[i] - l[i]/2*cos(phi[i]) = x[i - 1] + l[i - 1]/2*cos(phi[i - 1]);
    y[i] - l[i]/2*sin(phi[i]) = y[i - 1] + l[i - 1]/2*sin(phi[i - 1]);
  end for;
  x[n] + l[n]/2*cos(phi[n]) = d;
  y[n] + l[n]/2*sin(phi[n]) = 0;
  energy = sum(m[i]*(vx[i]^2 + vy[i]^2)/2 + J[i]*w[i]^2/2 + m[i]*g*y[i] for i in 1:n);
  annotation(experiment(StopTime = 10, Tolerance = 1e-8, Interval = 0.05));
end OE_3_4c_FourBar;
