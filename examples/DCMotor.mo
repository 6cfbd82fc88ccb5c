model DCMotor "A motor is switched on; later a load brakes it"
  parameter Real V(unit = "V") = 24 "supply voltage";
  parameter Real R(unit = "Ohm") = 1 "resistance of the winding";
  parameter Real L(unit = "H") = 5e-3 "inductance of the winding";
  parameter Real k(unit = "N.m/A") = 0.1 "motor constant, torque per current = voltage per speed";
  parameter Real J(unit = "kg.m2") = 1e-3 "inertia of rotor and load";
  parameter Real d(unit = "N.m.s/rad") = 1e-4 "friction of the bearings";
  parameter Real load(unit = "N.m") = 0.5 "load torque";
  parameter Real loadTime(unit = "s") = 0.6 "instant at which the load is applied";
  Real i(start = 0, fixed = true, unit = "A") "current";
  Real w(start = 0, fixed = true, unit = "rad/s") "speed";
  Real tau(unit = "N.m") "torque of the motor";
equation
  V = R*i + L*der(i) + k*w;
  tau = k*i;
  J*der(w) = tau - d*w - (if time >= loadTime then load else 0);
  annotation(experiment(StopTime = 1.2));
end DCMotor;
