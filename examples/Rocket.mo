model Rocket "A sounding rocket burns its fuel, coasts, and falls back; the simulation ends at touchdown"
  function density "Air density of the standard atmosphere, roughly"
    input Real h(unit = "m");
    output Real rho(unit = "kg/m3");
  algorithm
    rho := 1.225*exp(-h/8500);
  end density;

  parameter Real g(unit = "m/s2") = 9.81;
  parameter Real m_empty(unit = "kg") = 40, thrust(unit = "N") = 4000, consumption(unit = "kg/s") = 2;
  parameter Real cwA(unit = "m2") = 0.01 "drag coefficient times cross section";
  Real h(start = 0, fixed = true, unit = "m") "height";
  Real v(start = 0, fixed = true, unit = "m/s") "speed upwards";
  Real fuel(start = 60, fixed = true, unit = "kg") "mass of the fuel left";
  Boolean burning(start = true, fixed = true);
  discrete Real apogee(start = 0, fixed = true, unit = "m") "greatest height";
equation
  der(h) = v;
  der(fuel) = if burning then -consumption else 0;
  (m_empty + fuel)*(der(v) + g) = (if burning then thrust else 0) - density(h)*cwA*v*abs(v)/2;
  when fuel <= 0 then
    burning = false;
  end when;
  when v < 0 then
    apogee = h;
  end when;
  when h < 0 then
    terminate("the rocket is back on the ground");
  end when;
  annotation(experiment(StopTime = 600));
end Rocket;
