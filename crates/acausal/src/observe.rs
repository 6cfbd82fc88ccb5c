//! Which signals are stored: patterns over their names.
//!
//! A pattern is a name in which `*` stands for any text and `?` for one character. A name without subscripts stands for all
//! elements: `r.p.v` for every `r[k].p.v`, `*.v` for the variables `v` of all components, `T[1]` for one element.
//!
//! A model may have millions of signals, so a pattern is first compared with the name of a whole array, and names of
//! elements are made only where subscripts are asked for. Example: of `T[1000000]` and `q[1000000]`, the pattern `T[1]` makes
//! the names of `T` alone.

use acausal_codegen::Compiled;
use acausal_expr::{Kind, VarId};

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
    /// It has subscripts.
    subscripts: bool,
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
                let plain = without_subscripts(&text);
                let subscripts = plain.len() != text.len();
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
    pub fn elements(&self, model: &Compiled, var: VarId) -> Vec<usize> {
        let v = model.flat.var(var);
        if self.everything {
            return (0..v.len()).collect();
        }
        let name = v.name.plain();
        let candidates: Vec<&Pattern> = self
            .patterns
            .iter()
            .filter(|p| matches(&p.plain, &name))
            .collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        if candidates.iter().any(|p| !p.subscripts) {
            return (0..v.len()).collect();
        }
        (0..v.len())
            .filter(|&k| {
                let element = model.element_name(var, Kind::Value, k);
                candidates.iter().any(|p| matches(&p.text, &element))
            })
            .collect()
    }

    /// The first pattern that no signal matches.
    pub fn unmatched(&self, model: &Compiled) -> Option<&str> {
        let found = |p: &Pattern| {
            let one = Observe {
                patterns: vec![p.clone()],
                everything: false,
            };
            let mut outputs = model.outputs.iter();
            outputs.any(|o| !one.elements(model, o.var).is_empty())
        };
        let missing = self.patterns.iter().find(|p| p.text != "time" && !found(p));
        missing.map(|p| &*p.text)
    }
}

/// A name with everything in brackets left out; a quoted identifier may contain brackets of its own.
fn without_subscripts(text: &str) -> String {
    let mut depth = 0usize;
    let mut quoted = false;
    text.chars()
        .filter(|c| {
            match c {
                '\'' => quoted = !quoted,
                _ if quoted => {}
                '[' => depth += 1,
                ']' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
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
        assert_eq!(without_subscripts("r[1,2].p[3].v"), "r.p.v");
        assert_eq!(without_subscripts("'a[1]'.x[2]"), "'a[1]'.x");
    }
}
