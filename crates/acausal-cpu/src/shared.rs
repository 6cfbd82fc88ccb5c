//! A vector that several threads work on.

use std::marker::PhantomData;
use std::ops::Range;

/// A vector of which several threads use different elements. Which ones is up to its users: that is the contract of the functions.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a, T = f64> {
    numbers: *mut T,
    len: usize,
    vector: PhantomData<&'a mut [T]>,
}

// SAFETY: elements are reached only through unsafe functions, whose contracts exclude races.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T: Copy> Shared<'a, T> {
    /// Of a vector that nobody else uses meanwhile.
    pub fn new(vector: &'a mut [T]) -> Self {
        Shared {
            numbers: vector.as_mut_ptr(),
            len: vector.len(),
            vector: PhantomData,
        }
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.len
    }

    /// The first element.
    pub fn as_mut_ptr(self) -> *mut T {
        self.numbers
    }

    /// One element; its index is tested.
    ///
    /// # Safety
    /// No other thread sets it meanwhile.
    #[inline(always)]
    pub unsafe fn get(self, i: usize) -> T {
        assert!(i < self.len);
        // SAFETY: inside of the vector; no race by the contract.
        unsafe { *self.numbers.add(i) }
    }

    /// Sets one element; its index is tested.
    ///
    /// # Safety
    /// No other thread uses it meanwhile.
    #[inline(always)]
    pub unsafe fn set(self, i: usize, value: T) {
        assert!(i < self.len);
        // SAFETY: inside of the vector; no race by the contract.
        unsafe { *self.numbers.add(i) = value };
    }

    /// Some elements; their range is tested. None of a vector that has none.
    ///
    /// # Safety
    /// Nobody else uses them meanwhile.
    pub unsafe fn part(self, range: Range<usize>) -> &'a mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: inside of the vector; no race by the contract.
        unsafe { std::slice::from_raw_parts_mut(self.numbers.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_fill_different_elements() {
        let mut numbers = vec![0.0; 1000];
        let shared = Shared::new(&mut numbers);
        std::thread::scope(|s| {
            for first in 0..2 {
                s.spawn(move || {
                    for i in (first..shared.len()).step_by(2) {
                        // SAFETY: even and odd elements.
                        unsafe { shared.set(i, shared.get(i) + i as f64) };
                    }
                });
            }
        });
        assert!(numbers.iter().enumerate().all(|(i, v)| *v == i as f64));
    }
}
