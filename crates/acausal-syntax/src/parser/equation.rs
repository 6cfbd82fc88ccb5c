//! Equations (MLS 3.6 A.2.6).

use super::block::BlockKind;
use super::recovery::Item;
use super::{Failed, Parser, Result};
use crate::ast::{
    Annotation, BinOp, ComponentRef, Equation, EquationKind, Expr, ExprKind, ForIndex,
};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;

impl Parser<'_> {
    /// The equations of a section, behind `equation`.
    pub(super) fn equation_section(
        &mut self,
        annotation: &mut Option<Box<Annotation>>,
    ) -> Vec<Equation> {
        let mut equations = Vec::new();
        while !self.at_section_end() {
            if self.at(TokenKind::Annotation) {
                self.class_annotation(annotation);
                continue;
            }
            self.push_equation(&mut equations);
        }
        equations
    }

    /// The equations of a block, up to `end`, `else`, `elseif` or `elsewhen`.
    fn equation_block(&mut self) -> Vec<Equation> {
        let mut equations = Vec::new();
        while !self.at_branch_end() {
            self.push_equation(&mut equations);
        }
        equations
    }

    /// True where the body of a branch ends.
    pub(super) fn at_branch_end(&self) -> bool {
        self.at_section_end()
            || matches!(
                self.kind(),
                TokenKind::Else | TokenKind::Elseif | TokenKind::Elsewhen
            )
    }

    fn push_equation(&mut self, equations: &mut Vec<Equation>) {
        if self.eat_stray_semicolon() {
            return;
        }
        let position = self.position;
        match self.nested(Self::equation) {
            Ok(equation) => {
                equations.push(equation);
                self.semicolon(Item::Equation);
            }
            Err(Failed) => self.skip_item(Item::Equation, position),
        }
    }

    /// some-equation, without its `;`.
    fn equation(&mut self) -> Result<Equation> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::If => self.if_equation(),
            TokenKind::For => self.for_equation(),
            TokenKind::When => self.when_equation(),
            TokenKind::Connect => {
                let (a, b) = self.connect()?;
                EquationKind::Connect(a, b)
            }
            _ => self.simple_equation()?,
        };
        let description = self.optional_description();
        Ok(Equation {
            kind,
            description,
            span: self.span_from(start),
        })
    }

    fn simple_equation(&mut self) -> Result<EquationKind> {
        if self.looks_like_declaration() {
            let hint = "declarations come before `equation`";
            return Err(self.unexpected_but("an equation", hint));
        }
        let left = self.simple_expression()?;
        match self.kind() {
            TokenKind::Equals => {
                self.bump();
                return Ok(EquationKind::Equal(left, self.expression()?));
            }
            TokenKind::Assign => {
                self.unexpected_but(
                    "`=`",
                    "equations use `=`; `:=` belongs in an `algorithm` section",
                );
                self.bump();
                return Ok(EquationKind::Equal(left, self.expression()?));
            }
            _ => {}
        }
        match left.kind {
            ExprKind::Call(call) => Ok(EquationKind::Call(call)),
            ExprKind::Binary(BinOp::Eq, left_side, right_side) => {
                self.slip(
                    "syntax-equality",
                    left.span,
                    "this compares, it is not an equation",
                    "equations are written with a single `=`",
                );
                Ok(EquationKind::Equal(*left_side, *right_side))
            }
            ExprKind::Ref(_) if self.at(TokenKind::Ident) && !self.on_new_line() => {
                Err(self.unexpected_but("`=`", "declarations come before `equation`"))
            }
            _ => Err(self.unexpected("`=`")),
        }
    }

    /// True at keywords that begin a declaration.
    fn looks_like_declaration(&self) -> bool {
        use TokenKind::*;
        let kind = self.kind();
        // `pure(f(x))` is an expression.
        (kind.starts_class() && !(kind == Pure && self.peek(1) == LeftParen))
            || matches!(
                kind,
                Parameter
                    | Constant
                    | Discrete
                    | Input
                    | Output
                    | Flow
                    | Stream
                    | Inner
                    | Outer
                    | Replaceable
                    | Redeclare
                    | Extends
                    | Import
            )
    }

    /// `connect(a, b)`, at `connect`.
    pub(super) fn connect(&mut self) -> Result<(ComponentRef, ComponentRef)> {
        let start = self.span();
        self.bump();
        if !self.at(TokenKind::LeftParen) {
            return Err(self.unexpected("`(`"));
        }
        let position = self.position;
        let (ends, span) = self.bracketed(|parser| parser.component_ref("the name of a connector"));
        match <[ComponentRef; 2]>::try_from(ends) {
            Ok([a, b]) => Ok((a, b)),
            Err(_) => {
                // A mistake inside of the parentheses has been reported already.
                if self.last_error.is_none_or(|error| error < position) {
                    self.report(Diagnostic::error(
                        "syntax-connect",
                        start.to(span),
                        "`connect` takes two connectors",
                    ));
                }
                Err(Failed)
            }
        }
    }

    fn if_equation(&mut self) -> EquationKind {
        let start = self.span();
        self.bump();
        self.open_block(BlockKind::If, start);
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.expression_before(TokenKind::Then);
            branches.push((condition, self.equation_block()));
            if !self.eat(TokenKind::Elseif) {
                break;
            }
        }
        if self.eat(TokenKind::Else) {
            otherwise = self.equation_block();
            self.refuse_branch();
        }
        self.close_block();
        EquationKind::If {
            branches,
            otherwise,
        }
    }

    /// Reports `else` or `elseif` behind `else`.
    pub(super) fn refuse_branch(&mut self) {
        if matches!(self.kind(), TokenKind::Else | TokenKind::Elseif) {
            self.report_here(Diagnostic::error(
                "syntax-else",
                self.span(),
                format!("{} cannot follow `else`", self.found()),
            ));
            while !self.at_block_end() && !self.at_section_end() {
                self.bump();
            }
        }
    }

    /// for-indices and `loop`, at `for`.
    pub(super) fn loop_head(&mut self) -> Vec<ForIndex> {
        let indices = self.for_indices().unwrap_or_default();
        if self.eat(TokenKind::Loop) {
            return indices;
        }
        self.unexpected("`loop`");
        while !matches!(self.kind(), TokenKind::Semicolon | TokenKind::Eof) && !self.on_new_line() {
            if self.eat(TokenKind::Loop) {
                break;
            }
            self.bump();
        }
        indices
    }

    fn for_equation(&mut self) -> EquationKind {
        let start = self.span();
        self.open_block(BlockKind::For, start);
        let indices = self.loop_head();
        let body = self.equation_block();
        self.close_block();
        EquationKind::For { indices, body }
    }

    fn when_equation(&mut self) -> EquationKind {
        let start = self.span();
        self.bump();
        self.open_block(BlockKind::When, start);
        let mut branches: Vec<(Expr, Vec<Equation>)> = Vec::new();
        loop {
            let condition = self.expression_before(TokenKind::Then);
            branches.push((condition, self.equation_block()));
            if !self.eat_elsewhen() {
                break;
            }
        }
        if self.eat_stray_else() {
            self.equation_block();
        }
        self.close_block();
        EquationKind::When { branches }
    }

    /// Takes `elsewhen`; `elseif` in its place is reported and taken, too.
    pub(super) fn eat_elsewhen(&mut self) -> bool {
        if self.at(TokenKind::Elseif) {
            self.unexpected("`elsewhen` or `end when`");
            self.bump();
            return true;
        }
        self.eat(TokenKind::Elsewhen)
    }

    /// Reports and takes an `else` in a `when`; its body cannot be kept.
    pub(super) fn eat_stray_else(&mut self) -> bool {
        if !self.at(TokenKind::Else) {
            return false;
        }
        let hint = "a `when` has no `else`; use `elsewhen`";
        self.unexpected_but("`elsewhen` or `end when`", hint);
        self.bump();
        true
    }
}
