//! Values of expressions, one language feature per line: the expression is the binding of a parameter `y`.

mod common;

use common::{model, parameter};

/// `(declarations, type of y, expression, sizes, elements)`
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [usize],
    &'static [f64],
);

fn check(cases: &[Case]) {
    for (declarations, ty, expression, dims, expected) in cases {
        let colons = if dims.is_empty() {
            String::new()
        } else {
            format!("[{}]", vec![":"; dims.len()].join(","))
        };
        let text =
            format!("model M {declarations} parameter {ty} y{colons} = {expression}; end M;");
        let (found_dims, found) = parameter(&model(&text), "y");
        assert_eq!(&found_dims, dims, "size of {expression}");
        let close = found
            .iter()
            .zip(*expected)
            .all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0));
        assert!(
            found.len() == expected.len() && close,
            "{expression}: {found:?}, expected {expected:?}"
        );
    }
}

const VECTORS: &str = "parameter Real a[3] = {1,2,3}; parameter Real b[3] = {4,5,6}; parameter Real A[2,3] = {{1,2,3},{4,5,6}}; parameter Integer n = 3;";

#[test]
fn operators() {
    check(&[
        ("", "Real", "1 + 2*3 - 4/8", &[], &[6.5]),
        ("", "Real", "-2^2", &[], &[-4.0]),
        ("", "Real", "(2^3)^2", &[], &[64.0]),
        (
            "",
            "Boolean",
            "not (1 < 2) or 3 >= 3 and 1 <> 2",
            &[],
            &[1.0],
        ),
        ("", "Boolean", "\"ab\" < \"b\"", &[], &[1.0]),
        (VECTORS, "Real", "a + b", &[3], &[5.0, 7.0, 9.0]),
        (VECTORS, "Real", "a*b", &[], &[32.0]),
        (VECTORS, "Real", "A*a", &[2], &[14.0, 32.0]),
        (VECTORS, "Real", "{1,2}*A", &[3], &[9.0, 12.0, 15.0]),
        (
            VECTORS,
            "Real",
            "A*transpose(A)",
            &[2, 2],
            &[14.0, 32.0, 32.0, 77.0],
        ),
        (VECTORS, "Real", "2*a/4", &[3], &[0.5, 1.0, 1.5]),
        (VECTORS, "Real", "a .* b", &[3], &[4.0, 10.0, 18.0]),
        (VECTORS, "Real", "6 ./ a", &[3], &[6.0, 3.0, 2.0]),
        (VECTORS, "Real", "a .^ 2", &[3], &[1.0, 4.0, 9.0]),
        (VECTORS, "Real", "1 .+ a", &[3], &[2.0, 3.0, 4.0]),
        (VECTORS, "Real", "-a", &[3], &[-1.0, -2.0, -3.0]),
        (
            VECTORS,
            "Real",
            "[1,1;1,0]^5",
            &[2, 2],
            &[8.0, 5.0, 5.0, 3.0],
        ),
        (VECTORS, "Real", "if n > 2 then a[1] else b[1]", &[], &[1.0]),
        (
            VECTORS,
            "Real",
            "if n > 5 then a elseif n > 2 then b else {0,0,0}",
            &[3],
            &[4.0, 5.0, 6.0],
        ),
    ]);
}

