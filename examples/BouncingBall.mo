model BouncingBall "A ball that loses energy at each impact and comes to rest"
  parameter Real e = 0.8 "coefficient of restitution";
  parameter Real g(unit = "m/s2") = 9.81 "gravity";
  parameter Real rest(unit = "m/s") = 1e-3 "below this speed the ball stays on the ground";
  Real h(start = 1, fixed = true, unit = "m") "height";
  Real v(start = 0, fixed = true, unit = "m/s") "velocity";
  Boolean flying(start = true, fixed = true) "false once the ball lies on the ground";
  Integer bounces(start = 0, fixed = true) "number of impacts";
equation
  der(h) = v;
  der(v) = if flying then -g else 0;
  when h <= 0 and v < 0 then
    bounces = pre(bounces) + 1;
    flying = -e*pre(v) > rest;
    reinit(v, if flying then -e*pre(v) else 0);
  end when;
  annotation(experiment(StopTime = 6));
end BouncingBall;
