//! The command as a user calls it: what it prints, what it writes, how it ends.
#![allow(clippy::unwrap_used)]

use crate::common::command::{Place, example};

const DECAY: &str = "model Decay
  parameter Real k = 1;
  final parameter Real f = 2;
  constant Real c = 3;
  parameter Integer n = 3;
  Real x(start = 1, fixed = true);
  Real z[n](each start = 1, each fixed = true);
equation
  der(x) = -k*x;
  der(z) = -z;
  annotation(experiment(StopTime = 2, Interval = 0.5));
end Decay;
";

#[test]
fn simulate_draws_summarises_and_stores() {
    let place = Place::new();
    let said = place
        .acausal(&["simulate", &example("Pendulum.mo")])
        .code(0);
    assert!(said.err.is_empty(), "{}", said.err);
    // A plot with both axes, in text without colours and without a progress bar.
    for part in ["A phi [rad]", "B w [rad/s]", "time [s]", "┤"] {
        assert!(said.out.contains(part), "{part} in\n{}", said.out);
    }
    assert!(!said.out.contains('\x1b') && !said.out.contains('\r'));
    for part in [
        "Pendulum: 2 unknowns, 2 states",
        "steps",
        "residual evaluations",
        "Jacobian evaluations",
        "0 events",
        "seconds: parse",
        "flatten",
        "structure",
        "codegen",
        "initialise",
        "integrate",
        "total",
        "result: Pendulum.csv",
    ] {
        assert!(said.out.contains(part), "{part} in\n{}", said.out);
    }
    assert_eq!(place.files(), ["Pendulum.csv"]);
    let csv = std::fs::read_to_string(place.path("Pendulum.csv")).unwrap();
    assert!(csv.lines().next().unwrap().starts_with("time,"));
    assert_eq!(csv.lines().count(), 1 + 501);
}

#[test]
fn observe_chooses_what_is_stored() {
    let place = Place::with("Decay.mo", DECAY);
    let header = |patterns: &str| {
        place
            .acausal(&["simulate", "Decay.mo", "-q", "--observe", patterns])
            .code(0);
        let csv = std::fs::read_to_string(place.path("Decay.csv")).unwrap();
        csv.lines().next().unwrap().to_string()
    };
    assert_eq!(header("x"), "time,x");
    assert_eq!(header("z[2], x"), "time,x,z[2]");
    assert_eq!(header("z"), "time,z[1],z[2],z[3]");
    assert_eq!(header("z[?]"), "time,z[1],z[2],z[3]");
    assert_eq!(header("*[3]"), "time,z[3]");
    // The plot does not depend on what is stored.
    let said = place
        .acausal(&["simulate", "Decay.mo", "--observe", "z[1]", "--plot", "x"])
        .code(0);
    assert!(said.out.contains("── x"), "{}", said.out);
    let said = place
        .acausal(&["simulate", "Decay.mo", "--observe", "z[1],zz"])
        .code(2);
    assert!(
        said.err.contains("there is no signal `zz` to store"),
        "{}",
        said.err
    );
}

#[test]
fn json_has_what_programs_need() {
    let place = Place::with("Decay.mo", DECAY);
    let said = place
        .acausal(&["simulate", "Decay.mo", "--format", "json"])
        .code(0);
    let json = said.json();
    for key in [
        "model",
        "unknowns",
        "states",
        "steps",
        "residual_evaluations",
        "jacobian_evaluations",
        "events",
        "seconds",
        "peak_memory_bytes",
        "result",
    ] {
        assert!(!json[key].is_null(), "{key} in {json}");
    }
    for key in [
        "parse",
        "flatten",
        "structure",
        "codegen",
        "initialise",
        "integrate",
        "total",
    ] {
        assert!(
            json["seconds"][key].as_f64().unwrap() >= 0.0,
            "{key} in {json}"
        );
    }
    assert_eq!(json["model"], "Decay");
    assert_eq!(json["states"], 4);
    assert_eq!(json["ok"], true);
    assert_eq!(json["result"], "Decay.csv");
    assert_eq!(said.out.lines().count(), 1);
    assert!(said.err.is_empty());
}

