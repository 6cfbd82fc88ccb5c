//! Expressions (MLS 3.6 A.2.7), by precedence climbing.
//!
//! [`Parser::operand`] reads everything that binds at least as strongly as a given level. The
//! operators of one associative level are collected in a loop, so that `a + b + ...` is one flat
//! [`ExprKind::Chain`] however long it is.

use super::{Failed, Parser, Result};
use crate::ast::{
    BinOp, Call, Callee, ComponentRef, Expr, ExprKind, ForIndex, Level, NamedArg,
    PartialApplication, RefPart, UnOp,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

/// How many tokens behind a broken condition `then` or `loop` is looked for; the bound keeps the time
/// linear.
const FOLLOW_SEARCH: usize = 64;

impl Parser<'_> {
    /// expression: an `if` expression or a simple one.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.nested(|parser| {
            if parser.at(TokenKind::If) {
                parser.if_expression()
            } else {
                parser.simple_expression()
            }
        })
    }

    /// An expression, or a placeholder for one that failed, after which the caller looks for `then`
    /// or `loop`.
    pub(super) fn expression_before(&mut self, follow: TokenKind) -> Expr {
        let result = self.expression();
        let expr = result.unwrap_or_else(|Failed| self.error_expr());
        if self.eat(follow) {
            return expr;
        }
        let mut diagnostic = self.expected(&format!("`{}`", follow.text()));
        diagnostic.hint = match self.kind() {
            TokenKind::Equals => Some("comparison is written `==`".to_string()),
            TokenKind::Semicolon | TokenKind::Ident => {
                Some(format!("write `{}` here", follow.text()))
            }
            _ => None,
        };
        self.report_here(diagnostic);
        // It may still come before the next `;`; otherwise it was forgotten.
        for ahead in 0..FOLLOW_SEARCH {
            match self.peek(ahead) {
                TokenKind::Eof | TokenKind::Semicolon => break,
                kind if kind == follow => {
                    self.position += ahead + 1;
                    break;
                }
                _ => {}
            }
        }
        expr
    }

    fn if_expression(&mut self) -> Result<Expr> {
        let start = self.span();
        let mut branches = Vec::new();
        loop {
            // At `if` or `elseif`.
            self.bump();
            let condition = self.expression()?;
            if !self.eat(TokenKind::Then) {
                return Err(match self.kind() {
                    TokenKind::Equals => {
                        self.unexpected_but("`then`", "comparison is written `==`")
                    }
                    _ => self.unexpected("`then`"),
                });
            }
            branches.push((condition, self.expression()?));
            if self.at(TokenKind::Elseif) {
                continue;
            }
            if !self.eat(TokenKind::Else) {
                return Err(self.unexpected_but(
                    "`else` or `elseif`",
                    "an `if` expression needs a value for every case",
                ));
            }
            // A ladder of `else if` is as flat as one of `elseif`, with the same meaning.
            if !self.at(TokenKind::If) {
                break;
            }
        }
        let otherwise = Box::new(self.expression()?);
        let kind = ExprKind::If {
            branches,
            otherwise,
        };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    /// simple-expression: `a`, `a : b` or `a : b : c`.
    pub(super) fn simple_expression(&mut self) -> Result<Expr> {
        let first = self.operand(Level::Or);
        if first.is_err() || !self.at(TokenKind::Colon) {
            return first;
        }
        self.range_from(Box::new(first?))
    }

    /// The rest of a range, at the first `:`.
    fn range_from(&mut self, start: Box<Expr>) -> Result<Expr> {
        self.bump();
        let mut stop = self.boxed_operand(Level::Or)?;
        let mut step = None;
        if self.eat(TokenKind::Colon) {
            step = Some(stop);
            stop = self.boxed_operand(Level::Or)?;
        }
        let place = self.span_from(start.span);
        Ok(Expr::new(ExprKind::Range { start, step, stop }, place))
    }

    /// Everything that binds at least as strongly as `weakest`.
    ///
    /// What follows the first operand is read by functions of their own, because this frame is on
    /// the stack once for every parenthesis that is open.
    fn operand(&mut self, weakest: Level) -> Result<Expr> {
        let start = self.span();
        let mut left = match unary_operator(self.kind()) {
            Some(operator) => self.unary(operator, weakest),
            None => self.primary(),
        };
        while left.is_ok()
            && let Some(operator) = binary_operator(self.kind())
            && operator.level() >= weakest
        {
            left = self.operation_from(Box::new(left?), operator, start);
        }
        left
    }

    /// The operand one level deeper.
    fn boxed_operand(&mut self, weakest: Level) -> Result<Box<Expr>> {
        self.nested(|parser| parser.operand(weakest).map(Box::new))
    }

    /// The rest of an operation whose first operand was read, at its first operator.
    fn operation_from(&mut self, left: Box<Expr>, first: BinOp, start: Span) -> Result<Expr> {
        let level = first.level();
        let tighter = next_level(level);
        let kind = if matches!(level, Level::Relation | Level::Power) {
            self.take_operator();
            let right = self.boxed_operand(tighter)?;
            if self.refuse_chain(level)? {
                ExprKind::Error
            } else {
                ExprKind::Binary(first, left, right)
            }
        } else {
            let mut rest = Vec::new();
            while let Some(operator) = binary_operator(self.kind())
                && operator.level() == level
            {
                self.take_operator();
                rest.push((operator, self.nested(|parser| parser.operand(tighter))?));
            }
            ExprKind::Chain(left, rest)
        };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    /// Takes a binary operator; those of other languages are reported.
    fn take_operator(&mut self) {
        use TokenKind::*;
        let modelica = match self.kind() {
            BangEqual => Some("<>"),
            AndAnd => Some("and"),
            OrOr => Some("or"),
            _ => None,
        };
        if let Some(modelica) = modelica {
            let found = self.found();
            self.report_here(
                Diagnostic::error(
                    "syntax-operator",
                    self.span(),
                    format!("{found} is not an operator of Modelica"),
                )
                .hint(format!("write `{modelica}`")),
            );
        }
        self.bump();
    }

    /// Reports `a < b < c` and `a^b^c`, which the grammar does not have, and passes over the rest.
    fn refuse_chain(&mut self, level: Level) -> Result<bool> {
        let next = match binary_operator(self.kind()) {
            Some(next) if next.level() == level => next,
            _ => return Ok(false),
        };
        let hint = match level {
            Level::Power => "write `(a^b)^c` or `a^(b^c)`",
            _ => "write `a < b and b < c`",
        };
        self.report_here(
            Diagnostic::error(
                "syntax-associativity",
                self.span(),
                format!("`{}` cannot be chained", next.symbol()),
            )
            .hint(hint),
        );
        while binary_operator(self.kind()).is_some_and(|next| next.level() == level) {
            self.bump();
            self.boxed_operand(next_level(level))?;
        }
        Ok(true)
    }

    fn unary(&mut self, operator: UnOp, weakest: Level) -> Result<Expr> {
        let start = self.span();
        let level = operator.level();
        if self.at(TokenKind::Bang) || level < weakest {
            self.refuse_sign(operator)?;
        }
        self.bump();
        // `-a*b` negates the product, `a*(-b)` the factor only.
        let tighter = next_level(level).max(weakest);
        let operand = self.boxed_operand(tighter)?;
        let kind = ExprKind::Unary(operator, operand);
        Ok(Expr::new(kind, self.span_from(start)))
    }

    /// Reports `!`, `i++`, and a sign or `not` behind another operator.
    fn refuse_sign(&mut self, operator: UnOp) -> Result<()> {
        let start = self.span();
        if self.at(TokenKind::Bang) {
            let message = "`!` is not an operator of Modelica";
            self.slip("syntax-operator", start, message, "write `not`");
        } else if self.at(TokenKind::Plus) && self.previous_span().end == start.start {
            let hint = "there is no `++`; write `i := i + 1`";
            return Err(self.unexpected_but("an expression", hint));
        } else {
            let symbol = operator.symbol();
            let message = format!("`{symbol}` cannot follow another operator directly");
            let hint = format!("put it in parentheses: `({symbol} ...)`");
            self.slip("syntax-sign", start, &message, &hint);
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<Expr> {
        use TokenKind::*;
        let start = self.span();
        let kind = match self.kind() {
            Ident | Dot => return self.reference_or_call(),
            Integer | Real => return Ok(self.number()),
            Str => {
                let token = self.token();
                self.bump();
                ExprKind::Str(self.string_value(token))
            }
            True | False => {
                let value = self.at(True);
                self.bump();
                ExprKind::Bool(value)
            }
            End => {
                if self.at_block_end() {
                    return Err(self.unexpected("an expression"));
                }
                self.bump();
                ExprKind::End
            }
            Der | Initial | Pure => {
                let function = match self.kind() {
                    Der => Callee::Der,
                    Initial => Callee::Initial,
                    _ => Callee::Pure,
                };
                if self.peek(1) != LeftParen {
                    return Err(self.unexpected("an expression"));
                }
                self.bump();
                ExprKind::Call(Box::new(self.call(function, start)))
            }
            LeftParen => return self.parenthesis(),
            LeftBracket => self.matrix(),
            LeftBrace => self.array(),
            If => {
                self.slip(
                    "syntax-if-operand",
                    start,
                    "an `if` expression cannot be an operand as it stands",
                    "put it in parentheses: `(if ... then ... else ...)`",
                );
                return self.expression();
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    fn reference_or_call(&mut self) -> Result<Expr> {
        let start = self.span();
        let reference = self.component_ref("an identifier")?;
        let kind = if self.at(TokenKind::LeftParen) {
            ExprKind::Call(Box::new(self.call(Callee::Ref(reference), start)))
        } else {
            ExprKind::Ref(reference)
        };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    /// component-reference: `.a[1].b`.
    pub(super) fn component_ref(&mut self, what: &str) -> Result<ComponentRef> {
        let start = self.span();
        let global = self.eat(TokenKind::Dot);
        let mut parts = Vec::with_capacity(1);
        loop {
            let name = self.ident(what)?;
            let part_start = name.span;
            let subscripts = self.subscripts();
            parts.push(RefPart {
                name,
                subscripts,
                span: self.span_from(part_start),
            });
            if !self.eat(TokenKind::Dot) {
                break;
            }
        }
        Ok(ComponentRef {
            global,
            parts,
            span: self.span_from(start),
        })
    }

    /// array-subscripts, or nothing.
    pub(super) fn subscripts(&mut self) -> Vec<Expr> {
        if !self.at(TokenKind::LeftBracket) {
            return Vec::new();
        }
        let empty = self.peek(1) == TokenKind::RightBracket;
        let (subscripts, span) = self.bracketed(|parser| {
            let lone = matches!(parser.peek(1), TokenKind::Comma | TokenKind::RightBracket);
            if parser.at(TokenKind::Colon) && lone {
                let span = parser.span();
                parser.bump();
                return Ok(Expr::new(ExprKind::Colon, span));
            }
            parser.expression()
        });
        if empty {
            self.slip(
                "syntax-expected",
                span,
                "expected a subscript between the brackets",
                "",
            );
        }
        subscripts
    }

    /// function-call-args, at `(`.
    pub(super) fn call(&mut self, function: Callee, start: Span) -> Call {
        let mut args: Vec<Expr> = Vec::new();
        let mut named: Vec<NamedArg> = Vec::new();
        let mut indices = Vec::new();
        self.bracketed(|parser| {
            if parser.at(TokenKind::Ident)
                && matches!(parser.peek(1), TokenKind::Equals | TokenKind::Assign)
            {
                named.push(parser.named_argument()?);
                return Ok(());
            }
            let place = parser.span();
            if !named.is_empty() {
                parser.slip(
                    "syntax-argument-order",
                    place,
                    "a positional argument cannot follow a named one",
                    "give it a name, or put it before the named arguments",
                );
            }
            args.push(parser.argument_value()?);
            if parser.at(TokenKind::For) {
                if args.len() + named.len() > 1 {
                    let message = "a reduction has one argument before `for`";
                    parser.slip("syntax-reduction", place.to(parser.span()), message, "");
                }
                indices = parser.for_indices()?;
            }
            Ok(())
        });
        Call {
            function,
            args,
            named,
            indices,
            span: self.span_from(start),
        }
    }

    /// function-argument: an expression or a function with some inputs bound.
    fn argument_value(&mut self) -> Result<Expr> {
        if !self.at(TokenKind::Function) {
            return self.expression();
        }
        let start = self.span();
        self.bump();
        let function = self.path("the name of a function", true)?;
        let mut named = Vec::new();
        if self.at(TokenKind::LeftParen) {
            named = self.nested(|parser| Ok(parser.bracketed(Self::named_argument).0))?;
        } else {
            self.unexpected("`(`");
        }
        let span = self.span_from(start);
        let application = PartialApplication {
            function,
            named,
            span,
        };
        Ok(Expr::new(
            ExprKind::PartialApplication(Box::new(application)),
            span,
        ))
    }

    fn named_argument(&mut self) -> Result<NamedArg> {
        let name = self.ident("the name of an input")?;
        if self.at(TokenKind::Assign) {
            self.unexpected_but("`=`", "named arguments use `=`");
            self.bump();
        } else {
            self.expect(TokenKind::Equals)?;
        }
        let start = name.span;
        let value = self.argument_value()?;
        Ok(NamedArg {
            name,
            value,
            span: self.span_from(start),
        })
    }

    /// `for` for-indices, at `for`.
    pub(super) fn for_indices(&mut self) -> Result<Vec<ForIndex>> {
        self.bump();
        let mut indices = Vec::new();
        loop {
            let name = self.ident("the name of an iterator")?;
            let start = name.span;
            let slip = matches!(self.kind(), TokenKind::Equals | TokenKind::Assign);
            if slip {
                self.unexpected_but("`in`", "an iterator is written `i in 1:n`");
            }
            let range = if slip || self.at(TokenKind::In) {
                self.bump();
                Some(self.expression()?)
            } else {
                None
            };
            indices.push(ForIndex {
                name,
                range,
                span: self.span_from(start),
            });
            if !self.eat(TokenKind::Comma) {
                return Ok(indices);
            }
        }
    }

    /// `(...)`: a parenthesis or a list of outputs, with subscripts or a member behind it.
    fn parenthesis(&mut self) -> Result<Expr> {
        let start = self.span();
        let (mut items, span) = self.bracketed(|parser| match parser.kind() {
            TokenKind::Comma | TokenKind::RightParen => Ok(None),
            _ => Ok(Some(parser.expression()?)),
        });
        let mut expr = match items.as_mut_slice() {
            [single] if single.is_some() => {
                let mut expr = single.take().unwrap_or_else(|| self.error_expr());
                expr.span = span;
                expr
            }
            _ => Expr::new(ExprKind::Tuple(items), span),
        };
        if self.at(TokenKind::LeftBracket) {
            let subscripts = self.subscripts();
            let kind = ExprKind::Index(Box::new(expr), subscripts);
            expr = Expr::new(kind, self.span_from(start));
        } else if self.at(TokenKind::Dot) {
            self.bump();
            let member = self.ident("the name of a member")?;
            let kind = ExprKind::Field(Box::new(expr), member);
            expr = Expr::new(kind, self.span_from(start));
        }
        Ok(expr)
    }

    /// `{a, b}` or `{e for i in r}`, at `{`.
    fn array(&mut self) -> ExprKind {
        let mut indices = Vec::new();
        let empty = self.peek(1) == TokenKind::RightBrace;
        let (mut elements, span) = self.bracketed(|parser| {
            let element = parser.expression()?;
            if parser.at(TokenKind::For) {
                indices = parser.for_indices()?;
            }
            Ok(element)
        });
        if empty {
            self.slip(
                "syntax-empty-array",
                span,
                "an array constructor is not empty",
                "an empty array is written `zeros(0)` or `fill(value, 0)`",
            );
        }
        if !indices.is_empty() && elements.len() > 1 {
            self.slip(
                "syntax-reduction",
                span,
                "an array constructor with `for` has one element expression",
                "",
            );
        }
        match elements.pop() {
            Some(body) if !indices.is_empty() => ExprKind::ArrayFor {
                body: Box::new(body),
                indices,
            },
            Some(last) => {
                elements.push(last);
                ExprKind::Array(elements)
            }
            None => ExprKind::Error,
        }
    }

    /// `[a, b; c, d]`, at `[`.
    fn matrix(&mut self) -> ExprKind {
        let open_span = self.span();
        self.bump();
        let mut rows = vec![Vec::new()];
        loop {
            match self.expression() {
                Ok(element) => {
                    if let Some(row) = rows.last_mut() {
                        row.push(element);
                    }
                }
                Err(Failed) => {
                    self.skip_in_brackets(TokenKind::LeftBracket);
                    if self.at(TokenKind::Semicolon) && !self.matrix_continues() {
                        return ExprKind::Matrix(rows);
                    }
                }
            }
            let separated = matches!(self.kind(), TokenKind::Comma | TokenKind::Semicolon);
            if !separated && self.close(TokenKind::LeftBracket, open_span) {
                return ExprKind::Matrix(rows);
            }
            if self.eat(TokenKind::Semicolon) {
                rows.push(Vec::new());
            } else {
                self.eat(TokenKind::Comma);
            }
        }
    }
}

/// The level that binds one step tighter.
fn next_level(level: Level) -> Level {
    match level {
        Level::Expression => Level::Range,
        Level::Range => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Not => Level::Relation,
        Level::Relation => Level::Additive,
        Level::Additive => Level::Multiplicative,
        Level::Multiplicative => Level::Power,
        Level::Power | Level::Primary => Level::Primary,
    }
}

fn unary_operator(kind: TokenKind) -> Option<UnOp> {
    Some(match kind {
        TokenKind::Plus => UnOp::Plus,
        TokenKind::Minus => UnOp::Minus,
        TokenKind::DotPlus => UnOp::PlusElem,
        TokenKind::DotMinus => UnOp::MinusElem,
        TokenKind::Not | TokenKind::Bang => UnOp::Not,
        _ => return None,
    })
}

fn binary_operator(kind: TokenKind) -> Option<BinOp> {
    Some(match kind {
        TokenKind::Or | TokenKind::OrOr => BinOp::Or,
        TokenKind::And | TokenKind::AndAnd => BinOp::And,
        TokenKind::Less => BinOp::Lt,
        TokenKind::LessEqual => BinOp::Le,
        TokenKind::Greater => BinOp::Gt,
        TokenKind::GreaterEqual => BinOp::Ge,
        TokenKind::EqualEqual => BinOp::Eq,
        TokenKind::NotEqual | TokenKind::BangEqual => BinOp::Ne,
        TokenKind::Plus => BinOp::Add,
        TokenKind::Minus => BinOp::Sub,
        TokenKind::DotPlus => BinOp::AddElem,
        TokenKind::DotMinus => BinOp::SubElem,
        TokenKind::Star => BinOp::Mul,
        TokenKind::Slash => BinOp::Div,
        TokenKind::DotStar => BinOp::MulElem,
        TokenKind::DotSlash => BinOp::DivElem,
        TokenKind::Caret => BinOp::Pow,
        TokenKind::DotCaret => BinOp::PowElem,
        _ => return None,
    })
}
