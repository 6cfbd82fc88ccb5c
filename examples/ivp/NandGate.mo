package NandGate "A NAND gate of three MOS transistors, two of them driven by pulses"
  model Pulse "Trapezoidal pulses"
    parameter Real delay, width, period;
    parameter Real ramp = 5, high = 5;
    Real t = mod(time, period);
    Real v;
  equation
    v = if t <= delay then 0 elseif t <= delay + ramp then (t - delay)/ramp*high elseif t <= delay + ramp + width then high
      elseif t <= delay + 2*ramp + width then (delay + 2*ramp + width - t)/ramp*high else 0;
  end Pulse;

  function channel "Channel current of Shichman and Hodges"
    input Real vds, vgs, vbs, vgd, vbd;
    input Real VT0, gamma, Phi, forward, backward;
    output Real i;
  protected
    parameter Real delta = 0.02;
    Real u, vt;
  algorithm
    if vds > 0 then
      vt := VT0 + gamma*(sqrt(Phi - vbs) - sqrt(Phi));
      u := vgs - vt;
      i := if u <= 0 then 0 elseif u <= vds then -forward*u^2*(1 + delta*vds) else -forward*vds*(2*u - vds)*(1 + delta*vds);
    else
      vt := VT0 + gamma*(sqrt(Phi - vbd) - sqrt(Phi));
      u := vgd - vt;
      i := if u <= 0 then 0 elseif u <= -vds then backward*u^2*(1 - delta*vds) else -backward*vds*(2*u + vds)*(1 - delta*vds);
    end if;
  end channel;

  function junction "Current of a reverse-biased junction"
    input Real v;
    output Real i = if v <= 0 then -1e-14*(exp(v/25.85) - 1) else 0;
  algorithm
  end junction;

  function capacity "Capacity of a junction"
    input Real v;
    output Real c = if v <= 0 then 2.4e-5/sqrt(1 - v/0.87) else 2.4e-5*(1 + v/1.74);
  algorithm
  end capacity;

  model Gate
    parameter Real RG = 4, RB = 10, CG = 0.6e-4, C9 = 0.5e-4, VDD = 5, VBB = -2.5;
    Pulse in1(delay = 5, width = 5, period = 20), in2(delay = 15, width = 15, period = 40);
    Real y[14](start = {5, 5, VBB, VBB, 5, 3.62385, 5, VBB, VBB, 3.62385, 0, 3.62385, VBB, VBB}, each fixed = true) "node potentials";
    // Gate, source, drain and bulk of each transistor: gate voltage, inner drain and source, outer source and drain, bulks
    Real ids[3] "channel currents";
    Real g[3] = {y[5], in1.v, in2.v};
    Real ig[3, 2] "currents from the gate into source and drain";
    Real v[6] = {y[3] - y[5], y[4] - VDD, y[8] - y[10], y[9] - y[5], y[13], y[14] - y[10]} "voltages of the six junctions";
    Real ib[6] "currents of the junctions", ic[6] "and of their capacities";
  equation
    ids[1] = channel(y[2] - y[1], y[5] - y[1], v[1], y[5] - y[2], v[2], -2.43, 0.2, 1.28, 5.35e-4, 5.35e-4);
    ids[2] = channel(y[7] - y[6], in1.v - y[6], v[3], in1.v - y[7], v[4], 0.2, 0.035, 1.01, 1.748e-3, 1.748e-4);
    ids[3] = channel(y[12] - y[11], in2.v - y[11], v[5], in2.v - y[12], v[6], 0.2, 0.035, 1.01, 1.748e-3, 1.748e-4);
    for k in 1:6 loop
      ib[k] = junction(v[k]);
      ic[k] = capacity(v[k])*der(v[k]);
    end for;
    ig[1, 1] = CG*(der(y[5]) - der(y[1]));
    ig[1, 2] = CG*(der(y[5]) - der(y[2]));
    ig[2, 1] = CG*(der(in1.v) - der(y[6]));
    ig[2, 2] = CG*(der(in1.v) - der(y[7]));
    ig[3, 1] = CG*(der(in2.v) - der(y[11]));
    ig[3, 2] = CG*(der(in2.v) - der(y[12]));
    ig[1, 1] = (y[1] - y[5])/RG + ids[1];
    ig[1, 2] = (y[2] - VDD)/RG - ids[1];
    ic[1] = ib[1] - (y[3] - VBB)/RB;
    ic[2] = ib[2] - (y[4] - VBB)/RB;
    C9*der(y[5]) + ig[1, 1] + ig[1, 2] - ic[1] - ic[4] = (y[1] - y[5])/RG - ib[1] - (y[5] - y[7])/RG - ib[4];
    ig[2, 1] = (y[6] - y[10])/RG + ids[2];
    ig[2, 2] = (y[7] - y[5])/RG - ids[2];
    ic[3] = ib[3] - (y[8] - VBB)/RB;
    ic[4] = ib[4] - (y[9] - VBB)/RB;
    C9*der(y[10]) - ic[3] - ic[6] = (y[6] - y[10])/RG - ib[3] - (y[10] - y[12])/RG - ib[6];
    ig[3, 1] = y[11]/RG + ids[3];
    ig[3, 2] = (y[12] - y[10])/RG - ids[3];
    ic[5] = ib[5] - (y[13] - VBB)/RB;
    ic[6] = ib[6] - (y[14] - VBB)/RB;
    annotation(experiment(StopTime = 80));
  end Gate;
end NandGate;
