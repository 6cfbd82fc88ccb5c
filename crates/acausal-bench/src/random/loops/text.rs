//! A loop as Modelica text: scalars, elements of arrays, or `for` loops over what repeats.

use std::fmt::Write;
use std::ops::Range;

use super::{Basis, Loop, Manufactured, Row, Style};
use crate::random::draw::number;

impl Loop {
    /// The name of an unknown in results and in equations that name it alone.
    pub(super) fn signal(&self, unknown: usize) -> String {
        if self.style == Style::Scalars {
            return self.names[unknown].clone();
        }
        if let Some(c) = self.columns {
            return format!("T[{},{}]", unknown / c + 1, unknown % c + 1);
        }
        let (array, k) = self.place(unknown);
        format!("{}[{}]", ARRAYS[array], k + 1)
    }
}

const ARRAYS: [&str; 3] = ["T", "I", "V"];

/// The model.
pub(super) fn text(case: &Loop) -> String {
    let n = case.rows.len();
    let mut declarations = String::new();
    let mut equations = String::new();
    declare(case, &mut declarations);
    if case.state.is_some() {
        declarations.push_str("  Real x(start = 1, fixed = true);\n");
    }
    if let Some(s) = case.state {
        let drive = match s.gain {
            0.0 => String::new(),
            g => format!(" + {}*{}", number(g), case.signal(s.of)),
        };
        let _ = writeln!(equations, "  der(x) = -{}*x{drive};", number(s.rate));
    }
    if let Some(s) = case.sampled {
        declarations.push_str("  discrete Real held(start = 0, fixed = true);\n");
        declarations.push_str("  Integer ticks(start = 0, fixed = true);\n");
        let _ = writeln!(
            equations,
            "  when sample({:?}, {:?}) then held = {} + {}; ticks = pre(ticks) + 1; end when;",
            s.start,
            s.period,
            case.signal(s.of.0),
            case.signal(s.of.1)
        );
    }
    let mut written = Writer {
        case,
        declarations,
        equations,
        parameters: 0,
    };
    if case.style == Style::ForLoops {
        match case.columns {
            Some(c) if case.rows.len() > c => written.rectangles(c),
            _ => written.runs(),
        }
    } else {
        for &k in &case.order {
            written.single(k);
        }
    }
    format!(
        "model M \"{n} unknowns\"\n{}equation\n{}end M;\n",
        written.declarations, written.equations
    )
}

fn declare(case: &Loop, out: &mut String) {
    let n = case.rows.len();
    let _ = match (case.style, case.columns) {
        (Style::Scalars, _) => writeln!(out, "  Real {};", case.names.join(", ")),
        (_, Some(c)) => writeln!(out, "  Real T[{}, {c}];", n / c),
        _ => {
            let ends = case.arrays.iter().skip(1).copied().chain([n]);
            let parts: Vec<String> = case
                .arrays
                .iter()
                .zip(ends)
                .zip(ARRAYS)
                .map(|((a, b), name)| format!("{name}[{}]", b - a))
                .collect();
            writeln!(out, "  Real {};", parts.join(", "))
        }
    };
}

struct Writer<'c> {
    case: &'c Loop,
    declarations: String,
    equations: String,
    parameters: usize,
}

