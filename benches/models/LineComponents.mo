model LineComponents "Electrical transmission line of N cells with an inductor, a resistor, a capacitor and a ground each"
  connector Pin
    Real v(unit = "V") "potential";
    flow Real i(unit = "A") "current into the component";
  end Pin;

  partial model OnePort
    Pin p, n;
    Real v(unit = "V") "voltage";
    Real i(unit = "A") "current from p to n";
  equation
    v = p.v - n.v;
    p.i + n.i = 0;
    i = p.i;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm") = 1;
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends OnePort(i(start = 0, fixed = true));
    parameter Real L(unit = "H") = 1;
  equation
    L*der(i) = v;
  end Inductor;

  model Capacitor
    extends OnePort(v(start = 0, fixed = true));
    parameter Real C(unit = "F") = 1;
  equation
    C*der(v) = i;
  end Capacitor;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    extends OnePort;
  equation
    v = 1 - exp(-time);
  end Source;

  model Cell
    parameter Real L = 1;
    parameter Real R = 1;
    parameter Real C = 1;
    Pin a, b;
    Inductor inductor(L = L);
    Resistor resistor(R = R);
    Capacitor capacitor(C = C);
    Ground ground;
  equation
    connect(a, inductor.p);
    connect(inductor.n, resistor.p);
    connect(resistor.n, b);
    connect(resistor.n, capacitor.p);
    connect(capacitor.n, ground.p);
  end Cell;

  parameter Integer N = 8 "number of cells";
  Source source;
  Ground ground;
  Ground far;
  Resistor load(R = 1);
  Cell cell[N](each L = 1, each R = 0.01, each C = 1);
equation
  connect(source.p, cell[1].a);
  connect(source.n, ground.p);
  for k in 1:N - 1 loop
    connect(cell[k].b, cell[k + 1].a);
  end for;
  connect(cell[N].b, load.p);
  connect(load.n, far.p);
  annotation(experiment(StopTime = 10, Interval = 1));
end LineComponents;
