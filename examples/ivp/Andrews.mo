model Andrews "Andrews' squeezing mechanism: seven bodies in three loops, driven by a motor; index three"
  parameter Real m[7] = {0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498} "masses";
  parameter Real I[7] = {2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5} "moments of inertia";
  parameter Real xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072 "fixed points";
  parameter Real d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, ss = 0.035, sa = 0.01874,
    sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449, zf = 0.02,
    zt = 0.04, fa = 0.01421 "lengths";
  parameter Real mom = 0.033 "torque of the motor", c0 = 4530 "spring", l0 = 0.07785;
  // beta, theta, gamma, phi, delta, omega, epsilon
  Real q[7](start = {-0.0617138900142764, 0, 0.455279819163070, 0.222668390165886, 0.487364979543843, -0.222668390165886,
    1.23054744454982}, fixed = {false, true, false, false, false, false, false}) "angles";
  Real v[7](each start = 0, fixed = {false, true, false, false, false, false, false}, each nominal = 100);
  Real lambda[6](each nominal = 10) "forces in the joints";
  Real M[7, 7] "mass matrix", f[7] "applied and gyroscopic torques", G[6, 7] "Jacobian of the constraints";
  Real xd = sd*cos(q[3]) + sc*sin(q[3]) + xb, yd = sd*sin(q[3]) - sc*cos(q[3]) + yb "where the spring is fixed";
  Real L = sqrt((xd - xc)^2 + (yd - yc)^2);
  Real F = -c0*(L - l0)/L;
  Real sbt = sin(q[1] + q[2]), cbt = cos(q[1] + q[2]), spd = sin(q[4] + q[5]), cpd = cos(q[4] + q[5]), soe = sin(q[6] + q[7]),
    coe = cos(q[6] + q[7]);
  Real ax = d*sbt - rr*sin(q[1]), ay = rr*cos(q[1]) - d*cbt "velocity of the common point per unit of the motor's";
  Real m11, m21, m22, m54, m55, m76, m77;
equation
  m22 = m[2]*da^2 + I[2];
  m21 = m22 - m[2]*da*rr*cos(q[2]);
  m11 = m[1]*ra^2 + m[2]*(rr^2 - 2*da*rr*cos(q[2]) + da^2) + I[1] + I[2];
  m54 = m[4]*((e - ea)^2 + zt*(e - ea)*sin(q[4])) + I[4];
  m55 = m[4]*(zt^2 + 2*zt*(e - ea)*sin(q[4]) + (e - ea)^2) + m[5]*(ta^2 + tb^2) + I[4] + I[5];
  m76 = m[6]*((zf - fa)^2 - u*(zf - fa)*sin(q[6])) + I[6];
  m77 = m[6]*((zf - fa)^2 - 2*u*(zf - fa)*sin(q[6]) + u^2) + m[7]*(ua^2 + ub^2) + I[6] + I[7];
  M = [m11, m21, 0, 0, 0, 0, 0;
       m21, m22, 0, 0, 0, 0, 0;
       0, 0, m[3]*(sa^2 + sb^2) + I[3], 0, 0, 0, 0;
       0, 0, 0, m[4]*(e - ea)^2 + I[4], m54, 0, 0;
       0, 0, 0, m54, m55, 0, 0;
       0, 0, 0, 0, 0, m[6]*(zf - fa)^2 + I[6], m76;
       0, 0, 0, 0, 0, m76, m77];
  f = {mom - m[2]*da*rr*v[2]*(v[2] + 2*v[1])*sin(q[2]),
       m[2]*da*rr*v[1]^2*sin(q[2]),
       F*((xd - xc)*(sc*cos(q[3]) - sd*sin(q[3])) + (yd - yc)*(sd*cos(q[3]) + sc*sin(q[3]))),
       m[4]*zt*(e - ea)*v[5]^2*cos(q[4]),
       -m[4]*zt*(e - ea)*v[4]*(v[4] + 2*v[5])*cos(q[4]),
       -m[6]*u*(zf - fa)*v[7]^2*cos(q[6]),
       m[6]*u*(zf - fa)*v[6]*(v[6] + 2*v[7])*cos(q[6])};
  G = [ax, d*sbt, -ss*cos(q[3]), 0, 0, 0, 0;
       ay, -d*cbt, -ss*sin(q[3]), 0, 0, 0, 0;
       ax, d*sbt, 0, -e*cpd, zt*sin(q[5]) - e*cpd, 0, 0;
       ay, -d*cbt, 0, -e*spd, -zt*cos(q[5]) - e*spd, 0, 0;
       ax, d*sbt, 0, 0, 0, zf*soe, zf*soe - u*cos(q[7]);
       ay, -d*cbt, 0, 0, 0, -zf*coe, -zf*coe - u*sin(q[7])];
  der(q) = v;
  M*der(v) = f - transpose(G)*lambda;
  rr*cos(q[1]) - d*cbt - ss*sin(q[3]) = xb;
  rr*sin(q[1]) - d*sbt + ss*cos(q[3]) = yb;
  rr*cos(q[1]) - d*cbt - e*spd - zt*cos(q[5]) = xa;
  rr*sin(q[1]) - d*sbt + e*cpd - zt*sin(q[5]) = ya;
  rr*cos(q[1]) - d*cbt - zf*coe - u*sin(q[7]) = xa;
  rr*sin(q[1]) - d*sbt - zf*soe + u*cos(q[7]) = ya;
  annotation(experiment(StopTime = 0.03));
end Andrews;
