//! Long vectors in two halves, one of them on a second thread.
//!
//! Where vectors do not stay in the caches of one core a loop over them waits for memory, and two cores get more from it than one. That is
//! decided for each loop by the bytes it moves ([`LEAST_BYTES`]): the prediction reads and writes most vectors and gains first, at some
//! 100,000 unknowns; a substitution waits for its own results and gains last ([`LEAST_PAIRED`]).

use crate::dae::Dae;
use acausal_cpu::Pair;
use std::ops::Range;

/// Bytes from which on a loop is shared: several times what the second cache of a core holds.
const LEAST_BYTES: usize = 9_000_000;

/// Number of unknowns from which on linear systems are solved on two threads, and the history is narrow ([`crate::bdf`]).
pub(crate) const LEAST_PAIRED: usize = 250_000;

/// Number of unknowns below which no loop is shared.
pub const LEAST_SHARED: usize = 100_000;

/// The second thread, for linear systems.
pub(crate) fn second<D: Dae + ?Sized>(dae: &mut D, n: usize) -> Option<&mut Pair> {
    dae.pair().filter(|_| n >= LEAST_PAIRED)
}

/// Calls `f` with vectors of length n, or with each half of them if the loop moves much: `moved` of them, read or written. With one
/// thread too, so the number of threads does not show in what is made of the two results.
pub(crate) fn in_halves<V: Halve + Send, R: Send>(
    pair: Option<&mut Pair>,
    (n, moved): (usize, usize),
    vectors: V,
    f: impl Fn(V) -> R + Sync,
) -> (R, Option<R>) {
    if n < LEAST_SHARED || n * moved * size_of::<f64>() < LEAST_BYTES {
        return (f(vectors), None);
    }
    // At the end of a cache line.
    let (front, back) = vectors.halve((n / 2).next_multiple_of(8));
    let Some(pair) = pair else {
        return (f(front), Some(f(back)));
    };
    let (first, second) = pair.both(|| f(front), || f(back));
    (first, Some(second))
}

/// Vectors that are cut at one place.
pub(crate) trait Halve: Sized {
    fn halve(self, middle: usize) -> (Self, Self);
}

impl Halve for Range<usize> {
    fn halve(self, middle: usize) -> (Self, Self) {
        let middle = self.start + middle;
        (self.start..middle, middle..self.end)
    }
}

/// A slice without any element stays so.
impl Halve for &[f64] {
    fn halve(self, middle: usize) -> (Self, Self) {
        self.split_at(middle.min(self.len()))
    }
}

impl<T> Halve for &mut [T] {
    fn halve(self, middle: usize) -> (Self, Self) {
        self.split_at_mut(middle.min(self.len()))
    }
}

impl<V: Halve> Halve for Option<V> {
    fn halve(self, middle: usize) -> (Self, Self) {
        self.map(|v| v.halve(middle)).unzip()
    }
}

impl<V: Halve, const K: usize> Halve for [V; K] {
    fn halve(self, middle: usize) -> (Self, Self) {
        let mut backs: [Option<V>; K] = std::array::from_fn(|_| None);
        let mut places = backs.iter_mut();
        let fronts = self.map(|v| {
            let (front, back) = v.halve(middle);
            if let Some(place) = places.next() {
                *place = Some(back);
            }
            front
        });
        (fronts, backs.map(|back| back.expect("one for each front")))
    }
}

impl<A: Halve, B: Halve> Halve for (A, B) {
    fn halve(self, middle: usize) -> (Self, Self) {
        let ((a, a_end), (b, b_end)) = (self.0.halve(middle), self.1.halve(middle));
        ((a, b), (a_end, b_end))
    }
}
