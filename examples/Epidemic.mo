model Epidemic "Susceptible, infected, recovered: how an infection runs through a town"
  parameter Real inhabitants = 10000;
  parameter Real contacts(unit = "1/d") = 0.5 "infecting contacts per day";
  parameter Real recovery(unit = "1/d") = 0.2 "a fifth of the infected recovers each day";
  parameter Real lockdown = 1 "fraction of contacts left after day 20; try --set lockdown=0.3";
  Real S(start = inhabitants - 10, fixed = true) "susceptible";
  Real I(start = 10, fixed = true) "infected";
  Real R "recovered";
protected
  Real infections "per day";
equation
  infections = contacts*(if time < 20 then 1 else lockdown)*I*S/inhabitants;
  der(S) = -infections;
  der(I) = infections - recovery*I;
  S + I + R = inhabitants;
  annotation(experiment(StopTime = 80));
end Epidemic;
