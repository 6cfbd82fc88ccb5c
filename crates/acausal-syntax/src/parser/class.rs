//! Files and classes (MLS 3.6 A.2.1, A.2.2).

use std::sync::Arc;

use super::block::BlockKind;
use super::recovery::Item;
use super::{Failed, Parser, Result};
use crate::ast::{
    Annotation, Causality, ClassBody, ClassDef, ClassKind, Composition, Description, Element,
    EnumLiteral, External, ExternalCall, Ident, Purity, Section, SectionKind, ShortClass,
    StoredClass, StoredDefinition, Visibility, Within,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::name::Name;
use crate::span::Span;

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
                self.class_definition()
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

    /// class-definition, without its `;`.
    pub(super) fn class_definition(&mut self) -> Result<Arc<ClassDef>> {
        self.nested(Self::class_at_depth)
    }

    fn class_at_depth(&mut self) -> Result<Arc<ClassDef>> {
        let start = self.span();
        let encapsulated = self.eat(TokenKind::Encapsulated);
        let partial = self.eat(TokenKind::Partial);
        let kind = self.class_kind()?;
        let is_extends = self.eat(TokenKind::Extends);
        let name = self.class_name();
        let (body, description) = if !is_extends && self.eat(TokenKind::Equals) {
            let body = self.short_class()?;
            (body, self.description())
        } else {
            let modification = if is_extends {
                self.optional_class_modification()
            } else {
                Vec::new()
            };
            let text_start = self.span();
            let text = self.description_string();
            self.open_block(BlockKind::Class(name.name), name.span);
            let (composition, annotation) = self.composition();
            self.close_block();
            let place = match (&text, &annotation) {
                (Some(text), _) => text.span,
                (None, Some(annotation)) => annotation.span,
                (None, None) => text_start,
            };
            let description = Description {
                text,
                annotation,
                span: place,
            };
            let body = if is_extends {
                ClassBody::ClassExtends {
                    modification,
                    composition,
                }
            } else {
                ClassBody::Long(composition)
            };
            (body, description)
        };
        Ok(Arc::new(ClassDef {
            encapsulated,
            partial,
            kind,
            name,
            body,
            description,
            span: self.span_from(start),
        }))
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
            TokenKind::Input => Some(Causality::Input),
            TokenKind::Output => Some(Causality::Output),
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

    /// composition, up to `end`, and the annotation of the class.
    fn composition(&mut self) -> (Composition, Option<Annotation>) {
        let start = self.span();
        let mut sections = Vec::new();
        let mut external = None;
        let mut annotation = None;
        let elements = self.elements(&mut annotation);
        push_elements(&mut sections, Visibility::Public, elements, start, self);
        loop {
            use TokenKind::*;
            let place = self.span();
            match self.kind() {
                Public | Protected => {
                    let visibility = match self.kind() {
                        Public => Visibility::Public,
                        _ => Visibility::Protected,
                    };
                    self.bump();
                    let elements = self.elements(&mut annotation);
                    push_elements(&mut sections, visibility, elements, place, self);
                }
                Equation | Algorithm | Initial => {
                    let kind = self.behaviour_section(&mut annotation);
                    sections.push(Section {
                        kind,
                        span: self.span_from(place),
                    });
                }
                External => {
                    let clause = self.external();
                    self.semicolon(Item::Declaration);
                    if external.is_some() {
                        self.report(Diagnostic::error(
                            "syntax-external",
                            place,
                            "a class has one `external` clause",
                        ));
                    }
                    external = Some(clause);
                    // Elements may not follow, but the annotation of the class does.
                    let elements = self.elements(&mut annotation);
                    if let Some(element) = elements.first() {
                        self.report(Diagnostic::error(
                            "syntax-external",
                            element.span,
                            "declarations come before `external`",
                        ));
                    }
                }
                _ => break,
            }
        }
        let composition = Composition {
            sections,
            external,
            span: self.span_from(start),
        };
        (composition, annotation)
    }

    /// element-list; takes the annotation of the class where it meets it.
    fn elements(&mut self, annotation: &mut Option<Annotation>) -> Vec<Element> {
        let mut elements = Vec::new();
        while !self.at_section_end() {
            if self.at(TokenKind::Annotation) {
                self.class_annotation(annotation);
                continue;
            }
            let position = self.position;
            match self.element() {
                Ok(element) => {
                    elements.push(element);
                    self.semicolon(Item::Declaration);
                }
                Err(Failed) => self.skip_item(Item::Declaration, position),
            }
        }
        elements
    }

    /// The annotation of the class with its `;`.
    pub(super) fn class_annotation(&mut self, annotation: &mut Option<Annotation>) {
        let place = self.span();
        let found = self.annotation();
        self.semicolon(Item::Declaration);
        match annotation {
            None => *annotation = found,
            Some(first) => {
                let diagnostic = Diagnostic::error(
                    "syntax-annotation",
                    place,
                    "a class has one annotation, at its end",
                );
                let diagnostic = diagnostic.label(first.span, "the first one");
                self.report(diagnostic.hint("join the two"));
            }
        }
    }

    /// An equation or algorithm section, at its first keyword.
    fn behaviour_section(&mut self, annotation: &mut Option<Annotation>) -> SectionKind {
        let initial = self.eat(TokenKind::Initial);
        if self.eat(TokenKind::Equation) {
            SectionKind::Equations {
                initial,
                equations: self.equation_section(annotation),
            }
        } else {
            self.bump();
            SectionKind::Algorithm {
                initial,
                statements: self.algorithm_section(annotation),
            }
        }
    }

    /// `external "C" y = f(x) annotation(...)`, at `external`.
    fn external(&mut self) -> External {
        let start = self.span();
        self.bump();
        let language = self.description_string();
        let call = if matches!(self.kind(), TokenKind::Ident | TokenKind::Dot) {
            self.external_call().ok()
        } else {
            None
        };
        let annotation = self.annotation();
        External {
            language,
            call,
            annotation,
            span: self.span_from(start),
        }
    }

    fn external_call(&mut self) -> Result<ExternalCall> {
        let start = self.span();
        let first = self.component_ref("the name of an external function")?;
        let (output, function) = if self.eat(TokenKind::Equals) {
            let function = self.ident("the name of an external function")?;
            (Some(first), function)
        } else {
            match first.as_ident() {
                Some(function) => (None, function.clone()),
                None => return Err(self.unexpected("`=`")),
            }
        };
        let mut args = Vec::new();
        if self.at(TokenKind::LeftParen) {
            args = self.bracketed(Self::expression).0;
        } else {
            self.unexpected("`(`");
        }
        Ok(ExternalCall {
            output,
            function,
            args,
            span: self.span_from(start),
        })
    }
}

/// Adds a section of elements; an empty one says nothing and is left out.
fn push_elements(
    sections: &mut Vec<Section>,
    visibility: Visibility,
    elements: Vec<Element>,
    start: Span,
    parser: &Parser<'_>,
) {
    if !elements.is_empty() {
        sections.push(Section {
            kind: SectionKind::Elements {
                visibility,
                elements,
            },
            span: parser.span_from(start),
        });
    }
}