#[test]
fn every_verb_speaks_json() {
    let place = Place::with("Decay.mo", DECAY);
    place.acausal(&["simulate", "Decay.mo", "--quiet"]).code(0);
    let json = place
        .acausal(&["check", "Decay.mo", "--format", "json"])
        .code(0)
        .json();
    assert_eq!(
        (&json["ok"], &json["model"]),
        (&true.into(), &"Decay".into())
    );
    let json = place
        .acausal(&["flatten", "Decay.mo", "--format", "json"])
        .code(0)
        .json();
    assert!(json["flat"].as_str().unwrap().contains("der(x)"));
    let json = place
        .acausal(&["parse", "Decay.mo", "--format", "json"])
        .code(0)
        .json();
    assert_eq!((&json["files"], &json["errors"]), (&1.into(), &0.into()));
    let json = place
        .acausal(&["compare", "Decay.csv", "Decay.csv", "--format", "json"])
        .code(0)
        .json();
    assert_eq!(json["ok"], true);
    // Failures too.
    place.write("Bad.mo", "model Bad Real x; equation x = y; end Bad;");
    for verb in ["simulate", "check", "flatten"] {
        let json = place
            .acausal(&[verb, "Bad.mo", "--format", "json"])
            .code(1)
            .json();
        assert_eq!(json["ok"], false);
        let message = json["diagnostics"][0].to_string();
        assert!(
            message.contains("`y`") && message.contains("Bad.mo"),
            "{message}"
        );
        let json = place
            .acausal(&[verb, "Missing.mo", "--format", "json"])
            .code(2)
            .json();
        assert!(
            json["diagnostics"][0].to_string().contains("Missing.mo"),
            "{json}"
        );
    }
}

#[test]
fn options_override_the_experiment() {
    let place = Place::with("Decay.mo", DECAY);
    let rows = |arguments: &[&str]| {
        let mut all = vec!["simulate", "Decay.mo", "--quiet"];
        all.extend(arguments);
        assert_eq!(place.acausal(&all).code(0).out, "");
        let csv = std::fs::read_to_string(place.path("Decay.csv")).unwrap();
        let times: Vec<f64> = csv
            .lines()
            .skip(1)
            .map(|l| l.split(',').next().unwrap().parse().unwrap())
            .collect();
        times
    };
    assert_eq!(rows(&[]), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(rows(&["--interval", "1"]), [0.0, 1.0, 2.0]);
    assert_eq!(rows(&["--start", "1"]), [1.0, 1.5, 2.0]);
    assert_eq!(rows(&["--stop", "1"]), [0.0, 0.5, 1.0]);
    assert_eq!(rows(&["--stop", "0.25"]), [0.0, 0.25]);
    assert_eq!(rows(&["--start", "-1", "--stop", "-1"]), [-1.0]);
}

#[test]
fn set_changes_parameters_start_values_and_sizes() {
    let place = Place::with("Decay.mo", DECAY);
    let value = |set: &[&str], signal: &str| {
        let mut all = vec!["simulate", "Decay.mo", "--quiet", "--stop", "1"];
        all.extend(set.iter().flat_map(|s| ["--set", s]));
        place.acausal(&all).code(0);
        let result = acausal_results::read(&place.path("Decay.csv")).unwrap();
        result.value_at(signal, 1.0)
    };
    let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-4, "{a:?} {b}");
    near(value(&[], "x"), (-1.0f64).exp());
    near(value(&["k=2"], "x"), (-2.0f64).exp());
    near(value(&["k = 1 + 2/2"], "x"), (-2.0f64).exp());
    near(value(&["x.start=5", "k=0"], "x"), 5.0);
    near(value(&["n=5"], "z[5]"), (-1.0f64).exp());
    assert_eq!(value(&["n=2"], "z[3]"), None);
    assert_eq!(value(&[], "n"), Some(3.0));
}

#[test]
fn set_refuses_what_cannot_be_set() {
    let place = Place::with("Decay.mo", DECAY);
    for (set, part) in [
        ("q=1", "`q`"),
        ("f=1", "final"),
        ("c=1", "constant"),
        ("k", "name=value"),
        ("=1", ""),
        ("k=", "expression"),
        ("k=true", "Boolean"),
        ("k=abc", "`abc`"),
        ("n=2.5", "Integer"),
        ("x.begin=1", "begin"),
        ("k=1; end", ""),
    ] {
        let said = place
            .acausal(&["simulate", "Decay.mo", "--set", set])
            .code(2)
            .complains(&["error", part]);
        assert!(said.out.is_empty(), "{set}: {}", said.out);
        assert_eq!(place.files(), ["Decay.mo"], "{set}");
    }
}