#[test]
fn array_constructors_and_subscripts() {
    check(&[
        ("", "Real", "{{1,2},{3,4}}", &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
        ("", "Real", "[1,2;3,4]", &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
        (
            VECTORS,
            "Real",
            "[A; 7,8,9]",
            &[3, 3],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        ),
        (
            VECTORS,
            "Real",
            "[a, b]",
            &[3, 2],
            &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0],
        ),
        ("", "Integer", "1:4", &[4], &[1.0, 2.0, 3.0, 4.0]),
        ("", "Integer", "7:-3:0", &[3], &[7.0, 4.0, 1.0]),
        ("", "Integer", "3:1", &[0], &[]),
        (
            "",
            "Real",
            "0:0.1:1",
            &[11],
            &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        ),
        (
            "",
            "Real",
            "{i^2 for i in 1:4}",
            &[4],
            &[1.0, 4.0, 9.0, 16.0],
        ),
        // The last iterator is the first dimension (MLS 3.6 §10.4.1.1).
        (
            "",
            "Integer",
            "{i + 10*j for i in 1:3, j in 1:2}",
            &[2, 3],
            &[11.0, 12.0, 13.0, 21.0, 22.0, 23.0],
        ),
        (VECTORS, "Real", "{a[i] for i}", &[3], &[1.0, 2.0, 3.0]),
        (
            VECTORS,
            "Real",
            "{x for x in {5,3,9}}",
            &[3],
            &[5.0, 3.0, 9.0],
        ),
        (VECTORS, "Real", "a[end]", &[], &[3.0]),
        (VECTORS, "Real", "a[n - 1]", &[], &[2.0]),
        (VECTORS, "Real", "A[end, end - 1]", &[], &[5.0]),
        (VECTORS, "Real", "a[2:end]", &[2], &[2.0, 3.0]),
        (VECTORS, "Real", "a[{3,1}]", &[2], &[3.0, 1.0]),
        (VECTORS, "Real", "A[:, 2]", &[2], &[2.0, 5.0]),
        (VECTORS, "Real", "A[2, :]", &[3], &[4.0, 5.0, 6.0]),
        (VECTORS, "Real", "A[2]", &[3], &[4.0, 5.0, 6.0]),
        (
            VECTORS,
            "Real",
            "A[2:-1:1, 1:2:3]",
            &[2, 2],
            &[4.0, 6.0, 1.0, 3.0],
        ),
        (
            VECTORS,
            "Real",
            "{a[i:i+1]*{1,1} for i in 1:2}",
            &[2],
            &[3.0, 5.0],
        ),
        (
            "type E = enumeration(p, q, r); parameter Real x[E] = {10,20,30};",
            "Real",
            "x[E.q]",
            &[],
            &[20.0],
        ),
        (
            "type E = enumeration(p, q, r); parameter Real x[E] = {10,20,30};",
            "Real",
            "{2*x[e] for e in E}",
            &[3],
            &[20.0, 40.0, 60.0],
        ),
        (
            "parameter Real x[Boolean] = {10,20};",
            "Real",
            "x[true]",
            &[],
            &[20.0],
        ),
    ]);
}

#[test]
fn array_functions() {
    check(&[
        (VECTORS, "Integer", "size(A)", &[2], &[2.0, 3.0]),
        (VECTORS, "Integer", "size(A, 2)", &[], &[3.0]),
        (VECTORS, "Integer", "size([a, b; 1, 2], 1)", &[], &[4.0]),
        (VECTORS, "Integer", "ndims(A)", &[], &[2.0]),
        ("", "Real", "scalar({{5}})", &[], &[5.0]),
        ("", "Real", "vector([1;2;3])", &[3], &[1.0, 2.0, 3.0]),
        ("", "Real", "matrix({1,2})", &[2, 1], &[1.0, 2.0]),
        ("", "Integer", "identity(2)", &[2, 2], &[1.0, 0.0, 0.0, 1.0]),
        (
            "",
            "Real",
            "diagonal({2,3})",
            &[2, 2],
            &[2.0, 0.0, 0.0, 3.0],
        ),
        ("", "Real", "zeros(2, 1)", &[2, 1], &[0.0, 0.0]),
        ("", "Real", "fill(1.5, 2)", &[2], &[1.5, 1.5]),
        ("", "Real", "fill({1,2}, 2)", &[2, 2], &[1.0, 2.0, 1.0, 2.0]),
        (
            "",
            "Real",
            "linspace(1, 2, 5)",
            &[5],
            &[1.0, 1.25, 1.5, 1.75, 2.0],
        ),
        (VECTORS, "Real", "min(A) + 10*max(A)", &[], &[61.0]),
        (VECTORS, "Real", "min(a[1], b[1])", &[], &[1.0]),
        (VECTORS, "Real", "sum(A)", &[], &[21.0]),
        (VECTORS, "Real", "product(a)", &[], &[6.0]),
        (VECTORS, "Real", "sum(a[i]*b[i] for i in 1:3)", &[], &[32.0]),
        (
            VECTORS,
            "Real",
            "sum(i*j for i in 1:20, j in 1:2)",
            &[],
            &[630.0],
        ),
        (VECTORS, "Real", "max(abs(x - 2) for x in a)", &[], &[1.0]),
        (VECTORS, "Real", "product(2 for i in 1:10)", &[], &[1024.0]),
        (VECTORS, "Real", "sum(i for i in 1:0)", &[], &[0.0]),
        (
            VECTORS,
            "Real",
            "transpose(A)",
            &[3, 2],
            &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0],
        ),
        (
            "",
            "Real",
            "outerProduct({1,2}, {3,4})",
            &[2, 2],
            &[3.0, 4.0, 6.0, 8.0],
        ),
        (
            "",
            "Real",
            "symmetric([1,2;3,4])",
            &[2, 2],
            &[1.0, 2.0, 2.0, 4.0],
        ),
        (
            "",
            "Real",
            "cross({1,0,0}, {0,1,0})",
            &[3],
            &[0.0, 0.0, 1.0],
        ),
        (
            "",
            "Real",
            "skew({1,2,3})",
            &[3, 3],
            &[0.0, -3.0, 2.0, 3.0, 0.0, -1.0, -2.0, 1.0, 0.0],
        ),
        (
            VECTORS,
            "Real",
            "cat(1, a, b, {7})",
            &[7],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        ),
        (
            VECTORS,
            "Real",
            "cat(2, A, [1;2])",
            &[2, 4],
            &[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 2.0],
        ),
        (
            "",
            "Real",
            "cat(1, 1:9, {0}, 1:2)",
            &[12],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.0, 1.0, 2.0],
        ),
    ]);
}

