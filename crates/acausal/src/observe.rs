//! Which signals are stored: patterns over their names.
//!
//! A pattern is a name in which `*` stands for any text and `?` for one character. A name without subscripts stands for all
//! elements: `r.p.v` for every `r[k].p.v`, `*.v` for the variables `v` of all components, `T[1]` for one element. `der(x)` is the derivative of `x`, if the
//! model has one.
//!
//! A model may have millions of signals, so a pattern is first compared with the name of a whole array. Subscripts that are all
//! numbers say which element is meant; names of all elements are made only where subscripts contain `*` or `?`. Example: of
//! `T[1000000]` and `q[1000000]`, the pattern `T[7]` makes one name, `T[*7]` those of `T`.

use std::collections::BTreeSet;

use acausal_compiled::{CompiledModel, Loc, Output};
use acausal_expr::{ValueKind, VarId};

/// A choice of signals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observe {
    patterns: Vec<Pattern>,
    everything: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// As the user wrote it, without blanks.
    text: String,
    /// Without subscripts.
    plain: String,
    subscripts: Subscripts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subscripts {
    /// All elements are meant.
    None,
    /// All subscripts in the order of the name, beginning with one.
    Numbers(Vec<usize>),
    /// Some subscripts contain `*`, `?` or something else that is not a number.
    Patterns,
}

impl Observe {
    /// All signals.
    pub fn everything() -> Observe {
        Observe {
            patterns: Vec::new(),
            everything: true,
        }
    }

    /// No signals.
    pub fn nothing() -> Observe {
        Observe::default()
    }

    /// The signals that match one of the patterns.
    pub fn patterns<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Observe {
        let patterns = patterns
            .into_iter()
            .map(|p| {
                let text: String = p.as_ref().split_whitespace().collect();
                let (plain, inside) = split_subscripts(&text);
                let numbers: Result<Vec<usize>, _> = inside.iter().map(|s| s.parse()).collect();
                let subscripts = match numbers {
                    Ok(none) if none.is_empty() && plain.len() == text.len() => Subscripts::None,
                    Ok(numbers) => Subscripts::Numbers(numbers),
                    Err(_) => Subscripts::Patterns,
                };
                Pattern {
                    text,
                    plain,
                    subscripts,
                }
            })
            .collect();
        Observe {
            patterns,
            everything: false,
        }
    }

    /// The elements of a variable that are chosen, ascending.
    pub fn elements(&self, model: &CompiledModel, var: VarId) -> Vec<usize> {
        if self.everything {
            return (0..model.symbols.var(var).len()).collect();
        }
        self.matching(model, var, ValueKind::Value)
    }

    /// The elements of a variable whose derivative is chosen, ascending: by a pattern that begins with `der(`. Nobody who asks for `*` means them.
    pub fn derivatives(&self, model: &CompiledModel, output: &Output) -> Vec<usize> {
        let asked = self.patterns.iter().filter(|p| p.text.starts_with("der("));
        let asked = Observe {
            patterns: asked.cloned().collect(),
            everything: false,
        };
        let mut found = asked.matching(model, output.var, output.kind);
        found.retain(|&k| output.place.at(k) != Loc::NONE);
        found
    }

    fn matching(&self, model: &CompiledModel, var: VarId, kind: ValueKind) -> Vec<usize> {
        let v = model.symbols.var(var);
        let name = kind_name(v.name.plain(), kind);
        let candidates: Vec<&Pattern> = self
            .patterns
            .iter()
            .filter(|p| matches(&p.plain, &name))
            .collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        if candidates.iter().any(|p| p.subscripts == Subscripts::None) {
            return (0..v.len()).collect();
        }
        let chosen = |&k: &usize| {
            let element = model.element_name(var, kind, k);
            candidates.iter().any(|p| matches(&p.text, &element))
        };
        // As many numbers as subscripts leave nothing open: a star that stood for a subscript would leave a number over.
        let place = |p: &&Pattern| match &p.subscripts {
            Subscripts::Numbers(numbers) if numbers.len() == v.dims.len() => {
                Some(place(&v.dims, numbers))
            }
            _ => None,
        };
        let places: Option<BTreeSet<Option<usize>>> = candidates.iter().map(place).collect();
        match places {
            Some(places) => places.into_iter().flatten().filter(chosen).collect(),
            None => (0..v.len()).filter(chosen).collect(),
        }
    }

    /// The first pattern that no signal matches.
    pub fn unmatched(&self, model: &CompiledModel) -> Option<&str> {
        let found = |p: &Pattern| {
            let one = Observe {
                patterns: vec![p.clone()],
                everything: false,
            };
            let mut outputs = model.outputs.iter();
            let mut derivatives = model.derivatives.iter();
            outputs.any(|o| !one.elements(model, o.var).is_empty())
                || derivatives.any(|o| !one.derivatives(model, o).is_empty())
        };
        let missing = self.patterns.iter().find(|p| p.text != "time" && !found(p));
        missing.map(|p| &*p.text)
    }
}

