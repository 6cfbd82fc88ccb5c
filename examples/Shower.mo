model Shower "The water in the pipe answers late, so an impatient hand makes it swing"
  parameter Real T_wanted(unit = "degC") = 38;
  parameter Real pipe(unit = "s") = 2 "time the water needs from the mixer to the head";
  parameter Real impatience(unit = "1/s") = 0.6 "below pi/2/pipe the temperature settles";
  Real T_mixer(start = 15, fixed = true, unit = "degC") "temperature at the mixer";
  Real T_head(unit = "degC") "temperature at the shower head";
equation
  T_head = delay(T_mixer, pipe);
  der(T_mixer) = impatience*(T_wanted - T_head);
  annotation(experiment(StopTime = 40));
end Shower;
