model DCGrid "DC distribution: a main line of N segments, at each a branch of M segments with a load at each"
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

  model Resistor "Its resistance follows the temperature, its loss is known"
    extends OnePort;
    parameter Real R(unit = "Ohm") = 1 "resistance at the temperature T0";
    parameter Real T0(unit = "K") = 300 "temperature of reference, and of this resistor";
    parameter Real alpha(unit = "1/K") = 0 "change of the resistance with temperature";
    Real T(unit = "K") "temperature";
    Real warm(unit = "Ohm") "resistance at this temperature";
    Real loss(unit = "W") "power that becomes heat";
  equation
    T = T0;
    warm = R*(1 + alpha*(T - T0));
    v = warm*i;
    loss = v*i;
  end Resistor;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    extends OnePort;
    parameter Real V(unit = "V") = 600;
    Real ramp "rises from zero to one";
  equation
    ramp = time;
    v = V*ramp;
  end Source;

  parameter Integer N = 8 "segments of the main line";
  parameter Integer M = N "segments of each branch";
  parameter Real R = 1 "resistance of a load";
  Source source;
  Ground ground;
  Resistor main[N](each R = R/(2*N^2*M^2));
  Resistor branch[N, M](each R = R/(2*M^2));
  Resistor load[N, M](each R = R);
  Ground zero[N, M];
equation
  connect(source.p, main[1].p);
  connect(source.n, ground.p);
  for i in 1:N - 1 loop
    connect(main[i].n, main[i + 1].p);
  end for;
  for i in 1:N loop
    connect(main[i].n, branch[i, 1].p);
    for j in 1:M - 1 loop
      connect(branch[i, j].n, branch[i, j + 1].p);
    end for;
    for j in 1:M loop
      connect(branch[i, j].n, load[i, j].p);
      connect(load[i, j].n, zero[i, j].p);
    end for;
  end for;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end DCGrid;
