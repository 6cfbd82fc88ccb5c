//! Expressions (MLS 3.6 A.2.7).

use std::sync::Arc;

use super::{Ident, Path};
use acausal_base::ThinVec;
use acausal_base::span::Span;

node! {
    /// An expression with its place; the span includes parentheses around it.
    Expr {
        /// What it is.
        kind: ExprKind,
    }
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A Real literal. An integer literal beyond 64 bits is one, too.
    Real(f64),
    /// An Integer literal; never negative as written.
    Integer(i64),
    /// A String literal, escapes resolved.
    Str(Arc<str>),
    /// `true` or `false`.
    Bool(bool),
    /// `end` inside a subscript: the size of that dimension.
    End,
    /// `:` as a whole subscript.
    Colon,
    /// A component reference, `time` included.
    Ref(ComponentRef),
    /// A left-associative chain of one precedence: `a + b - c`, `a * b / c`, `a and b`, `a or b`.
    ///
    /// The operators share one [`BinOp::level`]; there is at least one.
    Chain(Box<Expr>, Vec<(BinOp, Expr)>),
    /// A relation or a power; these do not associate.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// A sign or `not`. `-a*b` is the negated product, `-a + b` a sum that starts negated.
    Unary(UnOp, Box<Expr>),
    /// `if c then a elseif d then b else e`, also written `else if`; at least one branch.
    If {
        /// Conditions with their values.
        branches: Vec<(Expr, Expr)>,
        /// The value of `else`.
        otherwise: Box<Expr>,
    },
    /// A function call or reduction.
    Call(Box<Call>),
    /// `function f(a = 1)` as an argument (MLS 3.6 §12.4.2.1).
    PartialApplication(Box<PartialApplication>),
    /// `{a, b, c}`.
    Array(Vec<Expr>),
    /// `{e for i in r, j in s}`.
    ArrayFor {
        /// The element.
        body: Box<Expr>,
        /// The iterators, at least one.
        indices: Vec<ForIndex>,
    },
    /// `[a, b; c, d]`: rows of columns, concatenated (MLS 3.6 §10.4.2).
    Matrix(Vec<Vec<Expr>>),
    /// `start : stop` or `start : step : stop`.
    Range {
        /// First value.
        start: Box<Expr>,
        /// Increment, one if absent.
        step: Option<Box<Expr>>,
        /// Last value.
        stop: Box<Expr>,
    },
    /// `(a, , b)`: outputs of a call. Never exactly one present expression: that is a parenthesis.
    Tuple(Vec<Option<Expr>>),
    /// `(e)[i, j]`: subscripts on a parenthesised expression.
    Index(Box<Expr>, Vec<Expr>),
    /// `(e).name`: a member of a parenthesised expression.
    Field(Box<Expr>, Ident),
    /// Stands where an expression was missing or broken; a diagnostic has been given.
    Error,
}

node! {
    /// `a.b[i].c` or `.a.b`; at least one part.
    ComponentRef {
        /// True with a leading dot.
        global: bool,
        /// The identifiers with their subscripts.
        parts: Vec<RefPart>,
    }
}

node! {
    /// One identifier of a component reference with its subscripts.
    RefPart {
        /// The identifier.
        name: Ident,
        /// Subscripts; [`ExprKind::Colon`] may occur. Empty when there are no brackets.
        subscripts: ThinVec<Expr>,
    }
}

node! {
    /// `f(a, b, c = 1)` or `sum(e for i in r)`.
    Call {
        /// What is called.
        function: Callee,
        /// Positional arguments; exactly one if there are `indices`.
        args: Vec<Expr>,
        /// Named arguments.
        named: Vec<NamedArg>,
        /// Iterators of a reduction.
        indices: Vec<ForIndex>,
    }
}

/// What a call calls: a name, or one of the keywords that can be called.
#[derive(Debug, Clone, PartialEq)]
pub enum Callee {
    /// A function, an operator such as `pre`, a record constructor...
    Ref(ComponentRef),
    /// `der(...)`.
    Der,
    /// `initial()`.
    Initial,
    /// `pure(...)`.
    Pure,
}

