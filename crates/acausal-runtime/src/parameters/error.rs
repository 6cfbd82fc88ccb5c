//! What is wrong with a name or value that a parameter is to be set to.

use acausal_base::{Diagnostic, Span};

/// Why a parameter cannot be set.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingError {
    /// There is nothing of this name.
    Unknown {
        /// As the user wrote it.
        name: String,
        /// A similar name.
        similar: Option<String>,
    },
    /// There is no input of this name.
    NoInput {
        /// As the user wrote it.
        name: String,
        /// A similar name.
        similar: Option<String>,
    },
    /// It decided about the equations when the model was compiled, or is `final` or a constant.
    Structural {
        /// The parameter.
        name: String,
        /// Its declaration.
        span: Span,
    },
    /// It is computed at the start, or follows from what is.
    Computed {
        /// The parameter.
        name: String,
        /// Its declaration.
        span: Span,
    },
    /// It is declared in a protected section.
    Protected {
        /// The parameter.
        name: String,
        /// Its declaration.
        span: Span,
    },
    /// It is a variable.
    Variable {
        /// The variable.
        name: String,
        /// It has a start value that can be set.
        has_start: bool,
        /// Its declaration.
        span: Span,
    },
    /// It is a start value that no place was reserved for, or that is part of an equation.
    Start {
        /// The variable.
        name: String,
        /// Its declaration.
        span: Span,
    },
    /// It is another attribute than `start`, or a String.
    NotAtRunTime {
        /// As the user wrote it.
        name: String,
        /// Its declaration.
        span: Span,
    },
    /// The value has another type.
    Type {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
        /// What it should be.
        wanted: String,
        /// Its declaration.
        span: Span,
    },
    /// The value has another shape.
    Shape {
        /// The parameter.
        name: String,
        /// Its shape.
        dims: Vec<usize>,
        /// Its declaration.
        span: Span,
    },
    /// A subscript is outside of its array, or there are too many or too few.
    Subscript {
        /// As the user wrote it.
        name: String,
        /// The shape of the array.
        dims: Vec<usize>,
        /// Its declaration.
        span: Span,
    },
    /// It is set twice.
    Twice {
        /// As the user wrote it.
        name: String,
    },
}

impl SettingError {
    /// The message for the user.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = |span: Span, message: String| Diagnostic::error("wrong-setting", span, message);
        let again = |name: &str| {
            format!("compile the model again: `acausal compile MODEL.mo --set {name}=VALUE`")
        };
        match self {
            SettingError::Unknown { name, similar } => {
                let d = error(Span::NONE, format!("the model has no parameter `{name}`"));
                match similar {
                    Some(other) => d.hint(format!("did you mean `{other}`?")),
                    None => d,
                }
            }
            SettingError::NoInput { name, similar } => {
                let text = format!("the model has no input `{name}` that could be given");
                match similar {
                    Some(other) => error(Span::NONE, text).hint(format!("did you mean `{other}`?")),
                    None => error(Span::NONE, text).hint("inputs are declared with `input` at the top level of the model"),
                }
            }
            SettingError::Structural { name, span } => error(
                *span,
                format!("`{name}` cannot be set any more: it is final, or it decided about the equations when the model was compiled"),
            )
            .hint(again(name)),
            SettingError::Computed { name, span } => error(
                *span,
                format!("`{name}` is computed at the start and cannot be set"),
            )
            .hint(again(name)),
            SettingError::Protected { name, span } => error(
                *span,
                format!("`{name}` is protected and cannot be accessed from outside"),
            ),
            SettingError::Variable {
                name,
                has_start,
                span,
            } => {
                let d = error(*span, format!("`{name}` is a variable and no parameter"));
                match has_start {
                    true => d.hint(format!("where it starts is `{name}.start`")),
                    false => d,
                }
            }
            SettingError::Start { name, span } => error(
                *span,
                format!("the start value of `{name}` cannot be set any more: the model gives it none, or equations depend on it"),
            )
            .hint(again(&format!("{name}.start"))),
            SettingError::NotAtRunTime { name, span } => error(
                *span,
                format!("`{name}` cannot be set any more: compiled models take numbers, Booleans and enumerations for parameters and `start`"),
            )
            .hint(again(name)),
            SettingError::Type {
                name,
                value,
                wanted,
                span,
            } => error(*span, format!("`{name}` needs {wanted}, not {value}")),
            SettingError::Shape { name, dims, span } => {
                let shape: Vec<String> = dims.iter().map(usize::to_string).collect();
                match dims.is_empty() {
                    true => error(*span, format!("`{name}` is a scalar, not an array")),
                    false => error(
                        *span,
                        format!("`{name}` is an array of {} elements", shape.join(" x ")),
                    )
                    .hint(format!("give all of them, `{name}={{..}}`, or single ones, `{}=..`", first_element(name, dims))),
                }
            }
            SettingError::Subscript { name, dims, span } => {
                let shape: Vec<String> = dims.iter().map(|d| format!("1:{d}")).collect();
                error(
                    *span,
                    format!("`{name}` is no element: the subscripts are {}", shape.join(", ")),
                )
            }
            SettingError::Twice { name } => error(Span::NONE, format!("`{name}` is set twice")),
        }
    }
}

fn first_element(name: &str, dims: &[usize]) -> String {
    let ones: Vec<&str> = dims.iter().map(|_| "1").collect();
    format!("{name}[{}]", ones.join(","))
}
