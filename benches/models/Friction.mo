model Friction "N masses with dry friction, pushed to and fro: they stick and slip"
  model Slider
    parameter Real m = 1 "mass";
    parameter Real f0 = 1 "friction force at rest and in motion";
    parameter Real phase = 0 "of the force that pushes";
    Real v(start = 0, fixed = true) "velocity";
    Real a "acceleration";
    Real f "friction force";
    Real s "path parameter: acceleration in motion, force at rest";
    Real push "force that pushes";
    Integer mode(start = 0, fixed = true) "1: forward, -1: backward, 0: at rest";
    Boolean forward "begins to move forward";
    Boolean backward "begins to move backward";
    Boolean locked "at rest";
  equation
    push = 2*sin(3*time + phase);
    der(v) = a;
    m*a = push - f;
    forward = pre(mode) == 0 and s > f0;
    backward = pre(mode) == 0 and s < -f0;
    locked = not (pre(mode) == 1 or forward or pre(mode) == -1 or backward);
    a = if locked then 0 elseif forward then s - f0 elseif backward then s + f0 elseif pre(mode) == 1 then s - f0 else s + f0;
    f = if locked then s elseif forward then f0 elseif backward then -f0 elseif pre(mode) == 1 then f0 else -f0;
    mode = if (pre(mode) == 1 or forward) and v > 0 then 1 elseif (pre(mode) == -1 or backward) and v < 0 then -1 else 0;
  end Slider;

  parameter Integer N = 8 "number of masses";
  Slider slider[N](phase = {k/N for k in 1:N});
  annotation(experiment(StopTime = 1, Interval = 0.1));
end Friction;
