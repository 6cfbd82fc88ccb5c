//! The parser's view of the tokens: looking, taking, expecting, reporting.

use super::{Failed, MAX_DIAGNOSTICS, MAX_NESTING, Parser, Result};
use crate::ast::{Expr, ExprKind, Ident, Path};
use crate::lexer::{Token, TokenKind};
use acausal_base::diagnostic::Diagnostic;
use acausal_base::name::Name;
use acausal_base::span::Span;

impl<'text> Parser<'text> {
    pub(super) fn token(&self) -> Token {
        self.tokens[self.position]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    /// The kind of the token `ahead` of the current one; `Eof` behind the end.
    pub(super) fn peek(&self, ahead: usize) -> TokenKind {
        let token = self.tokens.get(self.position + ahead);
        token.map_or(TokenKind::Eof, |token| token.kind)
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Goes to the next token; stays at the end of the file.
    pub(super) fn bump(&mut self) {
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
    }

    /// Takes the current token if it is of this kind.
    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn token_span(&self, token: Token) -> Span {
        Span::new(self.file, token.start, token.end)
    }

    /// Place of the current token.
    pub(super) fn span(&self) -> Span {
        self.token_span(self.token())
    }

    /// Place of the token before the current one.
    pub(super) fn previous_span(&self) -> Span {
        match self.position.checked_sub(1) {
            Some(previous) => self.token_span(self.tokens[previous]),
            None => Span::new(self.file, 0, 0),
        }
    }

    /// From a place to the last token taken.
    pub(super) fn span_from(&self, start: Span) -> Span {
        let previous = self.previous_span();
        if previous.end < start.end {
            return start;
        }
        start.to(previous)
    }

    pub(super) fn token_text(&self, token: Token) -> &'text str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// True when there is a line end between the current token and the one before.
    pub(super) fn on_new_line(&self) -> bool {
        let gap = self.previous_span().end as usize..self.token().start as usize;
        self.text.get(gap).is_none_or(|gap| gap.contains('\n'))
    }

    /// Runs `parse` one level deeper, or reports that the limit is reached.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_NESTING {
            self.report_here(Diagnostic::error(
                "syntax-nesting",
                self.span(),
                format!("nested more than {MAX_NESTING} levels deep"),
            ));
            return Err(Failed);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Records a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        // Twice the limit, because what the lexer found is in the list already.
        if self.diagnostics.len() < 2 * MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.suppressed += 1;
        }
    }

    /// Records a diagnostic about the current token, unless one has been recorded there, or the
    /// lexer has left something out just before it.
    pub(super) fn report_here(&mut self, diagnostic: Diagnostic) {
        if self.last_error == Some(self.position) {
            return;
        }
        self.last_error = Some(self.position);
        let gap = self.previous_span().end..self.token().start;
        let next = self.left_out.partition_point(|&start| start < gap.start);
        if self
            .left_out
            .get(next)
            .is_none_or(|start| !gap.contains(start))
        {
            self.report(diagnostic);
        }
    }

