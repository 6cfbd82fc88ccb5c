//! Random numbers: SplitMix64 (Steele, Lea, Flood 2014). Small, the same on every machine, and a generator for each model,
//! so that a model does not depend on those before it.

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Draw(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Draw {
    /// The sequence of model `index` of a run.
    pub fn new(seed: u64, index: u64) -> Draw {
        let mut draw = Draw(seed);
        let begin = draw.bits().wrapping_add(index.wrapping_mul(GOLDEN));
        let mut draw = Draw(begin);
        draw.0 = draw.bits();
        draw
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// A number from `low` to `high`, small ones as likely as large ones (uniform in the logarithm).
    pub fn size(&mut self, low: usize, high: usize) -> usize {
        let (a, b) = ((low as f64).ln(), (high as f64 + 1.0).ln());
        ((a + self.unit() * (b - a)).exp() as usize).clamp(low, high)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between two others with three digits after the point, so that models can be read.
    pub fn real(&mut self, low: f64, high: f64) -> f64 {
        rounded(low + self.unit() * (high - low))
    }

    /// The same with a random sign.
    pub fn signed(&mut self, low: f64, high: f64) -> f64 {
        let x = self.real(low, high);
        if self.chance(50) { -x } else { x }
    }

    /// One of several.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// One of several words.
    pub fn word(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }

    /// Puts them in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k + 1));
        }
    }

    /// The numbers below `n` in a random order.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        self.shuffle(&mut all);
        all
    }
}

/// Three digits after the point.
pub fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

/// A number as a factor or term in a Modelica text.
pub fn number(x: f64) -> String {
    match x < 0.0 {
        true => format!("({x:?})"),
        false => format!("{x:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_repeat_and_differ() {
        let take = |seed, index| {
            let mut d = Draw::new(seed, index);
            [d.bits(), d.bits(), d.bits()]
        };
        assert_eq!(take(1, 5), take(1, 5));
        assert_ne!(take(1, 5), take(1, 6));
        assert_ne!(take(1, 5), take(2, 5));
    }

    #[test]
    fn numbers_lie_in_their_ranges() {
        let mut d = Draw::new(3, 0);
        for _ in 0..1000 {
            assert!((3..=500).contains(&d.size(3, 500)));
            assert!((2..=4).contains(&d.range(2, 4)));
            assert!((0.5..=2.0).contains(&d.signed(0.5, 2.0).abs()));
        }
    }
}