node! {
    /// `name = value` in a call.
    NamedArg {
        /// The input.
        name: Ident,
        /// Its value; may be [`ExprKind::PartialApplication`].
        value: Expr,
    }
}

node! {
    /// `function f(a = 1)`.
    PartialApplication {
        /// The function.
        function: Path,
        /// The inputs that are bound.
        named: Vec<NamedArg>,
    }
}

node! {
    /// `i in range`, or `i` alone when the range follows from its use (MLS 3.6 §11.2.2.1).
    ForIndex {
        /// The iterator.
        name: Ident,
        /// What it runs over.
        range: Option<Expr>,
    }
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `<>`
    Ne,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `.+`
    AddElem,
    /// `.-`
    SubElem,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `.*`
    MulElem,
    /// `./`
    DivElem,
    /// `^`
    Pow,
    /// `.^`
    PowElem,
}

/// Binding strength, weakest first (MLS 3.6 §3.2, table 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precedence {
    /// `if then else`, partial application, and the like: whole expressions.
    Expression,
    /// `a : b : c`
    Range,
    /// `or`
    Or,
    /// `and`
    And,
    /// `not`
    Not,
    /// `<` ... `<>`
    Relation,
    /// `+ - .+ .-`, also as signs
    Additive,
    /// `* / .* ./`
    Multiplicative,
    /// `^ .^`
    Power,
    /// Everything that needs no parentheses anywhere.
    Primary,
}

impl BinOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Or => "or",
            BinOp::And => "and",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::Eq => "==",
            BinOp::Ne => "<>",
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::AddElem => ".+",
            BinOp::SubElem => ".-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::MulElem => ".*",
            BinOp::DivElem => "./",
            BinOp::Pow => "^",
            BinOp::PowElem => ".^",
        }
    }

    /// Binding strength.
    pub fn level(self) -> Precedence {
        match self {
            BinOp::Or => Precedence::Or,
            BinOp::And => Precedence::And,
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => {
                Precedence::Relation
            }
            BinOp::Add | BinOp::Sub | BinOp::AddElem | BinOp::SubElem => Precedence::Additive,
            BinOp::Mul | BinOp::Div | BinOp::MulElem | BinOp::DivElem => Precedence::Multiplicative,
            BinOp::Pow | BinOp::PowElem => Precedence::Power,
        }
    }
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `.+`
    PlusElem,
    /// `.-`
    MinusElem,
    /// `not`
    Not,
}

impl UnOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnOp::Plus => "+",
            UnOp::Minus => "-",
            UnOp::PlusElem => ".+",
            UnOp::MinusElem => ".-",
            UnOp::Not => "not",
        }
    }

    /// Binding strength.
    pub fn level(self) -> Precedence {
        match self {
            UnOp::Not => Precedence::Not,
            _ => Precedence::Additive,
        }
    }
}

impl Expr {
    /// An expression at a place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// Binding strength of the outermost operator.
    pub fn level(&self) -> Precedence {
        match &self.kind {
            ExprKind::Chain(_, rest) => rest
                .first()
                .map_or(Precedence::Primary, |(operator, _)| operator.level()),
            ExprKind::Binary(operator, ..) => operator.level(),
            ExprKind::Unary(operator, _) => operator.level(),
            ExprKind::If { .. } | ExprKind::PartialApplication(_) => Precedence::Expression,
            ExprKind::Range { .. } => Precedence::Range,
            _ => Precedence::Primary,
        }
    }

    /// The component reference, if the expression is nothing else.
    pub fn as_component_ref(&self) -> Option<&ComponentRef> {
        match &self.kind {
            ExprKind::Ref(reference) => Some(reference),
            _ => None,
        }
    }
}

impl ComponentRef {
    /// The identifier of a reference with one part, no subscripts and no leading dot.
    pub fn as_ident(&self) -> Option<&Ident> {
        match self.parts.as_slice() {
            [part] if !self.global && part.subscripts.is_empty() => Some(&part.name),
            _ => None,
        }
    }
}
