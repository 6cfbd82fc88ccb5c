//! What the parser makes of a text: precedence, forms of classes and elements, places.

use acausal_base::{FileId, SourceMap, Span};
use acausal_syntax::ast::*;
use acausal_syntax::printer::{print, print_equation};
use acausal_syntax::{Parsed, parse, parse_expression, parse_file};

/// The expression with every operation in parentheses.
fn shape(text: &str) -> String {
    let (expr, diagnostics) = parse_expression(FileId(0), text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    explicit(&expr)
}

fn explicit(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Chain(first, rest) => {
            let rest = rest.iter();
            let rest = rest.map(|(operator, e)| format!(" {} {}", operator.symbol(), explicit(e)));
            format!("({}{})", explicit(first), rest.collect::<String>())
        }
        ExprKind::Binary(operator, a, b) => {
            format!("({} {} {})", explicit(a), operator.symbol(), explicit(b))
        }
        ExprKind::Unary(operator, a) => format!("({} {})", operator.symbol(), explicit(a)),
        ExprKind::Range { start, step, stop } => {
            let step = step.iter().map(|step| explicit(step) + " : ");
            let step: String = step.collect();
            format!("({} : {step}{})", explicit(start), explicit(stop))
        }
        ExprKind::If {
            branches,
            otherwise,
        } => {
            let branches = branches.iter();
            let branches = branches.map(|(c, v)| format!("{} -> {}, ", explicit(c), explicit(v)));
            format!("({}{})", branches.collect::<String>(), explicit(otherwise))
        }
        _ => expr.to_string(),
    }
}

