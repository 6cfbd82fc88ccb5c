//! Skipping after a mistake, lists in brackets, and `;`; the module doc of [`super`] has the strategy.

use super::{Parser, Result};
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;
use acausal_base::span::Span;

/// How many tokens behind a broken row of a matrix its `]` is looked for; the bound keeps the time
/// linear.
const MATRIX_SEARCH: usize = 256;

/// What a list of items in a class consists of; says where a new item may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Declaration,
    Equation,
    Statement,
}

impl Item {
    fn text(self) -> &'static str {
        match self {
            Item::Declaration => "declaration",
            Item::Equation => "equation",
            Item::Statement => "statement",
        }
    }
}

impl Parser<'_> {
    /// A list in brackets, `open` being the current token: items separated by `,`.
    ///
    /// An item that fails is left out. The result is the list and the place from `open` to its
    /// closing bracket.
    pub(super) fn bracketed<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> (Vec<T>, Span) {
        let open = self.token();
        let open_span = self.token_span(open);
        let closer = open.kind.closer().unwrap_or(TokenKind::RightParen);
        self.bump();
        let mut items = Vec::with_capacity(1);
        if self.eat(closer) {
            return (items, self.span_from(open_span));
        }
        loop {
            match item(self) {
                Ok(item) => items.push(item),
                Err(_) => self.skip_in_brackets(open.kind),
            }
            if self.eat(TokenKind::Comma) {
                continue;
            }
            if self.close(open.kind, open_span) || !self.eat(TokenKind::Comma) {
                // Lists of modifiers are most of the tree of a network that is written out.
                items.shrink_to_fit();
                return (items, self.span_from(open_span));
            }
        }
    }

    /// Takes the bracket that closes `open`. If something else stands there, that is reported, and
    /// tokens are skipped up to a `,` of this list (result false), or to the end of the list.
    pub(super) fn close(&mut self, open: TokenKind, open_span: Span) -> bool {
        let closer = open.closer().unwrap_or(TokenKind::RightParen);
        if self.eat(closer) {
            return true;
        }
        let diagnostic = self.expected(&format!("`,` or `{}`", closer.text()));
        let unclosed = self.ends_brackets()
            || self.kind().is_closer()
            || (open != TokenKind::LeftParen && self.at(TokenKind::Equals));
        let diagnostic = if unclosed {
            diagnostic
                .label(open_span, format!("this `{}` is not closed", open.text()))
                .hint(format!("add the missing `{}`", closer.text()))
        } else {
            diagnostic
                .label(open_span, "in the list that begins here")
                .hint("an operator, `=` or `,` may be missing before this")
        };
        self.report_here(diagnostic);
        self.skip_in_brackets(open);
        if self.at(TokenKind::Comma) || (open == TokenKind::LeftBracket && self.matrix_continues())
        {
            return false;
        }
        self.eat(closer);
        true
    }

    /// True at a `;` behind which a further row of a matrix and its `]` follow, as far as one can see.
    pub(super) fn matrix_continues(&self) -> bool {
        use TokenKind::*;
        let mut depth = 0usize;
        self.at(Semicolon)
            && (1..MATRIX_SEARCH)
                .map(|ahead| self.peek(ahead))
                .find_map(|kind| match kind {
                    RightBracket if depth == 0 => Some(true),
                    LeftBracket => {
                        depth += 1;
                        None
                    }
                    RightBracket => {
                        depth -= 1;
                        None
                    }
                    Equals | Assign | Eof | Equation | Algorithm | Connect => Some(false),
                    _ => None,
                })
                .unwrap_or(false)
    }

    /// Skips to a `,` or the closing bracket of the list opened by `open`, or to a token that shows
    /// that the bracket was never closed.
    pub(super) fn skip_in_brackets(&mut self, open: TokenKind) {
        // Closing brackets still to come; bounded by the number of tokens skipped.
        let mut inner: Vec<TokenKind> = Vec::new();
        let closer = open.closer();
        loop {
            let kind = self.kind();
            let in_matrix = inner.last().copied().or(closer) == Some(TokenKind::RightBracket);
            if self.ends_brackets() && !(kind == TokenKind::Semicolon && in_matrix) {
                return;
            }
            if inner.is_empty() {
                let row_end = kind == TokenKind::Semicolon && in_matrix;
                if kind == TokenKind::Comma || row_end || Some(kind) == closer {
                    return;
                }
                if kind.is_closer() {
                    // It closes an outer bracket: ours was forgotten.
                    return;
                }
            }
            if let Some(closer) = kind.closer() {
                inner.push(closer);
            } else if kind.is_closer() {
                // Forgotten inner brackets are closed along with the outer one.
                while inner.pop().is_some_and(|expected| expected != kind) {}
            }
            self.bump();
        }
    }

    /// True at tokens that cannot stand between brackets.
    fn ends_brackets(&self) -> bool {
        use TokenKind::*;
        match self.kind() {
            Semicolon | Eof | Then | Loop | Equation | Algorithm | Public | Protected | Within
            | Import | Assign => true,
            End => self.at_block_end(),
            _ => false,
        }
    }

    /// True at an `end` that closes a block, not at one in a subscript.
    pub(super) fn at_block_end(&self) -> bool {
        use TokenKind::*;
        self.at(End)
            && matches!(
                self.peek(1),
                Ident | If | For | When | While | Semicolon | Eof
            )
    }

    /// True where a list of items of a class ends: at `end`, a new section, or the end of the file.
    pub(super) fn at_section_end(&self) -> bool {
        use TokenKind::*;
        match self.kind() {
            Eof | End | Public | Protected | Equation | Algorithm | External => true,
            Initial => matches!(self.peek(1), Equation | Algorithm),
            _ => false,
        }
    }

    /// Skips a broken item: behind its `;`, or before something that begins afresh.
    pub(super) fn skip_item(&mut self, item: Item, start: usize) {
        let mut brackets = 0usize;
        loop {
            use TokenKind::*;
            let kind = self.kind();
            if kind == Eof || (kind != End && self.at_section_end()) || self.at_block_end() {
                break;
            }
            match kind {
                LeftBracket => brackets += 1,
                RightBracket => brackets = brackets.saturating_sub(1),
                Semicolon if brackets == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            let moved = self.position > start;
            if moved && self.on_new_line() && self.starts_item(item) {
                break;
            }
            self.bump();
        }
        if self.position == start && !self.at_section_end() {
            // Nothing skipped and nothing that ends the list: take one token, so that it ends.
            self.bump();
        }
    }

    /// True at keywords that begin an item of this kind and nothing else.
    fn starts_item(&self, item: Item) -> bool {
        use TokenKind::*;
        let kind = self.kind();
        match item {
            Item::Declaration => {
                kind.starts_class()
                    || matches!(
                        kind,
                        Import
                            | Extends
                            | Redeclare
                            | Replaceable
                            | Final
                            | Inner
                            | Outer
                            | Flow
                            | Stream
                            | Parameter
                            | Constant
                            | Discrete
                            | Input
                            | Output
                            | Annotation
                    )
            }
            Item::Equation => matches!(
                kind,
                For | When | Connect | Else | Elseif | Elsewhen | Annotation
            ),
            Item::Statement => {
                matches!(
                    kind,
                    For | While | When | Return | Break | Else | Elseif | Elsewhen | Annotation
                )
            }
        }
    }

    /// The `;` behind an item. One that is missing before a line end is reported and taken as there;
    /// otherwise the rest of the item is skipped.
    pub(super) fn semicolon(&mut self, item: Item) {
        if self.eat(TokenKind::Semicolon) {
            return;
        }
        let behind = self.previous_span().after();
        let message = format!(
            "expected `;` after this {}, found {}",
            item.text(),
            self.found()
        );
        let insert = self.on_new_line() || self.at_section_end() || self.at(TokenKind::Else);
        if insert {
            self.report_here(
                Diagnostic::error("syntax-semicolon", behind, message)
                    .label(behind, "add `;` here"),
            );
            return;
        }
        let span = self.span();
        let mut diagnostic = Diagnostic::error("syntax-expected", span, message);
        diagnostic.hint = self.item_hint(item);
        self.report_here(diagnostic);
        self.skip_item(item, self.position);
    }

    /// Reports and takes a `;` where an item should begin.
    pub(super) fn eat_stray_semicolon(&mut self) -> bool {
        if !self.at(TokenKind::Semicolon) {
            return false;
        }
        self.report_here(
            Diagnostic::error(
                "syntax-stray-semicolon",
                self.span(),
                "this `;` ends nothing",
            )
            .hint("remove it"),
        );
        self.bump();
        true
    }

    fn item_hint(&self, item: Item) -> Option<String> {
        use TokenKind::*;
        let hint = match (item, self.kind()) {
            (_, Str) => "a description comes once, just before `annotation` or `;`",
            (_, RightParen | RightBracket | RightBrace) => "this bracket was not opened",
            (Item::Declaration, Colon | EqualEqual) => "a binding is written `= value`",
            (Item::Declaration, Ident) => "several components are separated by `,`",
            (Item::Equation | Item::Statement, Ident) => "an operator may be missing here",
            _ => return None,
        };
        Some(hint.to_string())
    }
}
