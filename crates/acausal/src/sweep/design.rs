//! Which cases a sweep has: full factorial designs and latin hypercubes.
//!
//! In: for each parameter a list of values or a distribution ([`Axis`]). Out: the values of each case. A latin hypercube of n cases (McKay, Beckman, Conover 1979) cuts each
//! distribution into n parts of equal probability and takes one value from each, in an order of its own for each parameter: so every parameter is spread evenly, whatever n and
//! the number of parameters. A list of values counts as a distribution in which all of them are equally probable.
//!
//! Example: two parameters, n = 4: the parts are 0 to 3; orders (2 0 3 1) and (1 3 0 2) give cases in the squares (2,1), (0,3), (3,0), (1,2): one in each row and column.
//!
//! The same seed gives the same cases on every machine: the generator is SplitMix64 (Steele, Lea, Flood 2014), the quantile of the normal distribution algorithm AS 241 (Wichura 1988,
//! relative error 1e-16).

use acausal_runtime::ParameterValue;

use super::Case;

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// One of these.
    Values(Vec<ParameterValue>),
    /// A normal distribution.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// Any number of an interval, each as probable as the others.
    Uniform {
        /// From.
        low: f64,
        /// To.
        high: f64,
    },
}

impl Axis {
    /// So many values from one number to another, both included, at equal distances.
    pub fn linspace(from: f64, to: f64, count: usize) -> Axis {
        let step = |k: usize| match count {
            1 => from,
            _ => from + (to - from) * (k as f64 / (count - 1) as f64),
        };
        Axis::Values((0..count).map(|k| step(k).into()).collect())
    }

    /// What makes no sense about it.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Axis::Values(values) if values.is_empty() => Err("there are no values".into()),
            Axis::Normal { mean, deviation }
                if !(mean.is_finite() && deviation.is_finite() && *deviation >= 0.0) =>
            {
                Err(format!(
                    "normal({mean}, {deviation}) needs a finite mean and a standard deviation that is not negative"
                ))
            }
            Axis::Uniform { low, high }
                if !(low.is_finite() && high.is_finite() && low <= high) =>
            {
                Err(format!("uniform({low}, {high}) needs an interval"))
            }
            _ => Ok(()),
        }
    }

    /// The value below which a fraction `u` of the distribution lies, 0 < u < 1.
    pub fn quantile(&self, u: f64) -> ParameterValue {
        match self {
            Axis::Values(values) => {
                let k = (u * values.len() as f64) as usize;
                values[k.min(values.len() - 1)].clone()
            }
            Axis::Normal { mean, deviation } => (mean + deviation * normal_quantile(u)).into(),
            Axis::Uniform { low, high } => (low + (high - low) * u).into(),
        }
    }
}

/// All combinations; the last parameter changes fastest. Nothing if one of them has a distribution.
pub fn factorial(axes: &[Axis]) -> Option<Vec<Case>> {
    let mut cases: Vec<Case> = vec![Vec::new()];
    for axis in axes {
        let Axis::Values(values) = axis else {
            return None;
        };
        let longer = |case: &Case| {
            let case = case.clone();
            values.iter().map(move |v| {
                let mut case = case.clone();
                case.push(v.clone());
                case
            })
        };
        cases = cases.iter().flat_map(longer).collect();
    }
    Some(cases)
}

/// A latin hypercube of so many cases.
pub fn latin_hypercube(axes: &[Axis], n: usize, seed: u64) -> Vec<Case> {
    let mut random = SplitMix64(seed);
    let mut cases = vec![Vec::with_capacity(axes.len()); n];
    for axis in axes {
        let mut parts: Vec<usize> = (0..n).collect();
        // Fisher and Yates.
        for k in (1..n).rev() {
            parts.swap(k, random.below(k + 1));
        }
        for (case, part) in cases.iter_mut().zip(parts) {
            let u = (part as f64 + random.open_unit()) / n as f64;
            // Rounding may reach the end of the last part.
            case.push(axis.quantile(u.min(LARGEST_BELOW_ONE)));
        }
    }
    cases
}

const LARGEST_BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

/// See the module.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0 and below 1.
    fn open_unit(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// A number below `n`: the high half of a product, whose bias is below n/2^64.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

/// AS 241, PPND16.
fn normal_quantile(p: f64) -> f64 {
    let ratio = |x: f64, numerator: &[f64; 8], denominator: &[f64; 8]| {
        let value = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        value(numerator) / value(denominator)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180625 - q * q, &CENTRE.0, &CENTRE.1);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-tail.ln()).sqrt();
    let size = match r <= 5.0 {
        true => ratio(r - 1.6, &MIDDLE.0, &MIDDLE.1),
        false => ratio(r - 5.0, &TAIL.0, &TAIL.1),
    };
    if q < 0.0 { -size } else { size }
}

type Coefficients = ([f64; 8], [f64; 8]);

const CENTRE: Coefficients = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
);

const MIDDLE: Coefficients = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const TAIL: Coefficients = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(cases: &[Case], k: usize) -> Vec<f64> {
        let number = |case: &Case| match case[k] {
            ParameterValue::Number(v) => v,
            _ => panic!("no number"),
        };
        cases.iter().map(number).collect()
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // Tables: Abramowitz and Stegun 26.5; the last by bisection of erfc with 30 digits.
        for (p, x) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.025, -1.959_963_984_540_054),
            (0.999, 3.090_232_306_167_813_5),
            (1e-10, -6.361_340_902_404_056),
        ] {
            let found: f64 = normal_quantile(p);
            assert!(
                (found - x).abs() <= 1e-14 * x.abs().max(1.0),
                "{p}: {found} {x}"
            );
        }
    }

    #[test]
    fn all_combinations() {
        let axes = [Axis::linspace(1.0, 2.0, 2), Axis::linspace(5.0, 9.0, 3)];
        let cases = factorial(&axes).unwrap();
        assert_eq!(numbers(&cases, 0), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(numbers(&cases, 1), [5.0, 7.0, 9.0, 5.0, 7.0, 9.0]);
        let normal = Axis::Normal {
            mean: 0.0,
            deviation: 1.0,
        };
        assert_eq!(factorial(&[normal]), None);
    }

    /// The definition: of n cases one in each of n parts, for each parameter.
    #[test]
    fn a_latin_hypercube_has_one_case_in_each_part() {
        let uniform = Axis::Uniform {
            low: 2.0,
            high: 12.0,
        };
        let values = Axis::Values((0..5).map(|k| f64::from(k).into()).collect());
        for n in [1, 2, 10, 1000] {
            let cases = latin_hypercube(&[uniform.clone(), uniform.clone(), values.clone()], n, 7);
            for k in 0..2 {
                let mut parts: Vec<usize> = (numbers(&cases, k).iter())
                    .map(|x| ((x - 2.0) / 10.0 * n as f64) as usize)
                    .collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..n).collect::<Vec<_>>());
            }
            if n % 5 == 0 {
                let found = numbers(&cases, 2);
                for v in 0..5 {
                    let times = found.iter().filter(|x| **x == f64::from(v)).count();
                    assert_eq!(times, n / 5);
                }
            }
        }
        let again = |seed| latin_hypercube(std::slice::from_ref(&uniform), 10, seed);
        assert_eq!(again(1), again(1));
        assert_ne!(again(1), again(2));
    }
}
