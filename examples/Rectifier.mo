model Rectifier "A diode charges a capacitor; an ideal diode either conducts or blocks"
  parameter Real f(unit = "Hz") = 50, V(unit = "V") = 12 "source";
  parameter Real R_on(unit = "Ohm") = 0.5 "resistance of source and conducting diode";
  parameter Real C(unit = "F") = 1e-3, R(unit = "Ohm") = 100 "smoothing capacitor and load";
  Real u(unit = "V") "voltage of the source";
  Real v(start = 0, fixed = true, unit = "V") "voltage of the capacitor";
  Real i(unit = "A") "current through the diode";
  Boolean conducting "the diode conducts";
protected
  constant Real pi = 2*asin(1.0);
equation
  u = V*sin(2*pi*f*time);
  conducting = u > v;
  if conducting then
    R_on*i = u - v;
  else
    i = 0;
  end if;
  C*der(v) = i - v/R;
  annotation(experiment(StopTime = 0.1));
end Rectifier;
