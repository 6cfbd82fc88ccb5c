//! The kinds of token (MLS 3.6 §2.3 to §2.5) and the table of keywords.

/// A token: its kind and its bytes `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

macro_rules! tokens {
    (
        other { $($other:ident $description:literal,)* }
        symbols { $($symbol:ident $symbol_text:literal,)* }
        keywords { $($keyword:ident $keyword_text:literal,)* }
    ) => {
        /// The kind of a token; the variants are named after what is written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum TokenKind {
            $($other,)*
            $($symbol,)*
            $($keyword,)*
        }

        impl TokenKind {
            /// The text of a symbol or keyword, or a description of the others.
            pub fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$other => $description,)*
                    $(TokenKind::$symbol => $symbol_text,)*
                    $(TokenKind::$keyword => $keyword_text,)*
                }
            }

            /// True for reserved words.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$keyword)|*)
            }

            /// True for tokens whose text says all: symbols and keywords.
            pub fn is_fixed(self) -> bool {
                !matches!(self, $(TokenKind::$other)|*)
            }

            /// The keyword with this text.
            pub fn keyword(text: &str) -> Option<TokenKind> {
                // All keywords are lower case and have 2 to 13 letters; many identifiers of
                // libraries fall out here.
                if !(2..=13).contains(&text.len()) || !text.as_bytes()[0].is_ascii_lowercase() {
                    return None;
                }
                match text {
                    $($keyword_text => Some(TokenKind::$keyword),)*
                    _ => None,
                }
            }

            /// All keywords.
            pub const KEYWORDS: &'static [TokenKind] = &[$(TokenKind::$keyword,)*];
        }
    };
}

tokens! {
    other {
        Ident "an identifier",
        Integer "an integer",
        Real "a number",
        Str "a string",
        Eof "end of file",
    }
    symbols {
        LeftParen "(",
        RightParen ")",
        LeftBracket "[",
        RightBracket "]",
        LeftBrace "{",
        RightBrace "}",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Dot ".",
        Equals "=",
        Assign ":=",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Caret "^",
        DotPlus ".+",
        DotMinus ".-",
        DotStar ".*",
        DotSlash "./",
        DotCaret ".^",
        Less "<",
        LessEqual "<=",
        Greater ">",
        GreaterEqual ">=",
        EqualEqual "==",
        NotEqual "<>",
        // Not Modelica; known so that the message can name the Modelica form.
        BangEqual "!=",
        Bang "!",
        AndAnd "&&",
        OrOr "||",
    }
    keywords {
        Algorithm "algorithm",
        And "and",
        Annotation "annotation",
        Block "block",
        Break "break",
        Class "class",
        Connect "connect",
        Connector "connector",
        Constant "constant",
        Constrainedby "constrainedby",
        Der "der",
        Discrete "discrete",
        Each "each",
        Else "else",
        Elseif "elseif",
        Elsewhen "elsewhen",
        Encapsulated "encapsulated",
        End "end",
        Enumeration "enumeration",
        Equation "equation",
        Expandable "expandable",
        Extends "extends",
        External "external",
        False "false",
        Final "final",
        Flow "flow",
        For "for",
        Function "function",
        If "if",
        Import "import",
        Impure "impure",
        In "in",
        Initial "initial",
        Inner "inner",
        Input "input",
        Loop "loop",
        Model "model",
        Not "not",
        Operator "operator",
        Or "or",
        Outer "outer",
        Output "output",
        Package "package",
        Parameter "parameter",
        Partial "partial",
        Protected "protected",
        Public "public",
        Pure "pure",
        Record "record",
        Redeclare "redeclare",
        Replaceable "replaceable",
        Return "return",
        Stream "stream",
        Then "then",
        True "true",
        Type "type",
        When "when",
        While "while",
        Within "within",
    }
}

impl TokenKind {
    /// True for tokens that can begin a class definition.
    pub fn starts_class(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Encapsulated
                | Partial
                | Class
                | Model
                | Record
                | Block
                | Connector
                | Expandable
                | Type
                | Package
                | Function
                | Pure
                | Impure
                | Operator
        )
    }

    /// The closing bracket for an opening one.
    pub fn closer(self) -> Option<TokenKind> {
        match self {
            TokenKind::LeftParen => Some(TokenKind::RightParen),
            TokenKind::LeftBracket => Some(TokenKind::RightBracket),
            TokenKind::LeftBrace => Some(TokenKind::RightBrace),
            _ => None,
        }
    }

    /// True for `)`, `]` and `}`.
    pub fn is_closer(self) -> bool {
        matches!(
            self,
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace
        )
    }
}
