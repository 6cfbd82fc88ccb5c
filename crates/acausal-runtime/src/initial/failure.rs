//! A failed start (or restart after an event) and what is said about it.
//!
//! In: rows and unknowns by number ([`InitialFailure`]). Out: a diagnostic at the user's own equations: each equation of
//! the set is shown where it stands, with its residual; unknowns with guess and value; the direction that nothing
//! determines by the names of variables.

use acausal_base::{Diagnostic, Span};
use acausal_compiled::{CompiledModel, InitialRow};

use crate::error::row_text;

/// Details of a failed initialisation.
#[derive(Clone, Debug)]
pub struct InitialFailure {
    /// What went wrong.
    pub kind: InitialKind,
    /// Time of the attempt.
    pub t: f64,
    /// The attempt was the start of the run, not an event or a step on the way.
    pub start: bool,
    /// Rows that are involved, with residuals, largest first; of singular equations all that depend on each other.
    pub rows: Vec<(usize, f64)>,
    /// Unknowns that are involved, by name, with the values that were reached.
    pub unknowns: Vec<(String, f64)>,
    /// Their guesses, if known.
    pub guesses: Vec<f64>,
    /// A change of the unknowns that the equations do not notice; the largest is 1.
    pub direction: Vec<(String, f64)>,
    /// The other equations of a small block.
    pub others: Vec<usize>,
    /// Number of the block, number of blocks, and unknowns of the block.
    pub block: Option<(usize, usize, usize)>,
    /// The equations hold at these values, but do not determine them.
    pub solved: bool,
    /// The condition that contradicts the others.
    pub condition: Option<String>,
    /// Where it stands, if it is no row.
    pub span: Span,
    /// Set where `homotopy` was followed as well: how far, nothing if the simplified equations were not solved either.
    pub homotopy: Option<Option<f64>>,
    /// A variable whose own equation is why others are not finite: name, value and where that equation stands.
    pub cause: Option<(String, f64, Span)>,
}

/// Kinds of failed initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialKind {
    /// More conditions than unknowns.
    Overdetermined,
    /// Unknowns that no equation determines.
    Underdetermined,
    /// The equations have no inverse at the guess.
    Singular,
    /// Solutions meet on the way: from here on the equations do not say which one to follow.
    SolutionsMeet,
    /// The solution folds back: there is none nearby behind this instant.
    SolutionEnds,
    /// The iteration did not converge.
    NoConvergence,
    /// An equation has no finite value at the guess.
    NotFinite,
    /// The derivatives of an equation are not finite at the guess, although it has a value.
    NoSlope,
    /// A condition contradicts the others.
    Inconsistent,
    /// The pattern of the equations is not one of a matrix: a defect of the program.
    Pattern,
}

/// Names in one sentence.
const NAMED: usize = 8;
/// Elements of one equation that are shown.
const ELEMENTS: usize = 4;
/// Equations that are shown.
const SHOWN: usize = 12;

impl InitialFailure {
    /// A failure without details.
    pub fn new(kind: InitialKind, t: f64) -> InitialFailure {
        InitialFailure {
            kind,
            t,
            start: true,
            rows: Vec::new(),
            unknowns: Vec::new(),
            guesses: Vec::new(),
            direction: Vec::new(),
            block: None,
            others: Vec::new(),
            solved: false,
            condition: None,
            span: Span::NONE,
            homotopy: None,
            cause: None,
        }
    }

