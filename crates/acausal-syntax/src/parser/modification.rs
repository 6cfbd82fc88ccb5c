//! Modifications, redeclarations and annotations (MLS 3.6 A.2.5).

use std::sync::Arc;

use super::{Parser, Result};
use crate::ast::{
    Annotation, Argument, ArgumentKind, Binding, BindingValue, ElementKind, Modification, Prefixes,
};
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
            TokenKind::EqualEqual => {
                self.unexpected_but("`=`", "`==` compares; a binding is written `= value`");
            }
            _ => return Ok(None),
        }
        let assign = self.at(TokenKind::Assign);
        self.bump();
        let value = if self.eat(TokenKind::Break) {
            BindingValue::Break
        } else {
            BindingValue::Expr(Arc::new(self.expression()?))
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
        let mut each = self.eat(TokenKind::Each);
        let is_final = self.eat(TokenKind::Final);
        if is_final && self.at(TokenKind::Each) {
            let message = "`each` comes too late";
            self.slip("syntax-prefix", self.span(), message, "write `each final`");
            self.bump();
            each = true;
        }
        let replaceable = self.eat(TokenKind::Replaceable);
        let class = self.kind().starts_class();
        if class && !redeclare && !replaceable {
            self.unexpected_but("a modification", "a class is exchanged with `redeclare`");
        }
        let kind = if redeclare || replaceable || class {
            let prefixes = Prefixes {
                redeclare,
                replaceable,
                ..Prefixes::default()
            };
            self.redeclaration(prefixes)
        } else {
            self.element_modification()
        };
        Ok(Argument {
            each,
            is_final,
            kind: kind?,
            span: self.span_from(start),
        })
    }

    fn element_modification(&mut self) -> Result<ArgumentKind> {
        let name = self.path("the name of an element to modify", false)?;
        let modification = self.modification()?;
        Ok(ArgumentKind::Modify {
            name,
            modification,
            description: self.description_string(),
        })
    }

    /// The class or component behind `redeclare` or `replaceable`.
    fn redeclaration(&mut self, prefixes: Prefixes) -> Result<ArgumentKind> {
        let start = self.span();
        let kind = if self.kind().starts_class() {
            self.class_definition(true).map(ElementKind::Class)
        } else {
            // Counts as a class does, for its frames are as large.
            self.nested(|parser| parser.component_clause(true).map(ElementKind::Components))
        };
        let element = self.finish_element(start, prefixes, kind?)?;
        Ok(ArgumentKind::Redeclare(Box::new(element)))
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
