model SampledController "A first-order plant with a digital PI controller"
  parameter Real Ts = 0.1 "sample time", kp = 2, ki = 3, reference = 1;
  Real y(start = 0, fixed = true) "plant output";
  discrete Real u(start = 0, fixed = true) "controller output, held between samples";
  discrete Real integral(start = 0, fixed = true);
equation
  der(y) = -y + u;
  when sample(0, Ts) then
    integral = pre(integral) + Ts*ki*(reference - y);
    u = kp*(reference - y) + integral;
  end when;
  annotation(experiment(StopTime = 5));
end SampledController;
