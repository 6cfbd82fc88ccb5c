//! The body of a class in long form: sections, the `external` clause, the annotation (MLS 3.6 A.2.2).

use std::sync::Arc;

use super::recovery::Item;
use super::{Failed, Parser, Result};
use crate::ast::{
    Annotation, ClassDef, Composition, Element, ElementKind, External, ExternalCall, Prefixes,
    Section, SectionKind, Visibility,
};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;
use acausal_base::span::Span;

impl Parser<'_> {
    /// composition, up to `end`; the annotation of the class is put where it belongs.
    pub(super) fn composition(&mut self, annotation: &mut Option<Box<Annotation>>) -> Composition {
        let start = self.span();
        let mut sections = Vec::new();
        let mut external = None;
        self.element_section(Visibility::Public, start, &mut sections, annotation);
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
                    self.element_section(visibility, place, &mut sections, annotation);
                }
                Equation | Algorithm | Initial => {
                    let kind = self.behaviour_section(annotation);
                    let span = self.span_from(place);
                    sections.push(Section { kind, span });
                }
                External => {
                    self.external(&mut external);
                    // The annotation of the class may follow, elements may not.
                    let before = sections.len();
                    let place = self.span();
                    self.element_section(Visibility::Public, place, &mut sections, annotation);
                    if sections.len() > before {
                        let message = "declarations come before `external`";
                        self.slip("syntax-external", place, message, "");
                    }
                }
                _ => break,
            }
        }
        Composition {
            sections,
            external,
            span: self.span_from(start),
        }
    }

    /// Reads elements and adds them as a section; an empty one says nothing and is left out.
    fn element_section(
        &mut self,
        visibility: Visibility,
        start: Span,
        sections: &mut Vec<Section>,
        annotation: &mut Option<Box<Annotation>>,
    ) {
        let elements = self.elements(annotation);
        if !elements.is_empty() {
            sections.push(Section {
                kind: SectionKind::Elements {
                    visibility,
                    elements,
                },
                span: self.span_from(start),
            });
        }
    }

    /// element-list; takes the annotation of the class where it meets it.
    fn elements(&mut self, annotation: &mut Option<Box<Annotation>>) -> Vec<Element> {
        let mut elements = Vec::new();
        while !self.at_section_end() {
            if self.at(TokenKind::Annotation) {
                self.class_annotation(annotation);
                continue;
            }
            if self.eat_stray_semicolon() {
                continue;
            }
            let position = self.position;
            match self.push_element(&mut elements) {
                Ok(()) => self.semicolon(Item::Declaration),
                Err(Failed) => self.skip_item(Item::Declaration, position),
            }
        }
        elements.shrink_to_fit();
        elements
    }

    fn push_element(&mut self, elements: &mut Vec<Element>) -> Result<()> {
        let start = self.span();
        let prefixes = self.prefixes();
        if self.kind().starts_class() {
            // On its own, because classes nest: this frame is small.
            let class = self.class_definition(false)?;
            return self.finish_class(elements, start, prefixes, class);
        }
        elements.push(self.element(start, prefixes)?);
        Ok(())
    }

    fn finish_class(
        &mut self,
        elements: &mut Vec<Element>,
        start: Span,
        prefixes: Prefixes,
        class: Arc<ClassDef>,
    ) -> Result<()> {
        let kind = ElementKind::Class(class);
        elements.push(self.finish_element(start, prefixes, kind)?);
        Ok(())
    }

    /// The annotation of the class with its `;`.
    pub(super) fn class_annotation(&mut self, annotation: &mut Option<Box<Annotation>>) {
        let place = self.span();
        let found = self.annotation();
        self.semicolon(Item::Declaration);
        match annotation {
            None => *annotation = found.map(Box::new),
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
    fn behaviour_section(&mut self, annotation: &mut Option<Box<Annotation>>) -> SectionKind {
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

    /// `external "C" y = f(x) annotation(...);`, at `external`.
    fn external(&mut self, clause: &mut Option<External>) {
        let start = self.span();
        if clause.is_some() {
            let message = "a class has one `external` clause";
            self.slip("syntax-external", start, message, "");
        }
        self.bump();
        let language = self.description_string();
        let call = if matches!(self.kind(), TokenKind::Ident | TokenKind::Dot) {
            self.external_call().ok()
        } else {
            None
        };
        let annotation = self.annotation();
        *clause = Some(External {
            language,
            call,
            annotation,
            span: self.span_from(start),
        });
        self.semicolon(Item::Declaration);
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
