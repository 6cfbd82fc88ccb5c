//! Functions as Modelica text.

use std::fmt::Write;

use super::{Condition, Functions, Integer, Real, Statement};
use crate::random::draw::number;

const REALS: [&str; 4] = ["x", "y", "r1", "r2"];
const INTEGERS: [&str; 4] = ["n", "m", "j1", "j2"];
const VECTORS: [&str; 2] = ["v", "w"];

/// The model with its functions.
pub(super) fn text(case: &Functions) -> String {
    let mut out = String::new();
    let last = case.calls.iter().map(|c| c.0).max().unwrap_or(0);
    for (k, f) in case.functions.iter().enumerate().take(last + 1) {
        if !used(case, k) {
            continue;
        }
        let _ = writeln!(out, "function f{k}");
        out.push_str("  input Real x; input Integer n; input Real v[3];\n");
        out.push_str("  output Real y; output Integer m; output Real w[3];\n");
        out.push_str("protected\n  Real r1 = 0.5, r2 = -0.25; Integer j1 = 2, j2 = 5;\n");
        let mut counters = Vec::new();
        whiles(&f.body, &mut counters);
        for c in counters {
            let _ = writeln!(out, "  Integer c{c};");
        }
        out.push_str("algorithm\n  y := x; m := 0; w := v;\n");
        if f.recursive {
            let _ = writeln!(
                out,
                "  if n > 0 then (r1, j1) := f{k}(0.5*x + 0.1, n - 1, v); end if;"
            );
        }
        block(&f.body, 1, &mut out);
        let _ = writeln!(out, "end f{k};");
    }
    out.push_str("model M\n");
    for k in 0..case.calls.len() {
        let _ = writeln!(out, "  Real y{k}, w{k}[3], z{k};");
    }
    out.push_str("equation\n");
    for (k, (f, x, n, v)) in case.calls.iter().enumerate() {
        let v: Vec<String> = v.iter().map(real).collect();
        let arguments = format!("{}, {n}, {{{}}}", real(x), v.join(", "));
        let _ = writeln!(out, "  (y{k}, , w{k}) = f{f}({arguments});");
        let _ = writeln!(out, "  z{k} = 2*f{f}({arguments}) + 1;");
    }
    out.push_str("end M;\n");
    out
}

/// Whether a function is called by the model or by one that is.
fn used(case: &Functions, k: usize) -> bool {
    let call = format!("f{k}(");
    let in_text = |body: &[Statement]| {
        let mut text = String::new();
        block(body, 0, &mut text);
        text.contains(&call)
    };
    let later = case.functions.iter().enumerate().skip(k + 1);
    case.calls.iter().any(|c| c.0 == k)
        || later
            .filter(|(j, _)| used(case, *j))
            .any(|(_, f)| in_text(&f.body))
}

fn whiles(body: &[Statement], out: &mut Vec<usize>) {
    for s in body {
        match s {
            Statement::While(c, _, _, b) => {
                out.push(*c);
                whiles(b, out);
            }
            Statement::For(_, _, b) | Statement::ForIn(_, _, b) => whiles(b, out),
            Statement::If(branches, other) => {
                branches.iter().for_each(|(_, b)| whiles(b, out));
                whiles(other, out);
            }
            _ => {}
        }
    }
}

