model M
  Real x = spatialDistribution(1, 2, 3, true);
  // error: `spatialDistribution` is not supported yet
end M;
