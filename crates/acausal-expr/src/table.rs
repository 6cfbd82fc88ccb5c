//! A hash table of numbers whose order in memory follows the order of what they number.
//!
//! The arena interns millions of nodes, each made of nodes that were made just before. An ordinary hash table scatters them, and every look into
//! it waits for memory. Here a key may say what it is *near* to (for a node: its newest child), and it is looked for first in a few
//! slots at the place of that number; only then at the place of its hash. Passes over a model go through its
//! equations in order, so the slots they need are those that the processor has at hand.
//!
//! In: for each key a [`HashKey`], and a predicate that compares it with a number. Out: the number, or the slot that is free for it.
//!
//! Invariants: numbers are inserted in ascending order without gaps and never removed; a key lies in the first slot of its
//! sequence that was free when it came, so the first free slot ends a search. At most five eighths of the slots are taken. However
//! many keys name the same place, only [`NEAR`] slots are looked at there; then the slots are those of double hashing (Knuth, *The Art of Computer Programming* 6.4,
//! algorithm D), whose expected number of looks is constant however the taken slots lie.

/// Slots that are looked at near the given place.
const NEAR: usize = 8;

/// Where a key is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HashKey {
    /// The place to begin with.
    pub near: Option<usize>,
    /// A hash of the whole key.
    pub hash: u32,
}

/// Numbers by key. The keys are kept by the owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The hash in the upper half, the number plus one in the lower; zero is a free slot. Their number is a power of two.
    slots: Vec<u64>,
    len: u32,
}

impl Table {
    /// A table of so many keys whose slots are made when it is first asked.
    pub(crate) fn later(len: usize) -> Table {
        Table {
            slots: Vec::new(),
            len: len as u32,
        }
    }

    /// The number of a key, or else the new one that it gets: as many as there are keys. `home` gives the keys of all numbers anew.
    pub(crate) fn number(
        &mut self,
        key: HashKey,
        is_key: impl Fn(u32) -> bool,
        home: impl Fn(u32) -> HashKey,
    ) -> (u32, bool) {
        if (self.len as usize + 1) * 8 > self.slots.len() * 5 {
            self.grow(home);
        }
        match self.find(key, is_key) {
            Ok(number) => (number, false),
            Err(slot) => {
                let number = self.len;
                self.slots[slot] = (u64::from(key.hash) << 32) | (u64::from(number) + 1);
                self.len += 1;
                (number, true)
            }
        }
    }

    fn find(&self, key: HashKey, is_key: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let look = |at: usize| match self.slots[at] {
            0 => Some(Err(at)),
            slot if (slot >> 32) as u32 == key.hash => {
                let number = slot as u32 - 1;
                is_key(number).then_some(Ok(number))
            }
            _ => None,
        };
        if let Some(near) = key.near {
            for k in 0..NEAR {
                if let Some(found) = look(near.wrapping_add(k) & mask) {
                    return found;
                }
            }
        }
        // What lies near its place fills long runs of slots, so the search goes on in strides: an odd one meets every slot.
        let stride = (key.hash >> 8) as usize | 1;
        let mut at = key.hash as usize & mask;
        loop {
            if let Some(found) = look(at) {
                return found;
            }
            at = (at + stride) & mask;
        }
    }

    #[cold]
    fn grow(&mut self, home: impl Fn(u32) -> HashKey) {
        let mut slots = (2 * self.slots.len()).max(16);
        while (self.len as usize + 1) * 8 > slots * 5 {
            slots *= 2;
        }
        // The old ones go first: those of a large model take tens of megabytes, and the numbers suffice to make the new ones.
        self.slots = Vec::new();
        self.slots = vec![0; slots];
        for number in 0..self.len {
            let key = home(number);
            // No number is its own key twice.
            if let Err(slot) = self.find(key, |_| false) {
                self.slots[slot] = (u64::from(key.hash) << 32) | (u64::from(number) + 1);
            }
        }
    }
}

/// Mixes words into a hash: multiplication by an odd number carries every bit upwards, and the upper half is taken.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mix(u64);

impl Mix {
    pub(crate) fn add(self, word: u64) -> Mix {
        Mix((self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn finish(self) -> u32 {
        ((self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of all kinds against a plain map: near ones, far ones, many at one place, many with one hash.
    #[test]
    fn numbers_are_those_of_first_appearance() {
        let hash = |k: u64| Mix::default().add(k).finish();
        type Kind = (&'static str, fn(u64, u32) -> HashKey);
        let kinds: [Kind; 4] = [
            ("near", |k, hash| HashKey {
                near: Some(2 * k as usize),
                hash,
            }),
            ("far", |_, hash| HashKey { near: None, hash }),
            ("one place", |_, hash| HashKey {
                near: Some(7),
                hash,
            }),
            ("one hash", |k, _| HashKey {
                near: Some(k as usize),
                hash: 3,
            }),
        ];
        for (what, home) in kinds {
            let mut table = Table::default();
            let mut keys: Vec<u64> = Vec::new();
            let mut known = std::collections::BTreeMap::new();
            for step in 0..3000u64 {
                let key = step * step % 977;
                let at = |k: u64| home(k, hash(k));
                let (number, new) = table.number(
                    at(key),
                    |n| keys[n as usize] == key,
                    |n| at(keys[n as usize]),
                );
                let expected = known.len() as u32;
                assert_eq!(new, !known.contains_key(&key), "{what} {step}");
                assert_eq!(number, *known.entry(key).or_insert(expected), "{what}");
                if new {
                    keys.push(key);
                }
            }
        }
    }
}
