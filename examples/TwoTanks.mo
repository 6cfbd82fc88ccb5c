model TwoTanks "Water runs from one tank into the next and out of it, until both are empty"
  // Torricelli: the speed at an outlet is that of a body that fell from the surface.
  function outflow "Speed of the water at the outlet"
    input Real h "level above the outlet";
    input Real g "gravity";
    output Real v "speed";
  algorithm
    v := if h > 0 then sqrt(2*g*h) else 0;
  end outflow;

  parameter Real A(unit = "m2") = 0.5 "cross section of each tank";
  parameter Real a(unit = "m2") = 1e-3 "cross section of each outlet";
  parameter Real g(unit = "m/s2") = 9.81 "gravity";
  Real h1(start = 2, fixed = true, unit = "m") "level of the upper tank";
  Real h2(start = 0.5, fixed = true, unit = "m") "level of the lower tank";
  Real q1(unit = "m3/s") "flow from the upper into the lower tank";
  Real q2(unit = "m3/s") "flow out of the lower tank";
equation
  q1 = a*outflow(h1, g);
  q2 = a*outflow(h2, g);
  A*der(h1) = -q1;
  A*der(h2) = q1 - q2;
  annotation(experiment(StopTime = 600));
end TwoTanks;
