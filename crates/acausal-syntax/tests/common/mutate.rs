//! Deterministic mutation of valid sources: delete, double, swap, insert and replace tokens and bytes.
//!
//! For every mutant: parse, print, parse what was printed, render every message. Nothing may panic; a mutant without errors must survive the round trip; spans must lie
//! inside of the text. A run is determined by its seed.

use acausal_base::SourceMap;
use acausal_syntax::lexer::lex;
use acausal_syntax::printer::print;
use acausal_syntax::{parse, parse_file};

/// Marsaglia's xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; zero for a bound of zero.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            0
        } else {
            (self.next() >> 33) as usize % bound
        }
    }
}

/// Pieces that matter to the grammar, for insertion.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    "=",
    ":=",
    "+",
    "-",
    "*",
    "/",
    "^",
    ".*",
    ".^",
    "<",
    "<>",
    "==",
    "!=",
    "&&",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\\",
    "\n",
    "end",
    "end if",
    "end for",
    "if",
    "then",
    "else",
    "elseif",
    "when",
    "elsewhen",
    "for",
    "loop",
    "while",
    "model",
    "class",
    "package",
    "function",
    "operator",
    "partial",
    "extends",
    "import",
    "equation",
    "algorithm",
    "initial",
    "public",
    "protected",
    "external",
    "annotation",
    "redeclare",
    "replaceable",
    "each",
    "final",
    "constrainedby",
    "within",
    "der",
    "connect",
    "break",
    "return",
    "enumeration",
    "input",
    "parameter",
    "flow",
    "not",
    "and",
    "or",
    "true",
    "x",
    "1",
    "1e",
    "1.5",
    "end x",
    "ü",
    "\u{feff}",
    "\u{0}",
    "漢",
];

/// A mutant of `source` with one to eight changes.
pub fn mutant(source: &str, random: &mut Random) -> String {
    let mut text = source.to_string();
    for _ in 0..=random.below(8) {
        change(&mut text, random);
    }
    text
}

/// One change.
pub fn change(text: &mut String, random: &mut Random) {
    if random.below(4) == 0 {
        return change_encoding(text, random);
    }
    let (tokens, _) = lex(acausal_base::FileId(0), text);
    let pick = |random: &mut Random| {
        let token = tokens[random.below(tokens.len())];
        token.start as usize..token.end as usize
    };
    let one = pick(random);
    match random.below(5) {
        0 => text.replace_range(one, ""),
        1 => {
            let copy = format!(" {} ", &text[one.clone()]);
            text.insert_str(one.end, &copy);
        }
        2 => {
            let piece = format!(" {} ", PIECES[random.below(PIECES.len())]);
            text.insert_str(one.start, &piece);
        }
        3 => text.replace_range(one, PIECES[random.below(PIECES.len())]),
        _ => {
            // Copy one token over another.
            let copy = text[pick(random)].to_string();
            text.replace_range(one, &copy);
        }
    }
}

/// One change of bytes, of any kind of file.
pub fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let place = random.below(bytes.len());
    match random.below(4) {
        0 => drop(bytes.remove(place)),
        1 => bytes.insert(place, random.next() as u8),
        2 => bytes[place] = random.next() as u8,
        // A piece is lost.
        _ => drop(bytes.drain(place..(place + random.below(200)).min(bytes.len()))),
    }
}

fn change_encoding(text: &mut String, random: &mut Random) {
    let mut bytes = std::mem::take(text).into_bytes();
    change_bytes(&mut bytes, random);
    let mut sources = SourceMap::new();
    let (file, _) = sources.add_bytes("mutant.mo", bytes);
    *text = sources
        .get(file)
        .map(|source| source.text.to_string())
        .unwrap_or_default();
}

/// Checks one text; gives what is wrong. The caller catches panics.
pub fn check(text: &str) -> Result<(), String> {
    let mut sources = SourceMap::new();
    let file = sources.add_file("mutant.mo", text);
    let parsed = parse_file(&sources, file);
    for diagnostic in &parsed.diagnostics {
        diagnostic.render(&sources, true);
        diagnostic.render(&sources, false);
        for label in &diagnostic.labels {
            let span = label.span;
            if span.start > span.end || span.end as usize > text.len() {
                return Err(format!("label outside of the text: {span:?}"));
            }
        }
    }
    let printed = print(&parsed.tree);
    let again = parse(file, &printed);
    if !parsed.has_errors() {
        if again.has_errors() {
            return Err(format!("printed text has errors: {:?}", again.diagnostics));
        }
        if again.tree != parsed.tree {
            return Err(format!("the round trip changes the tree:\n{printed}"));
        }
    }
    Ok(())
}
