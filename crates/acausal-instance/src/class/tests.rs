//! Loading libraries from directories made for the test.

use std::path::{Path, PathBuf};

use acausal_base::{Diagnostic, Name, Span};

use super::Libraries;

/// A directory that vanishes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("acausal-{name}-{}", std::process::id()));
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Folder(path)
    }

    fn libraries(&self) -> Libraries {
        let mut libraries = Libraries::new();
        libraries.add_search_path(&self.0);
        libraries
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on whether the directory could be removed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect()
}

/// Files read so far, the predefined classes left out.
fn files(libraries: &Libraries) -> Vec<String> {
    let files = libraries.sources().files().skip(1);
    files
        .map(|(_, file)| {
            Path::new(&*file.name)
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .to_string()
        })
        .collect()
}

#[test]
fn a_class_in_a_directory_loads_the_files_on_its_way_only() {
    let folder = Folder::new(
        "lazy",
        &[
            (
                "L/package.mo",
                "within; package L constant Real c = 1; end L;",
            ),
            ("L/package.order", "Z\nc\nA\n"),
            ("L/A.mo", "within L; model A end A;"),
            ("L/Z/package.mo", "within L; package Z end Z;"),
            ("L/Z/M.mo", "within L.Z; model M end M;"),
            ("L/Broken.mo", "within L; model Broken Real end Broken;"),
            ("L/NoPackage/X.mo", "model X end X;"),
        ],
    );
    let mut libraries = folder.libraries();
    let class = libraries.find("L.Z.M").unwrap();
    assert_eq!(libraries.qualified_name(class), "L.Z.M");
    assert_eq!(files(&libraries), ["package.mo", "package.mo", "M.mo"]);
    assert!(libraries.find("L.Nothing").is_none());
    assert!(libraries.take_diagnostics().is_empty());
    let top = libraries.find("L").unwrap();
    let names: Vec<&str> = libraries
        .nested_names(top)
        .iter()
        .map(|name| name.as_str())
        .collect();
    assert_eq!(
        names,
        ["Z", "A", "Broken"],
        "in the order of package.order, then by name"
    );
    libraries.find("L.Broken");
    assert!(
        !libraries.take_diagnostics().is_empty(),
        "mistakes are told when the file is read"
    );
}

#[test]
fn files_must_be_where_they_say() {
    let folder = Folder::new(
        "within",
        &[
            ("L/package.mo", "package L end L;"),
            ("L/A.mo", "within K; model A end A;"),
            ("L/B.mo", "within L; model C end C;"),
            ("L/D.mo", "within L; model D end D; model E end E;"),
        ],
    );
    let mut libraries = folder.libraries();
    assert!(libraries.find("L.A").is_some());
    assert_eq!(
        messages(&libraries.take_diagnostics()),
        ["wrong-within: the file is stored at another place than it says"]
    );
    assert!(libraries.find("L.B").is_none());
    assert!(libraries.find("L.B").is_none());
    assert_eq!(
        messages(&libraries.take_diagnostics()),
        ["wrong-class-name: the file should hold class `B`, but it holds `C`"],
        "told once"
    );
    assert!(libraries.find("L.D").is_some());
    assert_eq!(
        messages(&libraries.take_diagnostics()),
        ["several-classes: a file of a library holds one class, here `D`"]
    );
}

#[test]
fn the_version_asked_for_is_taken_and_a_different_one_reported() {
    let folder = Folder::new(
        "version",
        &[
            (
                "Lib 3.2/package.mo",
                r#"package Lib annotation(version = "3.2"); end Lib;"#,
            ),
            (
                "Lib 4.10/package.mo",
                r#"package Lib annotation(version = "4.10"); end Lib;"#,
            ),
            (
                "Lib 4.9.mo",
                r#"package Lib annotation(version = "4.9"); end Lib;"#,
            ),
        ],
    );
    for (uses, version, warnings) in [
        ("", "4.10", 0),
        (r#"annotation(uses(Lib(version = "3.2")));"#, "3.2", 0),
        (r#"annotation(uses(Lib(version = "4.9")));"#, "4.9", 0),
        (r#"annotation(uses(Lib(version = "5")));"#, "4.10", 1),
    ] {
        let mut libraries = folder.libraries();
        libraries
            .load_text("m.mo", &format!("model M {uses} end M;"))
            .unwrap();
        let lib = libraries.find("Lib").unwrap();
        let found = super::version::version(&libraries.class(lib).def).unwrap();
        assert_eq!(found, version, "{uses}");
        assert_eq!(libraries.take_diagnostics().len(), warnings, "{uses}");
    }
}

#[test]
fn files_of_the_user_may_be_alone_or_in_a_package() {
    let folder = Folder::new(
        "user",
        &[
            ("One.mo", "model A end A;\nmodel B end B;"),
            ("P/package.mo", "package P end P;"),
            ("P/Q/package.mo", "within P; package Q end Q;"),
            ("P/Q/M.mo", "within P.Q; model M end M;"),
            ("Wrong.mo", "model A Real x end A;"),
        ],
    );
    let mut libraries = Libraries::new();
    assert_eq!(
        libraries.load_file(&folder.0.join("One.mo")).unwrap(),
        ["A", "B"]
    );
    assert_eq!(
        libraries.load_file(&folder.0.join("P/Q/M.mo")).unwrap(),
        ["P.Q.M"]
    );
    assert_eq!(libraries.load_file(&folder.0.join("P")).unwrap(), ["P"]);
    let again = libraries.load_file(&folder.0.join("One.mo")).unwrap_err();
    assert_eq!(
        messages(&again),
        [
            "duplicate-class: class `A` is already defined",
            "duplicate-class: class `B` is already defined"
        ]
    );
    let mut libraries = Libraries::new();
    assert!(libraries.load_file(&folder.0.join("Wrong.mo")).is_err());
    let missing = libraries.load_file(&folder.0.join("None.mo")).unwrap_err();
    assert_eq!(missing[0].code, "unreadable-file");
    libraries.load_text("p.mo", "package P end P;").unwrap();
    assert_eq!(
        libraries
            .load_text("c.mo", "within P; model C end C;")
            .unwrap(),
        ["P.C"]
    );
    assert!(libraries.find("P.C").is_some());
    assert_eq!(
        libraries
            .load_text("d.mo", "within R; model C end C;")
            .unwrap_err()[0]
            .code,
        "wrong-within"
    );
}

#[test]
fn a_missing_library_is_told_with_the_places_searched() {
    let folder = Folder::new(
        "missing",
        &[("Modelica.mo", "package Modelica end Modelica;")],
    );
    let mut libraries = folder.libraries();
    assert!(libraries.find("Modelica").is_some());
    let error = libraries.unknown_top_level(Name::new("Modelca"), Span::NONE);
    assert_eq!(error.hint.as_deref(), Some("did you mean `Modelica`?"));
    assert!(
        error.notes[0].contains("acausal-missing"),
        "{:?}",
        error.notes
    );
}
