package DiodeBridges "N rectifiers with phases spread over a period, their outputs coupled in a row"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  partial model TwoPin
    Pin p, n;
    Real v, i;
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;

  model Diode
    extends TwoPin;
    parameter Real Is = 1e-9, Vt = 0.05, G = 1e-6 "leakage";
  equation
    i = Is*(exp(v/Vt) - 1) + G*v;
  end Diode;

  model Conductor
    extends TwoPin;
    parameter Real G;
  equation
    i = G*v;
  end Conductor;

  model Capacitor
    extends TwoPin(v(start = 0, fixed = true));
    parameter Real C;
  equation
    i = C*der(v);
  end Capacitor;

  model Source "A sine with an inner resistance"
    extends TwoPin;
    parameter Real phase, V = 10, R = 1;
  equation
    v = V*sin(314.1592653589793*time + phase) + R*i;
  end Source;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Bridge "Source, four diodes, capacitor and load; the negative pole is ground"
    parameter Real phase;
    Source source(phase = phase);
    Diode d1, d2, d3, d4;
    Capacitor c(C = 1e-3);
    Conductor load(G = 0.01);
    Ground ground;
    Pin plus;
  equation
    connect(source.p, d1.p);
    connect(source.n, d2.p);
    connect(d1.n, plus);
    connect(d2.n, plus);
    connect(source.p, d3.n);
    connect(source.n, d4.n);
    connect(d3.p, ground.p);
    connect(d4.p, ground.p);
    connect(plus, c.p);
    connect(plus, load.p);
    connect(c.n, ground.p);
    connect(load.n, ground.p);
  end Bridge;

  model Network
    parameter Integer N = 1000;
    Bridge cell[N](phase = {2*3.141592653589793*k/N for k in 1:N});
    Conductor link[N - 1](each G = 0.1);
  equation
    for k in 1:N - 1 loop
      connect(cell[k].plus, link[k].p);
      connect(link[k].n, cell[k + 1].plus);
    end for;
    annotation(experiment(StopTime = 0.04));
  end Network;
end DiodeBridges;
