model PredatorPrey "Rabbits and foxes (Lotka and Volterra): the populations swing for ever"
  parameter Real birth = 1.1 "birth rate of rabbits";
  parameter Real hunt = 0.4 "rabbits caught per fox and rabbit";
  parameter Real feed = 0.1 "foxes born per fox and rabbit";
  parameter Real death = 0.4 "death rate of foxes";
  Real rabbits(start = 10, fixed = true);
  Real foxes(start = 5, fixed = true);
  Real invariant "does not change along a solution, hence a check of the accuracy";
equation
  der(rabbits) = birth*rabbits - hunt*rabbits*foxes;
  der(foxes) = feed*rabbits*foxes - death*foxes;
  invariant = feed*rabbits - death*log(rabbits) + hunt*foxes - birth*log(foxes);
  annotation(experiment(StopTime = 50, Tolerance = 1e-8));
end PredatorPrey;
