model TrafficLight "A state machine: an enumeration, advanced by an algorithm"
  type Colour = enumeration(red, redAmber, green, amber);
  parameter Real period[Colour](each unit = "s") = {20, 2, 15, 3} "how long each colour stays";
  Colour light(start = Colour.red, fixed = true);
  discrete Real next(start = 20, fixed = true, unit = "s") "when the light changes next";
  Integer cars(start = 0, fixed = true) "cars that passed; one every two seconds while it is green";
algorithm
  when time >= pre(next) then
    light := if pre(light) == Colour.amber then Colour.red else Colour(Integer(pre(light)) + 1);
    next := time + period[light];
  end when;
  when sample(0.5, 2) and light == Colour.green then
    cars := pre(cars) + 1;
  end when;
  annotation(experiment(StopTime = 120));
end TrafficLight;
