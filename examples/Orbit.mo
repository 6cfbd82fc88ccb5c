model Orbit "A comet on an elongated ellipse; vectors in the plane"
  parameter Real mu = 4*pi^2 "mass of the sun times gravitational constant, in AU^3/year^2";
  Real r[2](start = {1, 0}, each fixed = true, each unit = "AU") "position";
  Real v[2](start = {0, 2.5*pi}, each fixed = true, each unit = "AU/year") "velocity";
  Real energy "per mass; does not change";
  Real momentum "angular momentum per mass; does not change";
protected
  constant Real pi = 2*asin(1.0);
equation
  der(r) = v;
  der(v) = -mu*r/sqrt(r*r)^3;
  energy = v*v/2 - mu/sqrt(r*r);
  momentum = r[1]*v[2] - r[2]*v[1];
  annotation(experiment(StopTime = 20, Tolerance = 1e-9));
end Orbit;
