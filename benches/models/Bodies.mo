model Bodies "A string of N rigid bodies in space, linked by hinges with damping, hanging from a support that shakes"
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

  model Support "Moves to and fro along the y axis"
    Frame b;
  equation
    Connections.root(b.R);
    b.r = {0, 0.01*sin(10*time), 0};
    b.R.T = identity(3);
    b.R.w = zeros(3);
  end Support;

  model Hinge "Turns around an axis n that both frames share"
    Frame a, b;
    parameter Real n[3] = {0, 0, 1};
    parameter Real d = 1e-5 "damping";
    Real phi(start = 0, fixed = true, stateSelect = StateSelect.always) "angle";
    Real w(start = 0, fixed = true, stateSelect = StateSelect.always) "angular velocity";
    Real tau "torque of the damper";
    Real T[3, 3] "rotation from frame a into frame b";
  equation
    Connections.branch(a.R, b.R);
    w = der(phi);
    tau = -d*w;
    T = [n]*transpose([n]) + (identity(3) - [n]*transpose([n]))*cos(phi) - skew(n)*sin(phi);
    b.r = a.r;
    b.R.T = T*a.R.T;
    b.R.w = T*a.R.w + n*w;
    zeros(3) = a.f + transpose(T)*b.f;
    zeros(3) = a.t + transpose(T)*b.t;
    tau = -n*b.t;
  end Hinge;

  model Box "A rigid body with a frame at either end"
    Frame a, b;
    parameter Real l = 1 "length, along the x axis";
    parameter Real m = 1 "mass";
    parameter Real r[3] = {l, 0, 0} "from frame a to frame b";
    parameter Real c[3] = {l/2, 0, 0} "from frame a to the centre of mass";
    parameter Real I[3, 3] = diagonal({m*l^2/600, m*l^2/12, m*l^2/12}) "inertia around the centre of mass";
    parameter Real g[3] = {9.81, 0, 0} "gravity";
    Real v[3](each unit = "m/s") "velocity of frame a";
    Real acc[3](each unit = "m/s2") "acceleration of frame a";
    Real z[3](each unit = "rad/s2") "angular acceleration";
  equation
    Connections.branch(a.R, b.R);
    b.r = a.r + transpose(a.R.T)*r;
    b.R.T = a.R.T;
    b.R.w = a.R.w;
    v = der(a.r);
    acc = der(v);
    z = der(a.R.w);
    a.f + b.f = m*(a.R.T*(acc - g) + cross(z, c) + cross(a.R.w, cross(a.R.w, c)));
    a.t + b.t + cross(r, b.f) = I*z + cross(a.R.w, I*a.R.w) + cross(c, a.f + b.f);
  end Box;

  parameter Integer N = 8 "number of bodies";
  Support support;
  Hinge hinge[N];
  Box box[N](each l = 0.5/N, each m = 0.001/N);
equation
  connect(support.b, hinge[1].a);
  for k in 1:N loop
    connect(hinge[k].b, box[k].a);
  end for;
  for k in 1:N - 1 loop
    connect(box[k].b, hinge[k + 1].a);
  end for;
  annotation(experiment(StopTime = 0.5, Interval = 0.05));
end Bodies;
