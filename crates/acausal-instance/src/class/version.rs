//! Library versions: versioned folders (MLS 3.6 §18.8.4) and `uses` annotations (§18.8.2).

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use acausal_base::Span;
use acausal_syntax::ast::{
    Argument, ArgumentKind, BindingValue, ClassDef, ExprKind, Modification, find_argument,
};

use super::directory::{Entry, PACKAGE_FILE};

/// The places where `directory` may hold the top-level class `name`; the one to take.
///
/// The wanted version wins, then a folder or file without version, then the highest version.
pub(super) fn locate(directory: &Path, name: &str, wanted: Option<&str>) -> Option<Entry> {
    let exact = |stem: String| {
        let folder = directory.join(&stem);
        let file = folder.join(PACKAGE_FILE);
        if file.is_file() {
            return Some(Entry {
                file,
                directory: Some(folder),
            });
        }
        let file = directory.join(format!("{stem}.mo"));
        file.is_file().then_some(Entry {
            file,
            directory: None,
        })
    };
    if let Some(entry) = wanted.and_then(|version| exact(format!("{name} {version}"))) {
        return Some(entry);
    }
    if let Some(entry) = exact(name.to_string()) {
        return Some(entry);
    }
    let mut best: Option<(String, String)> = None;
    for item in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let file_name = item.file_name();
        let Some(text) = file_name.to_str() else {
            continue;
        };
        let stem = text.strip_suffix(".mo").unwrap_or(text);
        let Some(version) = stem
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(' '))
        else {
            continue;
        };
        let higher = best
            .as_ref()
            .is_none_or(|(known, _)| compare(version, known).is_gt());
        if higher && exact(stem.to_string()).is_some() {
            best = Some((version.to_string(), stem.to_string()));
        }
    }
    best.and_then(|(_, stem)| exact(stem))
}

/// Compares versions such as `4.1.0`; numbers by value, the rest as text. A pre-release comes before its release.
fn compare(left: &str, right: &str) -> Ordering {
    let parts = |text: &str| -> Vec<(u64, String)> {
        text.split(['.', ' ', '-'])
            .map(|part| (part.parse().unwrap_or(0), part.to_string()))
            .collect()
    };
    parts(left).cmp(&parts(right)).then_with(|| left.cmp(right))
}

/// One entry of `annotation(uses(Name(version = "...")))`.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub library: String,
    pub version: String,
    pub span: Span,
}

/// Libraries that a top-level class says it uses.
pub(super) fn uses(def: &ClassDef) -> Vec<Use> {
    let Some(uses) = annotation(def, "uses") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for argument in &uses.arguments {
        let ArgumentKind::Modify {
            name,
            modification: Some(modification),
            ..
        } = &argument.kind
        else {
            continue;
        };
        if let Some(version) = find_argument(&modification.arguments, "version").and_then(text) {
            found.push(Use {
                library: name.to_string(),
                version,
                span: argument.span,
            });
        }
    }
    found
}

/// Version of a top-level class by its annotation.
pub(super) fn version(def: &ClassDef) -> Option<String> {
    text(annotation(def, "version")?)
}

/// True if a class says that models written for `version` work with it unchanged
/// (`conversion(noneFromVersion = "...")`, MLS 3.6 §18.8.2).
pub(super) fn compatible_with(def: &ClassDef, version: &str) -> bool {
    let Some(conversion) = annotation(def, "conversion") else {
        return false;
    };
    conversion
        .arguments
        .iter()
        .any(|argument: &Argument| match &argument.kind {
            ArgumentKind::Modify {
                name,
                modification: Some(modification),
                ..
            } => {
                name.to_string() == "noneFromVersion"
                    && text(modification).as_deref() == Some(version)
            }
            _ => false,
        })
}

fn annotation<'d>(def: &'d ClassDef, name: &str) -> Option<&'d Modification> {
    def.description.annotation.as_ref()?.get(name)
}

fn text(modification: &Modification) -> Option<String> {
    match &modification.binding.as_ref()?.value {
        BindingValue::Expr(expr) => match &expr.kind {
            ExprKind::Str(text) => Some(text.to_string()),
            _ => None,
        },
        BindingValue::Break => None,
    }
}

/// The directory of a file of a package, and the directories above that are packages as well, outermost last.
pub(super) fn package_directories(file: &Path) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    let mut next = file.parent();
    while let Some(directory) = next {
        let directory = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        if !directory.join(PACKAGE_FILE).is_file() {
            break;
        }
        directories.push(directory.to_path_buf());
        next = directory.parent();
    }
    directories
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn versions_are_compared_by_number() {
        for (low, high) in [("3.2.3", "4.0.0"), ("4.9.0", "4.10.0"), ("4.0", "4.0.1")] {
            assert!(compare(low, high).is_lt(), "{low} < {high}");
        }
    }
}
