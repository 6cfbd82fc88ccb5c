package Wheelset "One wheelset on a straight track: hunting motion between two rails, contact points as unknowns; index three"
  record Data
    parameter Real R0 = 0.1 "rolling radius", a0 = 0.1506 "half of the distance of the contact points";
    parameter Real delta0 = 0.0262 "cone angle of the wheels", Rs = 0.06 "radius of the rails";
    parameter Real mu = 0.12 "friction", sigma = 0.28, G = 7.92e10 "shear modulus", GG = 0.7115218, E = 1.3537956;
    parameter Real C11 = 4.72772197, C22 = 4.27526987, C23 = 1.97203505 "coefficients of Kalker";
    parameter Real v0 = 30 "speed";
  end Data;

  model Contact "A wheel on its rail; side is +1 on the left and -1 on the right"
    parameter Integer side;
    parameter Real psi0, xi0 "start values";
    constant Real pi = 3.1415926;
    extends Data;
    input Real x, th, phi, vx, vy, vz, dth, dphi, dbeta;
    input Real N(start = 80) "normal force";
    Real psi(start = psi0), xi(start = xi0) "contact point on the wheel: angle and lateral position";
    Real r = R0 + tan(delta0)*(a0 - abs(xi)) "profile of the wheel", dr = if xi > 0 then -tan(delta0) else tan(delta0);
    Real X(start = xi0) = x + xi*cos(th)*cos(phi) + r*(cos(th)*sin(phi)*cos(psi) - sin(th)*sin(psi)) "lateral position on the rail";
    Real s = abs(X) - a0 - sin(delta0)*Rs;
    Real T(start = Rs) = sqrt(Rs^2 - s^2);
    Real g = T - R0 - cos(delta0)*Rs "profile of the rail", dg = if X > 0 then -s/T else s/T, d2g = -Rs^2/T^3;
    Real angle(start = delta0) "of the contact plane";
    Real sd = sin(angle), cd = cos(angle), st = sin(th/cd), ct = cos(th/cd), sp = sin(psi), cp = cos(psi), sf = sin(phi),
      cf = cos(phi);
    Real Q[5] "direction of the normal force on x, y, z, th and phi";
    Real radius(start = 1e-3) "of the contact ellipse";
    Real w[3] "velocity of the contact point", wr(start = v0) "mean speed";
    Real nux, nuy, spin "creepages";
    Real tx, ty, size(start = 1), limit(start = 10) "creep forces";
    Real F[3];
  protected
    Real om = v0/R0 + dbeta;
  equation
    dg*(dr*sf + cf*cp) + dr*cos(th)*cf - cos(th)*sf*cp + sin(th)*sp = 0;
    dr*sin(th)*cf - sin(th)*sf*cp - cos(th)*sp = 0;
    angle = -side*atan(((dr*cf - sf*cp)*cos(th) + sp*sin(th))/(dr*sf + cp*cf));
    Q = {dg, -1, 0, dg*(r*(-cos(th)*sp - cp*sf*sin(th)) - cf*sin(th)*xi),
      -cp*r*sf - cf*xi + dg*(cf*cp*cos(th)*r - cos(th)*sf*xi)};
    radius = (3*abs(N)*(1 - sigma)*E/(2*pi*(0.5/(r*sqrt(1 + dr^2)) - 0.5*d2g/(1 + dg^2)^1.5)*G*sqrt(GG)))^(1/3);
    w[1] = -om*r*(st*cp + ct*sf*sp) + vx - dth*(r*(st*sf*cp + ct*sp) + xi*st*cf) - dphi*ct*(xi*sf - r*cf*cp);
    w[2] = om*r*cf*sp + vy + dphi*(xi*cf + r*sf*cp);
    w[3] = -om*r*(ct*cp - st*sf*sp) + v0 + vz - dth*(xi*ct*cf + r*(ct*sf*cp - st*sp)) + dphi*st*(xi*sf - r*cf*cp);
    wr = 0.5*sqrt((w[1] - 2*vx)^2 + (w[2] - 2*vy)^2 + (w[3] - 2*vz - 2*v0)^2);
    nux = (st*w[1] + ct*w[3])/wr;
    nuy = (ct*cd*w[1] + side*sd*w[2] - st*cd*w[3])/wr;
    spin = (-side*sd*om + cd*dth)/wr;
    limit = mu*N;
    tx = -limit*tanh(G*radius^2*C11*nux/limit);
    ty = -limit*tanh(G*radius^2*C22*nuy/limit + G*radius^3*C23*spin/limit);
    // Continuous, so no event.
    size = noEvent(if tx^2 + ty^2 > limit^2 then abs(limit)/sqrt(tx^2 + ty^2) else 1);
    F = size*{st*tx + ct*cd*ty, side*sd*ty, ct*tx - st*cd*ty};
  end Contact;

  model Track
    extends Data;
    parameter Real m = 16.08, I1 = 0.0605, I2 = 0.366 "mass and moments of inertia", gravity = 9.81;
    parameter Real xl = 0.19, cx = 6400, cz = 6400 "suspension";
    Real x(start = 0.14941e-2), y(start = 0.40089e-6), z(start = 0.11241e-5);
    Real th(start = -0.28573e-3), phi(start = 0.26459e-3) "yaw and roll";
    Real v[5](each start = 0) "velocities of x, y, z, th, phi";
    Real dbeta(start = 0) "deviation of the spin";
    Real lambda[2](start = {-8.3593e-3, -7.4144e-3}, each nominal = 0.01) "normal forces in units of 1e4";
    Contact left(side = 1, psi0 = 7.563440639517294e-06, xi0 = 0.1490635714733819, x = x, th = th, phi = phi, vx = v[1],
      vy = v[2], vz = v[3], dth = v[4], dphi = v[5], dbeta = dbeta);
    Contact right(side = -1, psi0 = -7.4122380357667139e-06, xi0 = -0.1521364296121248, x = x, th = th, phi = phi, vx = v[1],
      vy = v[2], vz = v[3], dth = v[4], dphi = v[5], dbeta = dbeta);
    Real n[2] = 1e4*{left.Q[1]*lambda[1] + right.Q[1]*lambda[2], left.Q[2]*lambda[1] + right.Q[2]*lambda[2]} "sum of the normal forces";
    Real det = -left.sd*right.cd - right.sd*left.cd;
    Real torque[5] "of the normal forces";
  initial equation
    x = 0.14941e-2;
    z = 0.11241e-5;
    th = -0.28573e-3;
    v[{1, 3, 4}] = zeros(3);
    dbeta = 0;
  equation
    left.N = (right.cd*n[1] - right.sd*n[2])/det;
    right.N = (-left.cd*n[1] - left.sd*n[2])/det;
    torque = 1e4*(left.Q*lambda[1] + right.Q*lambda[2]);
    der({x, y, z, th, phi}) = v;
    m*der(v[1]) = left.F[1] + right.F[1] + torque[1] - 2*cx*x;
    m*der(v[2]) = left.F[2] + right.F[2] + torque[2] - m*gravity;
    m*der(v[3]) = left.F[3] + right.F[3] + torque[3] - 2*cz*z;
    I2*cos(phi)*der(v[4]) = I2*v[4]*v[5]*sin(phi) - I1*(v0/R0 + dbeta)*v[5] - (I1 - I2)*v[4]*sin(phi)*v[5]
      + yaw(left.xi, left.r, left.psi, th, phi, left.F) + yaw(right.xi, right.r, right.psi, th, phi, right.F)
      - 2*xl^2*cz*th*cos(phi) + torque[4];
    I2*der(v[5]) = I1*(v0/R0 + dbeta)*v[4]*cos(phi) + (I1 - I2)*v[4]^2*sin(phi)*cos(phi)
      + roll(left.xi, left.r, left.psi, th, phi, left.F) + roll(right.xi, right.r, right.psi, th, phi, right.F) + torque[5];
    I1*(sin(phi)*der(v[4]) + der(dbeta)) = -I1*v[4]*v[5]*cos(phi) + turn(left.r, left.psi, th, phi, left.F)
      + turn(right.r, right.psi, th, phi, right.F) - 2*xl^2*cz*th*sin(phi);
    left.g - y - left.xi*sin(phi) + left.r*cos(phi)*cos(left.psi) = 0;
    right.g - y - right.xi*sin(phi) + right.r*cos(phi)*cos(right.psi) = 0;
    annotation(experiment(StopTime = 10));
  end Track;

  function yaw "Torque of a creep force about the vertical axis"
    input Real xi, r, psi, th, phi, F[3];
    output Real t = -(xi*sin(th) + r*sin(psi)*cos(th)*cos(phi))*F[1] - r*sin(psi)*sin(phi)*F[2]
      + (r*sin(psi)*sin(th)*cos(phi) - xi*cos(th))*F[3];
  algorithm
  end yaw;

  function roll "Torque about the longitudinal axis"
    input Real xi, r, psi, th, phi, F[3];
    output Real t = -(xi*cos(th)*sin(phi) - r*cos(psi)*cos(th)*cos(phi))*F[1] + (xi*cos(phi) + r*cos(psi)*sin(phi))*F[2]
      + (xi*sin(th)*sin(phi) - r*cos(psi)*sin(th)*cos(phi))*F[3];
  algorithm
  end roll;

  function turn "Torque about the axle"
    input Real r, psi, th, phi, F[3];
    output Real t = -r*(cos(psi)*sin(th) + sin(psi)*cos(th)*sin(phi))*F[1] + r*sin(psi)*cos(phi)*F[2]
      - r*(cos(psi)*cos(th) - sin(psi)*sin(th)*sin(phi))*F[3];
  algorithm
  end turn;
end Wheelset;
