//! Blocks that an `end` closes: the stack of open ones and what to do when `end` does not fit.

use super::Parser;
use crate::lexer::TokenKind;
use acausal_base::diagnostic::Diagnostic;
use acausal_base::name::Name;
use acausal_base::span::Span;

/// What an `end` closes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Class(Name),
    If,
    For,
    While,
    When,
}

/// An open block.
#[derive(Clone, Copy)]
pub(super) struct Block {
    kind: BlockKind,
    /// The keyword that opened it, or the name of the class.
    opened: Span,
    /// An `if` directly behind `else`.
    after_else: bool,
    /// Such an `if` was closed inside of this block: perhaps `elseif` was meant.
    has_else_if: bool,
}

impl BlockKind {
    fn text(self) -> String {
        match self {
            BlockKind::Class(name) => format!("end {name}"),
            BlockKind::If => "end if".to_string(),
            BlockKind::For => "end for".to_string(),
            BlockKind::While => "end while".to_string(),
            BlockKind::When => "end when".to_string(),
        }
    }
}

impl Parser<'_> {
    pub(super) fn open_block(&mut self, kind: BlockKind, opened: Span) {
        let after_else = kind == BlockKind::If
            && self.position > 1
            && self.tokens[self.position - 2].kind == TokenKind::Else;
        self.blocks.push(Block {
            kind,
            opened,
            after_else,
            has_else_if: false,
        });
    }

    /// Closes the innermost block: takes its `end ...`, or reports what stands there instead.
    pub(super) fn close_block(&mut self) {
        let Some(block) = self.blocks.pop() else {
            return;
        };
        if !self.at(TokenKind::End) {
            return self.missing_end(block);
        }
        let found = self.end_kind();
        if found == Some(block.kind) {
            self.bump();
            self.bump();
            if let Some(outer) = self.blocks.last_mut() {
                outer.has_else_if |= block.after_else;
            }
            return;
        }
        let outer = found.is_some_and(|found| self.blocks.iter().any(|open| open.kind == found));
        if outer {
            return self.missing_end(block);
        }
        // The name fits nothing that is open, so it is a slip.
        let end = self.span();
        self.bump();
        let named =
            !matches!(self.kind(), TokenKind::Semicolon | TokenKind::Eof) && !self.on_new_line();
        let place = if named { end.to(self.span()) } else { end };
        let wanted = block.kind.text();
        let message = if named {
            format!("expected `{wanted}`, found `end {}`", self.end_word())
        } else {
            format!("expected `{wanted}`, found `end` alone")
        };
        self.report_here(
            Diagnostic::error("syntax-end", place, message)
                .label(place, format!("write `{wanted}`"))
                .label(block.opened, "this is what ends here"),
        );
        if named {
            self.bump();
        }
    }

    /// What the `end` at the current token closes; `None` if it is followed by neither a name nor
    /// one of the four keywords.
    fn end_kind(&mut self) -> Option<BlockKind> {
        let next = *self.tokens.get(self.position + 1)?;
        match next.kind {
            TokenKind::If => Some(BlockKind::If),
            TokenKind::For => Some(BlockKind::For),
            TokenKind::While => Some(BlockKind::While),
            TokenKind::When => Some(BlockKind::When),
            TokenKind::Ident => Some(BlockKind::Class(self.name_of(next))),
            kind if kind.is_keyword() => Some(BlockKind::Class(Name::new(kind.text()))),
            _ => None,
        }
    }

    fn end_word(&self) -> &str {
        self.token_text(self.token())
    }

    fn missing_end(&mut self, block: Block) {
        let wanted = block.kind.text();
        let mut diagnostic = Diagnostic::error(
            "syntax-missing-end",
            self.span(),
            format!("expected `{wanted};`, found {}", self.found()),
        )
        .label(self.span(), format!("`{wanted};` is missing before this"))
        .label(block.opened, "this is not closed");
        if block.has_else_if || block.after_else {
            diagnostic = diagnostic.hint("`else if` opens a second block; write `elseif`");
        }
        self.report_here(diagnostic);
    }
}
