//! Text to tokens (MLS 3.6 §2.1 to §2.5, A.1).
//!
//! One pass over the bytes, no lookback, one token per step; white space and comments vanish. Written
//! by hand: half of a library is documentation strings and comments, which a tight loop over bytes
//! passes at about a gigabyte per second, and every slip gets its own message.
//!
//! The lexer never fails. What is not Modelica is reported and left out, or read as what was probably
//! meant: `1x` and `größe` as identifiers, a string without end as one that ends with its line.
//! The last token is always [`TokenKind::Eof`].

mod scan;
mod token;

pub use token::{Token, TokenKind};

use acausal_base::diagnostic::Diagnostic;
use acausal_base::span::{FileId, Span};

/// The tokens of a text, and what is wrong with it.
///
/// A byte order mark at the start is skipped. Texts are at most
/// [`MAX_FILE_BYTES`](acausal_base::span::SourceMap::MAX_FILE_BYTES) long.
pub fn lex(file: FileId, text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        position: 0,
        // Libraries have one token for about seven bytes; growing once is cheap.
        tokens: Vec::with_capacity(text.len() / 8 + 16),
        diagnostics: Vec::new(),
        string_cut: false,
    };
    if text.starts_with('\u{feff}') {
        lexer.position = '\u{feff}'.len_utf8();
    }
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'text> {
    file: FileId,
    text: &'text str,
    bytes: &'text [u8],
    position: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    /// A string without end was cut at its line; done once, so that the work stays linear.
    string_cut: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        use TokenKind::*;
        loop {
            self.skip_blanks();
            let start = self.position;
            let Some(&byte) = self.bytes.get(start) else {
                self.push(Eof, start);
                return;
            };
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.identifier(start),
                b'0'..=b'9' => self.number(start),
                b'"' => self.string(start),
                b'\'' => self.quoted_identifier(start),
                b'(' => self.symbol(LeftParen, 1),
                b')' => self.symbol(RightParen, 1),
                b'[' => self.symbol(LeftBracket, 1),
                b']' => self.symbol(RightBracket, 1),
                b'{' => self.symbol(LeftBrace, 1),
                b'}' => self.symbol(RightBrace, 1),
                b',' => self.symbol(Comma, 1),
                b';' => self.symbol(Semicolon, 1),
                b'+' => self.symbol(Plus, 1),
                b'-' => self.symbol(Minus, 1),
                b'*' => self.symbol(Star, 1),
                b'/' => self.symbol(Slash, 1),
                b'^' => self.symbol(Caret, 1),
                b':' => self.either(b'=', Assign, Colon),
                b'=' => self.either(b'=', EqualEqual, Equals),
                b'>' => self.either(b'=', GreaterEqual, Greater),
                b'!' => self.either(b'=', BangEqual, Bang),
                b'<' => match self.peek(1) {
                    b'=' => self.symbol(LessEqual, 2),
                    b'>' => self.symbol(NotEqual, 2),
                    _ => self.symbol(Less, 1),
                },
                b'.' => match self.peek(1) {
                    b'0'..=b'9' => self.number(start),
                    b'+' => self.symbol(DotPlus, 2),
                    b'-' => self.symbol(DotMinus, 2),
                    b'*' => self.symbol(DotStar, 2),
                    b'/' => self.symbol(DotSlash, 2),
                    b'^' => self.symbol(DotCaret, 2),
                    _ => self.symbol(Dot, 1),
                },
                b'&' if self.peek(1) == b'&' => self.symbol(AndAnd, 2),
                b'|' if self.peek(1) == b'|' => self.symbol(OrOr, 2),
                _ => self.unexpected(start),
            }
        }
    }

    /// The byte `ahead` of the position, zero behind the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token {
            kind,
            start: start as u32,
            end: self.position as u32,
        });
    }

    fn symbol(&mut self, kind: TokenKind, length: usize) {
        let start = self.position;
        self.position += length;
        self.push(kind, start);
    }

    fn either(&mut self, second: u8, long: TokenKind, short: TokenKind) {
        if self.peek(1) == second {
            self.symbol(long, 2);
        } else {
            self.symbol(short, 1);
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let (tokens, diagnostics) = lex(FileId(0), text);
        assert_eq!(diagnostics, [], "{text}");
        tokens.into_iter().map(|token| token.kind).collect()
    }

    fn codes(text: &str) -> Vec<&'static str> {
        let (tokens, diagnostics) = lex(FileId(0), text);
        assert_eq!(tokens.last().unwrap().kind, TokenKind::Eof);
        diagnostics.iter().map(|d| d.code).collect()
    }

    #[test]
    fn longest_match() {
        use TokenKind::*;
        assert_eq!(
            kinds("a.*b 1.*2 .5 1e-3 <> <= := == a.b"),
            [
                Ident, DotStar, Ident, Real, Star, Integer, Real, Real, NotEqual, LessEqual,
                Assign, EqualEqual, Ident, Dot, Ident, Eof
            ]
        );
    }

    #[test]
    fn every_keyword_is_found_and_only_as_a_whole_word() {
        for &keyword in TokenKind::KEYWORDS {
            assert_eq!(kinds(keyword.text()), [keyword, TokenKind::Eof]);
            let longer = format!("{}_", keyword.text());
            assert_eq!(kinds(&longer), [TokenKind::Ident, TokenKind::Eof]);
        }
        assert_eq!(TokenKind::KEYWORDS.len(), 59);
    }

    #[test]
    fn comments_do_not_nest() {
        use TokenKind::*;
        assert_eq!(kinds("/* a /* b */ c // d\n /**/ e"), [Ident, Ident, Eof]);
        assert_eq!(kinds("\u{feff}x // no line end"), [Ident, Eof]);
    }

    #[test]
    fn slips_are_reported_and_passed_over() {
        assert_eq!(codes("x = /* open"), ["syntax-unterminated-comment"]);
        assert_eq!(codes("\"open\n x"), ["syntax-unterminated-string"]);
        assert_eq!(codes("'open\n x"), ["syntax-unterminated-identifier"]);
        assert_eq!(codes("1x + größe"), ["syntax-identifier"; 2]);
        assert_eq!(codes("1e + 2"), ["syntax-number"]);
        assert_eq!(codes("\"a\\d\""), ["syntax-escape"]);
        assert_eq!(codes("a $$ b # “c”"), ["syntax-character"; 4]);
        assert_eq!(codes("'π α' + \"漢字\" // ü"), [""; 0]);
    }
}
