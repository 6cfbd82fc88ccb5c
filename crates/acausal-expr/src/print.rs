//! Printing expressions as Modelica.

use std::cell::Cell;
use std::fmt::Write;

use rustc_hash::FxHashSet;

use crate::flat::{Equation, FlatModel, VarType, Variable};
use crate::literal::{identifier, print_real, string_literal};
use crate::{Access, Builtin, ExprId, Exprs, FuncId, Node, Range, ReduceOp, RelOp, ValueKind};

/// Where the names in expressions are declared.
pub trait Declarations {
    /// The arena of the expressions.
    fn exprs(&self) -> &Exprs;
    /// All variables.
    fn variables(&self) -> &[Variable];
    /// The name of a function.
    fn function_name(&self, id: FuncId) -> Option<&str>;
}

impl Declarations for FlatModel {
    fn exprs(&self) -> &Exprs {
        &self.exprs
    }

    fn variables(&self) -> &[Variable] {
        &self.vars
    }

    fn function_name(&self, id: FuncId) -> Option<&str> {
        self.functions.get(id.0 as usize).map(|f| f.name.as_str())
    }
}

/// Prints expressions with Modelica names and `der()`.
pub struct Printer<'a> {
    scope: &'a dyn Declarations,
    exprs: &'a Exprs,
    /// All iterators are called alike.
    nameless: bool,
    /// Where a text is cut off.
    limit: usize,
    /// A text was.
    cut: Cell<bool>,
    /// The text is to be read again as a model of its own.
    source: Option<Source>,
}

/// What is known of all names of a model whose text is to be read again.
struct Source {
    /// Names that an iterator cannot have: those of variables and of more than one iterator.
    taken: FxHashSet<acausal_base::Name>,
}

/// What a message shows of an expression at most. Inlined functions make expressions that share most of their parts; written
/// out they would be too long to be read, and to be made.
const LONGEST: usize = 2000;
/// What decides about an order: equations that differ only behind it keep the order of the source.
const LONGEST_COMPARED: usize = 20_000;

/// Binding strength, weakest first (MLS 3.6 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Expression,
    Or,
    And,
    Not,
    Relation,
    Sum,
    Product,
    Power,
    Primary,
}

