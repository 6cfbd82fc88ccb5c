//! Bad input of every kind ends in a message, never in a panic, a hang or a file that looks complete.
#![allow(clippy::unwrap_used)]

use crate::common::command::{Place, example};

#[test]
fn files_that_are_no_models() {
    let place = Place::new();
    place
        .acausal(&["simulate", "missing.mo"])
        .code(2)
        .complains(&["there is no file missing.mo"]);
    place.write("Model.mo", "model Model Real x = 1; end Model;");
    place
        .acausal(&["simulate", "model.mo"])
        .code(2)
        .complains(&["did you mean Model.mo?"]);
    place
        .acausal(&["simulate", "."])
        .code(2)
        .complains(&["is a directory"]);
    std::fs::create_dir(place.path("d.mo")).unwrap();
    place
        .acausal(&["simulate", "d.mo"])
        .code(2)
        .complains(&["is a directory"]);
    place.write("empty.mo", "");
    place
        .acausal(&["simulate", "empty.mo"])
        .code(1)
        .complains(&["empty.mo contains no class"]);
    place.write("blank.mo", "// only a comment\n");
    place
        .acausal(&["simulate", "blank.mo"])
        .code(1)
        .complains(&["contains no class"]);
    place.write("binary.mo", [0x7f, b'E', b'L', b'F', 0, 0, 1, 2]);
    let said = place
        .acausal(&["simulate", "binary.mo"])
        .code(2)
        .complains(&["binary.mo is a binary file"]);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    place.write("model.txt", "model M end M;");
    place
        .acausal(&["simulate", "model.txt"])
        .code(2)
        .complains(&[".mo"]);
    place.write("pack.mo", "package P end P;");
    place
        .acausal(&["simulate", "pack.mo"])
        .code(1)
        .complains(&["`P`", "package"]);
}

#[test]
fn five_mistakes_are_five_messages() {
    let place = Place::with(
        "Five.mo",
        "model Five\n  Real x = ;\n  Real y\n  Real z;\nequation\n  x + = 3;\n  der(y) = (1 + 2;\n  z = 3 * ;\nend Five;\n",
    );
    let said = place.acausal(&["simulate", "Five.mo"]).code(1).complains(&[
        "Five.mo:2:12",
        "Five.mo:3:9",
        "Five.mo:6:7",
        "Five.mo:7:18",
        "Five.mo:8:11",
        "5 errors",
    ]);
    assert_eq!(said.err.matches("error[").count(), 5, "{}", said.err);
    let json = place
        .acausal(&["check", "Five.mo", "--format", "json"])
        .code(1)
        .json();
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 5);
}

#[test]
fn numbers_that_make_no_sense() {
    let place = Place::new();
    let pendulum = example("Pendulum.mo");
    for (option, value, part) in [
        ("--stop", "-1", "before the start time"),
        ("--interval", "0", "positive"),
        ("--interval", "-1", "positive"),
        ("--interval", "nan", "positive"),
        ("--tolerance", "0", "between 0 and 1"),
        ("--tolerance", "1", "between 0 and 1"),
        ("--tolerance", "nan", "between 0 and 1"),
        ("--stop", "inf", "finite"),
        ("--stop", "abc", "abc"),
        ("--max-order", "6", "6"),
        ("--max-steps", "0", "0"),
        ("--format", "xml", "xml"),
    ] {
        let said = place.acausal(&["simulate", &pendulum, option, value]);
        assert!(matches!(said.code, 1 | 2), "{option} {value}: {said:?}");
        said.complains(&["error", part]);
        assert!(
            place.files().is_empty(),
            "{option} {value}: {:?}",
            place.files()
        );
    }
}

