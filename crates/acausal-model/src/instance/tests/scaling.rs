//! Written-out models: the cost per component must not depend on their number.

use std::fmt::Write;

use super::*;

#[test]
fn many_components_share_the_work_on_their_class() {
    let mut source = String::from(
        "package L type V = Real(unit = \"V\"); connector Pin V v; flow Real i; end Pin;
         partial model TwoPin Pin p; Pin n; V v; end TwoPin;
         model R extends TwoPin; parameter Real R = 1; equation v = R * p.i; end R; end L; model M ",
    );
    let count = 2000;
    for k in 0..count {
        writeln!(source, "L.R r{k}(R = {k});").unwrap();
    }
    source.push_str("end M;");
    let (mut instances, root) = tree(&source, "M");
    let before = instances.count();
    let found = walk(&mut instances, root);
    // r, p, p.v, p.i, n, n.v, n.i, v, R
    assert_eq!(found.len(), 9 * count);
    assert!(
        instances.count() - before <= 9 * count + 10,
        "classes are instantiated once, not per component"
    );
    let last = member(&mut instances, root, "r1999.R");
    let value = instances.binding(last).unwrap();
    assert_eq!(print(&instances, &value.expr), "1999");
}
