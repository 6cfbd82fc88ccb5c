//! Random numbers: the xorshift generators of Marsaglia and Vigna (*ACM Trans. Math. Softw.* 42 (2016) 30), in the form in which
//! the Modelica Standard Library uses them: the state is a vector of 32-bit Integers, low half first, and the result a
//! number in (0, 1]. The same state gives the same bits as the C functions do.

/// 32-bit Integers, two per word.
fn words(state: &[f64]) -> Vec<u64> {
    state
        .chunks(2)
        .map(|c| {
            let half = |k: usize| c.get(k).map_or(0, |&v| v as i64 as i32 as u32 as u64);
            half(0) | half(1) << 32
        })
        .collect()
}

fn halves(words: &[u64]) -> impl Iterator<Item = f64> + '_ {
    words
        .iter()
        .flat_map(|&w| [w as u32 as i32 as f64, (w >> 32) as u32 as i32 as f64])
}

/// A word as a number in (0, 1]. The word counts as signed, as in the C functions.
fn fraction(word: u64) -> f64 {
    word as i64 as f64 * 5.421_010_862_427_522e-20 + 0.5
}

/// The new state, then the number.
pub(super) fn xorshift64star(state: &[f64]) -> Vec<f64> {
    let mut x = words(state).first().copied().unwrap_or(0);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    x = x.wrapping_mul(2_685_821_657_736_338_717);
    halves(&[x]).chain([fraction(x)]).collect()
}

/// The new state, then the number.
pub(super) fn xorshift128plus(state: &[f64]) -> Vec<f64> {
    let mut s = words(state);
    s.resize(2, 0);
    let mut s1 = s[0];
    let s0 = s[1];
    s[0] = s0;
    s1 ^= s1 << 23;
    // The published generator keeps the sum out of its state; the library's one does not.
    s[1] = (s1 ^ s0 ^ (s1 >> 17) ^ (s0 >> 26)).wrapping_add(s0);
    halves(&s).chain([fraction(s[1])]).collect()
}

/// The new state (with its position), then the number.
pub(super) fn xorshift1024star(state: &[f64]) -> Vec<f64> {
    let mut s = words(&state[..state.len().min(32)]);
    s.resize(16, 0);
    let mut p = state.get(32).map_or(0, |&v| v as i64 as usize) & 15;
    let mut s0 = s[p];
    p = (p + 1) & 15;
    let mut s1 = s[p];
    s1 ^= s1 << 31;
    s1 ^= s1 >> 11;
    s0 ^= s0 >> 30;
    s[p] = s0 ^ s1;
    let x = s[p].wrapping_mul(1_181_783_497_276_652_981);
    halves(&s).chain([p as f64, fraction(x)]).collect()
}