#[test]
fn files_that_cannot_be_written_stop_the_run_before_it_begins() {
    let place = Place::new();
    std::fs::create_dir(place.path("dir.csv")).unwrap();
    std::fs::create_dir(place.path("dir.svg")).unwrap();
    // This would run for a very long time.
    let slow = example("Lorenz.mo");
    for arguments in [
        ["--output", "missing/r.csv"],
        ["--output", "dir.csv"],
        ["--output", "r.txt"],
        ["--output", "r"],
        ["--plot-file", "missing/p.svg"],
        ["--plot-file", "dir.svg"],
        ["--plot-file", "p.gif"],
        ["--plot", "nothing"],
    ] {
        let mut all = vec!["simulate", &slow, "--stop", "1e9", "--interval", "1e6"];
        all.extend(arguments);
        place
            .acausal(&all)
            .code(2)
            .complains(&["error", arguments[1]]);
        assert_eq!(place.files(), ["dir.csv", "dir.svg"], "{arguments:?}");
    }
}

#[test]
fn not_a_number_names_equation_and_time() {
    let place = Place::with(
        "Root.mo",
        "model Root\n  Real x(start = 0, fixed = true);\n  Real y;\nequation\n  der(x) = 1;\n  y = sqrt(1 - x);\nend Root;\n",
    );
    let said = place
        .acausal(&["simulate", "Root.mo", "--stop", "2", "--plot-file", "p.svg"])
        .code(1)
        .complains(&["Root.mo:6:3", "y = sqrt(1 - x);", "`y` is NaN", "time = "]);
    let time: f64 = said
        .err
        .split("time = ")
        .nth(1)
        .unwrap()
        .split([':', ' ', ',', '\n'])
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((time - 1.0).abs() < 1e-2, "{}", said.err);
    // What was computed is kept under a name that says so; no plot looks complete.
    assert_eq!(place.files(), ["Root.mo", "Root.partial.csv"]);
    assert!(said.err.contains("Root.partial.csv"));
    let json = place
        .acausal(&["simulate", "Root.mo", "--stop", "2", "--format", "json"])
        .code(1)
        .json();
    assert_eq!(json["partial_result"], "Root.partial.csv");
}

#[test]
fn start_values_without_solution() {
    let place = Place::with(
        "None.mo",
        "model None Real x(start = 1); equation x^2 = -1; end None;",
    );
    place
        .acausal(&["simulate", "None.mo"])
        .code(1)
        .complains(&["None.mo:1:", "x"]);
    assert_eq!(place.files(), ["None.mo"]);
}

#[test]
fn a_ball_that_never_rests_is_told_so() {
    let place = Place::with(
        "Zeno.mo",
        "model Zeno Real h(start = 1, fixed = true), v(start = 0, fixed = true);
         equation der(h) = v; der(v) = -9.81; when h <= 0 and v < 0 then reinit(v, -0.7*v); end when; end Zeno;",
    );
    place
        .acausal(&["simulate", "Zeno.mo", "--stop", "5"])
        .code(1)
        .complains(&["h <= 0", "Zeno.mo:2:"]);
    assert_eq!(place.files(), ["Zeno.mo", "Zeno.partial.csv"]);
}

#[test]
fn chattering_is_told_with_its_cause() {
    let place = Place::with(
        "Flip.mo",
        "model Flip Boolean b(start = false, fixed = true); equation b = not pre(b); end Flip;",
    );
    place.acausal(&["simulate", "Flip.mo"]).code(1).complains(&[
        "`b`",
        "time = 0",
        "do not settle",
    ]);
    place.write(
        "Slide.mo",
        "model Slide Real x(start = 1, fixed = true); equation der(x) = if x > 0 then -1 else 1; end Slide;",
    );
    place
        .acausal(&["simulate", "Slide.mo", "--stop", "2"])
        .code(1)
        .complains(&["x > 0", "Slide.mo:1:"]);
}

#[test]
fn limits_say_what_was_happening() {
    let place = Place::new();
    let pendulum = example("Pendulum.mo");
    place
        .acausal(&["simulate", &pendulum, "--max-steps", "10"])
        .code(1)
        .complains(&["10 steps", "time"]);
    assert_eq!(place.files(), ["Pendulum.partial.csv"]);
}

