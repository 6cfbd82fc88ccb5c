//! Values set from outside: `r.R = 10`, `'odd name'.k = 1`, `a[2].k = 5`.
//!
//! Without subscripts a setting is the outermost modifier of the model. With subscripts it is for some elements of an array, which no modifier can
//! say: the others keep what they have. Such settings are kept by component and put over its value once that is known
//! (`acausal_flatten::lower`).

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{Expr, VariabilityPrefix};

use super::Instances;
use super::types::{Found, InstId, InstanceKind};
use super::unknown::with_hint;
use crate::class::modifier::{Arg, ArgKind, Modifier, ModifierValue};

/// A name with its subscripts.
type Part = (Name, Vec<i64>);

/// A value for some elements of an array.
#[derive(Clone, Debug)]
pub struct ElementSetting {
    /// As it was written.
    pub path: String,
    /// The component.
    pub inst: InstId,
    /// The attribute of it; `None` for its value.
    pub attribute: Option<Name>,
    /// Subscripts of the components on the path that have some.
    pub subscripts: Vec<(InstId, Vec<i64>)>,
    /// The value; its names are those of the model.
    pub value: Expr,
    /// Some value was there to be replaced.
    pub used: bool,
}

impl Instances {
    /// A setting must reach a component or attribute that may be changed.
    pub(super) fn check_setting(
        &mut self,
        root: InstId,
        path: &str,
        value: &Expr,
    ) -> Result<(), Box<Diagnostic>> {
        let span = value.span;
        let error = |message: String| Diagnostic::error("wrong-setting", span, message);
        let (mut at, mut attribute, mut subscripts) = (root, None, Vec::new());
        let parts = parts(path, span)?;
        for (k, (name, subs)) in parts.iter().enumerate() {
            let shape = self.shape(at);
            if matches!(shape.kind, InstanceKind::Primitive(_)) {
                let attributes = super::check::attributes_of(&shape);
                if k + 1 == parts.len() && subs.is_empty() && attributes.contains(&name.as_str()) {
                    attribute = Some(*name);
                    break;
                }
                let message = format!("`{}` has no attribute `{name}`", self.display_name(at));
                return Err(Box::new(with_hint(
                    error(message),
                    name.as_str(),
                    attributes.iter().copied(),
                )));
            }
            at = match self.find_member(at, *name, span) {
                Found::Component(member) => member,
                Found::NotFound(unknown) => {
                    // The text is that of any unknown name; that it is about a setting is what programs look for.
                    return Err(Box::new(Diagnostic {
                        code: "wrong-setting",
                        ..*unknown
                    }));
                }
                _ => {
                    return Err(Box::new(error(format!(
                        "`{path}` is not a component and cannot be set"
                    ))));
                }
            };
            let rank = usize::from(self.data(at).rank);
            if !subs.is_empty() && subs.len() != rank {
                let what = match rank {
                    0 => "is not an array".to_string(),
                    1 => "has one dimension".to_string(),
                    n => format!("has {n} dimensions"),
                };
                return Err(Box::new(error(format!("`{name}` {what} (in `{path}`)"))));
            }
            if !subs.is_empty() {
                subscripts.push((at, subs.clone()));
            }
        }
        if self.data(at).prefixes.variability == Some(VariabilityPrefix::Constant) {
            let place = self.data(at).span;
            return Err(Box::new(
                error(format!("`{path}` is a constant and cannot be set"))
                    .label(place, "declared here"),
            ));
        }
        if !subscripts.is_empty() {
            self.element_settings.push(ElementSetting {
                path: path.to_string(),
                inst: at,
                attribute,
                subscripts,
                value: value.clone(),
                used: false,
            });
        }
        Ok(())
    }
}

/// `a.b = value` as a modifier; `None` if it is for some elements only.
pub(super) fn setting(path: &str, value: &Expr) -> Result<Option<Arc<Modifier>>, Box<Diagnostic>> {
    let parts = parts(path, value.span)?;
    if parts.iter().any(|p| !p.1.is_empty()) {
        return Ok(None);
    }
    let mut modifier = Modifier::new(
        Box::new([]),
        Some(ModifierValue::Expr(Arc::new(value.clone()))),
        value.span,
    );
    for (name, _) in parts.into_iter().rev() {
        let arg = Arg {
            name,
            span: value.span,
            each: false,
            is_final: false,
            kind: ArgKind::Modify(Arc::new(modifier)),
        };
        modifier = Modifier::new(Box::new([arg]), None, value.span);
    }
    Ok(Some(Arc::new(modifier)))
}

/// The names of a path with their subscripts. Points and brackets in quoted names (MLS 3.6 §2.3.1) belong to the name.
fn parts(path: &str, span: Span) -> Result<Vec<Part>, Box<Diagnostic>> {
    let wrong = |message: String| Box::new(Diagnostic::error("wrong-setting", span, message));
    let mut out: Vec<Part> = Vec::new();
    for piece in split_outside_quotes(path, '.') {
        let piece = piece.trim();
        let from = if piece.starts_with('\'') {
            piece.rfind('\'').map_or(0, |k| k + 1)
        } else {
            0
        };
        let (name, subs) = match piece[from..].find('[') {
            Some(k) => piece.split_at(from + k),
            None => (piece, ""),
        };
        let mut subscripts = Vec::new();
        if !subs.is_empty() {
            let inside = subs.strip_prefix('[').and_then(|s| s.strip_suffix(']'));
            for sub in inside.unwrap_or("").split(',') {
                match sub.trim().parse() {
                    Ok(k) => subscripts.push(k),
                    Err(_) => {
                        let message = format!("`{piece}` is not a name with Integer subscripts");
                        return Err(wrong(message));
                    }
                }
            }
        }
        if name.trim().is_empty() {
            return Err(wrong(format!("`{path}` is not a name")));
        }
        out.push((Name::new(name.trim()), subscripts));
    }
    Ok(out)
}

/// Splits at a character, but not inside of `'quoted names'`.
pub(super) fn split_outside_quotes(text: &str, at: char) -> Vec<&str> {
    let (mut out, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (k, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            c if c == at && !quoted => {
                out.push(&text[start..k]);
                start = k + c.len_utf8();
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_and_subscripts() {
        let read = |path: &str| -> Vec<(String, Vec<i64>)> {
            let parts = parts(path, Span::NONE).unwrap();
            parts.into_iter().map(|(n, s)| (n.to_string(), s)).collect()
        };
        assert_eq!(
            read("a[2].b[1, 3].k"),
            [
                ("a".to_string(), vec![2]),
                ("b".to_string(), vec![1, 3]),
                ("k".to_string(), vec![])
            ]
        );
        assert_eq!(
            read(r"'x.y[1]'.'it\'s'[4]"),
            [
                ("'x.y[1]'".to_string(), vec![]),
                (r"'it\'s'".to_string(), vec![4])
            ]
        );
        assert!(parts("a[i]", Span::NONE).is_err() && parts("a..b", Span::NONE).is_err());
    }
}
