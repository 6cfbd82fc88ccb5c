//! Statements of algorithms (MLS 3.6 A.2.6).

use super::block::BlockKind;
use super::recovery::Item;
use super::{Failed, Parser, Result};
use crate::ast::{Annotation, ComponentRef, Expr, ExprKind, Statement, StatementKind};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;

impl Parser<'_> {
    /// The statements of a section, behind `algorithm`.
    pub(super) fn algorithm_section(
        &mut self,
        annotation: &mut Option<Box<Annotation>>,
    ) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.at_section_end() {
            if self.at(TokenKind::Annotation) {
                self.class_annotation(annotation);
                continue;
            }
            self.push_statement(&mut statements);
        }
        statements
    }

    /// The statements of a block, up to `end`, `else`, `elseif` or `elsewhen`.
    fn statement_block(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.at_branch_end() {
            self.push_statement(&mut statements);
        }
        statements
    }

    fn push_statement(&mut self, statements: &mut Vec<Statement>) {
        if self.eat_stray_semicolon() {
            return;
        }
        let position = self.position;
        match self.nested(Self::statement) {
            Ok(statement) => {
                statements.push(statement);
                self.semicolon(Item::Statement);
            }
            Err(Failed) => self.skip_item(Item::Statement, position),
        }
    }

    /// statement, without its `;`.
    fn statement(&mut self) -> Result<Statement> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::If => self.if_statement(),
            TokenKind::For => {
                self.open_block(BlockKind::For, start);
                let indices = self.loop_head();
                let body = self.statement_block();
                self.close_block();
                StatementKind::For { indices, body }
            }
            TokenKind::While => {
                self.bump();
                self.open_block(BlockKind::While, start);
                let condition = self.expression_before(TokenKind::Loop);
                let body = self.statement_block();
                self.close_block();
                StatementKind::While { condition, body }
            }
            TokenKind::When => self.when_statement(),
            TokenKind::Break => {
                self.bump();
                StatementKind::Break
            }
            TokenKind::Return => {
                self.bump();
                if !matches!(
                    self.kind(),
                    TokenKind::Semicolon | TokenKind::Str | TokenKind::Annotation
                ) && !self.on_new_line()
                {
                    let hint = "`return` takes no value; assign the outputs before it";
                    return Err(self.unexpected_but("`;`", hint));
                }
                StatementKind::Return
            }
            TokenKind::Connect => {
                let hint = "`connect` belongs in an `equation` section";
                return Err(self.unexpected_but("a statement", hint));
            }
            _ => self.assignment_or_call()?,
        };
        let description = self.optional_description();
        Ok(Statement {
            kind,
            description,
            span: self.span_from(start),
        })
    }

    fn assignment_or_call(&mut self) -> Result<StatementKind> {
        let left = self.simple_expression()?;
        match self.kind() {
            TokenKind::Assign => {}
            TokenKind::Equals => {
                self.unexpected_but(
                    "`:=`",
                    "statements assign with `:=`; `=` belongs in an `equation` section",
                );
            }
            _ => {
                return match left.kind {
                    ExprKind::Call(call) => Ok(StatementKind::Call(*call)),
                    ExprKind::Ref(_) if self.at(TokenKind::Ident) && !self.on_new_line() => {
                        Err(self.unexpected_but("`:=`", "declarations come before `algorithm`"))
                    }
                    _ => Err(self.unexpected("`:=`")),
                };
            }
        }
        self.bump();
        let value = self.expression()?;
        match left.kind {
            ExprKind::Ref(target) => Ok(StatementKind::Assign { target, value }),
            ExprKind::Tuple(items) => {
                let targets = self.targets(items)?;
                match value.kind {
                    ExprKind::Call(call) => Ok(StatementKind::AssignCall {
                        targets,
                        call: *call,
                    }),
                    _ => {
                        let message = "several variables are assigned by a function call only";
                        Err(self.slip("syntax-assignment", value.span, message, ""))
                    }
                }
            }
            _ => {
                self.refuse_target(&left);
                Err(Failed)
            }
        }
    }

    fn targets(&mut self, items: Vec<Option<Expr>>) -> Result<Vec<Option<ComponentRef>>> {
        let mut targets = Vec::with_capacity(items.len());
        for item in items {
            match item {
                None => targets.push(None),
                Some(Expr {
                    kind: ExprKind::Ref(target),
                    ..
                }) => targets.push(Some(target)),
                Some(other) => {
                    self.refuse_target(&other);
                    return Err(Failed);
                }
            }
        }
        Ok(targets)
    }

    fn refuse_target(&mut self, target: &Expr) {
        if target.kind != ExprKind::Error {
            self.report(
                Diagnostic::error(
                    "syntax-assignment",
                    target.span,
                    "only a variable can stand on the left of `:=`",
                )
                .hint("equations with expressions on both sides belong in an `equation` section"),
            );
        }
    }

    fn if_statement(&mut self) -> StatementKind {
        let start = self.span();
        self.bump();
        self.open_block(BlockKind::If, start);
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.expression_before(TokenKind::Then);
            branches.push((condition, self.statement_block()));
            if !self.eat(TokenKind::Elseif) {
                break;
            }
        }
        if self.eat(TokenKind::Else) {
            otherwise = self.statement_block();
            self.refuse_branch();
        }
        self.close_block();
        StatementKind::If {
            branches,
            otherwise,
        }
    }

    fn when_statement(&mut self) -> StatementKind {
        let start = self.span();
        self.bump();
        self.open_block(BlockKind::When, start);
        let mut branches = Vec::new();
        loop {
            let condition = self.expression_before(TokenKind::Then);
            branches.push((condition, self.statement_block()));
            if !self.eat_elsewhen() {
                break;
            }
        }
        if self.eat_stray_else() {
            self.statement_block();
        }
        self.close_block();
        StatementKind::When { branches }
    }
}