#[test]
fn results_in_three_formats_agree() {
    let place = Place::with("Decay.mo", DECAY);
    let mut all = Vec::new();
    for name in ["r.csv", "r.mat", "r.parquet"] {
        let said = place
            .acausal(&["simulate", "Decay.mo", "--output", name])
            .code(0);
        assert!(said.out.contains(&format!("result: {name}")));
        let result = acausal_results::read(&place.path(name)).unwrap();
        let names: Vec<String> = result.signals().iter().map(|s| s.name.clone()).collect();
        for wanted in ["k", "n", "x", "z[1]", "z[3]"] {
            assert!(names.iter().any(|n| n == wanted), "{wanted} in {names:?}");
        }
        all.push((
            result.time().to_vec(),
            result.values("z[2]").unwrap().into_owned(),
        ));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    assert_eq!(place.files(), ["Decay.mo", "r.csv", "r.mat", "r.parquet"]);
}

#[test]
fn no_output_writes_nothing() {
    let place = Place::with("Decay.mo", DECAY);
    let said = place
        .acausal(&["simulate", "Decay.mo", "--no-output"])
        .code(0);
    assert!(!said.out.contains("result:"));
    assert_eq!(place.files(), ["Decay.mo"]);
}

#[test]
fn plots_in_three_formats() {
    let place = Place::with("Decay.mo", DECAY);
    for (name, mark) in [
        ("p.svg", &b"<svg"[..]),
        ("p.png", b"\x89PNG"),
        ("p.html", b"<!DOCTYPE html>"),
    ] {
        let said = place
            .acausal(&[
                "simulate",
                "Decay.mo",
                "--no-output",
                "--plot",
                "x, z[2]",
                "--plot-file",
                name,
            ])
            .code(0);
        assert!(said.out.contains(&format!("plot: {name}")), "{}", said.out);
        assert!(
            said.out.contains("A x") && said.out.contains("B z[2]"),
            "{}",
            said.out
        );
        let content = std::fs::read(place.path(name)).unwrap();
        assert!(
            content
                .windows(mark.len())
                .any(|w| w.eq_ignore_ascii_case(mark)),
            "{name} is not what it should be"
        );
    }
    assert_eq!(place.files(), ["Decay.mo", "p.html", "p.png", "p.svg"]);
    // An array as a whole is shown by some of its elements.
    let said = place
        .acausal(&[
            "simulate",
            "Decay.mo",
            "--no-output",
            "--set",
            "n=101",
            "--plot",
            "z",
        ])
        .code(0);
    for name in ["z[1]", "z[26]", "z[51]", "z[101]"] {
        assert!(said.out.contains(name), "{name} in {}", said.out);
    }
}

#[test]
fn check_reports_everything_at_once() {
    let place = Place::with(
        "Bad.mo",
        "model Bad\n  Real x(start = 1);\n  Reel y;\n  parameter Integer n = 2.5;\nequation\n  der(x) = -k*x;\nend Bad;\n",
    );
    place.acausal(&["check", "Bad.mo"]).code(1).complains(&[
        "Bad.mo:3:3",
        "`Reel`",
        "did you mean `Real`?",
        "Bad.mo:4:25",
        "Integer",
        "Bad.mo:6:13",
        "`k`",
        "^",
        "errors",
    ]);
    place.write("Decay.mo", DECAY);
    let said = place.acausal(&["check", "Decay.mo"]).code(0);
    assert_eq!(said.out, "Decay: no errors, 4 unknowns\n");
}

#[test]
fn flatten_prints_modelica() {
    let place = Place::with("Decay.mo", DECAY);
    let said = place
        .acausal(&["flatten", "Decay.mo", "--set", "n=1000"])
        .code(0);
    assert!(
        said.out.contains("der(x)") && said.out.contains("z[1000]"),
        "{}",
        said.out
    );
    // Arrays stay whole.
    assert!(said.out.lines().count() < 40, "{}", said.out);
    // What is printed is itself Modelica.
    place.write("Flat.mo", &said.out);
    place.acausal(&["parse", "Flat.mo"]).code(0);
}

#[test]
fn parse_takes_files_and_directories() {
    let place = Place::with("A.mo", "model A end A;");
    std::fs::create_dir_all(place.path("lib/sub")).unwrap();
    place
        .write("lib/sub/B.mo", "model B end C;")
        .write("lib/notes.txt", "not Modelica");
    let said = place
        .acausal(&["parse", "A.mo", "lib"])
        .code(1)
        .complains(&["B.mo:1:9"]);
    assert!(
        said.out.starts_with("2 files, ") && said.out.contains("1 error,"),
        "{}",
        said.out
    );
    let said = place.acausal(&["parse", "--quiet", "lib"]).code(1);
    assert!(said.err.is_empty());
    place
        .acausal(&["parse", "missing"])
        .code(2)
        .complains(&["missing cannot be read"]);
    place.acausal(&["parse"]).code(2);
}

#[test]
fn compare_lays_a_tube() {
    let place = Place::with("Decay.mo", DECAY);
    for (name, set) in [("a.csv", "k=1"), ("b.mat", "k=1.0001"), ("c.csv", "k=1.3")] {
        place
            .acausal(&[
                "simulate",
                "Decay.mo",
                "--quiet",
                "--interval",
                "0.01",
                "--set",
                set,
                "-o",
                name,
            ])
            .code(0);
    }
    let said = place
        .acausal(&["compare", "b.mat", "a.csv", "--signals", "x"])
        .code(0);
    assert!(said.out.contains("PASS 1/1 signals"), "{}", said.out);
    let said = place
        .acausal(&["compare", "c.csv", "a.csv", "--signals", "x,z[1]"])
        .code(1);
    assert!(said.out.contains("FAIL 1/2 signals"), "{}", said.out);
    place
        .acausal(&["compare", "a.csv", "missing.csv"])
        .code(2)
        .complains(&["missing.csv"]);
    place
        .acausal(&["compare", "a.csv", "Decay.mo"])
        .code(2)
        .complains(&["Decay.mo"]);
    place
        .acausal(&["compare", "a.csv", "a.csv", "--tol=-1"])
        .code(2)
        .complains(&["--tol"]);
}

#[test]
fn libraries_are_found() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("libs/Lib")).unwrap();
    place
        .write("libs/Lib/package.mo", "within; package Lib end Lib;")
        .write("libs/Lib/M.mo", "within Lib; model M Real x = time; end M;");
    place
        .acausal(&["simulate", "Lib.M", "--library", "libs", "--quiet"])
        .code(0);
    assert!(place.files().contains(&"M.csv".to_string()));
    place
        .acausal(&["simulate", "Lib.M"])
        .code(2)
        .complains(&["`Lib`", "--library"]);
    place
        .acausal(&["simulate", "Lib.N", "--library", "libs"])
        .code(2)
        .complains(&["`N`"]);
    place
        .acausal(&["simulate", "Lib.M", "--library", "nowhere"])
        .code(2)
        .complains(&["nowhere"]);
}

