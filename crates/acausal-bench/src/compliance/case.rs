//! The cases of the suite, and the answer to one.

use std::path::Path;

use acausal::{Load, Model};

/// A case.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplianceCase {
    /// The class.
    pub class: String,
    /// What the specification says.
    pub should_pass: bool,
    /// The section that it is about, empty if the case does not say.
    pub section: String,
}

impl ComplianceCase {
    /// The chapter of the suite: the package below the top.
    pub fn chapter(&self) -> &str {
        self.class.split('.').nth(1).unwrap_or("")
    }
}

/// What the compiler says to a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Compiled and simulated.
    Yes,
    /// Refused, with the first message.
    No {
        /// The code of the message.
        code: String,
        /// The message.
        message: String,
    },
    /// The compiler fell over.
    Panic,
}

impl Answer {
    /// Whether this is what the case asks for. What is not supported yet is no answer.
    pub fn is_right(&self, case: &ComplianceCase) -> bool {
        match self {
            Answer::Yes => case.should_pass,
            Answer::No { code, .. } => {
                !case.should_pass && !matches!(code.as_str(), "unsupported" | "internal")
            }
            Answer::Panic => false,
        }
    }
}

/// All cases below a directory, by name.
pub(super) fn find(suite: &Path) -> Result<Vec<ComplianceCase>, String> {
    let mut cases = Vec::new();
    let mut open = vec![suite.to_path_buf()];
    while let Some(directory) = open.pop() {
        let entries =
            std::fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "mo") {
                let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                let name = path.with_extension("");
                let Ok(name) = name.strip_prefix(suite) else {
                    continue;
                };
                let parts: Vec<_> = name.iter().map(|p| p.to_string_lossy()).collect();
                // The template for new cases is none itself.
                if parts.last().is_some_and(|p| p == "Template") {
                    continue;
                }
                cases.extend(read(&parts.join("."), &String::from_utf8_lossy(&bytes)));
            }
        }
    }
    cases.sort_by(|a, b| a.class.cmp(&b.class));
    Ok(cases)
}

/// The case in the text of a file.
fn read(class: &str, text: &str) -> Option<ComplianceCase> {
    let should_pass = after(text, "shouldPass")?.starts_with("true");
    let section = after(text, "section").map_or("", |rest| {
        let inside = rest.trim_start_matches(['{', '"', ' ']);
        inside.split('"').next().unwrap_or("")
    });
    Some(ComplianceCase {
        class: class.to_string(),
        should_pass,
        section: section.to_string(),
    })
}

/// The text after `name =`.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = &text[text.find(name)? + name.len()..];
    Some(rest.trim_start().strip_prefix('=')?.trim_start())
}

/// Compiles and simulates a case.
pub(super) fn ask(suite: &Path, case: &ComplianceCase) -> Answer {
    let load = Load {
        libraries: vec![suite.to_path_buf()],
        ..Load::default()
    };
    let class = case.class.clone();
    let attempt = std::panic::catch_unwind(move || {
        let model = Model::load(&class, &load)?;
        model.simulate_in_memory(&model.settings()).map(|_| ())
    });
    match attempt {
        Ok(Ok(())) => Answer::Yes,
        Ok(Err(failure)) => {
            let first = failure.diagnostics.iter().find(|d| d.is_error());
            Answer::No {
                code: first.map_or("internal", |d| d.code).to_string(),
                message: first.map_or(String::new(), |d| d.message.clone()),
            }
        }
        Err(_) => Answer::Panic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read_from_its_text() {
        let text = "model M annotation(__ModelicaAssociation(TestCase(shouldPass = false, section = {\"10.3.5\"}))); end M;";
        let case = read("S.Arrays.M", text).unwrap();
        assert!(!case.should_pass);
        assert_eq!(
            (case.section.as_str(), case.chapter()),
            ("10.3.5", "Arrays")
        );
        assert_eq!(read("S.Arrays", "package Arrays end Arrays;"), None);
    }

    #[test]
    fn what_is_not_supported_is_no_answer() {
        let case = |should_pass| ComplianceCase {
            class: "S.M".into(),
            should_pass,
            section: String::new(),
        };
        let no = |code: &str| Answer::No {
            code: code.into(),
            message: String::new(),
        };
        assert!(no("type-mismatch").is_right(&case(false)));
        assert!(!no("unsupported").is_right(&case(false)));
        assert!(!no("type-mismatch").is_right(&case(true)));
        assert!(Answer::Yes.is_right(&case(true)) && !Answer::Yes.is_right(&case(false)));
    }
}
