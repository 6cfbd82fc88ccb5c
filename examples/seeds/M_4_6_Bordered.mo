model M_4_6_Bordered "A triangle with a border: z is the tearing variable, the last row the residual (Mattsson 1986, chapter 6)"
  Real x[3], z;
equation
  x[1] + z = 4;
  x[1] + x[2] + 2*z = 5;
  2*x[1] - x[2] + x[3] + 3*z = 6;
  x[1] + x[2] + x[3] + z = 7;
  annotation(experiment(StopTime = 1));
end M_4_6_Bordered;
