//! Variables in the order in which they are eliminated.

use super::NONE;

/// Variables by degree, first in, first out.
pub(super) struct Queues {
    first: Vec<u32>,
    last: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    lowest: usize,
}

impl Queues {
    pub fn new(n: usize) -> Queues {
        Queues {
            first: vec![NONE; n + 1],
            last: vec![NONE; n + 1],
            next: vec![NONE; n],
            previous: vec![NONE; n],
            lowest: 0,
        }
    }

    pub fn push(&mut self, v: u32, degree: u32) {
        let (d, i) = (degree as usize, v as usize);
        let last = std::mem::replace(&mut self.last[d], v);
        (self.previous[i], self.next[i]) = (last, NONE);
        match last {
            NONE => self.first[d] = v,
            last => self.next[last as usize] = v,
        }
        self.lowest = self.lowest.min(d);
    }

    pub fn remove(&mut self, v: u32, degree: u32) {
        let (d, i) = (degree as usize, v as usize);
        let (previous, next) = (self.previous[i], self.next[i]);
        match previous {
            NONE => self.first[d] = next,
            previous => self.next[previous as usize] = next,
        }
        match next {
            NONE => self.last[d] = previous,
            next => self.previous[next as usize] = previous,
        }
    }

    /// The first variable of the smallest degree; there must be one.
    pub fn pop(&mut self) -> u32 {
        while self.first[self.lowest] == NONE {
            self.lowest += 1;
        }
        let v = self.first[self.lowest];
        self.remove(v, self.lowest as u32);
        v
    }
}
