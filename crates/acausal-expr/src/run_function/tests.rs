//! Values and derivatives against hand-made formulas.

use acausal_base::Span;

use super::*;
use crate::flat::{Function, Statement};
use crate::{ExprId, Exprs, Range, RelOp, Ty};

fn local(x: &mut Exprs, slot: u32) -> ExprId {
    let zero = x.int(0);
    x.local(slot, 1, zero, Ty::Real)
}

fn assign(target: ExprId, value: ExprId) -> Statement {
    Statement::Assign { target, value }
}

fn function(inputs: u32, outputs: Vec<u32>, frame: u32, body: Vec<Statement>) -> Function {
    Function {
        name: "f".into(),
        inputs,
        outputs,
        frame,
        unassigned: Vec::new(),
        body,
        external: None,
        span: Span::NONE,
    }
}

/// `y := 1; for i in 1:n loop y := y*x; end for` with x, n inputs.
fn power() -> FlatModel {
    let mut model = FlatModel::default();
    let x = &mut model.exprs;
    let (arg, n, y) = (local(x, 0), local(x, 1), local(x, 2));
    let (one, product) = (x.int(1), x.mul(&[y, arg]));
    let body = vec![
        assign(y, one),
        Statement::For {
            iterator: 3,
            start: one,
            step: one,
            stop: n,
            body: vec![assign(y, product)],
        },
    ];
    model.functions.push(function(2, vec![2], 4, body));
    model
}

#[test]
fn derivatives_of_a_loop() {
    let model = power();
    let run = |wrt: &[u32]| run_function(&model, FuncId(0), &[2.0, 5.0], 0, wrt);
    // x^5 and its derivatives at 2: 32, 80, 160, 240, 240, 120.
    for (order, expected) in [32.0, 80.0, 160.0, 240.0, 240.0, 120.0]
        .into_iter()
        .enumerate()
    {
        assert_eq!(run(&vec![0; order]), Ok(expected));
    }
    assert_eq!(run(&[1]), Ok(0.0));
    assert_eq!(run(&[0; 6]), Err(FunctionError::Order { order: 6 }));
}

#[test]
fn mixed_derivatives_of_elementary_functions() {
    // f(x, y) = sin(x)*exp(y) + x^y + atan2(y, x) + sqrt(x*y)
    let mut model = FlatModel::default();
    let e = &mut model.exprs;
    let (x, y, out) = (local(e, 0), local(e, 1), local(e, 2));
    let (s, ex) = (e.call(Builtin::Sin, &[x]), e.call(Builtin::Exp, &[y]));
    let terms = [
        e.mul(&[s, ex]),
        e.pow(x, y),
        e.call(Builtin::Atan2, &[y, x]),
        {
            let p = e.mul(&[x, y]);
            e.call(Builtin::Sqrt, &[p])
        },
    ];
    let sum = e.add(&terms);
    model
        .functions
        .push(function(2, vec![2], 3, vec![assign(out, sum)]));
    let (x, y) = (1.3f64, 0.7f64);
    let r2 = x * x + y * y;
    let value = x.sin() * y.exp() + x.powf(y) + y.atan2(x) + (x * y).sqrt();
    let dx = x.cos() * y.exp() + y * x.powf(y - 1.0) - y / r2 + 0.5 * (y / x).sqrt();
    let dxdy = x.cos() * y.exp()
        + x.powf(y - 1.0) * (1.0 + y * x.ln())
        + (y * y - x * x) / (r2 * r2)
        + 0.25 / (x * y).sqrt();
    for (wrt, expected) in [
        (vec![], value),
        (vec![0], dx),
        (vec![0, 1], dxdy),
        (vec![1, 0], dxdy),
    ] {
        let found = run_function(&model, FuncId(0), &[x, y], 0, &wrt).expect("defined");
        assert!(
            (found - expected).abs() < 1e-14 * expected.abs().max(1.0),
            "{wrt:?}: {found} {expected}"
        );
    }
}

#[test]
fn functions_call_functions_and_their_derivatives() {
    // g(x) = d/dx (x^3) + x^3, through the function of the first test: 3x² + x³; g' = 6x + 3x².
    let mut model = power();
    let e = &mut model.exprs;
    let (x, y) = (local(e, 0), local(e, 1));
    let three = e.int(3);
    let cube = e.apply(FuncId(0), &[x, three], 0, &[], Ty::Real);
    let slope = e.apply(FuncId(0), &[x, three], 0, &[0], Ty::Real);
    let sum = e.add(&[cube, slope]);
    model
        .functions
        .push(function(1, vec![1], 2, vec![assign(y, sum)]));
    assert_eq!(run_function(&model, FuncId(1), &[2.0], 0, &[]), Ok(20.0));
    assert_eq!(run_function(&model, FuncId(1), &[2.0], 0, &[0]), Ok(24.0));
}

#[test]
fn branches_are_lazy_and_reductions_loop() {
    // y := if x > 0 then sum(x*k for k in 1:100) else a[7], where a has two elements.
    let mut model = FlatModel::default();
    let e = &mut model.exprs;
    let (x, y) = (local(e, 0), local(e, 1));
    let k = e.new_iter("k");
    let kk = e.iter(k);
    let body = e.call(Builtin::Max, &[x, kk]);
    let sum = e.reduction(ReduceOp::Sum, k, Range::upto(100), body);
    let six = e.int(6);
    let bad = e.local(2, 2, six, Ty::Real);
    let zero = e.int(0);
    let positive = e.rel(RelOp::Gt, x, zero);
    let value = e.if_(positive, sum, bad);
    model
        .functions
        .push(function(1, vec![1], 4, vec![assign(y, value)]));
    let run = |x, wrt: &[u32]| run_function(&model, FuncId(0), &[x], 0, wrt);
    // max(2.5, 1) + max(2.5, 2) + 3 + ... + 100
    assert_eq!(run(2.5, &[]), Ok(5.0 + 5047.0));
    assert_eq!(run(2.5, &[0]), Ok(2.0));
    assert_eq!(
        run(-1.0, &[]),
        Err(FunctionError::Index {
            function: "f".into(),
            index: 7,
            size: 2
        })
    );
}

#[test]
fn loops_without_end_are_stopped_and_break_leaves() {
    let mut model = FlatModel::default();
    let e = &mut model.exprs;
    let (x, y) = (local(e, 0), local(e, 1));
    let (yes, one) = (e.bool(true), e.int(1));
    let next = e.add(&[y, one]);
    let far = e.rel(RelOp::Ge, y, x);
    let leave = Statement::If {
        branches: vec![(far, vec![Statement::Break])],
        otherwise: vec![],
    };
    let body = vec![Statement::While {
        condition: yes,
        body: vec![leave, assign(y, next)],
    }];
    model.functions.push(function(1, vec![1], 2, body));
    assert_eq!(run_function(&model, FuncId(0), &[4.5], 0, &[]), Ok(5.0));
    let endless = vec![Statement::While {
        condition: yes,
        body: vec![],
    }];
    model.functions.push(function(0, vec![], 0, endless));
    let functions = Functions::new(&model).expect("compiles");
    assert_eq!(
        functions.run(FuncId(1), &[], &[]),
        Err(FunctionError::Endless {
            function: "f".into(),
            steps: model.exprs.limits.evaluation_steps,
        })
    );
}
