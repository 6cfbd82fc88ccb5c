model HeatComponents "Heat conduction in a rod: heat capacities and conductors"
  connector HeatPort
    Real T(unit = "K") "temperature";
    flow Real Q(unit = "W") "heat flow into the component";
  end HeatPort;

  model HeatCapacitor
    HeatPort port;
    parameter Real C(unit = "J/K") = 1;
    Real T(unit = "K", start = 0, fixed = true) "temperature";
    Real rate(unit = "K/s") "rate of change of the temperature";
  equation
    T = port.T;
    rate = der(T);
    C*rate = port.Q;
  end HeatCapacitor;

  model Conductor
    HeatPort a, b;
    parameter Real G(unit = "W/K") = 1;
    Real dT(unit = "K") "temperature difference";
    Real Q(unit = "W") "heat flow from a to b";
  equation
    dT = a.T - b.T;
    Q = G*dT;
    a.Q = Q;
    b.Q = -Q;
  end Conductor;

  model Wall "A given temperature"
    HeatPort port;
  equation
    port.T = 1 - exp(-10*time);
  end Wall;

  parameter Integer N = 8 "number of cells";
  Wall wall;
  HeatCapacitor cell[N](each C = 1/N);
  Conductor face[N](G = {if k == 1 then 2*N else N for k in 1:N});
equation
  connect(wall.port, face[1].a);
  for k in 1:N - 1 loop
    connect(cell[k].port, face[k + 1].a);
  end for;
  for k in 1:N loop
    connect(face[k].b, cell[k].port);
  end for;
  annotation(experiment(StopTime = 0.1, Interval = 0.01));
end HeatComponents;
