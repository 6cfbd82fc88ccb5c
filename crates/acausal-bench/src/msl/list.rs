//! Which models are run: from a list with settings and references, or found in a library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use acausal_base::Name;
use acausal_instance::class::{ClassId, Libraries};
use acausal_syntax::ast::ClassKind;

/// A model to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The class.
    pub model: String,
    /// The file of its reference.
    pub reference: Option<PathBuf>,
    /// Options of `msl-one` beyond these.
    pub settings: Vec<(&'static str, String)>,
}

impl Entry {
    /// The command line of the child.
    pub(super) fn arguments(&self, library: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![self.model.clone().into()];
        arguments.extend(["--library".into(), library.into()]);
        if let Some(file) = &self.reference {
            arguments.extend(["--reference".into(), file.into()]);
        }
        for (option, value) in &self.settings {
            arguments.push(format!("--{option}={value}").into());
        }
        arguments
    }
}

/// Reads a list.
pub(super) fn read(file: &Path, references: Option<&Path>) -> Result<Vec<Entry>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    parse(&text, references).map_err(|m| format!("{}: {m}", file.display()))
}

fn parse(text: &str, references: Option<&Path>) -> Result<Vec<Entry>, String> {
    let mut rows = text
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(fields);
    let header = rows.next().ok_or("the list is empty")?;
    let column = |name: &str| header.iter().position(|h| h == name);
    let model = column("model").ok_or("there is no column `model`")?;
    let mut entries = Vec::new();
    for row in rows {
        let cell = |name: &str| {
            let value = row.get(column(name)?)?.trim();
            (!value.is_empty()).then(|| value.to_string())
        };
        let Some(name) = row.get(model) else { continue };
        let mut entry = Entry {
            model: name.trim().to_string(),
            ..Entry::default()
        };
        entry.reference =
            references.map(|dir| dir.join(cell("packed").unwrap_or(format!("{name}.csv.gz"))));
        let settings = [
            ("start", cell("startTime")),
            ("stop", cell("stopTime")),
            ("tolerance", cell("tolerance")),
            ("interval", cell("interval").or(cell("ref_interval"))),
            ("signals", cell("signals")),
        ];
        entry.settings = settings
            .into_iter()
            .filter_map(|(option, value)| Some((option, value?)))
            .collect();
        entries.push(entry);
    }
    Ok(entries)
}

/// The fields of a line of CSV; quotes keep commas in, two quotes are one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let last = fields.len() - 1;
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            '\r' => {}
            c => fields[last].push(c),
        }
    }
    fields
}

/// All classes below a package that can be simulated and say for how long.
pub(super) fn scan(
    library: &Path,
    package: &str,
    references: Option<&Path>,
) -> Result<Vec<Entry>, String> {
    let mut libraries = Libraries::new();
    libraries.add_search_path(library);
    let top = libraries
        .find(package)
        .ok_or_else(|| format!("there is no package `{package}` in {}", library.display()))?;
    let mut entries = Vec::new();
    let mut open = vec![(package.to_string(), top)];
    while let Some((name, id)) = open.pop() {
        if is_experiment(&libraries, id) {
            let reference = references.and_then(|dir| {
                [".csv", ".csv.gz"]
                    .iter()
                    .map(|end| dir.join(format!("{name}{end}")))
                    .find(|f| f.is_file())
            });
            entries.push(Entry {
                model: name.clone(),
                reference,
                ..Entry::default()
            });
        }
        let mut nested: Vec<(String, ClassId)> = Vec::new();
        for child in libraries.nested_names(id) {
            let child: Name = child;
            let path = format!("{name}.{child}");
            if let Some(id) = libraries.find(&path) {
                nested.push((path, id));
            }
        }
        // The stack gives them back in the order of the source.
        open.extend(nested.into_iter().rev());
    }
    Ok(entries)
}

fn is_experiment(libraries: &Libraries, id: ClassId) -> bool {
    let def = &libraries.class(id).def;
    let simulates = matches!(
        def.kind,
        ClassKind::Model | ClassKind::Class | ClassKind::Block
    );
    let annotation = def.description.annotation.as_ref();
    simulates && !def.partial && annotation.is_some_and(|a| a.get("experiment").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_settings_and_references() {
        let text = "model,startTime,stopTime,interval,ref_interval,packed,ref_origin,signals\n\
                    A.B,0,2,,0.1,A.B.csv.gz,\"tool, version\",x|y[1]\n";
        let entries = parse(text, Some(Path::new("ref"))).unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].model, "A.B");
        assert_eq!(
            entries[0].reference.as_deref(),
            Some(Path::new("ref/A.B.csv.gz"))
        );
        let expected = [
            ("start", "0"),
            ("stop", "2"),
            ("interval", "0.1"),
            ("signals", "x|y[1]"),
        ];
        let found: Vec<(&str, &str)> = entries[0]
            .settings
            .iter()
            .map(|(o, v)| (*o, v.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_scan_finds_what_can_be_simulated() {
        let dir = std::env::temp_dir().join(format!("acausal-bench-scan-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(
            dir.join("L.mo"),
            "package L package E model A annotation(experiment(StopTime=1)); end A; \
             partial model P annotation(experiment(StopTime=1)); end P; model N end N; end E; end L;",
        )
        .unwrap();
        let found = scan(&dir, "L", None).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(
            found.iter().map(|e| e.model.as_str()).collect::<Vec<_>>(),
            ["L.E.A"]
        );
    }
}
