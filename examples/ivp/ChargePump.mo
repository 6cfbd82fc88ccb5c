model ChargePump "Two capacitors and a MOS transistor that is described by its charges, under a pulsed voltage; index two"
  parameter Real VT0 = 0.2, gamma = 0.035, Phi = 1.01, Cox = 4e-12, Cd = 0.4e-12, Cs = 1.6e-12;
  parameter Real Vhigh = 20, period = 120e-9, rise = 50e-9, ramp = 10e-9, fall = 110e-9 "the pulse";
  parameter Real Vfb = VT0 - gamma*sqrt(Phi) - Phi "flat-band voltage";
  Real QG(nominal = 1e-11), QS(nominal = 1e-11), QD(nominal = 1e-11) "charges of the transistor";
  Real YS(start = 0, fixed = true, nominal = 1e-11), YD(start = 0, fixed = true, nominal = 1e-11) "charges of the capacitors";
  Real U[3](each start = 0, each nominal = 10) "potentials of gate, source and drain";
  Real I(nominal = 1e-4) "current of the source";
  Real tau = mod(time, period);
  Real Vin = if tau < rise then 0 elseif tau < rise + ramp then (tau - rise)/ramp*Vhigh elseif tau < fall then Vhigh
    else (period - tau)/ramp*Vhigh;
  Real UGS = U[1] - noEvent(min(U[2], U[3])) "the larger of the two gate voltages";
  Real UGD = U[1] - noEvent(max(U[2], U[3]));
  Real UBS = UGS - U[1];
  Real Vte = VT0 + gamma*(sqrt(Phi - UBS) - sqrt(Phi)) "threshold";
  Real s = UGS - Vte, d = if UGD > Vte then UGD - Vte else 0;
  Real inversion = if U[1] > Vfb and s > 0 then s + d - s*d/(s + d) else 0;
equation
  der(QG) = -I;
  der(YS) + der(QS) = 0;
  der(YD) + der(QD) = 0;
  U[1] = Vin;
  YS = Cs*U[2];
  YD = Cd*U[3];
  QG = Cox*(if U[1] <= Vfb then U[1] - Vfb elseif s <= 0 then gamma*(sqrt((gamma/2)^2 + U[1] - Vfb) - gamma/2)
    else 2/3*inversion + gamma*sqrt(Phi - UBS));
  QS = -Cox/3*inversion;
  QD = -Cox/3*inversion;
  annotation(experiment(StopTime = 1.19999999999999e-6));
end ChargePump;
