//! The name that was probably meant.

use strsim::levenshtein;

/// The most similar of some names, by edit distance, if it is similar at all; of several the first in the alphabet.
///
/// ```
/// use acausal_base::similar::most_similar;
/// let names = || ["mass", "radius", "x"].map(String::from).into_iter();
/// assert_eq!(most_similar("mas", names()), Some("mass".into()));
/// assert_eq!(most_similar("temperature", names()), None);
/// ```
pub fn most_similar(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let best = names.map(|n| (levenshtein(&n, name), n)).min();
    best.filter(|(d, _)| *d <= name.len() / 2 + 1)
        .map(|(_, n)| n)
}
