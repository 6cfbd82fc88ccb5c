//! What came of a list, for people: counts, reasons by kind, and the whole table as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{MslOutcome, Options, Stage};

/// Reasons that are shown in the summary.
const REASONS: usize = 40;
/// Models that are named as examples of a reason.
const EXAMPLES: usize = 3;

/// Counts, then the reasons, the most common first.
pub(super) fn summary(outcomes: &[MslOutcome]) -> String {
    let mut text = counts(outcomes);
    for (reason, models) in reasons(outcomes).into_iter().take(REASONS) {
        let shown: Vec<&str> = models.iter().copied().take(EXAMPLES).collect();
        let _ = writeln!(
            text,
            "{:>4}  {reason}\n        {}",
            models.len(),
            shown.join(", ")
        );
    }
    text
}

/// The whole table.
pub(super) fn markdown(outcomes: &[MslOutcome], o: &Options) -> String {
    let what = match &o.list {
        Some(list) => list.file_name().map_or_else(String::new, |n| {
            format!("the models of {}", n.to_string_lossy())
        }),
        None => format!("every class of {} with an experiment annotation", o.package),
    };
    let mut text = format!(
        "# Library models\n\nMade by `acausal-bench msl`: {what}, each with at most {} s of CPU time and {} MB.\n\
         A model is *verified* when all signals of its reference lie in the tube; without a reference *simulated* is the\n\
         end. Seconds are CPU time, for compiling and until the end.\n\n```text\n{}```\n\n",
        o.time,
        o.memory,
        counts(outcomes)
    );
    text.push_str("## Reasons, the most common first\n\n| models | reason |\n|---:|---|\n");
    for (reason, models) in reasons(outcomes) {
        let _ = writeln!(text, "| {} | {} |", models.len(), cell(&reason));
    }
    text.push_str(
        "\n## All models\n\n| model | compiled | initialised | simulated | verified | seconds | first error |\n\
         |---|:-:|:-:|:-:|:-:|---:|---|\n",
    );
    for outcome in outcomes {
        let mark = |stage: Stage| match (outcome.stage >= stage, stage) {
            (true, _) => "yes",
            (false, Stage::Verified) if !outcome.compared => "",
            (false, _) => "no",
        };
        let seconds: Vec<String> = [outcome.seconds.0, outcome.seconds.1]
            .iter()
            .flatten()
            .map(|s| format!("{s:.2}"))
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            outcome.model,
            mark(Stage::Compiled),
            mark(Stage::Initialised),
            mark(Stage::Simulated),
            mark(Stage::Verified),
            seconds.join(" / "),
            cell(outcome.error.as_deref().unwrap_or(""))
        );
    }
    text
}

fn counts(outcomes: &[MslOutcome]) -> String {
    let mut text = format!("{:>5} models\n", outcomes.len());
    for stage in Stage::REACHED {
        let count = outcomes.iter().filter(|o| o.stage >= stage).count();
        let _ = write!(text, "{count:>5} {}", stage.word());
        if stage == Stage::Verified {
            let compared = outcomes.iter().filter(|o| o.compared).count();
            let _ = write!(text, " of {compared} with a reference");
        }
        text.push('\n');
    }
    text
}

/// Errors without the names in them, with the models that have them; the most common first, then by text.
fn reasons(outcomes: &[MslOutcome]) -> Vec<(String, Vec<&str>)> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for o in outcomes {
        if let Some(error) = &o.error {
            groups.entry(kind(error)).or_default().push(&o.model);
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|g| std::cmp::Reverse(g.1.len()));
    groups
}

/// The message without what differs from model to model: names in backquotes, numbers, the place.
fn kind(error: &str) -> String {
    let message = match error.rfind(" (") {
        Some(at) if error.ends_with(')') => &error[..at],
        _ => error,
    };
    // `... of component a.b` and `... for i = 3` are places as well.
    let message = [" of component ", "` for "]
        .iter()
        .filter_map(|end| message.rfind(end))
        .min()
        .map_or(message, |at| &message[..at]);
    if let Some(code) = ["outside-tube", "not-comparable"]
        .into_iter()
        .find(|c| message.starts_with(c))
    {
        return code.to_string();
    }
    let mut text = String::new();
    let mut quoted = false;
    let mut number = false;
    for c in message.chars() {
        match c {
            '`' => {
                quoted = !quoted;
                text.push_str(if quoted { "`…`" } else { "" });
            }
            _ if quoted => {}
            c if c.is_ascii_digit() => {
                if !number {
                    text.push('#');
                }
            }
            c => text.push(c),
        }
        number = c.is_ascii_digit() || (number && matches!(c, '.' | 'e' | '-'));
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_kind_are_one_reason() {
        let one = kind("unknown-name: there is no `a.b` in 12 classes (A.mo:3)");
        let other = kind("unknown-name: there is no `c` in 7 classes (B.mo:1)");
        assert_eq!(one, other);
        assert_eq!(one, "unknown-name: there is no `…` in # classes");
    }
}