impl<'a> Printer<'a> {
    /// A printer for the expressions of a model.
    pub fn new(scope: &'a dyn Declarations) -> Printer<'a> {
        Printer {
            scope,
            exprs: scope.exprs(),
            nameless: false,
            limit: LONGEST,
            cut: Cell::new(false),
            source: None,
        }
    }

    /// A printer of Modelica that can be read again: variables have their dotted names in quotes, and no iterator hides anything. Nothing is cut
    /// off but what is longer than the model's limits allow, see [`Printer::has_cut`].
    pub fn source(model: &'a FlatModel) -> Printer<'a> {
        let mut taken: FxHashSet<acausal_base::Name> = FxHashSet::default();
        for v in &model.vars {
            if let [(name, _)] = v.name.parts()[..] {
                taken.insert(name);
            }
        }
        let mut seen = FxHashSet::default();
        for name in model.exprs.iter_names() {
            if !seen.insert(name) {
                taken.insert(name);
            }
        }
        Printer {
            limit: usize::try_from(model.exprs.limits.text_length()).unwrap_or(usize::MAX),
            source: Some(Source { taken }),
            ..Printer::new(model)
        }
    }

    /// The same with one name for all iterators: their own names hold numbers that depend on the order of the source,
    /// which a text that decides about an order must not.
    pub fn nameless(model: &'a FlatModel) -> Printer<'a> {
        Printer {
            nameless: true,
            limit: LONGEST_COMPARED,
            ..Printer::new(model)
        }
    }

    /// A printer for expressions in an arena that has grown since the model was made.
    pub fn with_exprs(scope: &'a dyn Declarations, exprs: &'a Exprs) -> Printer<'a> {
        Printer {
            scope,
            exprs,
            nameless: false,
            limit: LONGEST,
            cut: Cell::new(false),
            source: None,
        }
    }

    /// Whether anything that was printed so far was cut off.
    pub fn has_cut(&self) -> bool {
        self.cut.get()
    }

    /// The name of an iterator.
    pub fn iter_name(&self, i: crate::IterId) -> acausal_base::Name {
        if self.nameless {
            return acausal_base::Name::new("i");
        }
        let name = self.exprs.iter_name(i);
        match &self.source {
            Some(source) if source.taken.contains(&name) => {
                let plain = name.as_str().trim_matches('\'');
                acausal_base::Name::new(&format!("'{plain}#{}'", i.0))
            }
            _ => name,
        }
    }

    /// An expression.
    pub fn expr(&self, e: ExprId) -> String {
        let mut out = String::new();
        self.write(&mut out, e, Level::Expression);
        out
    }

    /// `lhs = rhs`, with its iterators as a `for` loop on one line.
    pub fn equation(&self, eq: &Equation) -> String {
        let mut out = String::new();
        if !eq.domain.is_empty() {
            let heads: Vec<String> = eq
                .domain
                .iter()
                .map(|(i, r)| format!("{} in {}", self.iter_name(*i), range_text(*r)))
                .collect();
            let _ = write!(out, "for {} loop ", heads.join(", "));
        }
        // A left side is no bare `if` (MLS 3.6 §8.3.1), that would be an equation of its own.
        let mut left = String::new();
        self.write(&mut left, eq.lhs, Level::Or);
        let _ = write!(out, "{left} = {}", self.expr(eq.rhs));
        if !eq.domain.is_empty() {
            out.push_str("; end for");
        }
        out
    }

    /// An element of a variable.
    pub fn access(&self, a: Access) -> String {
        let mut out = String::new();
        self.write_access(&mut out, a);
        out
    }

    fn write_access(&self, out: &mut String, a: Access) {
        // The subscripts are written to the text itself first, so that they count against its limit.
        let begin = out.len();
        let ends: Vec<usize> = (self.exprs.list(a.subs).iter())
            .map(|&s| {
                self.write(out, s, Level::Expression);
                out.len() - begin
            })
            .collect();
        let text = out.split_off(begin);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let subs: Vec<String> = (starts.zip(&ends))
            .map(|(from, &to)| text[from..to].to_string())
            .collect();
        let name = match self.scope.variables().get(a.var.index()) {
            Some(v) if self.source.is_some() => {
                let name = identifier(&v.name.plain());
                match subs.is_empty() {
                    true => name,
                    false => format!("{name}[{}]", subs.join(",")),
                }
            }
            Some(v) => v.name.with_subscripts(&subs),
            None => format!("v{}", a.var.0),
        };
        let (open, close) = match a.kind {
            ValueKind::Value => (String::new(), String::new()),
            ValueKind::Pre => ("pre(".to_string(), ")".to_string()),
            ValueKind::Der(n) => ("der(".repeat(n as usize), ")".repeat(n as usize)),
        };
        out.extend([open, name, close]);
    }

    fn write(&self, out: &mut String, e: ExprId, at: Level) {
        if self.is_full(out) {
            return;
        }
        let level = self.level(e);
        let paren = level < at;
        if paren {
            out.push('(');
        }
        self.write_node(out, e);
        if paren {
            out.push(')');
        }
    }

    /// Whether the text is as long as it may be; then it ends with an ellipsis.
    fn is_full(&self, out: &mut String) -> bool {
        if out.len() <= self.limit {
            return false;
        }
        self.cut.set(true);
        if !out.ends_with('…') {
            out.push('…');
        }
        true
    }

    fn level(&self, e: ExprId) -> Level {
        match self.exprs.node(e) {
            Node::Real(bits) if f64::from_bits(bits) < 0.0 => Level::Sum,
            Node::Int(i) if i < 0 => Level::Sum,
            Node::If(..) => Level::Expression,
            Node::Or(..) => Level::Or,
            Node::And(..) => Level::And,
            Node::Not(_) => Level::Not,
            Node::Rel(..) => Level::Relation,
            Node::Add(_) => Level::Sum,
            Node::Mul(l) => {
                let negative = self
                    .exprs
                    .as_f64(self.exprs.list(l)[0])
                    .is_some_and(|v| v < 0.0);
                if negative { Level::Sum } else { Level::Product }
            }
            Node::Div(..) => Level::Product,
            Node::Pow(..) => Level::Power,
            _ => Level::Primary,
        }
    }

    fn write_node(&self, out: &mut String, e: ExprId) {
        match self.exprs.node(e) {
            Node::Real(bits) => out.push_str(&print_real(f64::from_bits(bits))),
            Node::Int(i) => {
                let _ = write!(out, "{i}");
            }
            Node::Bool(b) => {
                let _ = write!(out, "{b}");
            }
            Node::Str(s) => {
                out.push_str(&string_literal(self.exprs.string(s)));
            }
            Node::Time => out.push_str("time"),
            Node::Iter(i) => out.push_str(&self.iter_name(i)),
            Node::Var(a) => self.write_access(out, a),
            Node::Add(l) => self.write_sum(out, self.exprs.list(l)),
            Node::Mul(l) => self.write_product(out, self.exprs.list(l)),
            Node::Div(a, b) => self.write_binary(out, (a, Level::Product), "/", (b, Level::Power)),
            Node::Pow(a, b) => {
                self.write_binary(out, (a, Level::Primary), "^", (b, Level::Primary));
            }
            Node::Rel(op, a, b) => {
                self.write_binary(out, (a, Level::Sum), relation_text(op), (b, Level::Sum));
            }
            Node::Not(a) => {
                out.push_str("not ");
                self.write(out, a, Level::Relation);
            }
            Node::And(a, b) => self.write_binary(out, (a, Level::And), " and ", (b, Level::Not)),
            Node::Or(a, b) => self.write_binary(out, (a, Level::Or), " or ", (b, Level::And)),
            Node::If(c, a, b) => {
                out.push_str("if ");
                self.write(out, c, Level::Or);
                out.push_str(" then ");
                self.write(out, a, Level::Or);
                out.push_str(" else ");
                self.write(out, b, Level::Expression);
            }
            Node::Call(Builtin::Concat, l) if self.source.is_some() => {
                for (k, &part) in self.exprs.list(l).iter().enumerate() {
                    out.push_str(if k > 0 { " + " } else { "(" });
                    self.write(out, part, Level::Product);
                }
                out.push(')');
            }
            Node::Call(f, l) => self.write_call(out, builtin_name(f), self.exprs.list(l)),
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => {
                let _ = write!(out, "{}(", reduction_name(op));
                self.write(out, body, Level::Expression);
                let _ = write!(
                    out,
                    " for {} in {})",
                    self.iter_name(iter),
                    range_text(range)
                );
            }
            Node::Select(i, l) => {
                // An expression with subscripts stands in parentheses (MLS 3.7 §10.5).
                let [open, close] = match self.source {
                    Some(_) => ["({", "})"],
                    None => ["{", "}"],
                };
                self.write_call_with(out, open, self.exprs.list(l), close);
                out.push('[');
                self.write(out, i, Level::Expression);
                out.push(']');
            }
            Node::NoEvent(a) => self.write_call(out, "noEvent", &[a]),
            Node::Smooth(p, a) => {
                let _ = write!(out, "smooth({p}, ");
                self.write(out, a, Level::Expression);
                out.push(')');
            }
            Node::Apply {
                func,
                args,
                output,
                wrt,
            } => {
                let name = self.scope.function_name(func).unwrap_or("function");
                if !self.exprs.list(wrt).is_empty() {
                    out.push_str("der:");
                }
                self.write_call(out, name, self.exprs.list(args));
                let _ = write!(out, "[{}]", output + 1);
            }
            Node::Local { base, offset, .. } => {
                let _ = write!(out, "local[{base} + ");
                self.write(out, offset, Level::Expression);
                out.push(']');
            }
        }
    }

    fn write_binary(
        &self,
        out: &mut String,
        (a, left): (ExprId, Level),
        operator: &str,
        (b, right): (ExprId, Level),
    ) {
        self.write(out, a, left);
        out.push_str(operator);
        self.write(out, b, right);
    }

    fn write_sum(&self, out: &mut String, terms: &[ExprId]) {
        for (k, &t) in terms.iter().enumerate() {
            let text = self.exprs.node(t);
            let negative = match text {
                Node::Mul(l) => self
                    .exprs
                    .as_f64(self.exprs.list(l)[0])
                    .is_some_and(|v| v < 0.0),
                Node::Real(_) | Node::Int(_) => self.exprs.as_f64(t).is_some_and(|v| v < 0.0),
                _ => false,
            };
            if self.is_full(out) {
                return;
            }
            if k > 0 {
                out.push_str(if negative { " - " } else { " + " });
            }
            let begin = out.len();
            let level = if negative { Level::Sum } else { Level::Product };
            self.write(out, t, level);
            if k > 0 && negative && out[begin..].starts_with('-') {
                out.remove(begin);
            }
        }
    }

    fn write_product(&self, out: &mut String, factors: &[ExprId]) {
        let mut rest = factors;
        match self.exprs.as_f64(factors[0]) {
            Some(-1.0) => {
                out.push('-');
                rest = &factors[1..];
            }
            Some(v) if v < 0.0 => {
                out.push_str(&print_real_or_int(self.exprs, factors[0], v));
                out.push('*');
                rest = &factors[1..];
            }
            _ => {}
        }
        for (k, &f) in rest.iter().enumerate() {
            if self.is_full(out) {
                return;
            }
            if k > 0 {
                out.push('*');
            }
            self.write(out, f, if k == 0 { Level::Product } else { Level::Power });
        }
    }

    fn write_call(&self, out: &mut String, name: &str, args: &[ExprId]) {
        out.push_str(name);
        self.write_call_with(out, "(", args, ")");
    }

    fn write_call_with(&self, out: &mut String, open: &str, args: &[ExprId], close: &str) {
        let shown = if self.source.is_some() {
            usize::MAX
        } else {
            12
        };
        out.push_str(open);
        for (k, &a) in args.iter().take(shown).enumerate() {
            if self.is_full(out) {
                return;
            }
            if k > 0 {
                out.push_str(", ");
            }
            self.write(out, a, Level::Expression);
        }
        if args.len() > shown {
            let _ = write!(out, ", ... {} more", args.len() - shown);
        }
        out.push_str(close);
    }
}

fn relation_text(op: RelOp) -> &'static str {
    match op {
        RelOp::Lt => " < ",
        RelOp::Le => " <= ",
        RelOp::Gt => " > ",
        RelOp::Ge => " >= ",
        RelOp::Eq => " == ",
        RelOp::Ne => " <> ",
    }
}

fn reduction_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "sum",
        ReduceOp::Product => "product",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
    }
}