fn block(body: &[Statement], depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    for s in body {
        let _ = match s {
            Statement::Real(k, e) => writeln!(out, "{pad}{} := {};", REALS[*k], real(e)),
            Statement::Integer(k, e) => {
                writeln!(out, "{pad}{} := mod({}, 97);", INTEGERS[*k], integer(e))
            }
            Statement::Element(i, e) => {
                writeln!(out, "{pad}w[mod({}, 3) + 1] := {};", integer(i), real(e))
            }
            Statement::Vector(a, b) => {
                writeln!(out, "{pad}w := w*{} + {}*v;", number(*a), number(*b))
            }
            Statement::If(branches, other) => {
                for (k, (c, b)) in branches.iter().enumerate() {
                    let word = if k == 0 { "if" } else { "elseif" };
                    let _ = writeln!(out, "{pad}{word} {} then", condition(c));
                    block(b, depth + 1, out);
                }
                if !other.is_empty() {
                    let _ = writeln!(out, "{pad}else");
                    block(other, depth + 1, out);
                }
                writeln!(out, "{pad}end if;")
            }
            Statement::For(d, n, b) => {
                let _ = writeln!(out, "{pad}for i{d} in 1:{n} loop");
                block(b, depth + 1, out);
                writeln!(out, "{pad}end for;")
            }
            Statement::ForIn(d, list, b) => {
                let list: Vec<String> = list.iter().map(i64::to_string).collect();
                let _ = writeln!(out, "{pad}for i{d} in {{{}}} loop", list.join(", "));
                block(b, depth + 1, out);
                writeln!(out, "{pad}end for;")
            }
            Statement::While(k, n, c, b) => {
                let _ = writeln!(out, "{pad}c{k} := 0;");
                let _ = writeln!(out, "{pad}while c{k} < {n} and {} loop", condition(c));
                let _ = writeln!(out, "{pad}  c{k} := c{k} + 1;");
                block(b, depth + 1, out);
                writeln!(out, "{pad}end while;")
            }
            Statement::Break(c) => writeln!(out, "{pad}if {} then break; end if;", condition(c)),
            Statement::Return(c) => writeln!(out, "{pad}if {} then return; end if;", condition(c)),
            Statement::Outputs(f, r, j, x, n) => writeln!(
                out,
                "{pad}({}, {}, w) := f{f}({}, mod({}, 4), v);",
                REALS[*r],
                INTEGERS[*j],
                real(x),
                integer(n)
            ),
        };
    }
}

fn real(e: &Real) -> String {
    match e {
        Real::Literal(x) => number(*x),
        Real::Variable(k) => REALS[*k].to_string(),
        Real::Element(k, i) => format!("{}[mod({}, 3) + 1]", VECTORS[*k], integer(i)),
        Real::Time => "time".to_string(),
        Real::Binary(op, ab) => format!("({} {op} {})", real(&ab[0]), real(&ab[1])),
        Real::Quotient(ab) => format!("({}/(1 + ({})^2))", real(&ab[0]), real(&ab[1])),
        Real::Call("sqrt", a) => format!("sqrt(abs({}))", real(a)),
        Real::Call(f, a) => format!("{f}({})", real(a)),
        Real::Call2(f, ab) => format!("{f}({}, {})", real(&ab[0]), real(&ab[1])),
        Real::If(c, ab) => {
            let (a, b) = (real(&ab[0]), real(&ab[1]));
            format!("(if {} then {a} else {b})", condition(c))
        }
        Real::Whole(i) => integer(i),
        Real::Function(f, x, n) => format!("f{f}({}, mod({}, 4), v)", real(x), integer(n)),
        Real::Sum(k) => format!("sum({})", VECTORS[*k]),
    }
}

fn integer(e: &Integer) -> String {
    match e {
        Integer::Literal(x) if *x < 0 => format!("({x})"),
        Integer::Literal(x) => x.to_string(),
        Integer::Variable(k) => INTEGERS[*k].to_string(),
        Integer::Iterator(k) => format!("i{k}"),
        Integer::Binary(op, ab) => format!("({} {op} {})", integer(&ab[0]), integer(&ab[1])),
        Integer::Divide(f, a, by) => format!("{f}({}, {by})", integer(a)),
        Integer::Floor(e) => format!("integer({})", real(e)),
    }
}

fn condition(c: &Condition) -> String {
    match c {
        Condition::Reals(op, ab) => format!("{} {op} {}", real(&ab[0]), real(&ab[1])),
        Condition::Integers(op, ab) => format!("{} {op} {}", integer(&ab[0]), integer(&ab[1])),
        Condition::Logical(op, ab) => {
            format!("({} {op} {})", condition(&ab[0]), condition(&ab[1]))
        }
        Condition::Not(c) => format!("not ({})", condition(c)),
    }
}
