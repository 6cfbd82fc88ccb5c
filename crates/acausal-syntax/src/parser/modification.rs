//! Modifications, redeclarations and annotations (MLS 3.6 A.2.5).

use super::{Parser, Result};
use crate::ast::{
    Annotation, Argument, ArgumentKind, Binding, BindingValue, Element, ElementKind, Modification,
    Prefixes,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// annotation-clause, or nothing.
    pub(super) fn annotation(&mut self) -> Option<Annotation> {
        if !self.at(TokenKind::Annotation) {
            return None;
        }
        let start = self.span();
        self.bump();
        let mut arguments = Vec::new();
        if self.at(TokenKind::LeftParen) {
            arguments = self.class_modification();
        } else {
            self.unexpected("`(`");
        }
        Some(Annotation {
            arguments,
            span: self.span_from(start),
        })
    }

    /// class-modification, or nothing.
    pub(super) fn optional_class_modification(&mut self) -> Vec<Argument> {
        if self.at(TokenKind::LeftParen) {
            self.class_modification()
        } else {
            Vec::new()
        }
    }

    /// class-modification, at `(`. `break` arguments are taken too; only `extends` may have them.
    pub(super) fn class_modification(&mut self) -> Vec<Argument> {
        self.bracketed(|parser| parser.nested(Self::argument)).0
    }

    /// modification, or nothing.
    pub(super) fn modification(&mut self) -> Result<Option<Modification>> {
        let start = self.span();
        use TokenKind::*;
        let arguments = match self.kind() {
            LeftParen => self.class_modification(),
            Equals | Assign | EqualEqual => Vec::new(),
            _ => return Ok(None),
        };
        self.refuse_break(&arguments);
        let binding = self.binding()?;
        Ok(Some(Modification {
            arguments,
            binding,
            span: self.span_from(start),
        }))
    }

    fn binding(&mut self) -> Result<Option<Binding>> {
        let start = self.span();
        match self.kind() {
            TokenKind::Equals | TokenKind::Assign => {}
            TokenKind::EqualEqual => self.report_here(
                Diagnostic::error("syntax-expected", start, "expected `=`, found `==`")
                    .hint("`==` compares; a binding is written `= value`"),
            ),
            _ => return Ok(None),
        }
        let assign = self.at(TokenKind::Assign);
        self.bump();
        let value = if self.eat(TokenKind::Break) {
            BindingValue::Break
        } else {
            BindingValue::Expr(self.expression()?)
        };
        Ok(Some(Binding {
            assign,
            value,
            span: self.span_from(start),
        }))
    }

    fn argument(&mut self) -> Result<Argument> {
        let start = self.span();
        if self.at(TokenKind::Break) {
            return self.break_argument();
        }
        let redeclare = self.eat(TokenKind::Redeclare);
        let each = self.eat(TokenKind::Each);
        let is_final = self.eat(TokenKind::Final);
        let replaceable = self.eat(TokenKind::Replaceable);
        let class = self.kind().starts_class();
        if class && !redeclare && !replaceable {
            let diagnostic = self.expected("a modification");
            self.report_here(diagnostic.hint("a class is exchanged with `redeclare`"));
        }
        let kind = if redeclare || replaceable || class {
            let prefixes = Prefixes {
                redeclare,
                replaceable,
                ..Prefixes::default()
            };
            ArgumentKind::Redeclare(Box::new(self.redeclaration(prefixes)?))
        } else {
            let name = self.path("the name of an element to modify", false)?;
            ArgumentKind::Modify {
                name,
                modification: self.modification()?,
                description: self.description_string(),
            }
        };
        Ok(Argument {
            each,
            is_final,
            kind,
            span: self.span_from(start),
        })
    }

    /// The class or component behind `redeclare` or `replaceable`.
    fn redeclaration(&mut self, prefixes: Prefixes) -> Result<Element> {
        let start = self.span();
        let kind = if self.kind().starts_class() {
            let class = self.class_definition()?;
            if class.composition().is_some() {
                self.report(
                    Diagnostic::error(
                        "syntax-redeclare",
                        class.name.span,
                        "a class in a modification has the short form",
                    )
                    .hint("define the class before and write `redeclare model A = B`"),
                );
            }
            ElementKind::Class(class)
        } else {
            ElementKind::Components(self.component_clause(true)?)
        };
        let constraining = self.constraining_clause(prefixes.replaceable)?;
        Ok(Element {
            kind,
            prefixes,
            constraining,
            span: self.span_from(start),
        })
    }

    /// inheritance-modification, at `break`.
    fn break_argument(&mut self) -> Result<Argument> {
        let start = self.span();
        self.bump();
        let kind = if self.at(TokenKind::Connect) {
            let (a, b) = self.connect()?;
            ArgumentKind::BreakConnect(a, b)
        } else {
            ArgumentKind::BreakComponent(self.ident("the name of a component to leave out")?)
        };
        Ok(Argument {
            each: false,
            is_final: false,
            kind,
            span: self.span_from(start),
        })
    }
}
