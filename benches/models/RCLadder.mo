model RCLadder "RC ladder of components, connected in a loop"
  connector Pin
    Real v(unit = "V") "potential";
    flow Real i(unit = "A") "current into the component";
  end Pin;

  model Resistor
    Pin p, n;
    parameter Real R(unit = "Ohm") = 1;
  equation
    p.v - n.v = R*p.i;
    p.i + n.i = 0;
  end Resistor;

  model Capacitor "The other side is grounded"
    Pin p;
    parameter Real C(unit = "F") = 1;
    Real v(unit = "V", start = 0, fixed = true) "voltage";
  equation
    v = p.v;
    C*der(v) = p.i;
  end Capacitor;

  model Source
    Pin p;
    parameter Real V(unit = "V") = 1;
  equation
    p.v = V;
  end Source;

  parameter Integer N = 8 "number of pairs";
  Source source;
  Resistor r[N](each R = 1/N);
  Capacitor c[N](each C = 1/N);
equation
  connect(source.p, r[1].p);
  for k in 1:N - 1 loop
    connect(r[k].n, r[k + 1].p);
  end for;
  for k in 1:N loop
    connect(r[k].n, c[k].p);
  end for;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end RCLadder;