    /// How messages name the current token.
    pub(super) fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            TokenKind::Eof | TokenKind::Str => token.kind.text().to_string(),
            kind if kind.is_fixed() => format!("`{}`", kind.text()),
            _ => format!("`{}`", self.token_text(token)),
        }
    }

    /// The message `expected ..., found ...` at the current token.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        Diagnostic::error(
            "syntax-expected",
            self.span(),
            format!("expected {what}, found {}", self.found()),
        )
    }

    /// Reports `expected ..., found ...`.
    pub(super) fn unexpected(&mut self, what: &str) -> Failed {
        let mut diagnostic = self.expected(what);
        diagnostic.hint = self.slip_hint().map(str::to_string);
        self.report_here(diagnostic);
        Failed
    }

    /// Reports `expected ..., found ...` with a hint.
    ///
    /// This and [`Parser::slip`] are functions of their own, so that the pieces of a message take no
    /// room in the stack frames of the recursive parse functions.
    #[cold]
    pub(super) fn unexpected_but(&mut self, what: &str, hint: &str) -> Failed {
        let diagnostic = self.expected(what).hint(hint);
        self.report_here(diagnostic);
        Failed
    }

    /// Reports a mistake at the current token, with a hint unless that is empty.
    #[cold]
    pub(super) fn slip(
        &mut self,
        code: &'static str,
        span: Span,
        message: &str,
        hint: &str,
    ) -> Failed {
        let mut diagnostic = Diagnostic::error(code, span, message);
        if !hint.is_empty() {
            diagnostic = diagnostic.hint(hint);
        }
        self.report_here(diagnostic);
        Failed
    }

    /// Advice for tokens that people bring from other languages.
    fn slip_hint(&self) -> Option<&'static str> {
        match self.kind() {
            TokenKind::BangEqual => Some("\"not equal\" is written `<>`"),
            TokenKind::Bang => Some("negation is written `not`"),
            TokenKind::AndAnd => Some("the logical operator is `and`"),
            TokenKind::OrOr => Some("the logical operator is `or`"),
            TokenKind::EqualEqual => Some("`==` compares; equations and bindings use `=`"),
            TokenKind::Assign => Some("`:=` assigns in algorithms; equations and bindings use `=`"),
            _ => None,
        }
    }

    /// Takes a token of this kind or reports that it is missing.
    pub(super) fn expect(&mut self, kind: TokenKind) -> Result<()> {
        if self.eat(kind) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", kind.text())))
    }

    /// An identifier. `what` says what it names, such as "a component name".
    ///
    /// A keyword in a place where only a name makes sense is reported and taken as the name.
    pub(super) fn ident(&mut self, what: &str) -> Result<Ident> {
        let token = self.token();
        let span = self.token_span(token);
        if token.kind == TokenKind::Ident {
            self.bump();
            return Ok(Ident::new(self.name_of(token), span));
        }
        if !token.kind.is_keyword() {
            return Err(self.unexpected(what));
        }
        let word = token.kind.text();
        self.report_here(
            Diagnostic::error(
                "syntax-keyword",
                span,
                format!("expected {what}, found the keyword `{word}`"),
            )
            .hint(format!("choose another name, or quote it: '{word}'")),
        );
        let name_follows = {
            use TokenKind::*;
            let next = self.peek(1);
            matches!(
                next,
                Semicolon
                    | Equals
                    | Assign
                    | LeftParen
                    | LeftBracket
                    | Comma
                    | Dot
                    | RightParen
                    | Str
            ) && !matches!(token.kind, End | Equation | Algorithm)
        };
        if !name_follows {
            return Err(Failed);
        }
        self.bump();
        Ok(Ident::new(Name::new(word), span))
    }

    pub(super) fn name_of(&mut self, token: Token) -> Name {
        let text = self.token_text(token);
        if text.starts_with('\'') && text.contains('\\') {
            // Redundant escapes do not make a different identifier (MLS 3.6 A.1).
            return Name::new(&text.replace("\\\"", "\"").replace("\\?", "?"));
        }
        self.names.get(text)
    }

    /// `A.B.C`, with an optional leading dot if `global` is allowed.
    pub(super) fn path(&mut self, what: &str, global: bool) -> Result<Path> {
        let start = self.span();
        let global = global && self.eat(TokenKind::Dot);
        let mut parts = vec![self.ident(what)?];
        while self.at(TokenKind::Dot) && self.peek(1) != TokenKind::LeftBrace {
            if self.peek(1) == TokenKind::Star {
                break;
            }
            self.bump();
            parts.push(self.ident("an identifier")?);
        }
        Ok(Path {
            global,
            parts,
            span: self.span_from(start),
        })
    }

    /// A placeholder for an expression at the current place.
    pub(super) fn error_expr(&self) -> Expr {
        Expr::new(ExprKind::Error, self.span())
    }
}
