//! What is said about mistakes, one row per diagnostic.

use super::*;

#[test]
fn every_mistake_has_its_message() {
    let table: &[(&str, &[&str])] = &[
        (
            "model R end R; model M Rr r; end M;",
            &["error[unknown-name]: `Rr` is not declared in `M` (did you mean `R`?)"],
        ),
        (
            "model A Real resistance; end A; model M A a(resistence = 1); end M;",
            &[
                "error[unknown-modifier]: `A` has no element `resistence` to modify (did you mean `resistance`?)",
            ],
        ),
        (
            "model M Real x(strat = 1); end M;",
            &[
                "error[unknown-modifier]: `Real` has no attribute `strat` to modify (did you mean `start`?)",
            ],
        ),
        (
            "model M Real x; Real x; end M;",
            &["error[duplicate-element]: `x` is declared twice in this class"],
        ),
        (
            "model A Real x; end A; model M extends A; Integer x; end M;",
            &[
                "error[conflicting-elements]: `x` is declared differently in two classes that are put together (rename one of them, or use `redeclare` if the inherited one is `replaceable`)",
            ],
        ),
        (
            "model A extends M; end A; model M extends A; end M;",
            &["error[cyclic-inheritance]: class `A` extends `M`, which extends it in turn"],
        ),
        (
            "model M extends M; end M;",
            &["error[cyclic-inheritance]: class `M` extends itself"],
        ),
        (
            "model A M m; end A; model M A a; end M;",
            &["error[recursive-class]: class `M` contains a component `m` of itself"],
        ),
        (
            "model B B b; end B; model M B x; end M;",
            &["error[recursive-class]: class `B` contains a component `b` of itself"],
        ),
        (
            "partial model A end A; model M A a; replaceable A b; end M;",
            &[
                "error[partial-class]: `a` is of the partial class `A` (use a class that extends it)",
                "error[partial-class]: `b` is of the partial class `A` (redeclare it: `redeclare ... b`)",
            ],
        ),
        (
            "partial model M end M;",
            &["error[partial-class]: `M` is partial (take a class that extends it)"],
        ),
        (
            "function M end M;",
            &[
                "error[not-a-model]: `M` is a function and cannot be simulated (name a model or block)",
            ],
        ),
        (
            "package M partial model P end P; package Q block B end B; end Q; model A end A; end M;",
            &[
                "error[not-a-model]: `M` is a package and cannot be simulated (name one of its models with `--model`: `M.A`, `M.Q.B`)",
            ],
        ),
        (
            "model A final parameter Real p = 1; end A; model M A a(p = 2); end M;",
            &["error[modified-final]: `p` is final and cannot be modified"],
        ),
        (
            "model A parameter Real p = 1; end A; model B A a(final p = 2); end B; model M B b(a.p = 3); end M;",
            &["error[modified-final]: `p` is final and cannot be modified"],
        ),
        (
            "model A parameter Real p; end A; model M A a(p = 1, p = 2); end M;",
            &["error[duplicate-modifier]: `p` is modified twice in one modification"],
        ),
        (
            "model A Real x; end A; model M extends A(redeclare Integer x); end M;",
            &["error[not-replaceable]: `x` is not replaceable"],
        ),
        (
            "model A Real x; Real y; end A; model B Real x; end B; model C replaceable A a; end C; model M C c(redeclare B a); end M;",
            &[
                "error[redeclare-mismatch]: `B` cannot take the place of `A`: `B` has no component `y`",
            ],
        ),
        (
            "model A end A; model M extends A; redeclare Real x; end M;",
            &["error[nothing-to-redeclare]: no inherited element is called `x`"],
        ),
        (
            "model A Real x; end A; model M x y; Real x; end M;",
            &[
                "error[not-a-class]: `x` is a component, not a class (rename the component, or begin the class name with a dot)",
            ],
        ),
        (
            "package P model A end A; end P; model M import P.B; B b; end M;",
            &[
                "error[unknown-import]: there is no class or constant `P.B` to import",
                "error[unknown-name]: `B` is not declared in `M`",
            ],
        ),
        (
            "package P constant Real c = 1; end P; package Q constant Real c = 2; end Q; model M import P.*; import Q.*; Real x[c]; end M;",
            &[],
        ),
        (
            "model A outer Real T; end A; model M A a(T = 1); inner Real T; end M;",
            &[
                "error[modified-outer]: `T` is `outer` and cannot be modified here (modify the `inner` component instead)",
            ],
        ),
        (
            "record R Real x; equation x = 1; end R; model M R r; end M;",
            &["error[class-restriction]: the record `R` cannot have equations"],
        ),
        (
            "package P Real x; end P; model M extends P.A; end M;",
            &[
                "error[class-restriction]: the package `P` can have constants only, no variables",
                "error[unknown-name]: `P` has no element `A`",
            ],
        ),
        (
            "type E = enumeration(a, b, a); model M E e; end M;",
            &["error[wrong-literal]: the literal `a` occurs twice"],
        ),
        (
            "record R end R; package P end P; model M extends P; end M;",
            &["error[wrong-base-class]: the model `M` cannot be made from a package"],
        ),
        (
            "model A protected Real x; end A; model M A a(x = 1); end M;",
            &[
                "error[modified-protected]: `x` is protected in `A` and cannot be modified from outside",
            ],
        ),
        (
            "model A protected model X end X; end A; model M A.X x; end M;",
            &[
                "error[protected-access]: `X` is protected in `A` and cannot be accessed from outside",
            ],
        ),
        (
            "model A replaceable Real x; end A; model B extends A; redeclare Real x; end B; model M extends B(redeclare Integer x); end M;",
            &["error[not-replaceable]: `x` is not replaceable"],
        ),
        (
            "model A replaceable constant Real x = 1; end A; model M A a(redeclare Real x); end M;",
            &["error[not-replaceable]: `x` is a constant and cannot be redeclared"],
        ),
        (
            "model A end A; model B Real x; end B; model C replaceable model X = B constrainedby B; X x; end C; model M C c(redeclare model X = A); end M;",
            &["error[redeclare-mismatch]: this `X` does not fit `B`: `M.X` has no component `x`"],
        ),
        (
            "model A protected replaceable Real x; end A; model M extends A; redeclare Real x; end M;",
            &["error[redeclare-mismatch]: `x` is protected and cannot be redeclared as public"],
        ),
        (
            "model A Real A; A x; end A; model M A a; T T; end M; type T = Real;",
            &[
                "error[not-a-class]: `T` is a component, not a class (rename the component, or begin the class name with a dot)",
                "error[not-a-class]: `A` is a component, not a class (rename the component, or begin the class name with a dot)",
            ],
        ),
        (
            "model M Real Integer; end M;",
            &["error[reserved-name]: `Integer` is a predefined type and cannot be declared"],
        ),
        (
            "model Real end Real;",
            &["error[duplicate-class]: class `Real` is already defined"],
        ),
        (
            "model M Modelica.Blocks.Sources.Sine s; end M;",
            &[
                "error[unknown-name]: `Modelica` is not declared in `M` (give the directory that holds the library with \
                 `--library DIR` or in MODELICAPATH)",
            ],
        ),
    ];
    for (source, expected) in table {
        let found = messages(source, "M");
        assert_eq!(&found, expected, "{source}");
    }
}

#[test]
fn messages_show_the_chain_of_components() {
    let source = "model R\n  Voltag v;\nend R;\nmodel B\n  R r;\nend B;\ntype Voltage = Real;\nmodel M\n  B b;\nend M;\n";
    let (mut instances, root) = tree(source, "M");
    walk(&mut instances, root);
    let errors = instances.take_diagnostics();
    assert_eq!(errors.len(), 1);
    let text = errors[0].render(instances.libraries().sources(), false);
    for part in [
        "test.mo:2:3",
        "did you mean `Voltage`?",
        "in component `r` of class `R`, declared here",
        "in component `b` of class `B`, declared here",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}
