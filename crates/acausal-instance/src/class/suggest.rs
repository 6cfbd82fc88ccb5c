//! "Did you mean ...?": the nearest known name by edit distance.
//!
//! Distance is that of optimal string alignment (insert, delete, replace, swap two adjacent characters), with another
//! case at the price of half a step, so that `resistor` finds `Resistor` before `resistors`. Costs O(length²) per candidate;
//! candidates whose length differs too much are skipped.
//!
//! `Voltge` against `Voltage` is one insertion: 2 half-steps of the allowed `1 + 6/3 = 3` steps, so it is suggested.

use strsim::osa_distance;

/// The nearest candidate, if it is near enough to be what was meant; the first of equals.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let wanted = beginning(name);
    let limit = match wanted.chars().count() {
        // Any two short names are near each other: allow another case, and of two letters one too many.
        length @ 0..=2 => length,
        // A third of the name may be wrong; in half-steps.
        length => 2 * (1 + length / 3),
    };
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

fn beginning(name: &str) -> String {
    name.chars().take(MAX_LENGTH).collect()
}

/// Distance in half-steps.
fn distance(left: &str, right: &str) -> usize {
    let right = beginning(right);
    let exact = 2 * osa_distance(left, &right);
    let whatever_case = 2 * osa_distance(&left.to_lowercase(), &right.to_lowercase());
    // One half-step for case, however many letters have another one: `RESISTOR` is meant to be `Resistor`.
    exact.min(whatever_case + 1)
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
            ("RESISTOR", Some("Resistor")),
            ("r", Some("R")),
            ("C", None),
            ("x", None),
            ("inductance", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }
}
