model Cascade "N first-order blocks in a row"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  block FirstOrder
    RealInput u;
    RealOutput y(start = 0, fixed = true);
    parameter Real T = 1;
  equation
    T*der(y) = u - y;
  end FirstOrder;

  parameter Integer N = 8 "number of blocks";
  FirstOrder block_[N](each T = 0.1);
equation
  block_[1].u = sin(time);
  for k in 2:N loop
    connect(block_[k - 1].y, block_[k].u);
  end for;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end Cascade;