impl Writer<'_> {
    /// One equation as it stands.
    fn single(&mut self, k: usize) {
        let row = &self.case.rows[k];
        let coefficients: Vec<String> = row
            .terms
            .iter()
            .map(|&(_, c)| match self.case.parameters {
                true => self.parameter(c),
                false => number(c),
            })
            .collect();
        let variables: Vec<String> = row.terms.iter().map(|t| self.case.signal(t.0)).collect();
        let subscripts: Vec<String> = row
            .terms
            .iter()
            .map(|t| self.case.subscript(t.0).to_string())
            .collect();
        let own = row.terms.iter().position(|t| t.0 == k);
        let body = self.body(row, &coefficients, &variables, &subscripts, own);
        let _ = writeln!(self.equations, "  {body};");
    }

    fn parameter(&mut self, value: f64) -> String {
        let name = format!("k{}", self.parameters);
        self.parameters += 1;
        let _ = writeln!(self.declarations, "  parameter Real {name} = {value:?};");
        name
    }

    /// `for` loops over rows that follow one another and look alike.
    fn runs(&mut self) {
        let n = self.case.rows.len();
        let mut begin = 0;
        while begin < n {
            let mut end = begin + 1;
            while end < n && self.alike(begin, end, end - begin, self.case.parameters) {
                end += 1;
            }
            match end - begin {
                1 => self.single(begin),
                _ => self.for_loop(begin..end),
            }
            begin = end;
        }
    }

    /// Whether row `b` is row `a` moved by `distance`, but for coefficients if they are parameters.
    fn alike(&self, a: usize, b: usize, distance: usize, any_coefficient: bool) -> bool {
        let (x, y) = (&self.case.rows[a], &self.case.rows[b]);
        let moved = |(s, t): (&(usize, f64), &(usize, f64))| {
            let (p, q) = (self.case.place(s.0), self.case.place(t.0));
            p.0 == q.0 && p.1 + distance == q.1 && (any_coefficient || s.1 == t.1)
        };
        x.terms.len() == y.terms.len()
            && x.terms.iter().zip(&y.terms).all(moved)
            && x.sources == y.sources
    }

    fn for_loop(&mut self, rows: Range<usize>) {
        let case = self.case;
        let row = &case.rows[rows.start];
        let first = rows.start as isize + 1;
        let shifted = |k: usize| match k as isize + 1 - first {
            0 => "i".to_string(),
            d if d > 0 => format!("i + {d}"),
            d => format!("i - {}", -d),
        };
        let mut coefficients = Vec::new();
        for (slot, &(_, c)) in row.terms.iter().enumerate() {
            coefficients.push(match case.parameters {
                false => number(c),
                true => {
                    let name = format!("k{}", self.parameters);
                    self.parameters += 1;
                    let values: Vec<String> = rows
                        .clone()
                        .map(|r| format!("{:?}", case.rows[r].terms[slot].1))
                        .collect();
                    let _ = writeln!(
                        self.declarations,
                        "  parameter Real {name}[{}] = {{{}}};",
                        values.len(),
                        values.join(", ")
                    );
                    match rows.start {
                        0 => format!("{name}[i]"),
                        s => format!("{name}[i - {s}]"),
                    }
                }
            });
        }
        let subscripts: Vec<String> = row
            .terms
            .iter()
            .map(|t| shifted(case.place(t.0).1))
            .collect();
        let variables: Vec<String> = row
            .terms
            .iter()
            .zip(&subscripts)
            .map(|(t, s)| format!("{}[{s}]", ARRAYS[case.place(t.0).0]))
            .collect();
        let own = row.terms.iter().position(|t| t.0 == rows.start);
        let body = self.body(row, &coefficients, &variables, &subscripts, own);
        let _ = writeln!(
            self.equations,
            "  for i in {}:{} loop {body}; end for;",
            rows.start + 1,
            rows.end
        );
    }

    /// The inside of a grid as two loops, if it is alike, and the rest one by one.
    fn rectangles(&mut self, columns: usize) {
        let case = self.case;
        let rows = case.rows.len() / columns;
        let at = |i: usize, j: usize| i * columns + j;
        let inside = |k: usize| {
            let (i, j) = (k / columns, k % columns);
            i > 0 && j > 0 && i + 1 < rows && j + 1 < columns
        };
        let first = at(1, 1);
        let all = 0..case.rows.len();
        let regular = rows > 2
            && columns > 2
            && all.clone().filter(|k| inside(*k)).all(|k| {
                let (a, b) = (&case.rows[first], &case.rows[k]);
                let moved =
                    |(s, t): (&(usize, f64), &(usize, f64))| s.0 + (k - first) == t.0 && s.1 == t.1;
                a.terms.len() == b.terms.len()
                    && a.terms.iter().zip(&b.terms).all(moved)
                    && a.sources == b.sources
            });
        for k in all {
            if !(regular && inside(k)) {
                self.single(k);
            }
        }
        if !regular {
            return;
        }
        let row = &case.rows[first];
        let shift = |k: usize, name: &str| match k {
            0 => format!("{name} - 1"),
            1 => name.to_string(),
            k => format!("{name} + {}", k - 1),
        };
        let place = |t: &(usize, f64)| (shift(t.0 / columns, "i"), shift(t.0 % columns, "j"));
        let subscripts: Vec<String> = row.terms.iter().map(|t| place(t).0).collect();
        let variables: Vec<String> = row
            .terms
            .iter()
            .map(|t| format!("T[{}, {}]", place(t).0, place(t).1))
            .collect();
        let coefficients: Vec<String> = row
            .terms
            .iter()
            .map(|t| match case.parameters {
                true => self.parameter(t.1),
                false => number(t.1),
            })
            .collect();
        let own = row.terms.iter().position(|t| t.0 == first);
        let body = self.body(row, &coefficients, &variables, &subscripts, own);
        let _ = writeln!(
            self.equations,
            "  for i in 2:{} loop for j in 2:{} loop {body}; end for; end for;",
            rows - 1,
            columns - 1
        );
    }

    /// An equation from its parts.
    fn body(
        &self,
        row: &Row,
        coefficients: &[String],
        variables: &[String],
        subscripts: &[String],
        own: Option<usize>,
    ) -> String {
        let case = self.case;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (k, (c, v)) in coefficients.iter().zip(variables).enumerate() {
            let changes = match case.modulation {
                Some((a, w)) if own == Some(k) => format!("(1 + {a:?}*sin({w:?}*time))*"),
                _ => String::new(),
            };
            match case.right && k % 3 == 2 {
                true => right.push(format!("-{c}*{changes}{v}")),
                false => left.push(format!("{c}*{changes}{v}")),
            }
        }
        match case.manufactured {
            Some(m) => {
                for (c, s) in coefficients.iter().zip(subscripts) {
                    right.push(format!("{c}*({})", m.text(s)));
                }
                if let Some(k) = own {
                    let strength = number(m.strength);
                    left.push(format!("{strength}*{}", m.function.text(&variables[k])));
                    let exact = m.text(&subscripts[k]);
                    right.push(format!("{strength}*{}", m.function.text(&exact)));
                }
            }
            None => {
                for &(b, c) in &row.sources {
                    right.push(format!("{}{}", number(c), case.basis[b].factor()));
                }
            }
        }
        if right.is_empty() {
            right.push("0".to_string());
        }
        let sum = |terms: &[String]| terms.join(" + ").replace("+ -", "- ");
        format!("{} = {}", sum(&left), sum(&right))
    }
}

impl Basis {
    fn factor(self) -> String {
        match self {
            Basis::One => String::new(),
            Basis::Time => "*time".to_string(),
            Basis::Sin(w) => format!("*sin({w:?}*time)"),
            Basis::Cos(w) => format!("*cos({w:?}*time)"),
            Basis::State => "*x".to_string(),
        }
    }
}

impl Manufactured {
    fn text(&self, subscript: &str) -> String {
        format!(
            "{} + {}*sin({:?}*time + {:?}*({subscript}))",
            number(self.middle),
            number(self.swing),
            self.frequency,
            self.phase
        )
    }
}
