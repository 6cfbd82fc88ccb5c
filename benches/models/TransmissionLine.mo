model TransmissionLine "A line with hardly any losses: cells of inductance and capacitance, a filtered step at one end and a matched load at the other"
  parameter Integer N = 1000 "number of cells";
  parameter Real length = 100, res = 48e-6, cap = 101e-12, ind = 253e-9 "per metre";
  parameter Real w = 5e6 "cut-off frequency of the filter";
  parameter Real l = length/N "length of a cell";
  parameter Real load = sqrt(ind/cap);
  Real v[N](each start = 0, each fixed = true, each nominal = 10) "voltages";
  Real i[N](each start = 0, fixed = {k < N for k in 1:N}, each nominal = 10) "currents";
  Real dv(start = 0, fixed = true) "slope of the first voltage";
equation
  dv = der(v[1]);
  v[1] + 2/w*der(v[1]) + der(dv)/w^2 = 1;
  for k in 1:N - 1 loop
    cap*der(v[k + 1]) = (i[k] - i[k + 1])/l;
    ind*der(i[k]) = -res*i[k] - (v[k + 1] - v[k])/l;
  end for;
  v[N] = load*i[N];
  annotation(experiment(StopTime = 4e-6));
end TransmissionLine;
