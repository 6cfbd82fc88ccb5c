package TwoBitAdder "Adds two numbers of two bits and a carry with 39 MOS transistors; five inputs of pulses run through all cases"
  constant Real RG = 8e-4 "between inner and outer source and drain", RB = 2e-3 "of the bulk";
  constant Real CG = 0.6 "between gate and channel", CB = 0.24 "of a junction", Cout = 2 "at the outputs";
  constant Real VDD = 5, VBB = -2.5;

  connector Pin
    Real v;
    flow Real i;
  end Pin;

  function channel "Channel current of Shichman and Hodges"
    input Real vds, vgs, vbs, vgd, vbd, VT0, gamma, Phi, beta;
    output Real i;
  protected
    Real u;
  algorithm
    if vds > 0 then
      u := vgs - VT0 - gamma*(sqrt(Phi - vbs) - sqrt(Phi));
      i := if u <= 0 then 0 elseif u <= vds then -beta*u^2*(1 + 0.02*vds) else -beta*vds*(2*u - vds)*(1 + 0.02*vds);
    else
      u := vgd - VT0 - gamma*(sqrt(Phi - vbd) - sqrt(Phi));
      i := if u <= 0 then 0 elseif u <= -vds then beta*u^2*(1 - 0.02*vds) else -beta*vds*(2*u + vds)*(1 - 0.02*vds);
    end if;
  end channel;

  function leakage "Current of a junction"
    input Real v;
    output Real i = if v <= 0 then -5e-11*(exp(v/25.85) - 1) else 0;
  algorithm
  end leakage;

  function charge "Charge of a junction"
    input Real v;
    output Real q = v*(if v <= 0 then CB/sqrt(1 - v/0.87) else CB*(1 + v/1.74));
  algorithm
  end charge;

  model Transistor
    Pin d, g, s;
    parameter Real beta = 8.74, VT0 = 0.2, gamma = 0.035, Phi = 1.01;
    Real vs, vd "inner source and drain", bs(start = VBB), bd(start = VBB) "bulk at source and drain";
    Real qgs, qgd, qs, qd "charges";
    Real ids, is, id;
  initial equation
    der(qgs) = 0;
    der(qgd) = 0;
    der(qs) = 0;
    der(qd) = 0;
  equation
    ids = channel(vd - vs, g.v - vs, bs - s.v, g.v - vd, bd - d.v, VT0, gamma, Phi, beta);
    is = leakage(bs - s.v);
    id = leakage(bd - d.v);
    qgs = CG*(vs - g.v);
    qgd = CG*(vd - g.v);
    qs = charge(bs - s.v);
    qd = charge(bd - d.v);
    der(qgs) = -(vs - s.v)/RG - ids;
    der(qgd) = -(vd - d.v)/RG + ids;
    der(qs) = -(bs - VBB)/RB + is;
    der(qd) = -(bd - VBB)/RB + id;
    g.i = -der(qgs) - der(qgd);
    s.i = (s.v - vs)/RG + is - der(qs);
    d.i = (d.v - vd)/RG + id - der(qd);
  end Transistor;

  model Potential "A node with a given potential"
    Pin p;
    parameter Real v;
  equation
    p.v = v;
  end Potential;

  model Input "Pulses with ramps"
    Pin p;
    parameter Real delay, width, period;
    Real t = mod(time, period);
  equation
    p.v = if t <= delay then 0 elseif t <= delay + 5 then t - delay elseif t <= delay + 5 + width then 5
      elseif t <= delay + 10 + width then delay + 10 + width - t else 0;
  end Input;

  partial model Stage "A depletion transistor as load of the output"
    Pin out;
    Transistor load(beta = 2.675, VT0 = -2.43, gamma = 0.2, Phi = 1.28, vs(start = 2.5), vd(start = 5));
    Potential supply(v = VDD), ground(v = 0);
  equation
    connect(load.d, supply.p);
    connect(load.g, out);
    connect(load.s, out);
  end Stage;

  model Nor
    extends Stage;
    Pin a, b;
    Transistor t1, t2;
  equation
    connect(t1.d, out);
    connect(t1.s, ground.p);
    connect(t1.g, a);
    connect(t2.d, out);
    connect(t2.s, ground.p);
    connect(t2.g, b);
  end Nor;

  model AndOrInvert "not (a or (b and c))"
    extends Stage;
    Pin a, b, c;
    Transistor t1, t2(beta = 17.48), t3(beta = 17.48);
  equation
    connect(t1.d, out);
    connect(t1.s, ground.p);
    connect(t1.g, a);
    connect(t2.d, out);
    connect(t2.s, t3.d);
    connect(t2.g, b);
    connect(t3.s, ground.p);
    connect(t3.g, c);
  end AndOrInvert;

  model Nand
    extends Stage;
    Pin a, b;
    Transistor t1(beta = 17.48), t2(beta = 17.48);
  equation
    connect(t1.d, out);
    connect(t1.s, t2.d);
    connect(t1.g, a);
    connect(t2.s, ground.p);
    connect(t2.g, b);
  end Nand;

  model OrAndInvert "not (a and (b or c))"
    extends Stage;
    Pin a, b, c;
    Transistor t1(beta = 17.48), t2(beta = 17.48), t3(beta = 17.48);
  equation
    connect(t1.d, out);
    connect(t1.s, t2.d);
    connect(t1.s, t3.d);
    connect(t1.g, a);
    connect(t2.s, ground.p);
    connect(t2.g, b);
    connect(t3.s, ground.p);
    connect(t3.g, c);
  end OrAndInvert;

  model Capacitor "To ground"
    Pin p;
    Real q;
  initial equation
    der(q) = 0;
  equation
    q = Cout*p.v;
    p.i = der(q);
  end Capacitor;

  model Adder
    Input a0(delay = 0, width = 5, period = 20), b0(delay = 10, width = 15, period = 40), a1(delay = 30, width = 35, period = 80),
      b1(delay = 70, width = 75, period = 160), cin(delay = 150, width = 155, period = 320);
    Nor n1, n2, n3;
    AndOrInvert x1, s0, c0, x2, c;
    Nand n4;
    OrAndInvert s1;
    Transistor ta(beta = 26.22), tb(beta = 26.22), tc(beta = 26.22);
    Potential ground(v = 0);
    Capacitor k1, k2, k3;
    Real S0 = s0.out.v, S1 = s1.out.v, C = c.out.v "the sum";
  equation
    connect(a0.p, n1.a);
    connect(b0.p, n1.b);
    connect(n1.out, x1.a);
    connect(b0.p, x1.b);
    connect(a0.p, x1.c);
    connect(x1.out, n2.a);
    connect(cin.p, n2.b);
    connect(n2.out, s0.a);
    connect(cin.p, s0.b);
    connect(x1.out, s0.c);
    connect(n1.out, c0.a);
    connect(cin.p, c0.b);
    connect(x1.out, c0.c);
    connect(a1.p, n3.a);
    connect(b1.p, n3.b);
    connect(n3.out, x2.a);
    connect(b1.p, x2.b);
    connect(a1.p, x2.c);
    connect(c0.out, n4.a);
    connect(x2.out, n4.b);
    connect(n4.out, s1.a);
    connect(c0.out, s1.b);
    connect(x2.out, s1.c);
    connect(n3.out, c.a);
    connect(n1.out, c.b);
    connect(x2.out, c.c);
    connect(ta.d, c.out);
    connect(ta.g, x2.out);
    connect(ta.s, tb.d);
    connect(tb.g, x1.out);
    connect(tb.s, tc.d);
    connect(tc.g, cin.p);
    connect(tc.s, ground.p);
    connect(k1.p, s0.out);
    connect(k2.p, s1.out);
    connect(k3.p, c.out);
    annotation(experiment(StopTime = 320));
  end Adder;
end TwoBitAdder;