#[test]
fn mathematical_functions() {
    check(&[
        ("", "Real", "sin(0.5)^2 + cos(0.5)^2", &[], &[1.0]),
        ("", "Real", "atan2(1, -1)", &[], &[2.356194490192345]),
        ("", "Real", "exp(log(7)) + log10(1000)", &[], &[10.0]),
        ("", "Real", "sqrt({4, 9})", &[2], &[2.0, 3.0]),
        ("", "Real", "abs(-2.5)", &[], &[2.5]),
        ("", "Integer", "sign(-3)", &[], &[-1.0]),
        ("", "Integer", "integer(-2.5)", &[], &[-3.0]),
        ("", "Real", "floor(-2.5) + 10*ceil(2.1)", &[], &[27.0]),
        ("", "Integer", "div(-7, 2)", &[], &[-3.0]),
        ("", "Integer", "mod(-7, 3)", &[], &[2.0]),
        ("", "Integer", "rem(-7, 3)", &[], &[-1.0]),
        ("", "Real", "mod(5.5, 2)", &[], &[1.5]),
        ("", "Real", "semiLinear(-2, 3, 4)", &[], &[-8.0]),
        ("", "Real", "smooth(1, 2) + noEvent(3)", &[], &[5.0]),
        (
            "type E = enumeration(p, q);",
            "Integer",
            "Integer(E.q)",
            &[],
            &[2.0],
        ),
        (
            "",
            "Boolean",
            "String(12, minimumLength = 4) == \"12  \"",
            &[],
            &[1.0],
        ),
        (
            "",
            "Boolean",
            "String(0.1) + String(true) == \"0.1true\"",
            &[],
            &[1.0],
        ),
        (
            "",
            "Boolean",
            "String(3.14159, format = \"6.2f\") == \"  3.14\"",
            &[],
            &[1.0],
        ),
        (
            "type E = enumeration(p, q);",
            "Boolean",
            "String(E.q) == \"q\"",
            &[],
            &[1.0],
        ),
    ]);
}

#[test]
fn records() {
    let complex = "record C Real re = 0; Real im = 1; end C; record Two C c[2]; Real k; end Two;";
    let with = |rest: &'static str| -> &'static str {
        Box::leak(format!("{complex} {rest}").into_boxed_str())
    };
    check(&[
        (
            with("parameter C c = C(3);"),
            "Real",
            "c.re + 10*c.im",
            &[],
            &[13.0],
        ),
        (
            with("parameter C c(re = 5);"),
            "Real",
            "c.re + 10*c.im",
            &[],
            &[15.0],
        ),
        (
            with("parameter C c[3](re = {1,2,3});"),
            "Real",
            "c.re",
            &[3],
            &[1.0, 2.0, 3.0],
        ),
        (
            with("parameter C c[3](re = {1,2,3}, each im = 7);"),
            "Real",
            "c[2].re + c[3].im",
            &[],
            &[9.0],
        ),
        (
            with("parameter C c[2] = {C(1, 2), C(3, 4)};"),
            "Real",
            "c[:].im",
            &[2],
            &[2.0, 4.0],
        ),
        (
            with("parameter Two t(c(re = {8, 9}), k = 1);"),
            "Real",
            "t.c[2].re + t.k",
            &[],
            &[10.0],
        ),
        (
            with("parameter Two t = Two(c = {C(1), C(im = 4)}, k = 2);"),
            "Real",
            "t.c[2].im*t.k",
            &[],
            &[8.0],
        ),
        (
            with("parameter Two t[2](c(re = {{1,2},{3,4}}), each k = 0);"),
            "Real",
            "t.c.re",
            &[2, 2],
            &[1.0, 2.0, 3.0, 4.0],
        ),
        (
            with("parameter Two t[2](each c(re = {1,2}), each k = 0);"),
            "Real",
            "t.c.re",
            &[2, 2],
            &[1.0, 2.0, 1.0, 2.0],
        ),
        (
            with("parameter Two t[2](each c(each re = 6), each k = 0);"),
            "Real",
            "t[1].c.re",
            &[2],
            &[6.0, 6.0],
        ),
    ]);
}
