model OE_3_5_Chain "Chain of n bodies with revolute joints in 3-D, written without any choice of coordinates: 89n equations become 2n (Otter & Elmqvist 2017, §3.1 and §4.7)"
  parameter Integer n = 3 "bodies";
  parameter Real e[n, 3] = {{if mod(i + k, 3) == 0 then 1 else 0 for k in 1:3} for i in 1:n} "joint axes, in the bodies: y, x, z, ...";
  parameter Real l[3] = {0.4, 0.1, -0.2} "from joint to joint", c[3] = {0.2, 0.05, -0.1} "from the joint to the centre of mass";
  parameter Real m[n] = {1 + 0.1*i for i in 1:n} "masses", J[3] = {0.02, 0.03, 0.04} "principal moments of inertia";
  parameter Real d = 0.05 "damping in the joints", g[3] = {0, 0, -9.81} "gravity";
  Real phi[n](start = {0.3*i for i in 1:n}, each fixed = true) "joint angles";
  Real T[n, 3, 3], r[n, 3], w[n, 3], al[n, 3] "frame behind the joint: rotation from the world, place, angular velocity and acceleration";
  Real Tc[n, 3, 3], rc[n, 3], wc[n, 3] "frame in the centre of mass";
  Real f[n, 3] "force in the joint, in the world", tau[n, 3] "torque in the joint, in the body";
  Real energy;
initial equation
  der(phi) = {0.5 - 0.2*i for i in 1:n};
equation
  // Rel(phi) = e*e' + (I - e*e')*cos(phi) - skew(e)*sin(phi)
  T[1, :, :] = outerProduct(e[1, :], e[1, :]) + (identity(3) - outerProduct(e[1, :], e[1, :]))*cos(phi[1]) - skew(e[1, :])*sin(phi[1]);
  r[1, :] = l;
  for i in 2:n loop
    T[i, :, :] = (outerProduct(e[i, :], e[i, :]) + (identity(3) - outerProduct(e[i, :], e[i, :]))*cos(phi[i]) - skew(e[i, :])*sin(phi[i]))*T[i - 1, :, :];
    r[i, :] = r[i - 1, :] + transpose(T[i - 1, :, :])*l;
  end for;
  for i in 1:n loop
    // der(T) = -skew(w)*T
    w[i, :] = {-der(T[i, 3, :])*T[i, 2, :], -der(T[i, 1, :])*T[i, 3, :], -der(T[i, 2, :])*T[i, 1, :]};
    al[i, :] = der(w[i, :]);
    Tc[i, :, :] = T[i, :, :];
    rc[i, :] = r[i, :] + transpose(T[i, :, :])*c;
    wc[i, :] = {-der(Tc[i, 3, :])*Tc[i, 2, :], -der(Tc[i, 1, :])*Tc[i, 3, :], -der(Tc[i, 2, :])*Tc[i, 1, :]};
    e[i, :]*tau[i, :] = -d*der(phi[i]);
  end for;
  for i in 1:n - 1 loop
    m[i]*der(der(rc[i, :])) = f[i, :] - f[i + 1, :] + m[i]*g;
    J.*der(wc[i, :]) + cross(wc[i, :], J.*wc[i, :]) = tau[i, :] - T[i, :, :]*(transpose(T[i + 1, :, :])*tau[i + 1, :])
      + T[i, :, :]*(cross(r[i, :] - rc[i, :], f[i, :]) - cross(r[i + 1, :] - rc[i, :], f[i + 1, :]));
  end for;
  m[n]*der(der(rc[n, :])) = f[n, :] + m[n]*g;
  J.*der(wc[n, :]) + cross(wc[n, :], J.*wc[n, :]) = tau[n, :] + T[n, :, :]*cross(r[n, :] - rc[n, :], f[n, :]);
  energy = sum(m[i]*(der(rc[i, :])*der(rc[i, :])/2 - g*rc[i, :]) + wc[i, :]*(J.*wc[i, :])/2 for i in 1:n);
  annotation(experiment(StopTime = 1, Tolerance = 1e-8, Interval = 0.05));
end OE_3_5_Chain;
