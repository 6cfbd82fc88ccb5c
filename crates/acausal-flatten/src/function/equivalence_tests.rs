//! Property: a function that is inlined and the same function at run time give the same numbers.
//!
//! Random programs over dyadic rationals, so that both ways compute exactly. The run-time form is forced by a loop whose
//! end depends on an argument and that runs once.

use acausal_expr::{Functions, Node, ScalarValue, VarId};
use acausal_symbolic::Substitute;
use proptest::prelude::*;

use crate::flatten::flatten;
use acausal_instance::class::Libraries;

/// An expression of Real type in the variables `x, y, a, b, v[1..4]` and the iterator `i` if there is one.
fn expression(in_loop: bool) -> impl Strategy<Value = String> {
    let mut leaves = vec![
        "x", "y", "a", "b", "v[1]", "v[4]", "1", "(-2)", "0.5", "sum(v)",
    ];
    if in_loop {
        leaves.extend(["i", "v[i]", "v[i + 1]"]);
    }
    let leaf = prop::sample::select(leaves).prop_map(str::to_string);
    leaf.prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(p, q)| format!("({p} + {q})")),
            (inner.clone(), inner.clone()).prop_map(|(p, q)| format!("({p} - {q})")),
            inner.clone().prop_map(|p| format!("(-0.5*{p})")),
            inner.clone().prop_map(|p| format!("abs({p})")),
            (inner.clone(), inner.clone()).prop_map(|(p, q)| format!("max({p}, {q})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(p, q, r)| format!("(if {p} > {q} then {r} else {p})")),
        ]
    })
}

fn statement(in_loop: bool, depth: u32) -> BoxedStrategy<String> {
    let mut targets = vec!["a", "b", "v[2]", "v[3]"];
    if in_loop {
        targets.extend(["v[i]", "v[i + 1]"]);
    }
    let assign = (prop::sample::select(targets), expression(in_loop))
        .prop_map(|(t, e)| format!("{t} := {e};"));
    let slice = expression(in_loop).prop_map(|e| format!("v[2:3] := {{{e}, a}} + v[3:4];"));
    if depth == 0 {
        return prop_oneof![4 => assign, 1 => slice].boxed();
    }
    let body = prop::collection::vec(statement(in_loop, depth - 1), 1..3).prop_map(|s| s.join(" "));
    let other = body.clone();
    let branch = (
        expression(in_loop),
        expression(in_loop),
        body.clone(),
        other,
    )
        .prop_map(|(p, q, s, t)| format!("if {p} < {q} then {s} else {t} end if;"));
    let round = prop::collection::vec(statement(true, depth - 1), 1..3);
    let repeat = round.prop_map(|s| format!("for i in 1:3 loop {} end for;", s.join(" ")));
    if in_loop {
        return prop_oneof![3 => assign, 1 => slice, 2 => branch].boxed();
    }
    prop_oneof![3 => assign, 1 => slice, 2 => branch, 2 => repeat].boxed()
}

/// A loop over the long array `w`: its rounds are independent unless it reads another element.
fn wide_loop() -> impl Strategy<Value = String> {
    let leaves = vec!["w[i]", "i", "x", "b", "v[2]", "0.5", "w[13 - i]"];
    let leaf = prop::sample::select(leaves);
    let expression = (leaf.clone(), leaf.clone(), leaf.clone(), leaf)
        .prop_map(|(p, q, r, t)| format!("(if {p} > {q} then {r} - {t} else -0.5*{p} + {t})"));
    let assign = expression.clone().prop_map(|e| format!("w[i] := {e};"));
    let sum = expression
        .clone()
        .prop_map(|e| format!("a := a - {e} + i;"));
    let choice = (expression, assign.clone(), sum.clone())
        .prop_map(|(c, s, t)| format!("if {c} > 1 then {s} else {t} {s} end if;"));
    let round = prop::collection::vec(prop_oneof![assign, sum, choice], 1..3);
    let range = prop::sample::select(vec!["1:12", "2:12", "1:10"]);
    (range, round).prop_map(|(r, s)| format!("for i in {r} loop {} end for;", s.join(" ")))
}

fn program() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![3 => statement(false, 2), 1 => wide_loop()],
        1..5,
    )
    .prop_map(|s| s.join("\n"))
}

/// The value of an expression at `x = 3, y = -5/4`, run-time functions included.
fn evaluate(model: &acausal_expr::flat::FlatModel, e: acausal_expr::ExprId) -> f64 {
    let functions = Functions::new(model).expect("compiles");
    let values = [3.0, -1.25, 1.0];
    let number = |e: acausal_expr::ExprId| {
        model
            .exprs
            .evaluate(e, |x, n, _| match x.node(n) {
                Node::Var(a) => Some(ScalarValue::Real(values[a.var.index()])),
                _ => None,
            })
            .ok()
            .and_then(ScalarValue::as_f64)
    };
    if let Node::Apply {
        func, args, output, ..
    } = model.exprs.node(e)
    {
        let args: Option<Vec<f64>> = model.exprs.list(args).iter().map(|&a| number(a)).collect();
        let out = functions
            .run(func, &args.expect("numbers"), &[])
            .expect("defined");
        return out[output as usize];
    }
    number(e).expect("a number")
}

fn check(body: &str) {
    let declarations = "input Real x; input Real y; input Real once; output Real r[18];
        protected Real a = x; Real b = y; Real v[4] = {1, x, 2*y, -1}; Real w[12] = x*(1:12); Real done = 0;";
    let text = format!(
        "function inlined {declarations} algorithm {body} r := cat(1, {{a, b}}, v, w); end inlined;
         function looped {declarations} algorithm
           while done < once loop done := done + 1; {body} end while;
           r := cat(1, {{a, b}}, v, w); end looped;
         model M Real x = time; Real y = 2*time; Real once = 3*time;
           Real p[18] = inlined(x, y, once); Real q[18] = looped(x, y, once); end M;"
    );
    let mut libraries = Libraries::new();
    libraries.load_text("random.mo", &text).expect("parses");
    let (model, _) = flatten(&mut libraries, "M", &[]).unwrap_or_else(|e| {
        panic!(
            "{text}\n{:#?}",
            e.iter().map(|m| &m.message).collect::<Vec<_>>()
        )
    });
    assert_eq!(model.functions.len(), 1, "{text}");
    let elements = |var: u32| -> Vec<f64> {
        let mut exprs = model.clone();
        let mut out = Vec::new();
        for eq in &model.equations {
            let Node::Var(a) = model.exprs.node(eq.lhs) else {
                continue;
            };
            if a.var != VarId(var) {
                continue;
            }
            let range = eq.domain.first().map(|d| d.1.values().collect::<Vec<_>>());
            for k in range.unwrap_or(vec![0]) {
                let k = exprs.exprs.int(k);
                let rhs = match eq.domain.first() {
                    Some((iter, _)) => exprs.exprs.substitute_iter(eq.rhs, *iter, k),
                    None => eq.rhs,
                };
                out.push(evaluate(&exprs, rhs));
            }
        }
        out
    };
    assert_eq!(elements(3), elements(4), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn inlined_and_run_time_functions_agree(body in program()) {
        check(&body);
    }
}

#[test]
fn a_slice_that_reads_what_it_writes() {
    check("v[2:3] := {a, b} + v[3:4]; v := v[4:-1:1];");
}
