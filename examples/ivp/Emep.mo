model Emep "Chemistry of ozone in the lower troposphere over four days: 66 species, night and day"
  // Concentrations in molecules per cubic centimetre; Test Set for IVP Solvers (Mazzia and Magherini), problem emep, after
  // the EMEP MSC-W ozone model (Simpson, Andersson-Skold and Jenkin 1993). Constants keep the numbers of that model.
  constant Real pi = 3.14159265358979323846;
  parameter Real T = 298 "temperature";
  parameter Real M = 2.55e19 "air", O2 = 5.2e18 "oxygen", mixing = 1.2e5 "mixing height";
  parameter Real latitude = 50*pi/180, declination = 23.5*pi/180;
  parameter Real emitted = 2.5e11/mixing "emission of nitrogen oxides, and of hydrocarbons";
  parameter Real perMass = 1/(0.07689/30 + 0.41444/58 + 0.03642/28 + 0.03827/42 + 0.24537/106 + 0.13957/46);
  // Photolysis: a*exp(-b/cos(angle of the sun)).
  parameter Real a[16] = {1.23e-3, 2e-4, 1.45e-2, 2.2e-5, 3e-6, 5.4e-5, 6.65e-5, 1.35e-5, 2.43e-5, 5.4e-4, 2.16e-4, 5.4e-5,
    3.53e-2, 8.94e-2, 3.32e-5, 2.27e-5};
  parameter Real b[16] = {0.6, 1.4, 0.4, 0.75, 1.25, 0.79, 0.6, 0.94, 0.88, 0.79, 0.79, 0.79, 0.081, 0.059, 0.57, 0.62};
  parameter Real k1 = 5.7e-34*(T/300)^(-2.8)*M*O2;
  parameter Real k5 = 9.6e-32*(T/300)^(-1.6)*M;
  parameter Real k7 = 2e-11*exp(100/T)*M;
  parameter Real k8 = 2.2e-10;
  parameter Real k11 = 1.8e-12*exp(-1370/T);
  parameter Real k12 = 1.2e-13*exp(-2450/T);
  parameter Real k13 = 1.9e-12*exp(-1000/T);
  parameter Real k14 = 1.4e-14*exp(-600/T);
  parameter Real k15 = 1.8e-11*exp(110/T);
  parameter Real k17 = 3.7e-12*exp(240/T);
  parameter Real k19 = 7.2e-14*exp(-1414/T);
  parameter Real k20 = 1.4e-12;
  parameter Real k21 = 1.4e-11;
  parameter Real k26 = 4.1e-16;
  parameter Real k29 = 7.1e14*exp(-11080/T);
  parameter Real k30 = 4.8e-11*exp(250/T);
  parameter Real k31 = 2.9e-12*exp(-160/T);
  parameter Real k33 = 7.7e-12*exp(-2100/T);
  parameter Real k35 = 1e-14*exp(785/T);
  parameter Real k39 = 1.35e-12;
  parameter Real k40 = 4e-17;
  parameter Real k43 = 1e-4;
  parameter Real k59 = 3.9e-12*exp(-1885/T);
  parameter Real k60 = 4.2e-12*exp(180/T);
  parameter Real k61 = 5.5e-14*exp(365/T);
  parameter Real k62 = 5.5e-14*exp(365/T);
  parameter Real k63 = 3.3e-12*exp(-380/T);
  parameter Real k64 = 3.2e-12;
  parameter Real k65 = 3.8e-13*exp(780/T);
  parameter Real k66 = 9.6e-12;
  parameter Real k67 = 1e-12*exp(190/T);
  parameter Real k68 = 1.9e-12*exp(190/T);
  parameter Real k69 = 5.8e-16;
  parameter Real k70 = 2.4e-13;
  parameter Real k71 = 7.8e-12*exp(-1020/T);
  parameter Real k72 = 8.9e-12;
  parameter Real k74 = 6.5e-13*exp(650/T);
  parameter Real k75 = 5.6e-12*exp(310/T);
  parameter Real k76 = 5.8e-12*exp(190/T);
  parameter Real k77 = 1e-11;
  parameter Real k78 = 1.34e16*exp(-13330/T);
  parameter Real k79 = 2e-11;
  parameter Real k80 = 1.1e-11;
  parameter Real k81 = 1.64e-11*exp(-559/T);
  parameter Real k85 = 1e-11;
  parameter Real k86 = 1.15e-12;
  parameter Real k87 = 4.8e-12;
  parameter Real k88 = 1.3e-13*exp(1040/T);
  parameter Real k89 = 3e-13*exp(1040/T);
  parameter Real k94 = 2.8e-12*exp(530/T);
  parameter Real k109 = 1.66e-12*exp(474/T);
  parameter Real k112 = 1.2e-14*exp(-2630/T);
  parameter Real k123 = 6.5e-15*exp(-1880/T);
  parameter Real k125 = 2.86e-11;
  parameter Real k146 = 3.2e-11;
  parameter Real k147 = 2e-11;
  parameter Real k148 = 2.2e-11;
  parameter Real k149 = 3.7e-11;
  parameter Real k150 = 12.3e-15*exp(-2013/T);
  parameter Real k151 = 2.54e-11*exp(410/T);
  parameter Real k153 = 4.13e-12*exp(452/T);
  parameter Real k156 = 2e-11;
  parameter Real k157 = 8e-18;
  parameter Real k158 = 1.86e-11*exp(175/T);
  parameter Real k160 = 4.32e-15*exp(-2016/T);
  parameter Real k161 = 3.35e-11;
  parameter Real k163 = 7.8e-13;
  parameter Real k219 = 2e-11;
  parameter Real k221 = 1.1e-11;
  parameter Real k222 = 1.7e-11;
  parameter Real k223 = 2.4e-11;
  parameter Real k234 = 1.37e-11;
  parameter Real k235 = 1.7e-11;
  Real NO(start = 1e9, fixed = true, nominal = 1e9);
  Real NO2(start = 5e9, fixed = true, nominal = 1e10);
  Real SO2(start = 5e9, fixed = true, nominal = 1e11);
  Real CO(start = 3.8e12, fixed = true, nominal = 1e13);
  Real CH4(start = 3.5e13, fixed = true, nominal = 1e13);
  Real C2H6(start = 1e7, fixed = true, nominal = 1e11);
  Real NC4H10(start = 1e7, fixed = true, nominal = 1e10);
  Real C2H4(start = 1e7, fixed = true, nominal = 1e9);
  Real C3H6(start = 1e7, fixed = true, nominal = 1e9);
  Real OXYL(start = 1e7, fixed = true, nominal = 1e9);
  Real HCHO(start = 1e7, fixed = true, nominal = 1e10);
  Real CH3CHO(start = 1e7, fixed = true, nominal = 1e10);
  Real MEK(start = 1e7, fixed = true, nominal = 1e11);
  Real O3(start = 5e11, fixed = true, nominal = 1e12);
  Real HO2(start = 100, fixed = true, nominal = 1e7);
  Real HNO3(start = 100, fixed = true, nominal = 1e10);
  Real H2O2(start = 100, fixed = true, nominal = 1e10);
  Real H2(start = 100, fixed = true, nominal = 1e11);
  Real CH3O2(start = 100, fixed = true, nominal = 1e8);
  Real C2H5OH(start = 100, fixed = true, nominal = 1e10);
  Real SA(start = 100, fixed = true, nominal = 1e11);
  Real CH3O2H(start = 100, fixed = true, nominal = 1e9);
  Real C2H5O2(start = 100, fixed = true, nominal = 1e6);
  Real CH3COO(start = 100, fixed = true, nominal = 1e7);
  Real PAN(start = 100, fixed = true, nominal = 1e10);
  Real SECC4H(start = 100, fixed = true, nominal = 1e7);
  Real MEKO2(start = 100, fixed = true, nominal = 1e7);
  Real R2OOH(start = 100, fixed = true, nominal = 1e9);
  Real ETRO2(start = 100, fixed = true, nominal = 1e6);
  Real MGLYOX(start = 100, fixed = true, nominal = 1e9);
  Real PRRO2(start = 100, fixed = true, nominal = 1e6);
  Real GLYOX(start = 100, fixed = true, nominal = 1e9);
  Real OXYO2(start = 100, fixed = true, nominal = 1e6);
  Real MAL(start = 100, fixed = true, nominal = 1e9);
  Real MALO2(start = 100, fixed = true, nominal = 1e6);
  Real O(start = 100, fixed = true, nominal = 1e4);
  Real OH(start = 100, fixed = true, nominal = 1e6);
  Real OD(start = 1e-3, fixed = true, nominal = 1e7);
  Real NO3(start = 100, fixed = true, nominal = 1e8);
  Real N2O5(start = 100, fixed = true, nominal = 1e8);
  Real ISOPRE(start = 100, fixed = true, nominal = 1e9);
  Real NITRAT(start = 100, fixed = true, nominal = 1e11);
  Real ISRO2(start = 100, fixed = true, nominal = 1e7);
  Real MVK(start = 100, fixed = true, nominal = 1e9);
  Real MVKO2(start = 100, fixed = true, nominal = 1e6);
  Real CH3OH(start = 100, fixed = true, nominal = 1e9);
  Real RCO3H(start = 100, fixed = true, nominal = 1e9);
  Real OXYO2H(start = 100, fixed = true, nominal = 1e8);
  Real BURO2H(start = 100, fixed = true, nominal = 1e9);
  Real ETRO2H(start = 100, fixed = true, nominal = 1e8);
  Real PRRO2H(start = 100, fixed = true, nominal = 1e8);
  Real MEKO2H(start = 100, fixed = true, nominal = 1e9);
  Real MALO2H(start = 100, fixed = true, nominal = 1e8);
  Real MACR(start = 100, fixed = true, nominal = 1e9);
  Real ISNI(start = 100, fixed = true, nominal = 1e9);
  Real ISRO2H(start = 100, fixed = true, nominal = 1e9);
  Real MARO2(start = 100, fixed = true, nominal = 1e6);
  Real MAPAN(start = 100, fixed = true, nominal = 1e9);
  Real CH2CCH3(start = 100, fixed = true, nominal = 1e6);
  Real ISONO3(start = 100, fixed = true, nominal = 1e9);
  Real ISNIR(start = 100, fixed = true, nominal = 1e6);
  Real MVKO2H(start = 100, fixed = true, nominal = 1e8);
  Real CH2CHR(start = 100, fixed = true, nominal = 1e8);
  Real ISNO3H(start = 100, fixed = true, nominal = 1e8);
  Real ISNIRH(start = 100, fixed = true, nominal = 1e8);
  Real MARO2H(start = 100, fixed = true, nominal = 1e8);
  Real hour "time of day", seconds, sun "1/cos of its angle", J[16] "photolysis";
  Real humidity, water "vapour", k36 "of HO2 with itself";
  Real deposition "per velocity";
  Boolean day;