#[test]
fn a_file_with_several_classes() {
    let place = Place::with(
        "Two.mo",
        "model A Real x = 1; end A; model B Real y = 2; end B; package P model C Real z = 3; end C; end P;",
    );
    for (model, signal) in [("A", "x"), ("B", "y"), ("P.C", "z")] {
        let said = place
            .acausal(&[
                "simulate", "Two.mo", "--model", model, "-o", "r.csv", "--plot", signal,
            ])
            .code(0);
        assert!(said.out.contains(&format!("{model}: ")), "{}", said.out);
    }
    place
        .acausal(&["simulate", "Two.mo", "--model", "D"])
        .code(2)
        .complains(&["`D`"]);
}

#[test]
fn help_and_version() {
    let place = Place::new();
    assert!(
        place
            .acausal(&["--version"])
            .code(0)
            .out
            .starts_with("acausal ")
    );
    let help = place.acausal(&["--help"]).code(0).out;
    for verb in ["simulate", "check", "flatten", "parse", "compare"] {
        assert!(help.contains(verb));
        assert!(
            place
                .acausal(&[verb, "--help"])
                .code(0)
                .out
                .contains("Usage: acausal")
        );
    }
    place.acausal(&[]).code(2);
    place.acausal(&["frobnicate"]).code(2);
    place.acausal(&["simulate"]).code(2);
    place.acausal(&["simulate", "a.mo", "--bogus"]).code(2);
}

