//! The tokens that are more than one symbol: blanks, words, numbers, strings, and what is none.

use super::{Lexer, TokenKind};
use acausal_base::diagnostic::Diagnostic;

impl Lexer<'_> {
    /// Moves behind white space and comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.position += 1,
                b'/' => match self.peek(1) {
                    b'/' => {
                        let rest = &self.bytes[self.position..];
                        let length = rest.iter().position(|&byte| byte == b'\n');
                        self.position += length.unwrap_or(rest.len());
                    }
                    b'*' => self.block_comment(),
                    _ => return,
                },
                // A no-break space comes along when text is copied from a web page.
                0xc2 if self.peek(1) == 0xa0 => self.position += 2,
                _ => return,
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.position;
        let body = &self.bytes[start + 2..];
        match body.windows(2).position(|pair| pair == b"*/") {
            Some(length) => self.position = start + 2 + length + 2,
            None => {
                self.position = self.bytes.len();
                self.diagnostics.push(
                    Diagnostic::error(
                        "syntax-unterminated-comment",
                        self.span(start, start + 2),
                        "this comment is not closed",
                    )
                    .hint("close it with `*/`"),
                );
            }
        }
    }

    pub(super) fn identifier(&mut self, start: usize) {
        while is_word(self.peek(0)) {
            self.position += 1;
        }
        if self.peek(0) >= 0x80 && self.next_is_letter() {
            return self.bad_identifier(start);
        }
        let kind = TokenKind::keyword(&self.text[start..self.position]);
        self.push(kind.unwrap_or(TokenKind::Ident), start);
    }

    /// True when the character at the position is a letter or digit of any script.
    fn next_is_letter(&self) -> bool {
        let next = self.text[self.position..].chars().next();
        next.is_some_and(char::is_alphanumeric)
    }

    /// Reads a whole word that begins with a digit or has letters beyond ASCII, as an identifier.
    fn bad_identifier(&mut self, start: usize) {
        while let Some(character) = self.text[self.position..].chars().next() {
            if !character.is_alphanumeric() && character != '_' {
                break;
            }
            self.position += character.len_utf8();
        }
        let word = &self.text[start..self.position];
        self.diagnostics.push(
            Diagnostic::error(
                "syntax-identifier",
                self.span(start, self.position),
                format!("`{word}` is not an identifier"),
            )
            .note(
                "identifiers have letters a-z, A-Z, digits and `_`, and do not begin with a digit",
            )
            .hint(format!("put it in single quotes: '{word}'")),
        );
        self.push(TokenKind::Ident, start);
    }

    fn digits(&mut self) -> bool {
        let start = self.position;
        while self.peek(0).is_ascii_digit() {
            self.position += 1;
        }
        self.position > start
    }

    pub(super) fn number(&mut self, start: usize) {
        let mut kind = TokenKind::Integer;
        self.digits();
        // `1.` is a number (A.1), so `1.*x` is `1. * x`: each token takes as much as it can.
        if self.peek(0) == b'.' {
            kind = TokenKind::Real;
            self.position += 1;
            self.digits();
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let mantissa_end = self.position;
            self.position += 1;
            if matches!(self.peek(0), b'+' | b'-') {
                self.position += 1;
            }
            if self.digits() {
                kind = TokenKind::Real;
            } else {
                self.position = mantissa_end;
                if !is_word(self.peek(1)) {
                    // `1e` or `1e+`: a number that breaks off.
                    self.position += 1;
                    self.diagnostics.push(Diagnostic::error(
                        "syntax-number",
                        self.span(start, self.position),
                        "the exponent of this number has no digits",
                    ));
                }
            }
        }
        let glued = is_word(self.peek(0)) || (self.peek(0) >= 0x80 && self.next_is_letter());
        if glued && kind == TokenKind::Integer {
            return self.bad_identifier(start);
        }
        self.push(kind, start);
    }

    pub(super) fn string(&mut self, start: usize) {
        self.position = start + 1;
        loop {
            let rest = &self.bytes[self.position..];
            let Some(length) = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\')) else {
                return self.unterminated_string(start);
            };
            self.position += length + 1;
            if rest[length] == b'"' {
                return self.push(TokenKind::Str, start);
            }
            self.escape();
        }
    }

    fn unterminated_string(&mut self, start: usize) {
        let line_end = self.bytes[start..].iter().position(|&byte| byte == b'\n');
        self.position = match line_end {
            Some(length) if !self.string_cut => start + length,
            _ => self.bytes.len(),
        };
        self.string_cut = true;
        self.diagnostics.push(
            Diagnostic::error(
                "syntax-unterminated-string",
                self.span(start, start + 1),
                "this string is not closed",
            )
            .hint("close it with `\"`; a quote inside of a string is written `\\\"`"),
        );
        self.push(TokenKind::Str, start);
    }

    /// Passes the character behind a backslash; reports escapes that do not exist (A.1, S-ESCAPE).
    fn escape(&mut self) {
        let Some(character) = self.text[self.position..].chars().next() else {
            return;
        };
        if !r#"'"?\abfnrtv"#.contains(character) {
            let end = self.position + character.len_utf8();
            self.diagnostics.push(
                Diagnostic::error(
                    "syntax-escape",
                    self.span(self.position - 1, end),
                    format!("unknown escape `\\{}`", character.escape_debug()),
                )
                .hint("a backslash itself is written `\\\\`"),
            );
        }
        self.position += character.len_utf8();
    }

    pub(super) fn quoted_identifier(&mut self, start: usize) {
        self.position = start + 1;
        loop {
            match self.peek(0) {
                b'\'' => {
                    self.position += 1;
                    return self.push(TokenKind::Ident, start);
                }
                b'\\' => {
                    self.position += 1;
                    self.escape();
                }
                b'\n' | b'\r' => break,
                _ if self.position >= self.bytes.len() => break,
                _ => self.position += 1,
            }
        }
        // Read it as the word behind the quote, so that the rest of the line keeps its meaning.
        self.position = start + 1;
        while is_word(self.peek(0)) {
            self.position += 1;
        }
        self.diagnostics.push(
            Diagnostic::error(
                "syntax-unterminated-identifier",
                self.span(start, start + 1),
                "this quoted identifier is not closed",
            )
            .hint("close it with `'`; strings are written with `\"`"),
        );
        self.push(TokenKind::Ident, start);
    }

    /// Reports a run of the same character that begins no token, and passes it.
    pub(super) fn unexpected(&mut self, start: usize) {
        let mut characters = self.text[start..].chars();
        let Some(character) = characters.next() else {
            return;
        };
        if character.is_alphabetic() {
            return self.bad_identifier(start);
        }
        let repeats = characters.take_while(|&next| next == character).count();
        self.position = start + (repeats + 1) * character.len_utf8();
        let hint = match character {
            '“' | '”' | '„' | '«' | '»' => {
                Some("strings are written with straight quotes `\"`")
            }
            '‘' | '’' | '`' => Some("quoted identifiers are written with straight quotes `'`"),
            '&' => Some("the logical operator is `and`"),
            '|' => Some("the logical operator is `or`"),
            '−' | '–' | '—' => Some("the minus sign is `-`"),
            '×' | '·' | '⋅' => Some("multiplication is `*`"),
            '≤' => Some("write `<=`"),
            '≥' => Some("write `>=`"),
            '≠' => Some("write `<>`"),
            '%' => Some("comments begin with `//`; the remainder is `mod(x, y)`"),
            '#' => Some("comments begin with `//`"),
            '\u{fffd}' => Some("the file seems not to be UTF-8"),
            _ => None,
        };
        let mut diagnostic = Diagnostic::error(
            "syntax-character",
            self.span(start, self.position),
            format!("unexpected character `{}`", character.escape_debug()),
        );
        diagnostic.hint = hint.map(str::to_string);
        self.diagnostics.push(diagnostic);
        // What the character stands for, so that the parser does not stumble over the same place.
        let meant = match character {
            '−' | '–' | '—' => TokenKind::Minus,
            '×' | '·' | '⋅' => TokenKind::Star,
            '≤' => TokenKind::LessEqual,
            '≥' => TokenKind::GreaterEqual,
            '≠' => TokenKind::NotEqual,
            '&' => TokenKind::And,
            '|' => TokenKind::Or,
            _ => return,
        };
        self.push(meant, start);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