    /// The message for the user.
    pub fn diagnostic(&self, model: &CompiledModel) -> Diagnostic {
        let span = (self.rows.first()).map_or(self.span, |r| row_text(model, r.0).0);
        let names = self.names();
        let at = if self.start {
            "at the start".to_string()
        } else {
            format!("at time = {}", self.t)
        };
        let one = self.rows.len() == 1;
        let code =
            |start: &'static str, later: &'static str| if self.start { start } else { later };
        let d = match self.kind {
            InitialKind::Overdetermined => Diagnostic::error(
                "initial-overdetermined",
                span,
                "too many conditions for the start".to_string(),
            )
            .hint("remove an initial equation or a fixed start value"),
            InitialKind::Underdetermined => Diagnostic::error(
                "initial-underdetermined",
                span,
                format!("no equation determines {names} at the start"),
            )
            .hint("add an initial equation or a fixed start value"),
            InitialKind::SolutionsMeet => Diagnostic::error(
                "solutions-meet",
                span,
                format!(
                    "solutions of this equation meet {at}: it does not determine {names} any more"
                ),
            )
            .hint("state the model so that derivatives enter linearly"),
            InitialKind::SolutionEnds => Diagnostic::error(
                "singular",
                span,
                format!(
                    "this equation does not determine {names} {at}: the solution that was followed folds back there, and no other one was found behind it"
                ),
            )
            .hint("add what lets it change over quickly (a small capacity or inertia), or write the branches with a relation that switches between them"),
            InitialKind::Singular if one => Diagnostic::error(
                code("initial-singular", "singular"),
                span,
                format!("this equation does not determine {names} {at}"),
            )
            .hint(self.singular_hint()),
            InitialKind::Singular => Diagnostic::error(
                code("initial-singular", "singular"),
                span,
                format!(
                    "these {} equations depend on each other {at} and do not determine {names}",
                    self.rows.len()
                ),
            )
            .hint(self.singular_hint()),
            InitialKind::NoConvergence => Diagnostic::error(
                code("initial-no-convergence", "no-convergence"),
                span,
                format!("no solution for {names} was found {at}"),
            )
            .hint(code(
                "give start values that are closer to the solution",
                "after this event, or from here on, the equations may have no solution",
            )),
            InitialKind::NotFinite => Diagnostic::error(
                code("initial-not-finite", "not-a-number"),
                span,
                format!("this equation has no finite value {at}"),
            )
            .hint(code(
                "give start values for which it is defined",
                "a division by zero, or a function outside of where it is defined",
            )),
            InitialKind::NoSlope => Diagnostic::error(
                code("initial-not-finite", "not-a-number"),
                span,
                format!("this equation has no finite derivative {at}"),
            )
            .hint(code(
                "give start values for which it has one: sqrt(x) has none at x = 0",
                "sqrt(x) has no finite derivative at x = 0",
            )),
            InitialKind::Pattern => {
                let text = self.condition.as_deref().unwrap_or("unknown");
                Diagnostic::error(
                    "internal",
                    span,
                    format!(
                        "a defect of this program: the pattern of the equations is invalid ({text})"
                    ),
                )
            }
            InitialKind::Inconsistent => self.inconsistent(span, &at),
        };
        self.details(d, model)
    }

    /// A condition that contradicts the others.
    fn inconsistent(&self, span: Span, at: &str) -> Diagnostic {
        let text = self.condition.as_deref().unwrap_or("this condition");
        let text = text.trim_matches('`');
        let (message, hint) = match self.start {
            true => (
                format!("`{text}` contradicts the other conditions of the start"),
                "remove a fixed start value or an initial equation, or make them agree",
            ),
            false => (
                format!(
                    "`{text}`, set by `reinit` {at}, contradicts the constraints between the states"
                ),
                "give new values to as many states as can move independently of each other",
            ),
        };
        Diagnostic::error("initial-inconsistent", span, message).hint(hint)
    }

