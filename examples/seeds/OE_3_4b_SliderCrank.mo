model OE_3_4b_SliderCrank "Planar slider-crank: a closed loop of three bodies with its two constraint forces (Otter & Elmqvist 2017, (11))"
  parameter Real r = 0.5 "crank", l = 1.5 "rod", J1 = 0.2 "crank about its pivot";
  parameter Real m2 = 1, J2 = 0.1875 "rod", m3 = 2 "slider", g = 9.81 "gravity";
  Real q[3](start = {0.5, -0.1604966697, 1.9195133306}) "angles of crank and rod, way of the slider";
  Real v[3](start = {2, -0.5926720427, -0.6214965953}) "their derivatives";
  Real lam[2] "constraint forces", M[3, 3] "masses", G[2, 3] "constraint Jacobian", h[3] "other forces";
initial equation
  q[1] = 0.5;
  v[1] = 2;
equation
  der(q) = v;
  M*der(v) + transpose(G)*lam = h;
  0 = r*cos(q[1]) + l*cos(q[2]) - q[3];
  0 = r*sin(q[1]) + l*sin(q[2]);
  M = {{J1 + m2*r^2, m2*r*l/2*cos(q[1] - q[2]), 0},
       {m2*r*l/2*cos(q[1] - q[2]), J2 + m2*l^2/4, 0},
       {0, 0, m3}};
  G = {{-r*sin(q[1]), -l*sin(q[2]), -1},
       {r*cos(q[1]), l*cos(q[2]), 0}};
  h = {-m2*r*l/2*v[2]^2*sin(q[1] - q[2]) - m2*g*r*cos(q[1]),
       m2*r*l/2*v[1]^2*sin(q[1] - q[2]) - m2*g*l/2*cos(q[2]),
       0};
  annotation(experiment(StopTime = 3, Tolerance = 1e-8, Interval = 0.01));
end OE_3_4b_SliderCrank;
