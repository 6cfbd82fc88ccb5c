//! Everything that can go wrong on the way ends with the right message and exit code, and what was computed is kept.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/command.rs"]
mod command;

use command::Place;

const DECAY: &str = "model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;";

/// Last time in a CSV file.
fn reached(place: &Place, file: &str) -> f64 {
    let text = std::fs::read_to_string(place.path(file)).unwrap();
    let last = text.lines().last().unwrap();
    last.split(',').next().unwrap().parse().unwrap()
}

/// Each model fails at time 1, one with its residual, one with an assigned variable, one with a run-time function.
#[test]
fn not_a_number_after_time_one() {
    for (equation, part) in [
        ("der(x) = -x + sqrt(1 - time);", "sqrt(1 - time)"),
        ("der(x) = -x; y = log(1 - time);", "`y` is "),
        ("der(x) = -x*log(1 - time);", "log(1 - time)"),
    ] {
        let place = Place::new();
        let y = if equation.contains("y =") {
            "Real y;"
        } else {
            ""
        };
        place.write(
            "M.mo",
            format!("model M Real x(start = 1, fixed = true); {y} equation\n  {equation}\nend M;"),
        );
        let said = place
            .acausal(&["simulate", "M.mo", "--stop", "2", "--interval", "0.1"])
            .code(1)
            .complains(&["M.mo:2", part, "the result up to this point: M.partial.csv"]);
        assert!(said.err.contains("time = "), "{}", said.err);
        assert_eq!(place.files(), ["M.mo", "M.partial.csv"]);
        let t = reached(&place, "M.partial.csv");
        assert!((0.85..=1.01).contains(&t), "{t} of {equation}");
    }
}

/// `y^2 = 1 - x` folds at x = 1: the Jacobian is singular there and no solution continues behind it.
#[test]
fn a_singular_jacobian_on_the_way() {
    let place = Place::with(
        "N.mo",
        "model N Real x(start = 0, fixed = true), y(start = 1); equation
  der(x) = 1;
  y*y = 1 - x;
end N;",
    );
    let said = place
        .acausal(&["simulate", "N.mo", "--stop", "3", "--interval", "0.1"])
        .code(1);
    assert!(
        ["singular", "no-progress", "step-too-small"]
            .iter()
            .any(|c| said.err.contains(c)),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("N.mo:") && said.err.contains("time = "),
        "{}",
        said.err
    );
    assert!(place.files().contains(&"N.partial.csv".to_string()));
}

/// A disk that is full: the message names the file, and the run does not claim success. The limit on the size of files
/// stands for the disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    let place = Place::with("Decay.mo", DECAY);
    for kind in ["csv", "mat", "parquet"] {
        let file = format!("full.{kind}");
        let output = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_acausal"))
            .args([
                "simulate",
                "Decay.mo",
                "--interval",
                "1e-5",
                "--output",
                &file,
            ])
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(
            err.contains("error[output]") && err.contains(&file),
            "{err}"
        );
        assert!(err.contains("File too large"), "{err}");
        assert!(!place.path(&file).exists(), "{:?}", place.files());
    }
    let said = place
        .acausal(&[
            "simulate",
            "Decay.mo",
            "--no-output",
            "--checkpoint",
            "/dev/full",
        ])
        .code(1);
    assert!(said.err.contains("No space left"), "{}", said.err);
}

#[test]
fn tolerances_that_numbers_cannot_reach() {
    let place = Place::with("Decay.mo", DECAY);
    // 1e-14 can still be computed with; less than the precision cannot.
    let said = place.acausal(&[
        "simulate",
        "Decay.mo",
        "--tolerance",
        "1e-14",
        "--no-output",
    ]);
    assert!(
        said.code == 0 || said.err.contains("error[tolerance]"),
        "{}",
        said.err
    );
    place
        .acausal(&["simulate", "Decay.mo", "--tolerance", "1e-17"])
        .code(1)
        .complains(&[
            "error[tolerance]",
            "too small for double precision",
            "times larger",
        ]);
}

#[test]
fn settings_that_make_no_sense() {
    let place = Place::with("Decay.mo", DECAY);
    for (arguments, part) in [
        (
            &["--start", "2", "--stop", "1"][..],
            "the stop time 1 lies before the start time 2",
        ),
        (
            &["--interval", "0"][..],
            "--interval needs a positive number, not 0",
        ),
        (
            &["--interval", "-1"][..],
            "--interval needs a positive number",
        ),
        (
            &["--tolerance", "0"][..],
            "--tolerance needs a number between 0 and 1",
        ),
        (&["--stop", "nan"][..], "--stop needs a finite number"),
    ] {
        let all: Vec<&str> = ["simulate", "Decay.mo"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        place.acausal(&all).code(2).complains(&[part]);
        assert_eq!(place.files(), ["Decay.mo"]);
    }
    // The stop time before the start time of the annotation.
    place.write(
        "Late.mo",
        "model Late Real x(start = 1, fixed = true); equation der(x) = -x; annotation(experiment(StartTime = 5)); end Late;",
    );
    let said = place.acausal(&["simulate", "Late.mo", "--stop", "1"]);
    assert_ne!(said.code, 0);
    assert!(
        said.err
            .contains("the stop time 1 lies before the start time 5"),
        "{}",
        said.err
    );
}

/// A simulation of no length is one row.
#[test]
fn stop_equals_start() {
    let place = Place::with("Decay.mo", DECAY);
    place
        .acausal(&[
            "simulate", "Decay.mo", "--start", "1", "--stop", "1", "--quiet",
        ])
        .code(0);
    assert_eq!(reached(&place, "Decay.csv"), 1.0);
}
