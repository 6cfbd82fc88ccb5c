//! The ratchet: a file that says how far each model came, so that a fall is noticed.
//!
//! One line per model, `stage name`, sorted by name. A model may come farther than the file says; coming less far is an
//! error. Models that were not run are not looked at, and an update keeps their lines.

use std::collections::BTreeMap;
use std::path::Path;

use super::{MslOutcome, Stage};

/// `Err` names the models that came less far than before.
pub(super) fn check(file: &Path, outcomes: &[MslOutcome]) -> Result<(), String> {
    let before = read(file)?;
    let fallen = falls(&before, outcomes);
    if fallen.is_empty() {
        return Ok(());
    }
    Err(format!(
        "below {}:\n  {}",
        file.display(),
        fallen.join("\n  ")
    ))
}

/// Writes the stages of this run.
pub(super) fn update(file: &Path, outcomes: &[MslOutcome]) -> Result<(), String> {
    let mut stages = if file.exists() {
        read(file)?
    } else {
        BTreeMap::new()
    };
    for o in outcomes {
        stages.insert(o.model.clone(), o.stage);
    }
    let text: String = stages
        .iter()
        .map(|(model, stage)| format!("{} {model}\n", stage.word()))
        .collect();
    std::fs::write(file, text).map_err(|e| format!("{} cannot be written: {e}", file.display()))
}

fn read(file: &Path) -> Result<BTreeMap<String, Stage>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    text.lines()
        .filter(|l| !l.trim().is_empty())
        .map(|line| {
            let parts = line.split_once(' ');
            parts
                .and_then(|(stage, model)| Some((model.to_string(), Stage::from_word(stage)?)))
                .ok_or_else(|| format!("{}: `{line}` is not `stage model`", file.display()))
        })
        .collect()
}

fn falls(before: &BTreeMap<String, Stage>, outcomes: &[MslOutcome]) -> Vec<String> {
    outcomes
        .iter()
        .filter_map(|o| {
            let before = *before.get(&o.model)?;
            // Without a reference nothing can be verified.
            let expected = if o.compared {
                before
            } else {
                before.min(Stage::Simulated)
            };
            (o.stage < expected).then(|| {
                let reason = o.error.as_deref().unwrap_or("no reason");
                format!(
                    "{}: {} instead of {}, {reason}",
                    o.model,
                    o.stage.word(),
                    expected.word()
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stage: Stage, compared: bool) -> MslOutcome {
        MslOutcome {
            model: "A".into(),
            compared,
            stage,
            seconds: (None, None),
            error: None,
        }
    }

    #[test]
    fn only_a_fall_is_an_error() {
        let before = BTreeMap::from([("A".to_string(), Stage::Verified)]);
        let fallen = |stage, compared| falls(&before, &[outcome(stage, compared)]).len();
        assert_eq!(fallen(Stage::Simulated, true), 1);
        assert_eq!(fallen(Stage::Simulated, false), 0);
        assert_eq!(fallen(Stage::Verified, true), 0);
        assert_eq!(fallen(Stage::Compiled, false), 1);
    }
}