equation
  hour = mod(time/3600, 24);
  seconds = 3600*hour;
  day = hour >= 4 and hour < 20;
  sun = 1/(cos((1 + seconds/43200)*pi)*cos(latitude)*cos(declination) + sin(latitude)*sin(declination));
  for i in 1:16 loop
    J[i] = if day then a[i]*exp(-b[i]*sun) else 1e-40;
  end for;
  humidity = 23*sin(2.43 - 7.93e-5*seconds) + 66.5;
  water = 6.1078*exp(-(597.3 - 0.57*(T - 273.16))*18/1.986*(1/T - 1/273.16))*10/(1.38e-16*T)*humidity;
  k36 = (2.3e-13*exp(600/T) + M*1.7e-33*exp(1000/T))*(1 + 1.4e-21*water*exp(2200/T));
  deposition = (if day then 1 else 0.25)/mixing;
  der(NO) = J[3]*NO2 + J[13]*NO3 + k19*NO2*NO3 + emitted - (k5*O + k11*O3 + k17*HO2 + k72*C2H5O2 + k79*(CH3COO + MARO2)
    + k15*NO3 + k60*(CH3O2 + SECC4H + MEKO2 + ETRO2 + PRRO2 + OXYO2 + MALO2 + ISRO2 + MVKO2 + CH2CCH3 + ISNIR +
    ISONO3))*NO;
  der(NO2) = NO*(k5*O + k11*O3 + k17*HO2 + k72*C2H5O2 + k79*(CH3COO + MARO2) + 2*k15*NO3) + k60*NO*(CH3O2 + SECC4H +
    MEKO2 + ETRO2 + PRRO2 + OXYO2 + MALO2 + CH2CCH3) + k60*NO*(0.86*ISRO2 + 1.9*ISNIR + 1.1*ISONO3 + 0.95*MVKO2) +
    J[14]*NO3 + J[5]*HNO3 + J[15]*N2O5 + k29*N2O5 + k78*(PAN + MAPAN) - (J[3] + k12*O3 + k20*NO3 + k21*OH +
    0.2*deposition + k77*(CH3COO + MARO2))*NO2;
  der(SO2) = emitted - (k39*OH + k40*CH3O2 + 0.5*deposition)*SO2;
  der(CO) = 10*emitted + OH*(k66*HCHO + 2*k221*GLYOX + k222*MGLYOX) + O3*(0.44*k112*C2H4 + 0.4*k123*C3H6 + 0.05*k160*MVK
    + 0.05*k150*ISOPRE) + HCHO*(J[6] + J[7] + k69*NO3) + J[8]*CH3CHO + J[11]*MGLYOX + 2*J[7]*GLYOX - k70*OH*CO;
  der(CH4) = 0.07*k123*O3*C3H6 - k59*OH*CH4;
  der(C2H6) = emitted*perMass*0.07689/30 - k71*OH*C2H6;
  der(NC4H10) = emitted*perMass*0.41444/58 - k81*OH*NC4H10;
  der(C2H4) = emitted*perMass*0.03642/28 - (k109*OH + k112*O3)*C2H4;
  der(C3H6) = emitted*perMass*0.03827/42 + 0.07*k150*O3*ISOPRE - (k123*O3 + k125*OH)*C3H6;
  der(OXYL) = emitted*perMass*0.24537/106 - k234*OH*OXYL;
  der(HCHO) = CH3O2*(k60*NO + (2*k61 + k62)*CH3O2 + k80*CH3COO + k40*SO2) + OH*(k63*CH3OH + k67*CH3O2H) +
    NO*k60*(2*ETRO2 + PRRO2 + 0.74*ISRO2 + 0.266*MVKO2 + 0.15*ISONO3) + O3*(0.5*k123*C3H6 + k112*C2H4 +
    0.7*k157*ISRO2H + 0.8*k160*MVK + 0.8*k150*ISOPRE) + 2*J[7]*GLYOX + J[16]*(CH3O2H + 1.56*ETRO2H + PRRO2H) - (k66*OH
    + J[6] + J[7] + k69*NO3 + 0.3*deposition)*HCHO;
  der(CH3CHO) = NO*(k72*C2H5O2 + k60*SECC4H*0.35 + k60*MEKO2 + k60*PRRO2 + 0.95*k60*ISNIR + 0.684*k60*MVKO2) +
    OH*(k64*C2H5OH + k76*R2OOH + k76*ETRO2H) + 0.5*k123*O3*C3H6 + 0.04*k160*O3*MVK + J[16]*(R2OOH + 0.22*ETRO2H +
    0.35*BURO2H + PRRO2H + MEKO2H) - (J[8] + k75*OH + 0.3*deposition)*CH3CHO;
  der(MEK) = k60*NO*SECC4H*0.65 + (0.65*J[16] + k76*OH)*BURO2H + k76*OH*PRRO2H + (k60*NO + J[16])*CH2CCH3 +
    0.95*k60*NO*ISNIR - (J[9] + k86*OH + 0.3*deposition)*MEK;
  der(O3) = k1*O + k89*HO2*CH3COO - (k11*NO + k12*NO2 + k13*OH + k14*HO2 + 0.5*deposition + k112*C2H4 + k123*C3H6 +
    k157*ISRO2H + k160*MVK + k150*ISOPRE + J[1] + J[2])*O3;
  der(HO2) = OH*(k13*O3 + k31*H2O2 + k33*H2 + k39*SO2 + k63*CH3OH + k64*C2H5OH + k66*HCHO + k70*CO + k221*GLYOX) +
    CH3O2*(k40*SO2 + 2*k61*CH3O2 + 0.5*k80*CH3COO) + J[11]*MGLYOX + NO*k60*(CH3O2 + ETRO2 + PRRO2 + OXYO2 + MALO2 +
    0.95*MVKO2 + SECC4H*0.65 + 0.78*ISRO2 + CH2CCH3 + 0.05*ISNIR + 0.8*ISONO3) + k72*NO*C2H5O2 + J[8]*CH3CHO +
    2*J[6]*HCHO + J[16]*(CH3O2H + R2OOH + 0.65*BURO2H + ETRO2H + PRRO2H + OXYO2H + MALO2H) + NO3*(k26*H2O2 + k69*HCHO)
    + O3*(0.12*k112*C2H4 + 0.28*k123*C3H6 + 0.06*k160*MVK) + 0.06*k150*O3*ISOPRE - (k14*O3 + k17*NO + k30*OH +
    2*k36*HO2 + k65*CH3O2 + k74*C2H5O2 + (k88 + k89)*CH3COO + k85*(SECC4H + ETRO2 + PRRO2 + MEKO2 + MARO2 + MVKO2 +
    ISNIR + CH2CCH3 + OXYO2 + MALO2 + ISRO2 + ISONO3))*HO2;
  der(HNO3) = k21*NO2*OH + NO3*(k26*H2O2 + k69*HCHO) - (k35*OH + J[5] + k43)*HNO3;
  der(H2O2) = k36*HO2^2 - (k31*OH + J[4] + k43 + k26*NO3 + 0.5*deposition)*H2O2;
  der(H2) = J[7]*HCHO + O3*(0.13*k112*C2H4 + 0.07*k123*C3H6) - k33*OH*H2;
  der(CH3O2) = OH*(k59*CH4 + k68*CH3O2H) + CH3COO*(k79*NO + 2*k94*CH3COO) + J[8]*CH3CHO + J[16]*RCO3H +
    0.31*k123*O3*C3H6 - (k40*SO2 + k60*NO + 2*k61*CH3O2 + 2*k62*CH3O2 + k65*HO2 + 0.5*k80*CH3COO)*CH3O2;
  der(C2H5OH) = emitted*perMass*0.13957/46 - k64*OH*C2H5OH;
  der(SA) = (k40*CH3O2 + k39*OH)*SO2 + 0.05*emitted - 0.1*deposition*SA;
  der(CH3O2H) = k65*HO2*CH3O2 - (k43 + J[16] + (k67 + k68)*OH)*CH3O2H;
  der(C2H5O2) = OH*(k71*C2H6 + k68*R2OOH) + 0.35*J[16]*BURO2H + k60*NO*SECC4H*0.35 + J[9]*MEK - (k72*NO +
    k74*HO2)*C2H5O2;
  der(CH3COO) = OH*(k75*CH3CHO + k222*MGLYOX + k68*RCO3H) + k60*NO*MEKO2 + k78*PAN + J[11]*MGLYOX + J[9]*MEK +
    J[16]*MEKO2H + 0.684*k60*NO*MVKO2 - (k77*NO2 + k79*NO + k80*CH3O2 + 2*k94*CH3COO + (k88 + k89)*HO2)*CH3COO;
  der(PAN) = k77*CH3COO*NO2 - (0.2*deposition + k78)*PAN;
  der(SECC4H) = OH*(k81*NC4H10 + k68*BURO2H) - (k60*NO + k85*HO2)*SECC4H;
  der(MEKO2) = OH*(k86*MEK + k87*MEKO2H) - (k60*NO + k85*HO2)*MEKO2;
  der(R2OOH) = k74*HO2*C2H5O2 - ((k76 + k68)*OH + J[16] + 0.5*deposition)*R2OOH;
  der(ETRO2) = OH*(k109*C2H4 + k68*ETRO2H) - (k60*NO + k85*HO2)*ETRO2;
  der(MGLYOX) = k60*NO*OXYO2 + k60*NO*MALO2 + 0.266*k60*NO*MVKO2 + 0.82*k160*O3*MVK + J[16]*(OXYO2H + MALO2H) - (J[11] +
    k222*OH)*MGLYOX;
  der(PRRO2) = OH*(k125*C3H6 + k68*PRRO2H) - (k60*NO + k85*HO2)*PRRO2;
  der(GLYOX) = k60*NO*MALO2 + J[16]*MALO2H - (2*J[7] + k221*OH)*GLYOX;
  der(OXYO2) = OH*(k234*OXYL + k235*OXYO2H) - (k60*NO + k85*HO2)*OXYO2;
  der(MAL) = k60*NO*OXYO2 + J[16]*OXYO2H - k219*OH*MAL;
  der(MALO2) = OH*(k219*MAL + k223*MALO2H) - (k60*NO + k85*HO2)*MALO2;
  der(O) = J[1]*O3 + J[3]*NO2 + J[14]*NO3 + k7*OD + 0.2*k160*O3*MVK + 0.3*k150*O3*ISOPRE - (k1 + k5*NO)*O;
  der(OH) = 2*k8*water*OD + HO2*(k14*O3 + k17*NO) + 2*J[4]*H2O2 + J[5]*HNO3 + J[16]*(CH3O2H + R2OOH + RCO3H + BURO2H +
    ETRO2H + MEKO2H + OXYO2H + MALO2H) + O3*(0.15*k123*C3H6 + 0.08*k160*MVK) + 0.55*k150*O3*ISOPRE - (k222*MGLYOX +
    k75*CH3CHO + k81*NC4H10 + k87*MEKO2H + k86*MEK + k235*OXYO2H + k109*C2H4 + k125*C3H6 + k234*OXYL + k223*MALO2H +
    k219*MAL + k31*H2O2 + k21*NO2 + k148*MVKO2H + k64*C2H5OH + k39*SO2 + k71*C2H6 + k30*HO2 + k59*CH4 + k70*CO +
    k35*HNO3 + k13*O3 + k221*GLYOX + k68*(CH3O2H + R2OOH + RCO3H + ETRO2H + PRRO2H + BURO2H) + k66*HCHO + k151*ISOPRE
    + k153*MVK + k63*CH3OH + k33*H2 + k158*MACR + k146*CH2CHR + k149*(ISNIRH + MARO2H) + k147*ISNO3H + k161*ISNI)*OH;
  der(OD) = J[2]*O3 - (k7 + k8*water)*OD;
  der(NO3) = (k29 + J[15])*N2O5 + k12*O3*NO2 + k35*OH*HNO3 - (k15*NO + k26*H2O2 + k163*ISOPRE + k19*NO2 + k20*NO2 +
    J[13] + J[14] + k69*HCHO)*NO3;
  der(N2O5) = k20*NO3*NO2 - (k29 + J[15] + k43)*N2O5;
  der(ISOPRE) = 0.5*emitted - (k151*OH + k163*NO3 + k150*O3)*ISOPRE;
  der(NITRAT) = k43*HNO3 + 2*k43*N2O5 - 0.1*deposition*NITRAT;
  der(ISRO2) = OH*(k151*ISOPRE + k156*ISRO2H) + 0.12*k60*NO*ISRO2 - (k60*NO + k85*HO2)*ISRO2;
  der(MVK) = k60*NO*(0.42*ISRO2 + 0.05*ISONO3) + 0.26*k150*O3*ISOPRE - (k153*OH + k160*O3)*MVK;
  der(MVKO2) = k153*MVK*OH + k148*OH*MVKO2H - (k60*NO + k85*HO2)*MVKO2;
  der(CH3OH) = k62*CH3O2^2 - k63*OH*CH3OH;
  der(RCO3H) = k88*HO2*CH3COO - (k68*OH + J[16] + 0.5*deposition)*RCO3H;
  der(OXYO2H) = k85*HO2*OXYO2 - (k235*OH + J[16] + 0.5*deposition)*OXYO2H;
  der(BURO2H) = k85*HO2*SECC4H - ((k76 + k68)*OH + J[16] + 0.5*deposition)*BURO2H;
  der(ETRO2H) = k85*HO2*ETRO2 - ((k76 + k68)*OH + J[16] + 0.5*deposition)*ETRO2H;
  der(PRRO2H) = k85*HO2*PRRO2 - ((k76 + k68)*OH + J[16] + 0.5*deposition)*PRRO2H;
  der(MEKO2H) = k85*HO2*MEKO2 - (k87*OH + J[16] + 0.5*deposition)*MEKO2H;
  der(MALO2H) = k85*HO2*MALO2 - (k223*OH + J[16] + 0.5*deposition)*MALO2H;
  der(MACR) = k60*NO*(0.32*ISRO2 + 0.1*ISONO3) + 0.67*k150*O3*ISOPRE - k158*OH*MACR;
  der(ISNI) = k60*NO*(0.14*ISRO2 + 0.05*MVKO2 + 0.85*ISONO3) - k161*OH*ISNI;
  der(ISRO2H) = k85*HO2*ISRO2 - (k156*OH + k157*O3 + 0.5*deposition)*ISRO2H;
  der(MARO2) = 0.5*k158*OH*MACR + k78*MAPAN + k149*OH*MARO2H - (k77*NO2 + k79*NO + k85*HO2)*MARO2;
  der(MAPAN) = k77*MARO2*NO2 - (0.2*deposition + k78)*MAPAN;
  der(CH2CCH3) = k79*NO*MARO2 + k146*OH*CH2CHR - (k60*NO + k85*HO2)*CH2CCH3;
  der(ISONO3) = k163*NO3*ISOPRE + k147*OH*ISNO3H - (k60*NO + k85*HO2)*ISONO3;
  der(ISNIR) = k161*OH*ISNI + k149*OH*ISNIRH - (k60*NO + k85*HO2)*ISNIR;
  der(MVKO2H) = k85*HO2*MVKO2 - (k148*OH + 0.5*deposition)*MVKO2H;
  der(CH2CHR) = k85*HO2*CH2CCH3 - (k146*OH + 0.5*deposition)*CH2CHR;
  der(ISNO3H) = k85*HO2*ISONO3 - (k147*OH + 0.5*deposition)*ISNO3H;
  der(ISNIRH) = k85*HO2*ISNIR - (k149*OH + 0.5*deposition)*ISNIRH;
  der(MARO2H) = k85*HO2*MARO2 - (k149*OH + 0.5*deposition)*MARO2H;
  annotation(experiment(StartTime = 14400, StopTime = 417600));
end Emep;