#[test]
fn failed_assertions_name_themselves() {
    let place = Place::with(
        "Hot.mo",
        "model Hot Real T = 10*time; equation assert(T < 5, \"too hot\"); end Hot;",
    );
    place
        .acausal(&["simulate", "Hot.mo"])
        .code(1)
        .complains(&["too hot", "Hot.mo:1:"]);
}

#[test]
fn nesting_is_bounded() {
    let deep = format!(
        "model Deep Real x = {}1{}; end Deep;",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    let place = Place::with("Deep.mo", &deep);
    place
        .acausal(&["simulate", "Deep.mo"])
        .code(1)
        .complains(&["Deep.mo:1:"]);
}

/// Output that is not read to its end is no failure.
#[test]
#[cfg(unix)]
fn a_reader_that_goes_away() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_acausal"))
        .args(["flatten", &example("RLC.mo")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(said.is_empty(), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// What does not fit between classes is told with file, line, caret and the way to it.
#[test]
fn classes_that_do_not_fit() {
    for (text, said) in [
        (
            "model M\n  model R Real x; equation x = 1; end R;\n  model Q Real y; equation y = 1; end Q;\n  \
             model H replaceable R r; end H;\n  H h(redeclare Q r);\nend M;",
            &[
                "redeclare-mismatch",
                "`M.Q` has no component `x`",
                "M.mo:5:",
                "declared replaceable here",
                "in component `h`",
            ][..],
        ),
        (
            "model M\n  model P outer Real g; Real y; equation y = g; end P;\n  model Mid P p; end Mid;\n  Mid m;\nend M;",
            &[
                "no `inner` component `g`",
                "M.mo:2:",
                "in component `m`",
                "declare `inner Real g;`",
            ],
        ),
        (
            "model M\n  connector C Real e; flow Real f; Real extra; end C;\n  C c;\nequation c.e = 1;\nend M;",
            &["2 potentials and 1 flow", "M.mo:2:", "in component `c`"],
        ),
        (
            "package M\n  model A extends B; end A;\n  model B extends A; end B;\nend M;",
            &["cyclic-inheritance", "`M.A` extends this", "^"],
        ),
        (
            "model M\n  parameter Real a = b;\n  parameter Real b = 2*a;\n  Real x = a;\nend M;",
            &["`a` -> `b` -> `a`", "M.mo:2:"],
        ),
        (
            "model M\n  model A B c; end A;\n  model B A c; end B;\n  A a;\nend M;",
            &[
                "contains a component `c` of itself",
                "M.mo:2:",
                "declared here",
            ],
        ),
        (
            "model M\n  Somewhere.Part p;\n  annotation(uses(Somewhere(version = \"1.2\")));\nend M;",
            &[
                "`Somewhere` is not declared",
                "no directories with libraries",
                "version 1.2 of Somewhere is asked for here",
                "--library DIR",
            ],
        ),
    ] {
        let place = Place::with("M.mo", text);
        let model = if text.contains("package M") {
            "M.A"
        } else {
            "M"
        };
        let arguments = ["check", "M.mo", "--model", model];
        place.acausal(&arguments).code(1).complains(said);
    }
}

/// Another version than `uses` asks for is told with both places.
#[test]
fn libraries_of_another_version() {
    let place = Place::with(
        "M.mo",
        "model M\n  Lib.A a;\n  annotation(uses(Lib(version = \"3.0\")));\nend M;",
    );
    std::fs::create_dir_all(place.path("libs/Lib")).unwrap();
    place.write(
        "libs/Lib/package.mo",
        "package Lib\n  model A Real x = time; end A;\n  annotation(version = \"4.0\");\nend Lib;",
    );
    place
        .acausal(&["check", "M.mo", "--library", "libs"])
        .code(0)
        .complains(&[
            "version 3.0 of Lib is asked for",
            "M.mo:3:",
            "this is version 4.0",
        ]);
}
