//! Interned identifiers: comparing two names compares two pointers.
//!
//! The text of a name lives until the program ends (it is leaked once per distinct identifier), so
//! that [`Name`] is `Copy` and reads as `&str` without a table at hand. A Modelica library of ten
//! megabytes has some ten thousand distinct identifiers, a few hundred kilobytes.
//!
//! Texts lie together in blocks of their own. Each in a piece of memory of its own would stand between the nodes of
//! the tree that is being parsed, and since it stays, no page of that tree could be given back when the tree goes.
//!
//! The table is shared by all threads behind a mutex. The parser asks it through [`NameCache`], which
//! remembers what it has seen, so that files parsed in parallel do not contend for the lock.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};

/// An identifier. A quoted identifier keeps its quotes: `'a b'` and `a` are different kinds of
/// name (MLS 3.6 §2.3.1).
///
/// One pointer to the text, which has a pointer and a length: names are in every node of a tree and in every name of a variable, so
/// that their size counts.
#[derive(Clone, Copy)]
pub struct Name(&'static &'static str);

/// All names, and the ends of the blocks that hold their texts.
#[derive(Default)]
struct Table {
    names: HashMap<&'static str, Name, BuildHasherDefault<FxHasher>>,
    /// What is left of the last block of characters.
    characters: &'static mut [u8],
    /// What is left of the last block of texts.
    texts: &'static mut [&'static str],
}

/// Bytes of a block of characters.
const BLOCK: usize = 1 << 16;

impl Table {
    fn add(&mut self, text: &str) -> Name {
        if self.characters.len() < text.len() {
            self.characters = Box::leak(vec![0; BLOCK.max(text.len())].into_boxed_slice());
        }
        let (own, rest) = std::mem::take(&mut self.characters).split_at_mut(text.len());
        self.characters = rest;
        own.copy_from_slice(text.as_bytes());
        let text: &'static str = match std::str::from_utf8(own) {
            Ok(text) => text,
            // The bytes are those of a text.
            Err(_) => unreachable!("a copy of a text is a text"),
        };
        if self.texts.is_empty() {
            self.texts = Box::leak(vec![""; BLOCK / size_of::<&str>()].into_boxed_slice());
        }
        let texts = std::mem::take(&mut self.texts);
        let Some((own, rest)) = texts.split_first_mut() else {
            unreachable!("a new block has room");
        };
        self.texts = rest;
        *own = text;
        let name = Name(own);
        self.names.insert(text, name);
        name
    }
}

static INTERNED: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

impl Name {
    /// The name with this text.
    pub fn new(text: &str) -> Name {
        // A poisoned lock is harmless: the table is only ever added to, in one step.
        let mut table = INTERNED.lock().unwrap_or_else(PoisonError::into_inner);
        match table.names.get(text) {
            Some(&known) => known,
            None => table.add(text),
        }
    }

    /// The text, for as long as the program runs.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// As a text.
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Ok(Name::new(&text))
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        *self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (std::ptr::from_ref(self.0) as usize).hash(state);
    }
}

/// Names are ordered by their text, so that sorted output does not depend on interning order.
impl Ord for Name {
    fn cmp(&self, other: &Name) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A parser's own memory of names, keyed by pieces of the source text.
#[derive(Default)]
pub struct NameCache<'text> {
    seen: HashMap<&'text str, Name, BuildHasherDefault<FxHasher>>,
}

impl<'text> NameCache<'text> {
    /// The name with this text; asks the shared table only the first time.
    pub fn get(&mut self, text: &'text str) -> Name {
        *self.seen.entry(text).or_insert_with(|| Name::new(text))
    }
}

/// Multiplicative hash over eight-byte words, the scheme of the Rust compiler's `FxHash`.
///
/// Identifiers are short and come from the user's own files, so speed matters and resistance to
/// crafted collisions does not.
#[derive(Default)]
struct FxHasher(u64);

impl FxHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for FxHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        // hashbrown takes the top seven bits as tag and the low bits as bucket; mix them.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_text_is_the_same_name_in_every_thread() {
        let here = Name::new("phi");
        let there = std::thread::spawn(|| Name::new("phi")).join().unwrap();
        assert_eq!(here, there);
        assert_ne!(here, Name::new("'phi'"), "quotes belong to the name");
        assert_eq!(NameCache::default().get("phi"), here);
    }

    #[test]
    fn order_is_alphabetical_not_by_interning() {
        let (b, a) = (Name::new("order_b"), Name::new("order_a"));
        assert!(a < b);
        assert_eq!(&*a, "order_a");
        assert_eq!(format!("{a:>8}|"), " order_a|");
    }
}