    /// What may help where equations are singular.
    fn singular_hint(&self) -> &'static str {
        let values = self.unknowns.iter().map(|u| u.1);
        let at_guess = !self.guesses.is_empty() && values.eq(self.guesses.iter().copied());
        match (self.start, at_guess) {
            (true, true) => {
                "if these guesses are the reason (x^2 = 4 at x = 0), write other start values; else an equation is missing or written twice"
            }
            _ => "an equation is missing here, or written twice in different forms",
        }
    }

    /// Equations where they stand, the block, values and the direction.
    fn details(&self, mut d: Diagnostic, model: &CompiledModel) -> Diagnostic {
        let show_residual = !matches!(
            self.kind,
            InitialKind::Singular
                | InitialKind::SolutionsMeet
                | InitialKind::SolutionEnds
                | InitialKind::Overdetermined
        );
        // Of an equation with many elements a few stand for all of them.
        let (mut shown, mut elements): (usize, Vec<(Span, usize)>) = (0, Vec::new());
        for (k, &(row, r)) in self.rows.iter().enumerate() {
            if shown == SHOWN {
                break;
            }
            let (span, text) = row_text(model, row);
            let known = elements.iter().position(|e| e.0 == span);
            let known = known.unwrap_or_else(|| {
                elements.push((span, 0));
                elements.len() - 1
            });
            elements[known].1 += 1;
            if elements[known].1 > ELEMENTS {
                continue;
            }
            shown += 1;
            let mut label = describe(model, row);
            if show_residual && r != 0.0 {
                label.insert(0, format!("residual {r:.3e}"));
            }
            let label = label.join(", ");
            if span.is_none() {
                d = d.note(format!("{text} {label}").trim_end().to_string());
            } else if k > 0 || !label.is_empty() {
                let label = if label.is_empty() {
                    "and this one"
                } else {
                    &label
                };
                d = d.label(span, label);
            }
        }
        if self.rows.len() > shown {
            d = d.note(format!("and {} more equations", self.rows.len() - shown));
        }
        if let Some((name, value, span)) = &self.cause {
            d = d.label(*span, format!("`{name}` is {value} here"));
        }
        if let Some((k, count, size)) = self.block
            && count > 1
            && self.kind != InitialKind::Inconsistent
        {
            let s = if size == 1 { "" } else { "s" };
            d = d.note(format!("block {k} of {count}, with {size} unknown{s}"));
        }
        for &row in &self.others {
            let span = row_text(model, row).0;
            if !span.is_none() {
                let mut label = describe(model, row);
                label.insert(0, "solved together with this one".to_string());
                d = d.label(span, label.join(", "));
            }
        }
        if let Some(reached) = self.homotopy {
            d = d.note(match reached {
                None => "`homotopy` does not help: the simplified equations were not solved either".to_string(),
                Some(part) => format!(
                    "`homotopy` was followed over {} % of the way from the simplified to the actual equations",
                    short((100.0 * part).floor())
                ),
            });
        }
        if self.direction.len() > 1 {
            let mut parts: Vec<String> = (self.direction.iter().take(NAMED))
                .map(|(name, v)| format!("{name} by {}", short(*v)))
                .collect();
            if self.direction.len() > NAMED {
                parts.push(format!("and {} more", self.direction.len() - NAMED));
            }
            let who = match self.kind {
                InitialKind::NoConvergence => "at these values the equations",
                _ => "they",
            };
            d = d.note(format!(
                "{who} do not notice a change of {}",
                parts.join(", ")
            ));
        }
        let values: Vec<String> = (self.unknowns.iter().take(NAMED).enumerate())
            .map(|(k, (name, v))| match self.guesses.get(k) {
                Some(g) if g == v && self.start => format!("{name} = {} (the guess)", short(*v)),
                Some(g) if g == v => format!("{name} = {}", short(*v)),
                Some(g) if !self.start => {
                    format!("{name} = {} (before: {})", short(*v), short(*g))
                }
                Some(g) => format!("{name} = {} (guess {})", short(*v), short(*g)),
                _ => format!("{name} = {}", short(*v)),
            })
            .collect();
        if !values.is_empty() && self.kind != InitialKind::Underdetermined {
            d = d.note(format!("with {}", values.join(", ")));
        }
        d
    }

    fn names(&self) -> String {
        let mut names: Vec<String> = (self.unknowns.iter().take(NAMED))
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if self.unknowns.len() > NAMED {
            names.push(format!("{} more", self.unknowns.len() - NAMED));
        }
        match names.len() {
            0 => "the unknowns".to_string(),
            1 => names.remove(0),
            k => format!("{} and {}", names[..k - 1].join(", "), names[k - 1]),
        }
    }
}

/// Which element, component and derivative of the written equation a row is.
fn describe(model: &CompiledModel, row: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let Some((group, k)) = model.row_group(row) else {
        return parts;
    };
    let kind = (model.initial.rows.iter())
        .position(|g| g.first == group.first)
        .map(|g| model.initial.kinds[g]);
    match kind {
        Some(InitialRow::Hidden) if row >= model.n => parts.push("differentiated".to_string()),
        Some(InitialRow::Start(_)) if row >= model.n => {
            parts.push("the fixed start value".to_string());
        }
        _ => {}
    }
    if !group.domain.is_empty() && !matches!(kind, Some(InitialRow::Start(_))) {
        let point = crate::error::point_text(model, group, k);
        let word = if point.starts_with("element") {
            ""
        } else {
            "for "
        };
        parts.push(format!("{word}{point}"));
    }
    let component = &model.symbols.origin(group.origin).component;
    if !component.is_empty() {
        parts.push(format!("in component {component}"));
    }
    parts
}

/// A number with at most six digits.
pub(crate) fn short(v: f64) -> String {
    if v == 0.0 || !v.is_finite() {
        return format!("{v}");
    }
    let size = v.abs();
    if (1e-4..1e7).contains(&size) {
        let digits = (5 - size.log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{v:.digits$}");
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text,
        };
    }
    format!("{v:.3e}")
}
