//! Expressions (MLS 3.6 A.2.7), by precedence climbing.
//!
//! [`Parser::operand`] reads everything that binds at least as strongly as a given level. The
//! operators of one associative level are collected in a loop, so that `a + b + ...` is one flat
//! [`ExprKind::Chain`] however long it is.

use super::{Failed, Parser, Result};
use crate::ast::{BinOp, Expr, ExprKind, Precedence, UnOp};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;
use acausal_base::span::Span;

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
        let first = self.operand(Precedence::Or);
        if first.is_err() || !self.at(TokenKind::Colon) {
            return first;
        }
        self.range_from(Box::new(first?))
    }

    /// The rest of a range, at the first `:`.
    fn range_from(&mut self, start: Box<Expr>) -> Result<Expr> {
        self.bump();
        let mut stop = self.boxed_operand(Precedence::Or)?;
        let mut step = None;
        if self.eat(TokenKind::Colon) {
            step = Some(stop);
            stop = self.boxed_operand(Precedence::Or)?;
        }
        let place = self.span_from(start.span);
        Ok(Expr::new(ExprKind::Range { start, step, stop }, place))
    }

    /// Everything that binds at least as strongly as `weakest`.
    ///
    /// What follows the first operand is read by functions of their own, because this frame is on
    /// the stack once for every parenthesis that is open.
    fn operand(&mut self, weakest: Precedence) -> Result<Expr> {
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
    fn boxed_operand(&mut self, weakest: Precedence) -> Result<Box<Expr>> {
        self.nested(|parser| parser.operand(weakest).map(Box::new))
    }

    /// The rest of an operation whose first operand was read, at its first operator.
    fn operation_from(&mut self, left: Box<Expr>, first: BinOp, start: Span) -> Result<Expr> {
        let level = first.level();
        let tighter = next_level(level);
        let kind = if matches!(level, Precedence::Relation | Precedence::Power) {
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
    fn refuse_chain(&mut self, level: Precedence) -> Result<bool> {
        let next = match binary_operator(self.kind()) {
            Some(next) if next.level() == level => next,
            _ => return Ok(false),
        };
        let hint = match level {
            Precedence::Power => "write `(a^b)^c` or `a^(b^c)`",
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

    fn unary(&mut self, operator: UnOp, weakest: Precedence) -> Result<Expr> {
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
}

/// The level that binds one step tighter.
fn next_level(level: Precedence) -> Precedence {
    match level {
        Precedence::Expression => Precedence::Range,
        Precedence::Range => Precedence::Or,
        Precedence::Or => Precedence::And,
        Precedence::And => Precedence::Not,
        Precedence::Not => Precedence::Relation,
        Precedence::Relation => Precedence::Additive,
        Precedence::Additive => Precedence::Multiplicative,
        Precedence::Multiplicative => Precedence::Power,
        Precedence::Power | Precedence::Primary => Precedence::Primary,
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
