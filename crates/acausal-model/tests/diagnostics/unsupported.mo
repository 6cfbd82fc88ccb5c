model M
  Clock c = Clock(0.1);
  // error: clocks are not supported yet
  Real x = spatialDistribution(1, 2, 3, true);
  // error: `spatialDistribution` is not supported yet
end M;
