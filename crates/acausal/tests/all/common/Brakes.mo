model Brakes "Two brakes hold a shaft until t = 1 and leave open how they share its torque"
  Boolean locked = time < 1;
  Real w(start = 0, fixed = true), a = der(w), tau1, tau2, s1, s2;
equation
  2*a = 4 + time - tau1 - tau2;
  tau1 = if locked then s1 else 1;
  a = if locked then 0 else s1;
  tau2 = if locked then s2 else 1;
  a = if locked then 0 else s2;
end Brakes;
