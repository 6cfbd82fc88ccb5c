//! Models put together by hand, so that the back end can be tested without the front end.

use std::sync::Arc;

use acausal_base::{SourceMap, Span};
use acausal_expr::flat::*;
use acausal_expr::{ExprId, Range, Ty, ValueKind, VarId};
use acausal_runtime::{Machine, Settings, Sink, file, gather, simulate};

fn variable(name: &str, dims: &[usize]) -> Variable {
    let (ty, variability) = (VarType::Real, Variability::Continuous);
    Variable::new(name, dims.to_vec(), ty, variability)
}

fn model() -> FlatModel {
    let origin = Origin {
        span: Span::NONE,
        component: "".into(),
        kind: OriginKind::Equation,
    };
    FlatModel {
        origins: vec![origin],
        ..FlatModel::default()
    }
}

fn equation(
    m: &mut FlatModel,
    domain: Vec<(acausal_expr::IterId, Range)>,
    lhs: ExprId,
    rhs: ExprId,
) {
    m.equations.push(Equation {
        domain: domain.into(),
        lhs,
        rhs,
        origin: OriginId(0),
    });
}

#[derive(Default)]
struct Rows {
    places: Vec<acausal_compiled::Loc>,
    rows: Vec<(f64, Vec<f64>)>,
}

impl Sink for Rows {
    fn begin(&mut self, machine: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        let c = machine.model();
        for o in &c.outputs {
            self.places
                .extend((0..c.symbols.var(o.var).len()).map(|k| o.place.at(k)));
        }
        Ok(())
    }

    fn row(&mut self, t: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        let mut values = Vec::new();
        gather(machine, y, yp, &self.places, &mut values);
        self.rows.push((t, values));
        Ok(())
    }
}

fn run(m: FlatModel, settings: &Settings) -> Rows {
    let dae = acausal_index1::transform(m).expect("index one");
    let compiled = Arc::new(acausal_codegen::compile(dae).expect("code"));
    // As a stranger gets it: through bytes.
    let bytes = file::write(&compiled, &SourceMap::default()).expect("bytes");
    let (read, _) = file::read(&bytes).expect("a model");
    let [mut sink, mut again] = [Rows::default(), Rows::default()];
    simulate(compiled, settings, &mut sink).expect("simulation");
    simulate(Arc::new(read), settings, &mut again).expect("simulation");
    assert_eq!(sink.rows, again.rows);
    sink
}

#[test]
fn exponential_decay_gets_better_with_the_tolerance() {
    let mut last = f64::INFINITY;
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let mut m = model();
        let one = m.exprs.real(1.0);
        let mut x = variable("x", &[]);
        x.attributes_mut().start = Some(Comprehension::scalar(one));
        m.vars.push(x);
        let x = m.exprs.scalar_var(VarId(0), ValueKind::Value, Ty::Real);
        let dx = m.exprs.scalar_var(VarId(0), ValueKind::Der(1), Ty::Real);
        let minus = m.exprs.neg(x);
        equation(&mut m, vec![], dx, minus);
        let rows = run(
            m,
            &Settings {
                tolerance,
                ..Settings::default()
            },
        );
        let (t, v) = rows.rows.last().expect("rows");
        assert_eq!(*t, 1.0);
        let error = (v[0] - (-1.0f64).exp()).abs();
        assert!(
            error < 20.0 * tolerance && error < last,
            "{error:e} at {tolerance:e}"
        );
        last = error;
    }
}

/// `T[1] = 1; der(T[i]) = n^2*(T[i-1] - 2*T[i] + T[i+1]); T[n] = T[n-1]`: partly states, partly algebraic.
#[test]
fn heat_equation_reaches_its_steady_state() {
    let n = 20;
    let mut m = model();
    m.vars.push(variable("T", &[n]));
    let i = m.exprs.new_iter("i");
    let x = &mut m.exprs;
    let at = |x: &mut acausal_expr::Exprs, kind, offset: i64| {
        let i = x.iter(i);
        let o = x.int(offset);
        let s = x.add(&[i, o]);
        x.var(VarId(0), kind, &[s], Ty::Real)
    };
    let (d, l, c, r) = (
        at(x, ValueKind::Der(1), 0),
        at(x, ValueKind::Value, -1),
        at(x, ValueKind::Value, 0),
        at(x, ValueKind::Value, 1),
    );
    let two = x.real(-2.0);
    let mid = x.mul(&[two, c]);
    let sum = x.add(&[l, mid, r]);
    let k = x.real((n * n) as f64);
    let rhs = x.mul(&[k, sum]);
    let fixed = |x: &mut acausal_expr::Exprs, k: i64| {
        let k = x.int(k);
        x.var(VarId(0), ValueKind::Value, &[k], Ty::Real)
    };
    let (first, last, before) = (fixed(x, 1), fixed(x, n as i64), fixed(x, n as i64 - 1));
    let one = x.real(1.0);
    equation(&mut m, vec![], first, one);
    equation(
        &mut m,
        vec![(i, Range::from_to(2, 1, n as i64 - 1))],
        d,
        rhs,
    );
    equation(&mut m, vec![], last, before);
    let rows = run(
        m,
        &Settings {
            stop: 10.0,
            interval: 1.0,
            ..Settings::default()
        },
    );
    let v = &rows.rows.last().expect("rows").1;
    assert!(v.iter().all(|t| (t - 1.0).abs() < 1e-5), "{v:?}");
}

/// The matrix of `q[i] = 2*x[i]; der(x[i]) = -time*q[i]` is that of the time it is asked for, without a residual before: an entry that IDA uses. There are as many `i` as make
/// local assignments part of the residuals, so that nothing is left to be updated for the partial derivatives.
#[test]
fn the_matrix_is_that_of_its_time() {
    use acausal_solver::Dae;
    let n = 20_000;
    let mut m = model();
    m.vars.push(variable("x", &[n]));
    m.vars.push(variable("q", &[n]));
    let i = m.exprs.new_iter("i");
    let x = &mut m.exprs;
    let at = |x: &mut acausal_expr::Exprs, var, kind| {
        let i = x.iter(i);
        x.var(VarId(var), kind, &[i], Ty::Real)
    };
    let (value, slope, q) = (
        at(x, 0, ValueKind::Value),
        at(x, 0, ValueKind::Der(1)),
        at(x, 1, ValueKind::Value),
    );
    let (two, minus, time) = (x.real(2.0), x.real(-1.0), x.time());
    let double = x.mul(&[two, value]);
    let product = x.mul(&[minus, time, q]);
    let all = vec![(i, Range::upto(n))];
    equation(&mut m, all.clone(), q, double);
    equation(&mut m, all, slope, product);
    let dae = acausal_index1::transform(m).expect("index one");
    let compiled = Arc::new(acausal_codegen::compile(dae).expect("code"));
    let backend = acausal_jit::default_backend();
    let mut machine = Machine::new(compiled, &*backend).expect("machine");
    let zeros = vec![0.0; machine.pattern().size()];
    for t in [3.0, 5.0] {
        let mut values = vec![0.0; machine.pattern().nnz()];
        let done = machine.jacobian(t, &zeros, &zeros, 0.0, &mut values);
        assert!(done.is_ok());
        assert!(
            values.iter().all(|v| v.abs() == 2.0 * t),
            "{t}: {}",
            values[0]
        );
    }
}
