//! What operators combine: literals, references, calls, and all that stands in brackets
//! (MLS 3.6 A.2.7, `primary`).

use super::{Failed, Parser, Result};
use crate::ast::{
    Call, Callee, ComponentRef, Expr, ExprKind, ForIndex, NamedArg, PartialApplication, RefPart,
};
use crate::lexer::TokenKind;
use acausal_base::span::Span;

impl Parser<'_> {
    /// primary.
    pub(super) fn primary(&mut self) -> Result<Expr> {
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
                subscripts: subscripts.into(),
                span: self.span_from(part_start),
            });
            if !self.eat(TokenKind::Dot) {
                break;
            }
        }
        parts.shrink_to_fit();
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
