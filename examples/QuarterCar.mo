model QuarterCar "A wheel and its quarter of the car drive over a bump"
  parameter Real m_body(unit = "kg") = 300, m_wheel(unit = "kg") = 40;
  parameter Real k_spring(unit = "N/m") = 18e3, d_damper(unit = "N.s/m") = 1.2e3 "suspension";
  parameter Real k_tyre(unit = "N/m") = 180e3;
  parameter Real speed(unit = "m/s") = 10, height(unit = "m") = 0.05, length(unit = "m") = 1 "of the bump";
  parameter Real bumpTime(unit = "s") = 0.5 "instant at which the wheel reaches the bump";
  Real z_body(start = 0, fixed = true, unit = "m") "height of the body above its position at rest";
  Real z_wheel(start = 0, fixed = true, unit = "m") "the same of the wheel";
  Real road(unit = "m") "height of the road under the wheel";
  Real v_body(start = 0, fixed = true, unit = "m/s"), v_wheel(start = 0, fixed = true, unit = "m/s");
  Real suspension(unit = "N") "force of spring and damper on the body";
  Real tyre(unit = "N") "force of the tyre on the wheel";
protected
  Real s(unit = "m") "distance driven on the bump";
  constant Real pi = 2*asin(1.0);
equation
  s = speed*(time - bumpTime);
  road = if s > 0 and s < length then height*(1 - cos(2*pi*s/length))/2 else 0;
  der(z_body) = v_body;
  der(z_wheel) = v_wheel;
  suspension = k_spring*(z_wheel - z_body) + d_damper*(v_wheel - v_body);
  tyre = k_tyre*(road - z_wheel);
  m_body*der(v_body) = suspension;
  m_wheel*der(v_wheel) = tyre - suspension;
  annotation(experiment(StopTime = 3));
end QuarterCar;
