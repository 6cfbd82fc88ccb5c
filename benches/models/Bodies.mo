model Bodies "A string of N rigid links in space, hanging from a support that shakes; every hinge is turned against the one before"
  record Orientation "Twelve numbers for three degrees of freedom, so that a loop of connections must be broken"
    Real T[3, 3] "rotation from the world into the frame";
    Real w[3](each unit = "rad/s") "angular velocity, seen from the frame";

    function equalityConstraint "Three numbers that vanish when two orientations are equal"
      input Orientation R1, R2;
      output Real residue[3];
    algorithm
      residue := {R1.T[2, :]*R2.T[3, :], R1.T[3, :]*R2.T[1, :], R1.T[1, :]*R2.T[2, :]};
    end equalityConstraint;
  end Orientation;

  connector Frame "A coordinate system fixed to a body"
    Real r[3](each unit = "m") "origin, seen from the world";
    Orientation R "orientation";
    flow Real f[3](each unit = "N") "cut force, seen from the frame";
    flow Real t[3](each unit = "N.m") "cut torque, seen from the frame";
  end Frame;

  connector Flange "A shaft"
    Real phi(unit = "rad") "angle";
    flow Real tau(unit = "N.m") "cut torque";
  end Flange;

  model World "The origin, and gravity"
    Frame b;
    parameter Real g[3](each unit = "m/s2") = {9.81, 0, 0} "acceleration of gravity";
  equation
    Connections.root(b.R);
    b.r = zeros(3);
    b.R.T = identity(3);
    b.R.w = zeros(3);
  end World;

  partial model TwoFrames "Something rigid or moving between two frames"
    Frame a, b;
  equation
    Connections.branch(a.R, b.R);
  end TwoFrames;

  model Shaker "Moves frame b to and fro"
    extends TwoFrames;
    parameter Real amplitude[3](each unit = "m") = {0, 0.01, 0.01};
    parameter Real frequency[3](each unit = "rad/s") = {0, 10, 7};
    Real s[3](each unit = "m") "from frame a to frame b, seen from frame a";
  equation
    s = {amplitude[k]*sin(frequency[k]*time) for k in 1:3};
    b.r = a.r + transpose(a.R.T)*s;
    b.R.T = a.R.T;
    b.R.w = a.R.w;
    zeros(3) = a.f + b.f;
    zeros(3) = a.t + b.t + cross(s, b.f);
  end Shaker;

  model Hinge "Turns around an axis n that both frames share"
    extends TwoFrames;
    Flange axis "drives the hinge";
    Flange support "holds what drives";
    parameter Real n[3] = {0, 0, 1};
    Real phi(start = 0, fixed = true, stateSelect = StateSelect.always, unit = "rad") "angle";
    Real w(start = 0, fixed = true, stateSelect = StateSelect.always, unit = "rad/s") "angular velocity";
    Real z(unit = "rad/s2") "angular acceleration";
    Real tau(unit = "N.m") "torque around the axis";
    Real e[3] "the axis, seen from the world";
    Orientation rel "of frame b, seen from frame a";
  equation
    phi = axis.phi - support.phi;
    support.phi = 0;
    w = der(phi);
    z = der(w);
    tau = axis.tau;
    e = transpose(a.R.T)*n;
    rel.T = [n]*transpose([n]) + (identity(3) - [n]*transpose([n]))*cos(phi) - skew(n)*sin(phi);
    rel.w = n*w;
    b.r = a.r;
    b.R.T = rel.T*a.R.T;
    b.R.w = rel.T*a.R.w + rel.w;
    zeros(3) = a.f + transpose(rel.T)*b.f;
    zeros(3) = a.t + transpose(rel.T)*b.t;
    tau = -n*b.t;
  end Hinge;

  model SpringDamper "Between two shafts"
    Flange a, b;
    parameter Real c(unit = "N.m/rad") = 1e-6 "stiffness";
    parameter Real d(unit = "N.m.s/rad") = 1e-5 "damping";
    Real phi(unit = "rad") "angle between the shafts";
    Real w(unit = "rad/s") "its rate";
    Real tauC(unit = "N.m") "torque of the spring";
    Real tauD(unit = "N.m") "torque of the damper";
    Real tau(unit = "N.m") "torque";
    Real loss(unit = "W") "power that the damper takes";
  equation
    phi = b.phi - a.phi;
    w = der(phi);
    tauC = c*phi;
    tauD = d*w;
    tau = tauC + tauD;
    loss = tauD*w;
    b.tau = tau;
    a.tau = -tau;
  end SpringDamper;

  model Mount "Turns frame b against frame a by a fixed angle around the x axis"
    extends TwoFrames;
    parameter Real angle(unit = "rad") = 1.5707963267948966;
    Orientation rel "of frame b, seen from frame a";
  equation
    rel.T = [1, 0, 0; 0, cos(angle), sin(angle); 0, -sin(angle), cos(angle)];
    rel.w = zeros(3);
    b.r = a.r;
    b.R.T = rel.T*a.R.T;
    b.R.w = rel.T*a.R.w + rel.w;
    zeros(3) = a.f + transpose(rel.T)*b.f;
    zeros(3) = a.t + transpose(rel.T)*b.t;
  end Mount;

  model Translation "Frame b is fixed at r in frame a"
    extends TwoFrames;
    parameter Real r[3](each unit = "m") = {1, 0, 0} "seen from frame a";
    Real r0[3](each unit = "m") "seen from the world";
    Real v0[3](each unit = "m/s") "velocity of frame b relative to frame a, seen from frame a";
  equation
    r0 = transpose(a.R.T)*r;
    v0 = cross(a.R.w, r);
    b.r = a.r + r0;
    b.R.T = a.R.T;
    b.R.w = a.R.w;
    zeros(3) = a.f + b.f;
    zeros(3) = a.t + b.t + cross(r, b.f);
  end Translation;

  model Body "A rigid body; its frame is at the centre of mass"
    Frame a;
    outer World world;
    parameter Real m(unit = "kg") = 1 "mass";
    parameter Real I[3, 3](each unit = "kg.m2") = identity(3) "inertia around the centre of mass";
    Real r[3](each unit = "m") "position";
    Real v[3](each unit = "m/s") "velocity";
    Real acc[3](each unit = "m/s2") "acceleration";
    Real g[3](each unit = "m/s2") "gravity";
    Real w[3](each unit = "rad/s") "angular velocity, seen from the frame";
    Real z[3](each unit = "rad/s2") "angular acceleration, seen from the frame";
    Real L[3](each unit = "N.m.s") "angular momentum, seen from the frame";
    Real force[3](each unit = "N") "seen from the frame";
    Real torque[3](each unit = "N.m") "seen from the frame";
    Real kinetic(unit = "J") "kinetic energy";
    Real potential(unit = "J") "potential energy";
  equation
    r = a.r;
    v = der(r);
    acc = der(v);
    g = world.g;
    w = a.R.w;
    z = der(w);
    L = I*w;
    force = m*(a.R.T*(acc - g));
    torque = I*z + cross(w, L);
    a.f = force;
    a.t = torque;
    kinetic = (m*(v*v) + w*L)/2;
    potential = -m*(g*r);
  end Body;

  model Link "A slender body along the x axis with a frame at either end"
    Frame a, b;
    parameter Real l(unit = "m") = 1 "length";
    parameter Real m(unit = "kg") = 1 "mass";
    Translation front(r = {l/2, 0, 0}), back(r = {l/2, 0, 0});
    Body body(m = m, I = diagonal({m*l^2/600, m*l^2/12, m*l^2/12}));
  equation
    connect(a, front.a);
    connect(front.b, body.a);
    connect(front.b, back.a);
    connect(back.b, b);
  end Link;

  parameter Integer N = 8 "number of links";
  inner World world;
  Shaker shaker;
  Hinge hinge[N];
  SpringDamper spring[N];
  Mount mount[N];
  Link link[N](each l = 0.5/N, each m = 0.001/N);
equation
  connect(world.b, shaker.a);
  connect(shaker.b, hinge[1].a);
  for k in 1:N loop
    connect(hinge[k].support, spring[k].a);
    connect(hinge[k].axis, spring[k].b);
    connect(hinge[k].b, mount[k].a);
    connect(mount[k].b, link[k].a);
  end for;
  for k in 1:N - 1 loop
    connect(link[k].b, hinge[k + 1].a);
  end for;
  annotation(experiment(StopTime = 0.5, Interval = 0.05));
end Bodies;