/// The name of a derivative of a variable.
fn kind_name(name: String, kind: ValueKind) -> String {
    match kind {
        ValueKind::Der(order) => {
            let order = usize::from(order);
            format!("{}{name}{}", "der(".repeat(order), ")".repeat(order))
        }
        _ => name,
    }
}

/// Where an element with these subscripts lies in an array, row by row; nothing if it has no such element.
fn place(dims: &[usize], subscripts: &[usize]) -> Option<usize> {
    let mut pairs = dims.iter().zip(subscripts);
    pairs.try_fold(0usize, |place, (&d, &s)| {
        (1..=d).contains(&s).then(|| place * d + s - 1)
    })
}

/// A name with everything in brackets left out, and what was left out, subscript by subscript; a quoted identifier may contain
/// brackets of its own.
fn split_subscripts(text: &str) -> (String, Vec<String>) {
    let mut plain = String::new();
    let mut inside: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => {
                depth += 1;
                if depth == 1 {
                    inside.push(String::new());
                    continue;
                }
            }
            ']' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    continue;
                }
            }
            ',' if !quoted && depth == 1 => {
                inside.push(String::new());
                continue;
            }
            _ => {}
        }
        match (depth, inside.last_mut()) {
            (1.., Some(subscript)) => subscript.push(c),
            _ => plain.push(c),
        }
    }
    (plain, inside)
}

/// Whether a text has the form of a pattern with `*` and `?`. Linear but for repeated stars: each star is tried from the
/// left, and only the last one is ever tried again.
fn matches(pattern: &str, text: &str) -> bool {
    let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut i, mut j) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while j < t.len() {
        match p.get(i) {
            Some('*') => {
                star = Some((i, j));
                i += 1;
            }
            Some(&c) if c == '?' || c == t[j] => {
                i += 1;
                j += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    i = at + 1;
                    j = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    p[i..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("r.v", "r.v", true),
            ("r.v", "r.vx", false),
            ("*.v", "a.b.v", true),
            ("*.v", "a.b.w", false),
            ("r?.v", "r1.v", true),
            ("r?.v", "r12.v", false),
            ("*a*b", "xaaxb", true),
            ("*a*b", "xaaxc", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn subscripts_are_set_aside() {
        let split = |text: &str| {
            let (plain, inside) = split_subscripts(text);
            (plain, inside.join(" "))
        };
        assert_eq!(split("r[1,2].p[3].v"), ("r.p.v".into(), "1 2 3".into()));
        assert_eq!(split("'a[1]'.x[2]"), ("'a[1]'.x".into(), "2".into()));
        assert_eq!(split("x[*1]"), ("x".into(), "*1".into()));
    }

    /// Against the names of all elements.
    #[test]
    fn subscripts_choose_the_elements_whose_names_match() {
        let text = "model M
            record P Real v[2]; Real w; end P;
            P r[3, 2]; Real x[12](each start = 1); Real y = 1;
          equation
            der(x) = -x;
            for i in 1:3, j in 1:2 loop r[i, j].v = {i, j}; r[i, j].w = time; end for;
          end M;";
        let load = crate::Load::default();
        let model = crate::Model::from_text("M.mo", text, &load).unwrap_or_else(|e| panic!("{e}"));
        let model = &model.compiled;
        for pattern in [
            "x[1]",
            "x[12]",
            "x[13]",
            "x[0]",
            "x[1*]",
            "x[?]",
            "x[-1]",
            "x[]",
            "x[1,2]",
            "*[2]",
            "*[2,1]*",
            "r[2,1].v[2]",
            "r[*,1].v[2]",
            "r[2, 1].w",
            "r[*].w",
            "*.w",
            "*.v[1]",
            "r[4,1].w",
            "r[3,2]*",
            "y[1]",
            "?",
            "r.v[1]",
        ] {
            let chosen = Observe::patterns([pattern]);
            let text: String = pattern.split_whitespace().collect();
            for o in &model.outputs {
                let v = model.symbols.var(o.var);
                let named =
                    |k: &usize| matches(&text, &model.element_name(o.var, ValueKind::Value, *k));
                let whole = !text.contains('[') && matches(&text, &v.name.plain());
                let expected: Vec<usize> = (0..v.len()).filter(|k| whole || named(k)).collect();
                assert_eq!(
                    chosen.elements(model, o.var),
                    expected,
                    "{pattern} of {}",
                    v.name.plain()
                );
            }
        }
    }

    #[test]
    fn numbers_say_where() {
        assert_eq!(place(&[2, 3], &[2, 3]), Some(5));
        assert_eq!(place(&[2, 3], &[1, 2]), Some(1));
        assert_eq!(place(&[2, 3], &[2, 4]), None);
        assert_eq!(place(&[2, 3], &[0, 1]), None);
        assert_eq!(place(&[], &[]), Some(0));
    }
}
