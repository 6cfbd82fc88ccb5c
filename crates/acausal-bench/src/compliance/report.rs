//! The answers as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Answer, ComplianceCase};

/// The whole report.
pub(super) fn text(all: &[(ComplianceCase, Answer)]) -> String {
    let mut out = String::from(
        "# The Modelica compliance suite\n\n\
         Made by `cargo run --release -p acausal-bench -- compliance --suite DIR --report docs/compliance.md`, where DIR is a \
         checkout of modelica/Modelica-Compliance. A case is answered with yes if it compiles and simulates; a no because of \
         something that is not supported yet counts as wrong in either case.\n\n",
    );
    out.push_str(&table(all));
    let accepted: Vec<&ComplianceCase> = all
        .iter()
        .filter(|(c, a)| !c.should_pass && *a == Answer::Yes)
        .map(|(c, _)| c)
        .collect();
    let _ = writeln!(
        out,
        "\n## Accepted, but should be refused ({})\n\n| case | section |\n|---|---|",
        accepted.len()
    );
    for c in accepted {
        let _ = writeln!(out, "| {} | {} |", short(c), c.section);
    }
    let refused: Vec<(&ComplianceCase, String)> = all
        .iter()
        .filter(|(c, a)| !a.is_right(c) && *a != Answer::Yes)
        .map(|(c, a)| {
            let reason = match a {
                Answer::No { code, message } => format!("{code}: {message}"),
                _ => "the compiler panics".to_string(),
            };
            (c, reason)
        })
        .collect();
    let _ = writeln!(
        out,
        "\n## Refused for a wrong reason ({})\n\n| case | section | should be | message |\n|---|---|---|---|",
        refused.len()
    );
    for (c, reason) in refused {
        let should = if c.should_pass { "accepted" } else { "refused" };
        let reason = reason.replace('|', "\\|").replace('\n', " ");
        let reason: String = reason.chars().take(160).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {should} | {reason} |",
            short(c),
            c.section
        );
    }
    out
}

/// Counts by chapter.
pub(super) fn table(all: &[(ComplianceCase, Answer)]) -> String {
    let mut chapters: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut total = [0; 4];
    for (case, answer) in all {
        let row = chapters.entry(case.chapter()).or_default();
        let right = answer.is_right(case);
        for counts in [row, &mut total] {
            counts[0] += 1;
            counts[1] += usize::from(right);
            counts[2] += usize::from(!right && *answer == Answer::Yes);
            counts[3] += usize::from(!right && *answer != Answer::Yes);
        }
    }
    let mut out = String::from(
        "| chapter | cases | right | accepted wrongly | refused wrongly |\n|---|---:|---:|---:|---:|\n",
    );
    for (chapter, [n, right, accepted, refused]) in chapters {
        let _ = writeln!(
            out,
            "| {chapter} | {n} | {right} | {accepted} | {refused} |"
        );
    }
    let [n, right, accepted, refused] = total;
    let _ = writeln!(
        out,
        "| **all** | **{n}** | **{right}** | {accepted} | {refused} |"
    );
    out
}

fn short(case: &ComplianceCase) -> &str {
    case.class.split_once('.').map_or("", |(_, rest)| rest)
}