fn print_real_or_int(exprs: &Exprs, e: ExprId, v: f64) -> String {
    match exprs.as_int(e) {
        Some(i) => i.to_string(),
        None => print_real(v),
    }
}

fn range_text(r: Range) -> String {
    if r.step == 1 {
        format!("{}:{}", r.start, r.last())
    } else {
        format!("{}:{}:{}", r.start, r.step, r.last())
    }
}

fn builtin_name(f: Builtin) -> &'static str {
    match f {
        Builtin::Abs => "abs",
        Builtin::Sign => "sign",
        Builtin::Sqrt => "sqrt",
        Builtin::Floor => "floor",
        Builtin::Ceil => "ceil",
        Builtin::Integer => "integer",
        Builtin::Div => "div",
        Builtin::Mod => "mod",
        Builtin::Rem => "rem",
        Builtin::Sin => "sin",
        Builtin::Cos => "cos",
        Builtin::Tan => "tan",
        Builtin::Asin => "asin",
        Builtin::Acos => "acos",
        Builtin::Atan => "atan",
        Builtin::Atan2 => "atan2",
        Builtin::Sinh => "sinh",
        Builtin::Cosh => "cosh",
        Builtin::Tanh => "tanh",
        Builtin::Exp => "exp",
        Builtin::Log => "log",
        Builtin::Log10 => "log10",
        Builtin::Min => "min",
        Builtin::Max => "max",
        Builtin::Initial => "initial",
        Builtin::Terminal => "terminal",
        Builtin::Sample => "sample",
        Builtin::Delay => "delay",
        Builtin::Spatial => "spatialDistribution",
        Builtin::Edge => "edge",
        Builtin::Change => "change",
        Builtin::Homotopy => "homotopy",
        Builtin::Start => "start",
        Builtin::Concat => "concat",
        Builtin::Text => "String",
        Builtin::Clock | Builtin::EventClock => "Clock",
        Builtin::ClockedSample => "sample",
        Builtin::Hold => "hold",
        Builtin::Previous => "previous",
        Builtin::SubSample => "subSample",
        Builtin::SuperSample => "superSample",
        Builtin::ShiftSample => "shiftSample",
        Builtin::BackSample => "backSample",
        Builtin::NoClock => "noClock",
        Builtin::Interval => "interval",
        Builtin::FirstTick => "firstTick",
        Builtin::Unassigned => "unassigned",
    }
}

/// The Modelica name of a variable's type.
impl FlatModel {
    /// `Real`, `Integer`, `Boolean`, `String` or the name of the enumeration.
    pub fn type_name(&self, ty: VarType) -> &str {
        match ty {
            VarType::Real => "Real",
            VarType::Integer => "Integer",
            VarType::Boolean => "Boolean",
            VarType::String => "String",
            VarType::Enum(k) => self
                .enums
                .get(k as usize)
                .map_or("enumeration", |e| &e.name),
        }
    }
}