/// Exit codes as the guide has them: 2 is wrong use, 1 a wrong model, a run that failed or a comparison that did not pass.
#[test]
fn wrong_use_is_told_from_wrong_models() {
    let place = Place::with("Decay.mo", DECAY);
    place
        .write("bad.mo", "model Bad Real x end Bad;")
        .write("empty.mo", "")
        .write(
            "fails.mo",
            "model F Real x = time; equation assert(x < 0.5, \"too large\"); end F;",
        )
        .write("one.csv", "time,x\n0,1\n1,2\n")
        .write("two.csv", "time,x\n0,1\n1,5\n");
    std::fs::create_dir(place.path("dir")).unwrap();
    place
        .acausal(&["compile", "Decay.mo", "-o", "Decay.acm"])
        .code(0);
    let check = |arguments: &[&str], code: i32| {
        println!("{arguments:?}");
        place.acausal(arguments).code(code);
    };
    check(&[], 2);
    check(&["--help"], 0);
    check(&["bogus"], 2);
    for verb in ["simulate", "check", "explain", "flatten", "compile"] {
        for target in ["no.mo", "dir", "NoClass", "", "one.csv"] {
            check(&[verb, target], 2);
        }
        check(&[verb], 2);
        for target in ["bad.mo", "empty.mo"] {
            check(&[verb, target], 1);
        }
        for options in [
            &["--nope"][..],
            &["--format", "xml"],
            &["--model", "Nope"],
            &["--model", "Decay.x"],
            &["--library", "nowhere"],
            &["--set", ""],
            &["--set", "k"],
            &["--set", "k="],
            &["--set", "nope=1"],
            &["--set", "k=one"],
            &["--set", "k=1 2"],
            &["--set", "n=1.5"],
            &["--set", "f=3"],
            &["--set", "c=3"],
            &["--set", "x.start=q"],
            &["--memory-limit", "much"],
            &["--memory-limit", "0"],
            &["--max-components", "-1"],
            &["--max-evaluation-steps", "0"],
            &["more.mo"],
        ] {
            check(&[&[verb, "Decay.mo"], options].concat(), 2);
        }
    }
    for target in ["Decay.mo", "Decay.acm"] {
        for options in [
            &["--start", "5"][..],
            &["--stop=-1"],
            &["--stop", "inf"],
            &["--stop", "1 s"],
            &["--interval", "0"],
            &["--tolerance", "1"],
            &["--tolerance", "nan"],
            &["--max-order", "6"],
            &["--threads", "0"],
            &["--max-steps", "1.5"],
            &["--solver", "euler"],
            &["--log", "everything"],
            &["--observe", "nope"],
            &["--plot", "nope"],
            &["--from", "one.csv"],
            &["--from", "nothing"],
            &["--checkpoint-at", "5", "--checkpoint", "c"],
            &["--checkpoint-at", "1"],
            &["-o", "dir"],
            &["-o", "nowhere/a.csv"],
            &["-o", "a.xyz"],
            &["--no-output", "-o", "a.csv"],
        ] {
            check(&[&["simulate", target], options].concat(), 2);
        }
    }
    for options in [
        &["--scalarise"][..],
        &["--model", "Other"],
        &["--set", "n=4"],
    ] {
        check(&[&["simulate", "Decay.acm"], options].concat(), 2);
    }
    check(&["simulate", "fails.mo"], 1);
    check(&["flatten", "Decay.acm"], 2);
    check(&["compile", "Decay.mo", "-o", "nowhere/a.acm"], 2);
    check(&["compare", "one.csv", "one.csv"], 0);
    check(&["compare", "one.csv", "two.csv"], 1);
    for rest in [
        &["two.csv", "--signals", "nope"][..],
        &["no.csv"],
        &["dir"],
        &["Decay.mo"],
        &["one.csv", "--tol=-1"],
        &["one.csv", "--outliers", "1.5"],
        &["one.csv", "--atol", "nan"],
    ] {
        check(&[&["compare", "one.csv"], rest].concat(), 2);
    }
    check(&["parse", "Decay.mo"], 0);
    check(&["parse", "Decay.mo", "bad.mo"], 1);
    check(&["parse", "Decay.mo", "no.mo"], 2);
}
