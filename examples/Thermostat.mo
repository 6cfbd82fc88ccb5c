model Thermostat "A room with a heater that switches with hysteresis"
  parameter Real T_set = 20 "wanted temperature", band = 1 "width of the hysteresis";
  parameter Real T_out = 5 "outside temperature", tau = 3600 "time constant of the room", gain = 30 "heating effect";
  Real T(start = 15, fixed = true, unit = "degC") "room temperature";
  Boolean on(start = true, fixed = true) "heater is on";
equation
  tau*der(T) = T_out - T + (if on then gain else 0);
  when T > T_set + band/2 then
    on = false;
  elsewhen T < T_set - band/2 then
    on = true;
  end when;
  annotation(experiment(StopTime = 7200));
end Thermostat;
