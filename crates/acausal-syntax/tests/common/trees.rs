//! Random syntax trees in the normal form of the parser: no sole element in a tuple, no `else` that is
//! itself an `if`, no empty element section, descriptions and lists as the grammar allows them.

use std::sync::Arc;

use acausal_base::{Name, Span};
use acausal_syntax::ast::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const HERE: Span = Span::NONE;

fn expr_of(kind: ExprKind) -> Expr {
    Expr::new(kind, HERE)
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn ident() -> impl Strategy<Value = Ident> {
    prop_oneof![
        8 => "[a-zA-Z_][a-zA-Z0-9_]{0,3}",
        1 => "'[ -&(-\\[\\]-~äπ]{0,4}'",
        1 => Just("time".to_string()),
    ]
    .prop_filter("keywords are no identifiers", |text| {
        acausal_syntax::lexer::TokenKind::keyword(text).is_none()
    })
    .prop_map(|text| Ident::new(Name::new(&text), HERE))
}

fn path(global: bool) -> impl Strategy<Value = Path> {
    (any::<bool>(), vec(ident(), 1..4)).prop_map(move |(dot, parts)| Path {
        global: global && dot,
        parts,
        span: HERE,
    })
}

fn characters() -> impl Strategy<Value = Arc<str>> {
    "[ -~\\n\\t\\r\\x07äπ漢]{0,8}".prop_map(Arc::from)
}

fn text() -> impl Strategy<Value = Option<Text>> {
    option::weighted(
        0.3,
        characters().prop_map(|value| Text { value, span: HERE }),
    )
}

fn literal() -> impl Strategy<Value = Expr> {
    prop_oneof![
        any::<f64>()
            .prop_filter("literals are finite", |value| value.is_finite())
            .prop_map(|value| ExprKind::Real(value.abs())),
        any::<i64>().prop_map(|value| ExprKind::Integer(value.saturating_abs())),
        characters().prop_map(ExprKind::Str),
        any::<bool>().prop_map(ExprKind::Bool),
    ]
    .prop_map(expr_of)
}

fn subscripts(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Vec<Expr>> {
    let subscript = prop_oneof![
        4 => inner,
        1 => Just(expr_of(ExprKind::Colon)),
        1 => Just(expr_of(ExprKind::End)),
    ];
    prop_oneof![3 => Just(Vec::new()), 1 => vec(subscript, 1..3)]
}

fn component_ref(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = ComponentRef> {
    let part = (ident(), subscripts(inner)).prop_map(|(name, subscripts)| RefPart {
        name,
        subscripts: subscripts.into(),
        span: HERE,
    });
    (any::<bool>(), vec(part, 1..4)).prop_map(|(global, parts)| ComponentRef {
        global,
        parts,
        span: HERE,
    })
}

fn for_indices(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Vec<ForIndex>> {
    let index = (ident(), option::of(inner)).prop_map(|(name, range)| ForIndex {
        name,
        range,
        span: HERE,
    });
    vec(index, 1..3)
}

fn named(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Vec<NamedArg>> {
    let partial =
        (path(true), vec((ident(), inner.clone()), 0..2)).prop_map(|(function, named)| {
            let named = named.into_iter().map(named_arg).collect();
            let span = HERE;
            expr_of(ExprKind::PartialApplication(Box::new(PartialApplication {
                function,
                named,
                span,
            })))
        });
    vec(
        (ident(), prop_oneof![4 => inner, 1 => partial]).prop_map(named_arg),
        0..3,
    )
}

fn named_arg((name, value): (Ident, Expr)) -> NamedArg {
    NamedArg {
        name,
        value,
        span: HERE,
    }
}

fn call(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Call> {
    let callee = prop_oneof![
        4 => component_ref(inner.clone()).prop_map(Callee::Ref),
        1 => Just(Callee::Der),
        1 => Just(Callee::Initial),
        1 => Just(Callee::Pure),
    ];
    let plain = (vec(inner.clone(), 0..3), named(inner.clone()));
    let reduction = (inner.clone(), for_indices(inner));
    let arguments = prop_oneof![
        3 => plain.prop_map(|(args, named)| (args, named, Vec::new())),
        1 => reduction.prop_map(|(body, indices)| (vec![body], Vec::new(), indices)),
    ];
    (callee, arguments).prop_map(|(function, (args, named, indices))| Call {
        function,
        args,
        named,
        indices,
        span: HERE,
    })
}

fn chain_operators() -> impl Strategy<Value = Vec<BinOp>> {
    use BinOp::*;
    prop_oneof![
        vec(Just(Or), 1..4),
        vec(Just(And), 1..4),
        vec(prop::sample::select(vec![Add, Sub, AddElem, SubElem]), 1..4),
        vec(prop::sample::select(vec![Mul, Div, MulElem, DivElem]), 1..4),
    ]
}

/// Any expression but `:`.
pub fn expr() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        literal(),
        component_ref(literal().boxed()).prop_map(|reference| expr_of(ExprKind::Ref(reference))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let inner = inner.boxed();
        let one = || inner.clone();
        use BinOp::*;
        let pair = prop::sample::select(vec![Lt, Le, Gt, Ge, Eq, Ne, Pow, PowElem]);
        let sign = prop::sample::select(vec![
            UnOp::Plus,
            UnOp::Minus,
            UnOp::PlusElem,
            UnOp::MinusElem,
            UnOp::Not,
        ]);
        let kind = prop_oneof![
            3 => (one(), chain_operators(), vec(one(), 3)).prop_map(|(first, operators, rest)| {
                ExprKind::Chain(boxed(first), operators.into_iter().zip(rest).collect())
            }),
            3 => (pair, one(), one())
                .prop_map(|(operator, a, b)| ExprKind::Binary(operator, boxed(a), boxed(b))),
            3 => (sign, one()).prop_map(|(sign, a)| ExprKind::Unary(sign, boxed(a))),
            1 => (vec((one(), one()), 1..3), one()).prop_map(|(branches, otherwise)| ExprKind::If {
                branches,
                otherwise: boxed(otherwise),
            }),
            2 => call(one()).prop_map(|call| ExprKind::Call(Box::new(call))),
            1 => component_ref(one()).prop_map(ExprKind::Ref),
            1 => vec(one(), 1..4).prop_map(ExprKind::Array),
            1 => (one(), for_indices(one())).prop_map(|(body, indices)| ExprKind::ArrayFor {
                body: boxed(body),
                indices,
            }),
            1 => vec(vec(one(), 1..3), 1..3).prop_map(ExprKind::Matrix),
            1 => (one(), option::of(one()), one()).prop_map(|(start, step, stop)| {
                ExprKind::Range {
                    start: boxed(start),
                    step: step.map(boxed),
                    stop: boxed(stop),
                }
            }),
            1 => vec(option::of(one()), 2..4).prop_map(ExprKind::Tuple),
            1 => (one(), vec(one(), 1..3)).prop_map(|(a, i)| ExprKind::Index(boxed(a), i)),
            1 => (one(), ident()).prop_map(|(a, name)| ExprKind::Field(boxed(a), name)),
        ];
        kind.prop_map(expr_of)
    })
    .boxed()
}

fn small_expr() -> BoxedStrategy<Expr> {
    prop_oneof![3 => literal(), 1 => expr()].boxed()
}

fn reference() -> BoxedStrategy<ComponentRef> {
    component_ref(literal().boxed()).boxed()
}

fn annotation() -> impl Strategy<Value = Option<Annotation>> {
    option::weighted(
        0.2,
        vec(argument(), 0..3).prop_map(|arguments| Annotation {
            arguments,
            span: HERE,
        }),
    )
}

fn description() -> impl Strategy<Value = Description> {
    (text(), annotation()).prop_map(|(text, annotation)| Description {
        text,
        annotation: annotation.map(Box::new),
        span: HERE,
    })
}

fn optional_description() -> impl Strategy<Value = Option<Arc<Description>>> {
    description().prop_map(|d| (!d.is_none()).then(|| Arc::new(d)))
}

fn modification(inner: BoxedStrategy<Argument>) -> impl Strategy<Value = Modification> {
    let value = prop_oneof![
        6 => small_expr().prop_map(|value| BindingValue::Expr(Arc::new(value))),
        1 => Just(BindingValue::Break),
    ];
    let binding = (any::<bool>(), value).prop_map(|(assign, value)| Binding {
        assign,
        value,
        span: HERE,
    });
    (vec(inner, 0..3), option::of(binding)).prop_map(|(arguments, binding)| Modification {
        arguments,
        binding,
        span: HERE,
    })
}

fn argument() -> BoxedStrategy<Argument> {
    let leaf = modify(Just(None).boxed());
    leaf.prop_recursive(3, 12, 3, |inner| {
        let modified = option::of(modification(inner.clone())).boxed();
        prop_oneof![
            3 => modify(modified.clone()),
            1 => redeclaration(inner, modified),
        ]
    })
    .boxed()
}

fn modify(modification: BoxedStrategy<Option<Modification>>) -> BoxedStrategy<Argument> {
    (any::<[bool; 2]>(), path(false), modification, text())
        .prop_map(
            |([each, is_final], name, modification, description)| Argument {
                each,
                is_final,
                kind: ArgumentKind::Modify {
                    name,
                    modification,
                    description,
                },
                span: HERE,
            },
        )
        .boxed()
}

fn redeclaration(
    inner: BoxedStrategy<Argument>,
    modification: BoxedStrategy<Option<Modification>>,
) -> BoxedStrategy<Argument> {
    let class = (ident(), path(true), vec(inner, 0..3)).prop_map(|(name, base, modification)| {
        ElementKind::Class(Arc::new(ClassDef {
            encapsulated: false,
            partial: false,
            kind: ClassKind::Package,
            name,
            body: ClassBody::Short(ShortClass {
                causality: None,
                base,
                subscripts: Vec::new(),
                modification,
                span: HERE,
            }),
            description: Description::none(HERE),
            span: HERE,
        }))
    });
    let component =
        (path(true), ident(), modification).prop_map(|(type_name, name, modification)| {
            ElementKind::Components(ComponentClause {
                prefix: TypePrefix::default(),
                type_name,
                subscripts: Vec::new(),
                components: vec![Component {
                    name,
                    subscripts: Vec::new(),
                    modification,
                    condition: None,
                    description: None,
                    span: HERE,
                }],
                span: HERE,
            })
        });
    (any::<[bool; 4]>(), prop_oneof![class, component])
        .prop_map(
            |([each, is_final, redeclare, replaceable], kind)| Argument {
                each,
                is_final,
                kind: ArgumentKind::Redeclare(Box::new(Element {
                    kind,
                    prefixes: Prefixes {
                        redeclare: redeclare || !replaceable,
                        replaceable,
                        ..Prefixes::default()
                    },
                    constraining: None,
                    span: HERE,
                })),
                span: HERE,
            },
        )
        .boxed()
}

fn equation() -> BoxedStrategy<Equation> {
    let leaf = prop_oneof![
        (expr(), small_expr()).prop_map(|(left, right)| EquationKind::Equal(left, right)),
        (reference(), reference()).prop_map(|(a, b)| EquationKind::Connect(a, b)),
        call(literal().boxed()).prop_map(|call| EquationKind::Call(Box::new(call))),
    ];
    let leaf = (leaf, optional_description()).prop_map(|(kind, description)| Equation {
        kind,
        description,
        span: HERE,
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let body = vec(inner.clone(), 0..3);
        let branches = vec((small_expr(), body.clone()), 1..3);
        prop_oneof![
            (branches.clone(), body.clone()).prop_map(|(branches, otherwise)| EquationKind::If {
                branches,
                otherwise,
            }),
            (for_indices(small_expr()), body)
                .prop_map(|(indices, body)| EquationKind::For { indices, body }),
            branches.prop_map(|branches| EquationKind::When { branches }),
        ]
        .prop_map(|kind| Equation {
            kind,
            description: None,
            span: HERE,
        })
    })
    .boxed()
}

fn statement() -> BoxedStrategy<Statement> {
    let targets = vec(option::of(reference()), 2..4);
    let leaf = prop_oneof![
        (reference(), small_expr())
            .prop_map(|(target, value)| StatementKind::Assign { target, value }),
        (targets, call(literal().boxed()))
            .prop_map(|(targets, call)| StatementKind::AssignCall { targets, call }),
        call(literal().boxed()).prop_map(StatementKind::Call),
        Just(StatementKind::Break),
        Just(StatementKind::Return),
    ];
    let leaf = (leaf, optional_description()).prop_map(|(kind, description)| Statement {
        kind,
        description,
        span: HERE,
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let body = vec(inner.clone(), 0..3);
        let branches = vec((small_expr(), body.clone()), 1..3);
        prop_oneof![
            (branches.clone(), body.clone()).prop_map(|(branches, otherwise)| StatementKind::If {
                branches,
                otherwise,
            }),
            (for_indices(small_expr()), body.clone())
                .prop_map(|(indices, body)| StatementKind::For { indices, body }),
            (small_expr(), body)
                .prop_map(|(condition, body)| StatementKind::While { condition, body }),
            branches.prop_map(|branches| StatementKind::When { branches }),
        ]
        .prop_map(|kind| Statement {
            kind,
            description: None,
            span: HERE,
        })
    })
    .boxed()
}

fn type_prefix() -> impl Strategy<Value = TypePrefix> {
    let flow = prop::sample::select(vec![FlowPrefix::Flow, FlowPrefix::Stream]);
    let variability = prop::sample::select(vec![
        VariabilityPrefix::Constant,
        VariabilityPrefix::Parameter,
        VariabilityPrefix::Discrete,
    ]);
    let causality = prop::sample::select(vec![CausalityPrefix::Input, CausalityPrefix::Output]);
    (
        option::weighted(0.2, flow),
        option::weighted(0.3, variability),
        option::weighted(0.2, causality),
    )
        .prop_map(|(flow, variability, causality)| TypePrefix {
            flow,
            variability,
            causality,
        })
}

fn element() -> impl Strategy<Value = Element> {
    let component = (
        ident(),
        subscripts(literal().boxed()),
        option::of(modification(argument())),
        option::weighted(0.2, small_expr()),
        optional_description(),
    )
        .prop_map(
            |(name, subscripts, modification, condition, description)| Component {
                name,
                subscripts,
                modification,
                condition: condition.map(Box::new),
                description,
                span: HERE,
            },
        );
    let clause = (
        type_prefix(),
        path(true),
        subscripts(literal().boxed()),
        vec(component, 1..3),
    )
        .prop_map(|(prefix, type_name, subscripts, components)| {
            ElementKind::Components(ComponentClause {
                prefix,
                type_name,
                subscripts,
                components,
                span: HERE,
            })
        });
    let prefixes = any::<[bool; 5]>().prop_map(
        |[redeclare, is_final, inner, outer, replaceable]| Prefixes {
            redeclare,
            is_final,
            inner,
            outer,
            replaceable,
        },
    );
    let constraining = (path(true), vec(argument(), 0..2), description()).prop_map(
        |(base, modification, description)| ConstrainingClause {
            base,
            modification,
            description,
            span: HERE,
        },
    );
    let declared = (clause, prefixes, option::weighted(0.3, constraining)).prop_map(
        |(kind, prefixes, constraining)| Element {
            kind,
            prefixes,
            constraining: constraining.filter(|_| prefixes.replaceable).map(Box::new),
            span: HERE,
        },
    );
    let import_kind = prop_oneof![
        Just(ImportKind::Qualified),
        ident().prop_map(ImportKind::Renamed),
        Just(ImportKind::All),
        vec(ident(), 1..3).prop_map(ImportKind::List),
    ];
    let import = (path(false), import_kind, description()).prop_map(|(path, kind, description)| {
        ElementKind::Import(Box::new(Import {
            path,
            kind,
            description,
            span: HERE,
        }))
    });
    let extends = (path(true), vec(argument(), 0..3), annotation()).prop_map(
        |(base, modification, annotation)| {
            ElementKind::Extends(Box::new(Extends {
                base,
                modification,
                annotation,
                span: HERE,
            }))
        },
    );
    let plain = prop_oneof![import, extends].prop_map(|kind| Element {
        kind,
        prefixes: Prefixes::default(),
        constraining: None,
        span: HERE,
    });
    prop_oneof![3 => declared, 1 => plain]
}

fn class() -> BoxedStrategy<Arc<ClassDef>> {
    let visibility = prop::sample::select(vec![Visibility::Public, Visibility::Protected]);
    let section = prop_oneof![
        (visibility, vec(element(), 1..4)).prop_map(|(visibility, elements)| {
            SectionKind::Elements {
                visibility,
                elements,
            }
        }),
        (any::<bool>(), vec(equation(), 0..3))
            .prop_map(|(initial, equations)| SectionKind::Equations { initial, equations }),
        (any::<bool>(), vec(statement(), 0..3)).prop_map(|(initial, statements)| {
            SectionKind::Algorithm {
                initial,
                statements,
            }
        }),
    ]
    .prop_map(|kind| Section { kind, span: HERE });
    let kind = prop::sample::select(vec![
        ClassKind::Model,
        ClassKind::Block,
        ClassKind::Connector { expandable: true },
        ClassKind::Record { operator: true },
        ClassKind::Operator,
        ClassKind::Function {
            purity: Some(Purity::Impure),
            operator: true,
        },
    ]);
    (
        any::<[bool; 2]>(),
        kind,
        ident(),
        vec(section, 0..4),
        description(),
    )
        .prop_map(
            |([encapsulated, partial], kind, name, sections, description)| {
                Arc::new(ClassDef {
                    encapsulated,
                    partial,
                    kind,
                    name,
                    body: ClassBody::Long(Composition {
                        sections,
                        external: None,
                        span: HERE,
                    }),
                    description,
                    span: HERE,
                })
            },
        )
        .boxed()
}

/// A file with up to two classes.
pub fn stored_definition() -> impl Strategy<Value = StoredDefinition> {
    let within = option::of(option::of(path(false)).prop_map(|name| Within { name, span: HERE }));
    let stored = (any::<bool>(), class()).prop_map(|(is_final, class)| StoredClass {
        is_final,
        class,
        span: HERE,
    });
    (within, vec(stored, 0..3)).prop_map(|(within, classes)| StoredDefinition {
        within,
        classes,
        span: HERE,
    })
}
