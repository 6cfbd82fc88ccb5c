model RLC "Step response of a damped series resonance, put together from components"
  connector Pin "Potentials of connected pins are equal, currents sum to zero"
    Real v(unit = "V") "potential";
    flow Real i(unit = "A") "current into the component";
  end Pin;

  partial model TwoPin "What all components with two pins have in common"
    Pin p, n;
    Real v(unit = "V") "voltage drop from p to n";
    Real i(unit = "A") "current from p to n";
  equation
    v = p.v - n.v;
    0 = p.i + n.i;
    i = p.i;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R(unit = "Ohm") = 1;
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C(unit = "F") = 1;
  equation
    C*der(v) = i;
  end Capacitor;

  model Inductor
    extends TwoPin;
    parameter Real L(unit = "H") = 1;
  equation
    L*der(i) = v;
  end Inductor;

  model StepVoltage
    extends TwoPin;
    parameter Real V(unit = "V") = 1 "voltage after the step";
    parameter Real startTime(unit = "s") = 0 "instant of the step";
  equation
    v = if time < startTime then 0 else V;
  end StepVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  StepVoltage source(V = 10, startTime = 0.01);
  Resistor resistor(R = 5);
  Inductor inductor(L = 0.01, i(start = 0, fixed = true));
  Capacitor capacitor(C = 1e-3, v(start = 0, fixed = true));
  Ground ground;
equation
  connect(source.p, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 0.1));
end RLC;
