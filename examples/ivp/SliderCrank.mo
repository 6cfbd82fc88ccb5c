model SliderCrank "A crank that turns at constant speed, an elastic rod and a sliding block; index three"
  parameter Real m1 = 0.36, m2 = 0.151104, m3 = 0.075552 "masses of crank, rod and block";
  parameter Real l1 = 0.15, l2 = 0.30, J1 = 0.002727, J2 = 0.0045339259;
  parameter Real E = 2e11 "Young's modulus", width = 0.008, h = 0.008, rho = 7870, Omega = 150;
  // The published values were computed with this many digits.
  constant Real pi = 3.1415927;
  parameter Real fm = rho*width*h*l2, fk = E*width*h/l2, fb = width*h*l2;
  parameter Real Mq[4, 4] = fm*[0.5, 0, 0, 0; 0, 0.5, 0, 0; 0, 0, 8, 1; 0, 0, 1, 2];
  parameter Real Kq[4, 4] = fk*[pi^4/24*(h/l2)^2, 0, 0, 0; 0, pi^4*2/3*(h/l2)^2, 0, 0; 0, 0, 16/3, -8/3; 0, 0, -8/3, 7/3];
  parameter Real Bq[4, 4] = fb*[0, 0, -16/pi^3, 8/pi^3 - 1/pi; 0, 0, 0, 0.5/pi; 16/pi^3, 0, 0, 0; 1/pi - 8/pi^3, -0.5/pi, 0, 0];
  parameter Real c1[4] = fb*{0, 0, 2/3, 1/6}, c2[4] = fb*{2/pi, 0, 0, 0};
  parameter Real c12[4] = l2*fb*{0, 0, 1/3, 1/6}, c21[4] = l2*fb*{1/pi, -0.5/pi, 0, 0};
  Real phi1(start = 0), phi2(start = 0) "angles of crank and rod";
  Real x(start = 0.45) "position of the block";
  Real q[4](start = {0, 0, 0.103339863e-4, 0.169327969e-4}, each fixed = true, each nominal = 1e-4) "deformation of the rod";
  Real v1(start = 150, nominal = 100), v2(start = -75, nominal = 100), vx(start = 0, nominal = 10);
  Real vq[4](start = {0.444896105, 0.463434311e-2, -0.178591076e-5, -0.268938672e-5}, each fixed = true, each nominal = 0.01);
  Real lambda[3](each nominal = 100) "forces in the joints and of the drive";
  Real C = cos(phi1 - phi2), S = sin(phi1 - phi2);
  Real Mqq[4] = Mq*q, Bqv[4] = Bq*vq;
  Real m12, m1q[4], m22, m2q[4] "entries of the mass matrix";
equation
  der(phi1) = v1;
  der(phi2) = v2;
  der(x) = vx;
  der(q) = vq;
  m12 = 0.5*l1*l2*m2*C + rho*l1*(S*(c2*q) + C*(c1*q));
  m22 = J2 + q*Mqq + 2*rho*(c12*q);
  m1q = rho*l1*(C*c2 - S*c1);
  m2q = rho*(c21 + q*Bq);
  (J1 + m2*l1^2)*der(v1) + m12*der(v2) + m1q*der(vq) = -0.5*l1*l2*m2*v2^2*S
    + rho*l1*v2^2*(C*(c2*q) - S*(c1*q)) - 2*rho*l1*v2*(C*(c1*vq) + S*(c2*vq))
    - l1*cos(phi1)*lambda[1] - l1*sin(phi1)*lambda[2] - lambda[3];
  m12*der(v1) + m22*der(v2) + m2q*der(vq) = 0.5*l1*l2*m2*v1^2*S + rho*l1*v1^2*(S*(c1*q) - C*(c2*q))
    - 2*rho*v2*(c12*vq) - 2*v2*(vq*Mqq) - rho*(vq*Bqv)
    - (l2 + q[4])*(cos(phi2)*lambda[1] + sin(phi2)*lambda[2]);
  m3*der(vx) = -lambda[2];
  m1q*der(v1) + m2q*der(v2) + Mq*der(vq) = v2^2*Mqq + rho*(v2^2*c12 + l1*v1^2*(C*c1 + S*c2) + 2*v2*Bqv) - Kq*q
    - {0, 0, 0, sin(phi2)*lambda[1] - cos(phi2)*lambda[2]};
  l1*sin(phi1) + (l2 + q[4])*sin(phi2) = 0;
  x = l1*cos(phi1) + (l2 + q[4])*cos(phi2);
  phi1 = Omega*time;
  annotation(experiment(StopTime = 0.1));
end SliderCrank;
