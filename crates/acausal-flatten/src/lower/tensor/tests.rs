//! Tensors against values computed by hand.

use super::*;
use acausal_expr::{ScalarValue, Ty, ValueKind, VarId};

/// `x[.., ..]` of a variable whose element (i, j) has the value `10*i + j` (or `i` for vectors).
fn variable(x: &mut Exprs, id: u32, dims: &[usize]) -> Tensor {
    Tensor::build(x, Type::Real, dims, |x, subs| {
        x.var(VarId(id), ValueKind::Value, subs, Ty::Real)
    })
}

fn values(x: &mut Exprs, t: &Tensor) -> Vec<f64> {
    let elements = t.elements(x);
    elements.into_iter().map(|e| value(x, e)).collect()
}

fn value(x: &Exprs, e: ExprId) -> f64 {
    let leaf = |_: &Exprs, _: ExprId, subs: &[i64]| {
        Some(ScalarValue::Real(
            subs.iter().fold(0.0, |a, &s| 10.0 * a + s as f64),
        ))
    };
    x.evaluate(e, leaf).unwrap().as_f64().unwrap()
}

#[test]
fn products_follow_the_rules_of_linear_algebra() {
    let mut x = Exprs::default();
    let a = variable(&mut x, 0, &[2, 2]); // [11 12; 21 22]
    let v = variable(&mut x, 1, &[2]); // [1 2]
    let t = |x: &mut Exprs, p: &Tensor, q: &Tensor| {
        let r = p.matmul(q, x, Type::Real);
        (r.dims.clone(), values(x, &r))
    };
    assert_eq!(t(&mut x, &v, &v), (vec![], vec![5.0]));
    assert_eq!(t(&mut x, &a, &v), (vec![2], vec![35.0, 65.0]));
    assert_eq!(t(&mut x, &v, &a), (vec![2], vec![53.0, 56.0]));
    assert_eq!(
        t(&mut x, &a, &a),
        (vec![2, 2], vec![373.0, 396.0, 693.0, 736.0])
    );
    assert_eq!(values(&mut x, &a.transpose()), [11.0, 21.0, 12.0, 22.0]);
}

#[test]
fn long_products_do_not_capture_their_iterator() {
    // A + A*A with a loop that is not written out: the column of A must not become the loop variable.
    let mut x = Exprs::default();
    let a = variable(&mut x, 0, &[9, 9]);
    let p = a.matmul(&a, &mut x, Type::Real);
    let s = a.zip(&p, &mut x, Type::Real, |x, l, r| x.add(&[l, r]));
    let e = s.element(&mut x, &[2, 3]);
    let expected: f64 = 23.0
        + (1..=9)
            .map(|k| (20 + k) as f64 * (10 * k + 3) as f64)
            .sum::<f64>();
    assert_eq!(value(&x, e), expected);
}

#[test]
fn slices_and_concatenations() {
    let mut x = Exprs::default();
    let v = variable(&mut x, 0, &[20]);
    let range = Tensor::build(&mut x, Type::Integer, &[3], |x, s| {
        let two = x.int(2);
        let one = x.int(1);
        let p = x.mul(&[two, s[0]]);
        x.add(&[p, one])
    }); // 3:2:7
    let s = v.index(&mut x, &[Subscript::Vector(range)]);
    assert_eq!(values(&mut x, &s), [3.0, 5.0, 7.0]);
    let c = Tensor::cat(&mut x, Type::Real, 0, &[s.clone(), v.clone()]);
    assert_eq!(c.dims, [23]);
    assert_eq!(values(&mut x, &c)[1..6], [5.0, 7.0, 1.0, 2.0, 3.0]);
    let k = Tensor::stack(&mut x, Type::Real, &[s.clone(), s]);
    assert_eq!(values(&mut x, &k), [3.0, 5.0, 7.0, 3.0, 5.0, 7.0]);
    let total = v.reduce(&mut x, ReduceOp::Sum);
    // Elements 1..20 have the value of their index.
    assert_eq!(value(&x, total.body), 210.0);
}

#[test]
fn elements_and_back() {
    let mut x = Exprs::default();
    let a = variable(&mut x, 0, &[2, 3]);
    let e = a.elements(&mut x);
    let b = Tensor::from_elements(&mut x, Type::Real, &[2, 3], &e);
    assert_eq!(b.elements(&mut x), e);
}

#[test]
fn cost_does_not_depend_on_length() {
    let nodes = |n: usize| {
        let mut x = Exprs::default();
        let a = variable(&mut x, 0, &[n, n]);
        let v = variable(&mut x, 1, &[n]);
        let p = a.matmul(&v, &mut x, Type::Real);
        let c = Tensor::cat(&mut x, Type::Real, 0, &[p, v]);
        c.reduce(&mut x, ReduceOp::Max);
        x.len()
    };
    assert_eq!(nodes(100), nodes(1_000_000));
}
