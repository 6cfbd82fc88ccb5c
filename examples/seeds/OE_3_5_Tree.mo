package OE_3_5_Tree "A tree of six bodies in 3-D, written without any choice of coordinates (Otter & Elmqvist 2017, §3.1 and §4.7)"
  model Body "A body behind a revolute joint"
    parameter Real e[3] "axis of the joint", l[3] "place of the joint in the body before it";
    parameter Real c[3] = {0.2, 0.05, -0.1} "from the joint to the centre of mass";
    parameter Real m = 1 "mass", J[3] = {0.02, 0.03, 0.04} "principal moments of inertia", d = 0.05 "damping in the joint";
    parameter Real g[3] = {0, 0, -9.81} "gravity";
    parameter Real phi0 "angle at the start", dphi0 "its derivative";
    Real T0[3, 3], r0[3] "frame before the joint";
    Real phi(start = phi0, fixed = true) "angle of the joint";
    Real T[3, 3], r[3], w[3], al[3] "frame behind the joint: rotation from the world, place, angular velocity and acceleration";
    Real Tc[3, 3], rc[3], wc[3] "frame in the centre of mass";
    Real f[3], tau[3] "force and torque in the joint: in the world, in the body";
    Real load[3], moment[3] "what the bodies behind take: force in the world, moment about the centre of mass in the body";
  initial equation
    der(phi) = dphi0;
  equation
    T = (outerProduct(e, e) + (identity(3) - outerProduct(e, e))*cos(phi) - skew(e)*sin(phi))*T0;
    r = r0 + transpose(T0)*l;
    w = {-der(T[3, :])*T[2, :], -der(T[1, :])*T[3, :], -der(T[2, :])*T[1, :]} "der(T) = -skew(w)*T";
    al = der(w);
    Tc = T;
    rc = r + transpose(T)*c;
    wc = {-der(Tc[3, :])*Tc[2, :], -der(Tc[1, :])*Tc[3, :], -der(Tc[2, :])*Tc[1, :]};
    m*der(der(rc)) = f - load + m*g;
    J.*der(wc) + cross(wc, J.*wc) = tau + T*cross(r - rc, f) - moment;
    e*tau = -d*der(phi);
  end Body;

  function moment "What a body behind takes, about the centre of the body before it"
    input Real T[3, 3], rc[3] "body before";
    input Real Tn[3, 3], rn[3], f[3], tau[3] "body behind";
    output Real m[3];
  algorithm
    m := T*(transpose(Tn)*tau + cross(rn - rc, f));
  end moment;

  model Tree "Body 1 hangs in the world, 2 and 4 on 1, 3 on 2, 5 and 6 on 4"
    Body b1(e = {0, 1, 0}, l = {0, 0, 0}, m = 1.1, phi0 = 0.3, dphi0 = 0.3);
    Body b2(e = {1, 0, 0}, l = {0.4, 0.1, -0.2}, m = 1.2, phi0 = 0.6, dphi0 = 0.1);
    Body b3(e = {0, 0, 1}, l = {0.4, 0.1, -0.2}, m = 1.3, phi0 = 0.9, dphi0 = -0.1);
    Body b4(e = {0, 0.6, 0.8}, l = {0.3, -0.2, -0.1}, m = 1.4, phi0 = 1.2, dphi0 = -0.3);
    Body b5(e = {1, 0, 0}, l = {0.4, 0.1, -0.2}, m = 1.5, phi0 = 1.5, dphi0 = -0.5);
    Body b6(e = {0, 0, 1}, l = {0.1, 0.3, -0.3}, m = 1.6, phi0 = 1.8, dphi0 = -0.7);
    Real energy "of motion and in the field of gravity";
    Real loss(start = 0, fixed = true) "to the damping";
  equation
    b1.T0 = identity(3);
    b1.r0 = zeros(3);
    b2.T0 = b1.T;
    b2.r0 = b1.r;
    b4.T0 = b1.T;
    b4.r0 = b1.r;
    b3.T0 = b2.T;
    b3.r0 = b2.r;
    b5.T0 = b4.T;
    b5.r0 = b4.r;
    b6.T0 = b4.T;
    b6.r0 = b4.r;
    b1.load = b2.f + b4.f;
    b1.moment = moment(b1.T, b1.rc, b2.T, b2.r, b2.f, b2.tau) + moment(b1.T, b1.rc, b4.T, b4.r, b4.f, b4.tau);
    b2.load = b3.f;
    b2.moment = moment(b2.T, b2.rc, b3.T, b3.r, b3.f, b3.tau);
    b3.load = zeros(3);
    b3.moment = zeros(3);
    b4.load = b5.f + b6.f;
    b4.moment = moment(b4.T, b4.rc, b5.T, b5.r, b5.f, b5.tau) + moment(b4.T, b4.rc, b6.T, b6.r, b6.f, b6.tau);
    b5.load = zeros(3);
    b5.moment = zeros(3);
    b6.load = zeros(3);
    b6.moment = zeros(3);
    energy = own(b1.m, b1.rc, der(b1.rc), b1.wc) + own(b2.m, b2.rc, der(b2.rc), b2.wc) + own(b3.m, b3.rc, der(b3.rc), b3.wc)
      + own(b4.m, b4.rc, der(b4.rc), b4.wc) + own(b5.m, b5.rc, der(b5.rc), b5.wc) + own(b6.m, b6.rc, der(b6.rc), b6.wc);
    der(loss) = 0.05*(der(b1.phi)^2 + der(b2.phi)^2 + der(b3.phi)^2 + der(b4.phi)^2 + der(b5.phi)^2 + der(b6.phi)^2);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8, Interval = 0.05));
  end Tree;

  function own "Energy of one body"
    input Real m, r[3], v[3], w[3];
    output Real e;
  algorithm
    e := m*(v*v/2 + 9.81*r[3]) + (0.02*w[1]^2 + 0.03*w[2]^2 + 0.04*w[3]^2)/2;
  end own;
end OE_3_5_Tree;