#[test]
fn precedence_is_that_of_the_specification() {
    // MLS 3.6 section 3.2, table 3.1, and grammar A.2.7.
    for (text, expected) in [
        ("a + b * c ^ d", "(a + (b * (c ^ d)))"),
        ("a - b - c", "(a - b - c)"),
        ("a / b * c", "(a / b * c)"),
        ("-a * b + c", "((- (a * b)) + c)"),
        ("-a ^ 2", "(- (a ^ 2))"),
        ("-a - b", "((- a) - b)"),
        ("a < -b", "(a < (- b))"),
        ("not a < b and c", "((not (a < b)) and c)"),
        ("a or b and c or d", "(a or (b and c) or d)"),
        ("a and b or c and d", "((a and b) or (c and d))"),
        ("not a or not b", "((not a) or (not b))"),
        ("a + b == c * d", "((a + b) == (c * d))"),
        ("1 : n + 1", "(1 : (n + 1))"),
        ("1 : 2 : 2 * n", "(1 : 2 : (2 * n))"),
        ("a or b : c", "((a or b) : c)"),
        (
            "a .* b .+ c ./ d .- e .^ f",
            "((a .* b) .+ (c ./ d) .- (e .^ f))",
        ),
        ("if a then b + 1 else c + 1", "(a -> (b + 1), (c + 1))"),
        ("if a then b elseif c then d else e", "(a -> b, c -> d, e)"),
        ("if a then b else if c then d else e", "(a -> b, c -> d, e)"),
        ("(a)", "a"),
        ("((a + b)) * c", "((a + b) * c)"),
        ("2.*x", "(2.0 * x)"),
        ("9223372036854775808", "9.223372036854776e18"),
        ("x[end].y[1, :]", "x[end].y[1, :]"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

fn class(text: &str) -> ClassDef {
    let Parsed { tree, diagnostics } = parse(FileId(0), text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    ClassDef::clone(&tree.classes[0].class)
}

#[test]
fn sections_keep_order_and_visibility() {
    let class = class(
        "partial model A \"text\" Real a; protected Real b; public Real c; \
         initial equation a = 1; algorithm b := 2; annotation(Icon(x = 1)); end A;",
    );
    assert!(class.partial && !class.encapsulated);
    assert_eq!(class.kind, ClassKind::Model);
    let seen: Vec<_> = class.elements().map(|(visibility, _)| visibility).collect();
    use Visibility::*;
    assert_eq!(seen, [Public, Protected, Public]);
    let sections = &class.composition().unwrap().sections;
    assert!(matches!(
        sections[3].kind,
        SectionKind::Equations { initial: true, .. }
    ));
    assert!(matches!(
        sections[4].kind,
        SectionKind::Algorithm { initial: false, .. }
    ));
    let annotation = class.description.annotation.as_ref().unwrap();
    let icon = annotation.get("Icon").unwrap();
    assert!(
        find_argument(&icon.arguments, "x")
            .unwrap()
            .binding
            .is_some()
    );
    assert_eq!(annotation.get("Line"), None);
    assert_eq!(&*class.description.text.as_ref().unwrap().value, "text");
}

#[test]
fn short_forms() {
    let short = class("type T = output Real[2](unit = \"m\");");
    let ClassBody::Short(short) = &short.body else {
        panic!("not short");
    };
    assert_eq!(short.causality, Some(CausalityPrefix::Output));
    assert_eq!((short.subscripts.len(), short.modification.len()), (1, 1));
    let literals = class("type E = enumeration(a, b \"second\");");
    assert!(matches!(&literals.body, ClassBody::Enumeration(Some(list)) if list.len() == 2));
    let derivative = class("function f = der(g, x, y);");
    assert!(matches!(&derivative.body, ClassBody::Der { variables, .. } if variables.len() == 2));
    let extended = class("model extends A(x = 1) Real y; end A;");
    assert!(
        matches!(&extended.body, ClassBody::ClassExtends { modification, .. }
        if modification.len() == 1)
    );
}

#[test]
fn prefixes_and_modifications() {
    let class = class(
        "model A inner replaceable parameter Real x[2](each final start = 1) = 2 if b \
         constrainedby C; M m(redeclare final package P = Q, a.b = break); end A;",
    );
    let elements: Vec<&Element> = class.elements().map(|(_, element)| element).collect();
    assert!(elements[0].prefixes.inner && elements[0].prefixes.replaceable);
    assert!(elements[0].constraining.is_some());
    let ElementKind::Components(clause) = &elements[0].kind else {
        panic!("not components");
    };
    assert_eq!(
        clause.prefix.variability,
        Some(VariabilityPrefix::Parameter)
    );
    let component = &clause.components[0];
    assert!(component.condition.is_some());
    let modification = component.modification.as_ref().unwrap();
    assert!(modification.arguments[0].each && modification.arguments[0].is_final);
    assert!(modification.binding.is_some());
    let ElementKind::Components(clause) = &elements[1].kind else {
        panic!("not components");
    };
    let arguments = &clause.components[0]
        .modification
        .as_ref()
        .unwrap()
        .arguments;
    assert!(arguments[0].is_final);
    assert!(matches!(&arguments[0].kind, ArgumentKind::Redeclare(e) if e.prefixes.redeclare));
    let ArgumentKind::Modify {
        name, modification, ..
    } = &arguments[1].kind
    else {
        panic!("not a modification");
    };
    assert_eq!(name.to_string(), "a.b");
    let binding = modification.as_ref().unwrap().binding.as_ref().unwrap();
    assert_eq!(binding.value, BindingValue::Break);
}

#[test]
fn places_cover_what_was_written() {
    let text = "model A\n  parameter Real x(start = 1) = 2 * (y + 1) \"t\";\n\
                equation\n  der(x) = -f(x, n = {1, 2}) \"eq\";\nend A;\n";
    let mut sources = SourceMap::new();
    let file = sources.add_file("A.mo", text);
    let tree = parse_file(&sources, file).tree;
    let at = |span: Span| sources.text(span);
    assert_eq!(at(tree.span), text.trim_end());
    let class = &tree.classes[0].class;
    assert_eq!(at(class.span), text.trim_end().trim_end_matches(';'));
    assert_eq!(at(class.name.span), "A");
    let (_, element) = class.elements().next().unwrap();
    assert_eq!(
        at(element.span),
        "parameter Real x(start = 1) = 2 * (y + 1) \"t\""
    );
    let ElementKind::Components(clause) = &element.kind else {
        panic!("not components");
    };
    assert_eq!(at(clause.type_name.span), "Real");
    let component = &clause.components[0];
    assert_eq!(at(component.description.as_ref().unwrap().span), "\"t\"");
    let modification = component.modification.as_ref().unwrap();
    assert_eq!(at(modification.span), "(start = 1) = 2 * (y + 1)");
    assert_eq!(at(modification.arguments[0].span), "start = 1");
    let BindingValue::Expr(value) = &modification.binding.as_ref().unwrap().value else {
        panic!("no value");
    };
    assert_eq!(at(value.span), "2 * (y + 1)");
    let ExprKind::Chain(_, rest) = &value.kind else {
        panic!("no product");
    };
    assert_eq!(
        at(rest[0].1.span),
        "(y + 1)",
        "parentheses belong to the place"
    );
    let SectionKind::Equations { equations, .. } = &class.composition().unwrap().sections[1].kind
    else {
        panic!("no equations");
    };
    assert_eq!(at(equations[0].span), "der(x) = -f(x, n = {1, 2}) \"eq\"");
    assert_eq!(print_equation(&equations[0]), "der(x) = -f(x, n = {1, 2})");
    let EquationKind::Equal(left, right) = &equations[0].kind else {
        panic!("no equation");
    };
    assert_eq!(
        (at(left.span), at(right.span)),
        ("der(x)", "-f(x, n = {1, 2})")
    );
}

#[test]
fn printed_text_is_readable() {
    let source = "within A;model B extends C(x=1,y=2);parameter Real longName1(start=1.0,fixed=true,\
                  min=-100,max=100,unit=\"m/s\")=3.5 \"A long description of it\" annotation(Dialog(group=\"G\"));\
                  equation if a then for i in 1:2 loop x[i]=i;end for;else x=1;end if;end B;";
    let tree = parse(FileId(0), source).tree;
    assert_eq!(
        print(&tree),
        "\
within A;
model B
  extends C(x = 1, y = 2);
  parameter Real longName1(start = 1.0, fixed = true, min = -100, max = 100, unit = \"m/s\") = 3.5 \"A long description of it\"
    annotation(Dialog(group = \"G\"));
equation
  if a then
    for i in 1:2 loop
      x[i] = i;
    end for;
  else
    x = 1;
  end if;
end B;
"
    );
}
