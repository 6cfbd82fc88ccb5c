//! Files and classes (MLS 3.6 A.2.1, A.2.2).

use std::sync::Arc;

use super::block::BlockKind;
use super::{Failed, Parser, Result};
use crate::ast::{
    CausalityPrefix, ClassBody, ClassDef, ClassKind, Description, EnumLiteral, Ident, Purity,
    ShortClass, StoredClass, StoredDefinition, Within,
};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;
use acausal_base::name::Name;
use acausal_base::span::Span;

impl Parser<'_> {
    /// stored-definition.
    pub(super) fn stored_definition(&mut self) -> StoredDefinition {
        let start = self.span();
        let mut within = None;
        let mut classes = Vec::new();
        while !self.at(TokenKind::Eof) {
            let position = self.position;
            if self.at(TokenKind::Within) {
                let clause = self.within();
                if within.is_some() || !classes.is_empty() {
                    self.report(Diagnostic::error(
                        "syntax-within",
                        clause.span,
                        "`within` stands once, at the start of the file",
                    ));
                } else {
                    within = Some(clause);
                }
                continue;
            }
            let class_start = self.span();
            let is_final = self.eat(TokenKind::Final);
            let class = if self.kind().starts_class() {
                self.class_definition(false)
            } else {
                let diagnostic = self.expected("a class definition");
                self.report_here(diagnostic.hint(
                    "a file contains classes: `model A ... end A;`, `package P ... end P;`, ...",
                ));
                Err(Failed)
            };
            match class {
                Ok(class) => {
                    classes.push(StoredClass {
                        is_final,
                        class,
                        span: self.span_from(class_start),
                    });
                    self.class_semicolon();
                }
                Err(Failed) => self.skip_to_class(position),
            }
        }
        StoredDefinition {
            within,
            classes,
            span: self.span_from(start),
        }
    }

    fn within(&mut self) -> Within {
        let start = self.span();
        self.bump();
        let mut name = None;
        if !self.at(TokenKind::Semicolon) {
            name = self.path("the name of the enclosing package", false).ok();
        }
        let span = self.span_from(start);
        if !self.eat(TokenKind::Semicolon) {
            self.unexpected("`;` after the `within` clause");
        }
        Within { name, span }
    }

    /// The `;` behind a class of the file.
    fn class_semicolon(&mut self) {
        if self.eat(TokenKind::Semicolon) {
            return;
        }
        let behind = self.previous_span().after();
        let message = format!("expected `;` after this class, found {}", self.found());
        let diagnostic = Diagnostic::error("syntax-semicolon", behind, message);
        self.report_here(diagnostic.label(behind, "add `;` here"));
    }

    /// Skips to the next token at the start of a line that begins a class of the file.
    fn skip_to_class(&mut self, start: usize) {
        while !self.at(TokenKind::Eof) {
            let begins = self.kind().starts_class() || self.at(TokenKind::Within);
            let fresh = self.position > start && self.on_new_line();
            if begins && (fresh || self.last_error != Some(self.position)) {
                return;
            }
            self.bump();
        }
    }

    /// class-definition, without its `;`. In a modification only the short forms are allowed.
    pub(super) fn class_definition(&mut self, short_only: bool) -> Result<Arc<ClassDef>> {
        self.nested(|parser| parser.class_at_depth(short_only))
    }

    fn class_at_depth(&mut self, short_only: bool) -> Result<Arc<ClassDef>> {
        let head = self.class_head()?;
        if !head.extends && self.eat(TokenKind::Equals) {
            return self.short_definition(head);
        }
        if short_only {
            let hint = "a class is exchanged by `redeclare model A = B`";
            return Err(self.unexpected_but("`=` and the name of a class", hint));
        }
        self.long_definition(head)
    }

    /// Everything up to the name of the class.
    fn class_head(&mut self) -> Result<Head> {
        let start = self.span();
        let encapsulated = self.eat(TokenKind::Encapsulated);
        let partial = self.eat(TokenKind::Partial);
        let kind = self.class_kind()?;
        let extends = self.eat(TokenKind::Extends);
        let name = self.class_name();
        Ok(Head {
            start,
            encapsulated,
            partial,
            kind,
            extends,
            name,
        })
    }

    fn short_definition(&mut self, head: Head) -> Result<Arc<ClassDef>> {
        let body = self.short_class()?;
        let description = self.description();
        Ok(self.class_def(head, body, description))
    }

    fn long_definition(&mut self, head: Head) -> Result<Arc<ClassDef>> {
        let modification = if head.extends {
            self.optional_class_modification()
        } else {
            Vec::new()
        };
        let mut description = Description::none(self.previous_span().after());
        description.text = self.description_string();
        self.open_block(BlockKind::Class(head.name.name), head.name.span);
        let composition = self.composition(&mut description.annotation);
        self.close_block();
        if let Some(text) = &description.text {
            description.span = text.span;
        } else if let Some(annotation) = &description.annotation {
            description.span = annotation.span;
        }
        let body = if head.extends {
            ClassBody::ClassExtends {
                modification,
                composition,
            }
        } else {
            ClassBody::Long(composition)
        };
        Ok(self.class_def(head, body, description))
    }

    fn class_def(&self, head: Head, body: ClassBody, description: Description) -> Arc<ClassDef> {
        Arc::new(ClassDef {
            encapsulated: head.encapsulated,
            partial: head.partial,
            kind: head.kind,
            name: head.name,
            body,
            description,
            span: self.span_from(head.start),
        })
    }

    /// class-prefixes behind `partial`.
    fn class_kind(&mut self) -> Result<ClassKind> {
        use TokenKind::*;
        let purity = match self.kind() {
            Pure => Some(Purity::Pure),
            Impure => Some(Purity::Impure),
            _ => None,
        };
        if purity.is_some() {
            self.bump();
        }
        let operator = self.eat(Operator);
        let expandable = self.eat(Expandable);
        let kind = match self.kind() {
            Function => ClassKind::Function { purity, operator },
            Record => ClassKind::Record { operator },
            Connector => ClassKind::Connector { expandable },
            Class => ClassKind::Class,
            Model => ClassKind::Model,
            Block => ClassKind::Block,
            Type => ClassKind::Type,
            Package => ClassKind::Package,
            _ if operator => {
                if expandable || purity.is_some() {
                    self.unexpected("`function`");
                }
                return Ok(ClassKind::Operator);
            }
            _ => return Err(self.unexpected("`model`, `package`, `function` or another class")),
        };
        let fits = match kind {
            ClassKind::Function { .. } => !expandable,
            ClassKind::Record { .. } => !expandable && purity.is_none(),
            ClassKind::Connector { .. } => !operator && purity.is_none(),
            _ => !operator && !expandable && purity.is_none(),
        };
        if !fits {
            self.report_here(Diagnostic::error(
                "syntax-prefix",
                self.previous_span(),
                format!("this prefix does not go with `{}`", kind.keyword()),
            ));
        }
        self.bump();
        Ok(kind)
    }

    /// The name of a class. A missing one is reported, and the class is read all the same.
    fn class_name(&mut self) -> Ident {
        if self.kind().is_keyword() && !self.at_section_end() && !self.on_new_line() {
            let span = self.span();
            let word = self.kind().text();
            self.report_here(
                Diagnostic::error(
                    "syntax-keyword",
                    span,
                    format!("the name of a class is expected here, and `{word}` is a keyword"),
                )
                .hint(format!("choose another name, or quote it: '{word}'")),
            );
            self.bump();
            return Ident::new(Name::new(word), span);
        }
        match self.ident("the name of the class") {
            Ok(name) => name,
            Err(Failed) => Ident::new(Name::new("?"), self.previous_span().after()),
        }
    }

    /// What follows `=` in the short forms, without the description.
    fn short_class(&mut self) -> Result<ClassBody> {
        let start = self.span();
        if self.at(TokenKind::Enumeration) {
            return self.enumeration();
        }
        if self.eat(TokenKind::Der) {
            self.expect(TokenKind::LeftParen)?;
            let function = self.path("the name of a function", true)?;
            let mut variables = Vec::new();
            while self.eat(TokenKind::Comma) {
                variables.push(self.ident("the name of an input")?);
            }
            if variables.is_empty() {
                self.unexpected("`,` and an input to differentiate by");
            }
            self.expect(TokenKind::RightParen)?;
            return Ok(ClassBody::Der {
                function,
                variables,
            });
        }
        let causality = match self.kind() {
            TokenKind::Input => Some(CausalityPrefix::Input),
            TokenKind::Output => Some(CausalityPrefix::Output),
            _ => None,
        };
        if causality.is_some() {
            self.bump();
        }
        let base = self.path("the name of a class", true)?;
        let subscripts = self.subscripts();
        let modification = self.optional_class_modification();
        self.refuse_break(&modification);
        Ok(ClassBody::Short(ShortClass {
            causality,
            base,
            subscripts,
            modification,
            span: self.span_from(start),
        }))
    }

    fn enumeration(&mut self) -> Result<ClassBody> {
        self.bump();
        if !self.at(TokenKind::LeftParen) {
            return Err(self.unexpected("`(`"));
        }
        if self.peek(1) == TokenKind::Colon {
            self.bump();
            self.bump();
            self.expect(TokenKind::RightParen)?;
            return Ok(ClassBody::Enumeration(None));
        }
        let (literals, _) = self.bracketed(|parser| {
            let name = parser.ident("the name of an enumeration literal")?;
            let start = name.span;
            let description = parser.description();
            Ok(EnumLiteral {
                name,
                description,
                span: parser.span_from(start),
            })
        });
        Ok(ClassBody::Enumeration(Some(literals)))
    }
}

/// What stands before the body of a class.
struct Head {
    start: Span,
    encapsulated: bool,
    partial: bool,
    kind: ClassKind,
    /// `extends` before the name.
    extends: bool,
    name: Ident,
}
