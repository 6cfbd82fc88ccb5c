package OE_3_7_Figure1Components "The circuit of figure 1 built from components, without a ground (Otter & Elmqvist 2017)"
  connector Pin
    Real v(unit = "V") "potential";
    flow Real i(unit = "A") "current into the component";
  end Pin;

  partial model OnePort
    Pin p, n;
    Real v(unit = "V") "voltage";
  equation
    v = p.v - n.v;
    0 = p.i + n.i;
  end OnePort;

  model Source
    extends OnePort;
    parameter Real V(unit = "V");
  equation
    v = V;
  end Source;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm");
  equation
    v = R*p.i;
  end Resistor;

  model Inductor
    extends OnePort;
    parameter Real L(unit = "H");
  equation
    L*der(p.i) = v;
  end Inductor;

  model Figure1 "Two inductors in series are one state; no potential is given, one current law is too many"
    Source V(V = 10);
    Inductor L1(L = 0.1, p(i(start = 0.1, fixed = true))), L2(L = 0.2);
    Resistor R1(R = 10), R2(R = 20);
  equation
    connect(V.p, L1.p);
    connect(L1.n, R1.p);
    connect(L1.n, R2.p);
    connect(R1.n, L2.p);
    connect(R2.n, L2.p);
    connect(L2.n, V.n);
    annotation(experiment(StopTime = 0.1, Tolerance = 1e-8, Interval = 0.001));
  end Figure1;
end OE_3_7_Figure1Components;
