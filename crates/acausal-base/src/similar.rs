//! The name that was probably meant.

/// Edit distance (Levenshtein 1966): as many characters are added, left out or replaced. Quadratic in the length of names.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

/// The most similar of some names, if it is similar at all; of several the first in the alphabet.
///
/// ```
/// use acausal_base::similar::most_similar;
/// let names = || ["mass", "radius", "x"].map(String::from).into_iter();
/// assert_eq!(most_similar("mas", names()), Some("mass".into()));
/// assert_eq!(most_similar("temperature", names()), None);
/// ```
pub fn most_similar(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let best = names.map(|n| (distance(&n, name), n)).min();
    best.filter(|(d, _)| *d <= name.len() / 2 + 1)
        .map(|(_, n)| n)
}
