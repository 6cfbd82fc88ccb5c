//! Array components: dimensions, and how many of them a modifier spans.

use super::*;

#[test]
fn dimensions_of_name_type_and_class_follow_each_other() {
    // MLS 3.6 §10.1: Real[3, 2] x[4, 5] has type Real[4, 5, 3, 2].
    let source = "type T = Real[7]; model M parameter Integer n = 1; Real[3, 2] x[4, 5]; T[6] y[n, :]; end M;";
    assert_eq!(
        dump(source, "M")[1..],
        ["x: Real[4, 5, 3, 2]", "y: T[n, :, 6, 7]"]
    );
}

#[test]
fn each_stops_the_split_of_all_enclosing_modifiers() {
    // Models C, B, E of MLS 3.6 §7.2.5.
    let source = "
        model C parameter Real a[3]; parameter Real d; end C;
        model B C c[5](each a = {1, 2, 3}, d = {1, 2, 3, 4, 5}); parameter Real p = 0; end B;
        model E
          B b[2](each c(each a = {1, 2, 3}, d = {1, 2, 3, 4, 5}), p = {1, 2});
          B b2[2](c(each a = {1, 2, 3}, d = fill({1, 2, 3, 4, 5}, 2)), p = {1, 2});
          B b3;
        end E;";
    assert_eq!(
        dump(source, "E"),
        [
            "b: B[2]",
            "b.c: C[5]",
            "b.c.a: Real[3] = {1, 2, 3}",
            "b.c.d: Real = {1, 2, 3, 4, 5}/1",
            "b.p: Real = {1, 2}/1",
            "b2: B[2]",
            "b2.c: C[5]",
            "b2.c.a: Real[3] = {1, 2, 3}",
            "b2.c.d: Real = fill({1, 2, 3, 4, 5}, 2)/2",
            "b2.p: Real = {1, 2}/1",
            "b3: B",
            "b3.c: C[5]",
            "b3.c.a: Real[3] = {1, 2, 3}",
            "b3.c.d: Real = {1, 2, 3, 4, 5}/1",
            "b3.p: Real = 0",
        ]
    );
}

#[test]
fn attributes_span_the_dimensions_of_the_component_itself() {
    let source = "
        type V = Real[3](start = {1, 2, 3});
        model A Real x[2](start = {1, 2}); V v[4]; end A;
        model M A a[5]; A b[5](x(start = ones(5, 2))); A c[5](each x(each start = 0)); end M;";
    assert_eq!(
        dump(source, "M"),
        [
            "a: A[5]",
            "a.x: Real[2] start:{1, 2}/1",
            "a.v: V[4, 3] start:{1, 2, 3}/1",
            "b: A[5]",
            "b.x: Real[2] start:ones(5, 2)/2",
            "b.v: V[4, 3] start:{1, 2, 3}/1",
            "c: A[5]",
            "c.x: Real[2] start:0",
            "c.v: V[4, 3] start:{1, 2, 3}/1",
        ]
    );
}

#[test]
fn modifiers_of_a_class_do_not_span_the_dimensions_of_its_components() {
    let source = "
        model R parameter Real R = 1; end R;
        model A replaceable model X = R; X x[3]; end A;
        model M A a(X(R = 5)); A b(redeclare model X = R(R = 6)); end M;";
    assert_eq!(
        dump(source, "M"),
        [
            "a: A",
            "a.x: A.X[3]",
            "a.x.R: Real = 5",
            "b: A",
            "b.x: M.X[3]",
            "b.x.R: Real = 6",
        ]
    );
}
