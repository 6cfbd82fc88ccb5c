model PowerSystem "N power plants in a row, linked by lines; a load is lost at the first"
  model Plant "Boiler, superheater, turbine, governor and rotor, in per unit"
    parameter Integer M = 4 "cells of the superheater";
    parameter Real inertia = 5 "starting time of the rotor";
    parameter Real droop = 0.1 "of the primary control";
    parameter Real share = 0.3 "of the high-pressure turbine";
    input Real demand "electrical power taken from the plant";
    input Real correction "power asked for by the secondary control";
    Real angle(start = 0, fixed = true) "rotor angle relative to the nominal rotation";
    Real speed(start = 1, fixed = true) "rotor speed";
    Real power "of the turbine";
    Real pressure(start = 1, fixed = true) "in the boiler";
    Real heat(start = 1, fixed = true) "into the boiler";
    Real steam "flow of steam";
    Real valve(start = 1, fixed = true) "opening of the turbine valve";
    Real low(start = 1 - share, fixed = true) "power of the low-pressure turbine";
    Real wanted "power that the turbine shall deliver";
    Real e_power "deviation of the power";
    Real i_power(start = 0, fixed = true) "its integral";
    Real e_pressure "deviation of the pressure";
    Real i_pressure(start = 0, fixed = true) "its integral";
    Real heat_set, valve_set;
    Real T[M](each start = 1.2, each fixed = true) "temperatures in the superheater";
    Real b[M + 1] "temperatures at the boundaries of its cells";
  equation
    der(angle) = 314*(speed - 1);
    inertia*speed*der(speed) = power - demand;
    200*der(pressure) = heat - steam;
    steam = valve*pressure;
    8*der(low) = (1 - share)*steam - low;
    power = share*steam + low;
    0.3*der(valve) = valve_set - valve;
    3*der(heat) = heat_set - heat;
    wanted = 1 - (speed - 1)/droop + correction;
    e_power = wanted - power;
    der(i_power) = e_power;
    e_pressure = 1 - pressure;
    der(i_pressure) = e_pressure;
    heat_set = wanted + 10*(e_pressure + i_pressure/70);
    valve_set = wanted + 2*(e_power + i_power/0.3);
    b[1] = pressure;
    b[2:M + 1] = T;
    for i in 1:M loop
      100/M*der(T[i]) = steam*(b[i] - b[i + 1]) + 2/M*(1.5 - b[i + 1]);
    end for;
  end Plant;

  parameter Integer N = 8 "number of plants";
  Plant plant[N];
  Real line[N + 1] "power from plant k - 1 to plant k";
  Real loads[N] = {if k == 1 then 0.5 else 1 for k in 1:N};
  Real secondary(start = 0, fixed = true) "power asked for by the secondary control, per plant";
equation
  line[1] = 0;
  line[N + 1] = 0;
  for k in 2:N loop
    line[k] = sin(plant[k - 1].angle - plant[k].angle) + 157*(plant[k - 1].speed - plant[k].speed);
  end for;
  for k in 1:N loop
    plant[k].demand = loads[k] + line[k + 1] - line[k];
    plant[k].correction = secondary;
  end for;
  20*der(secondary) = (1 - plant[1].speed)/0.1;
  annotation(experiment(StopTime = 10, Interval = 1));
end PowerSystem;
