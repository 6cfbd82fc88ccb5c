//! Elements of a class: imports, base classes and components (MLS 3.6 A.2.2 to A.2.4).

use super::{Failed, Parser, Result};
use crate::ast::{
    Argument, ArgumentKind, CausalityPrefix, Component, ComponentClause, ConstrainingClause,
    Element, ElementKind, Extends, FlowPrefix, Import, ImportKind, Prefixes, TypePrefix,
    VariabilityPrefix,
};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;
use acausal_base::span::Span;

impl Parser<'_> {
    /// An element that is not a class, behind its prefixes, without its `;`.
    pub(super) fn element(&mut self, start: Span, prefixes: Prefixes) -> Result<Element> {
        let kind = match self.kind() {
            TokenKind::Import => self.import().map(|i| ElementKind::Import(Box::new(i))),
            TokenKind::Extends => self.extends().map(|e| ElementKind::Extends(Box::new(e))),
            _ => self.component_clause(false).map(ElementKind::Components),
        };
        self.finish_element(start, prefixes, kind?)
    }

    /// Adds the constraining clause.
    pub(super) fn finish_element(
        &mut self,
        start: Span,
        prefixes: Prefixes,
        kind: ElementKind,
    ) -> Result<Element> {
        if matches!(kind, ElementKind::Import(_) | ElementKind::Extends(_))
            && prefixes != Prefixes::default()
        {
            let message = "`import` and `extends` have no prefixes";
            self.slip("syntax-prefix", start, message, "remove the prefix");
        }
        let constraining = self.constraining_clause(prefixes.replaceable)?;
        Ok(Element {
            kind,
            prefixes,
            constraining: constraining.map(Box::new),
            span: self.span_from(start),
        })
    }

    /// `redeclare final inner outer replaceable`, each optional, in this order.
    pub(super) fn prefixes(&mut self) -> Prefixes {
        let mut prefixes = Prefixes::default();
        let mut last = 0;
        loop {
            let (flag, rank) = match self.kind() {
                TokenKind::Redeclare => (&mut prefixes.redeclare, 1),
                TokenKind::Final => (&mut prefixes.is_final, 2),
                TokenKind::Inner => (&mut prefixes.inner, 3),
                TokenKind::Outer => (&mut prefixes.outer, 4),
                TokenKind::Replaceable => (&mut prefixes.replaceable, 5),
                _ => return prefixes,
            };
            *flag = true;
            self.prefix_order(&mut last, rank);
            self.bump();
        }
    }

    /// Reports a prefix that comes twice or after one that it should precede.
    fn prefix_order(&mut self, last: &mut u8, rank: u8) {
        if rank <= *last {
            let found = self.found();
            let message = if rank == *last {
                format!("{found} excludes the prefix before it")
            } else {
                format!("{found} comes too late")
            };
            self.report_here(
                Diagnostic::error("syntax-prefix", self.span(), message).note(
                    "the order is: redeclare final inner outer replaceable, \
                     flow|stream, discrete|parameter|constant, input|output",
                ),
            );
        }
        *last = rank.max(*last);
    }

    fn import(&mut self) -> Result<Import> {
        let start = self.span();
        self.bump();
        let alias = if self.peek(1) == TokenKind::Equals {
            let alias = self.ident("a name for the import")?;
            self.bump();
            Some(alias)
        } else {
            None
        };
        let path = self.path("the name of a package or class", false)?;
        let kind = if self.eat(TokenKind::DotStar) {
            ImportKind::All
        } else if self.at(TokenKind::Dot) && self.peek(1) == TokenKind::Star {
            self.bump();
            self.bump();
            ImportKind::All
        } else if self.at(TokenKind::Dot) {
            self.bump();
            let (names, span) = self.bracketed(|parser| parser.ident("a name to import"));
            if names.is_empty() {
                self.report_here(Diagnostic::error(
                    "syntax-expected",
                    span,
                    "expected names to import between the braces",
                ));
                return Err(Failed);
            }
            ImportKind::List(names)
        } else {
            ImportKind::Qualified
        };
        let kind = match (alias, kind) {
            (None, kind) => kind,
            (Some(alias), ImportKind::Qualified) => ImportKind::Renamed(alias),
            (Some(alias), kind) => {
                self.report(
                    Diagnostic::error(
                        "syntax-import",
                        alias.span,
                        "an import of several names cannot be renamed",
                    )
                    .hint("leave out the name and `=`"),
                );
                kind
            }
        };
        let description = self.description();
        Ok(Import {
            path,
            kind,
            description,
            span: self.span_from(start),
        })
    }

    fn extends(&mut self) -> Result<Extends> {
        let start = self.span();
        self.bump();
        let base = self.path("the name of a base class", true)?;
        let modification = self.optional_class_modification();
        let annotation = self.annotation();
        Ok(Extends {
            base,
            modification,
            annotation,
            span: self.span_from(start),
        })
    }

    /// constraining-clause, or nothing.
    pub(super) fn constraining_clause(
        &mut self,
        replaceable: bool,
    ) -> Result<Option<ConstrainingClause>> {
        if !self.at(TokenKind::Constrainedby) {
            return Ok(None);
        }
        let start = self.span();
        if !replaceable {
            self.slip(
                "syntax-constrainedby",
                start,
                "`constrainedby` needs a replaceable element",
                "write `replaceable` before the element",
            );
        }
        self.bump();
        let base = self.path("the name of the constraining type", true)?;
        let modification = self.optional_class_modification();
        self.refuse_break(&modification);
        let description = self.description();
        Ok(Some(ConstrainingClause {
            base,
            modification,
            description,
            span: self.span_from(start),
        }))
    }

    /// Reports `break a` in a modification that is not that of an `extends` clause.
    pub(super) fn refuse_break(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if matches!(
                argument.kind,
                ArgumentKind::BreakComponent(_) | ArgumentKind::BreakConnect(..)
            ) {
                self.report(Diagnostic::error(
                    "syntax-break",
                    argument.span,
                    "only an `extends` clause can leave out inherited elements",
                ));
            }
        }
    }

    /// component-clause, or with `single` the form with one component in a modification.
    pub(super) fn component_clause(&mut self, single: bool) -> Result<ComponentClause> {
        let start = self.span();
        let prefix = self.type_prefix();
        let type_name = self.path("a declaration", true)?;
        let subscripts = self.subscripts();
        // Most clauses declare one component, and a large model has many of them.
        let mut components = Vec::with_capacity(1);
        loop {
            components.push(self.component(single)?);
            if single || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        Ok(ComponentClause {
            prefix,
            type_name,
            subscripts,
            components,
            span: self.span_from(start),
        })
    }

    fn type_prefix(&mut self) -> TypePrefix {
        let mut prefix = TypePrefix::default();
        let mut last = 0;
        loop {
            let rank = match self.kind() {
                TokenKind::Flow | TokenKind::Stream => 1,
                TokenKind::Discrete | TokenKind::Parameter | TokenKind::Constant => 2,
                TokenKind::Input | TokenKind::Output => 3,
                _ => return prefix,
            };
            self.prefix_order(&mut last, rank);
            match self.kind() {
                TokenKind::Flow => prefix.flow = Some(FlowPrefix::Flow),
                TokenKind::Stream => prefix.flow = Some(FlowPrefix::Stream),
                TokenKind::Discrete => prefix.variability = Some(VariabilityPrefix::Discrete),
                TokenKind::Parameter => prefix.variability = Some(VariabilityPrefix::Parameter),
                TokenKind::Constant => prefix.variability = Some(VariabilityPrefix::Constant),
                TokenKind::Input => prefix.causality = Some(CausalityPrefix::Input),
                _ => prefix.causality = Some(CausalityPrefix::Output),
            }
            self.bump();
        }
    }

    fn component(&mut self, single: bool) -> Result<Component> {
        let start = self.span();
        if matches!(
            self.kind(),
            TokenKind::Equals | TokenKind::Assign | TokenKind::LeftParen
        ) {
            let hint = "equations stand behind `equation`, statements behind `algorithm`";
            return Err(self.unexpected_but("the name of a component", hint));
        }
        let name = self.ident("the name of a component")?;
        let subscripts = self.subscripts();
        let modification = self.modification()?;
        let condition = if !single && self.eat(TokenKind::If) {
            Some(self.expression()?)
        } else {
            None
        };
        let description = self.optional_description();
        Ok(Component {
            name,
            subscripts,
            modification,
            condition: condition.map(Box::new),
            description,
            span: self.span_from(start),
        })
    }
}
