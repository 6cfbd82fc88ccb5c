//! "Did you mean ...?": the nearest known name by edit distance.
//!
//! Distance is Damerau-Levenshtein restricted to neighbours (insert, delete, replace, swap two adjacent characters), with a
//! change of case at half the price, so that `resistor` finds `Resistor` before `resistors`. Costs O(length²) per candidate;
//! candidates whose length differs too much are skipped.
//!
//! `Voltge` against `Voltage` is one insertion: 2 half-steps of the allowed `1 + 6/3 = 3` steps, so it is suggested.

/// The nearest candidate, if it is near enough to be what was meant; the first of equals.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let wanted: Vec<char> = name.chars().take(MAX_LENGTH).collect();
    // A third of the name may be wrong; in half-steps.
    let mut limit = 2 * (1 + wanted.len() / 3);
    if wanted.len() <= 2 {
        // Any two short names are near each other: allow a change of case only.
        limit = wanted.len();
    }
    let mut best = None;
    for candidate in candidates {
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let distance = distance(&wanted, candidate);
        if distance <= limit && best.is_none_or(|(known, _)| distance < known) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean X?` for a hint.
pub(crate) fn hint<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    nearest(name, candidates).map(|found| format!("did you mean `{found}`?"))
}

/// Longer identifiers are generated; comparing their beginnings is enough.
const MAX_LENGTH: usize = 64;

/// Distance in half-steps.
fn distance(left: &[char], right: &str) -> usize {
    let right: Vec<char> = right.chars().take(MAX_LENGTH).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).map(|j| 2 * j).collect();
    for (i, &l) in left.iter().enumerate() {
        let mut current = vec![2 * (i + 1)];
        for (j, &r) in right.iter().enumerate() {
            let replace = if l == r {
                0
            } else if l.eq_ignore_ascii_case(&r) {
                1
            } else {
                2
            };
            let mut cost = (previous[j] + replace)
                .min(previous[j + 1] + 2)
                .min(current[j] + 2);
            if i > 0 && j > 0 && l == right[j - 1] && left[i - 1] == r {
                cost = cost.min(before[j - 1] + 2);
            }
            current.push(cost);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_wins() {
        let known = [
            "Resistor",
            "resistance",
            "R",
            "Voltage",
            "start",
            "stateSelect",
        ];
        for (typed, meant) in [
            ("resistor", Some("Resistor")),
            ("Voltge", Some("Voltage")),
            ("strat", Some("start")),
            ("stateselect", Some("stateSelect")),
            ("r", Some("R")),
            ("x", None),
            ("inductance", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }
}
