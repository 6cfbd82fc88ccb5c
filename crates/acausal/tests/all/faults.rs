//! Everything that can go wrong on the way ends with the right message and exit code, and what was computed is kept.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;

const DECAY: &str = "model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;";

/// Last time in a CSV file.
fn reached(place: &Place, file: &str) -> f64 {
    let text = std::fs::read_to_string(place.path(file)).unwrap();
    let last = text.lines().last().unwrap();
    last.split(',').next().unwrap().parse().unwrap()
}

/// Times in a CSV file.
fn times(place: &Place, file: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(place.path(file)).unwrap();
    let time = |line: &str| line.split(',').next().unwrap().parse().unwrap();
    text.lines().skip(1).map(time).collect()
}

/// Each model fails at time 1: one with its residual, one with an assigned variable, one with a factor of a residual.
/// All rows of the grid before it are kept, and the last accepted step of those that the integrator gave up.
#[test]
fn not_a_number_after_time_one() {
    for (equation, part, last) in [
        (
            "der(x) = -x + sqrt(1 - time);",
            "the step size became too small at time = 0.99999",
            1.0 - 1e-9,
        ),
        (
            "der(x) = -x; y = log(1 - time);",
            "`y` is -inf at time = 1, because of this equation",
            0.9,
        ),
        (
            "der(x) = -x*log(1 - time);",
            "`der(x) + x*log(-time + 1) = 0` is not a finite number",
            1.0 - 1e-9,
        ),
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
        place
            .acausal(&["simulate", "M.mo", "--stop", "2", "--interval", "0.1"])
            .code(1)
            .complains(&[
                "error[not-a-number]",
                "M.mo:2",
                part,
                "the result up to this point: M.partial.csv",
            ]);
        assert_eq!(place.files(), ["M.mo", "M.partial.csv"]);
        let times = times(&place, "M.partial.csv");
        for (k, t) in times.iter().take(10).enumerate() {
            assert!((t - 0.1 * k as f64).abs() < 1e-12, "{times:?}");
        }
        let end = *times.last().unwrap();
        assert!(end >= last - 1e-12 && end <= 1.0, "{end} of {equation}");
    }
}

/// `y^2 = 1 - x` folds at x = 1: no solution continues behind it, and no step from there converges.
#[test]
fn a_fold_on_the_way() {
    let place = Place::with(
        "N.mo",
        "model N Real x(start = 0, fixed = true), y(start = 1); equation
  der(x) = 1;
  y*y = 1 - x;
end N;",
    );
    place
        .acausal(&["simulate", "N.mo", "--stop", "3", "--interval", "0.1"])
        .code(1)
        .complains(&[
            "error[singular]",
            "N.mo:3:3",
            "this equation does not determine `y` at time = ",
            "the solution that was followed folds back there",
            "the result up to this point: N.partial.csv",
        ]);
    assert_eq!(place.files(), ["N.mo", "N.partial.csv"]);
    let times = times(&place, "N.partial.csv");
    assert!(times.len() >= 11, "{times:?}");
    let end = times.last().unwrap();
    assert!((end - 1.0).abs() < 1e-6, "{end}");
}

/// `y^3 - y = u` folds where `3*y^2 = 1`, at u = 2/sqrt(27): the run goes on with the other solution and says so, whatever the time scale is, with and without states, and on all
/// branches. (At some scales it did, at others the equation was called singular.)
#[test]
fn a_fold_is_left_in_the_same_way_at_every_time_scale() {
    let fold = 2.0 / 27f64.sqrt();
    for scale in [1e-13, 1e-11, 1e-9, 1e-6, 1e-3, 1.0, 1e6] {
        for (start, u, instant) in [
            (-1.2, format!("u = -0.6 + time/{scale}"), 0.6 + fold),
            (-1.2, format!("der(u) = 1/{scale}"), 0.6 + fold),
            (0.0, format!("u = 2*sin(time/{scale})"), (fold / 2.0).asin()),
            (
                -1.0,
                format!("u = 2*sin(time/{scale})"),
                (fold / 2.0).asin(),
            ),
        ] {
            let fixed = u.starts_with("der");
            let text = format!(
                "model M Real y(start = {start}), u(start = -0.6, fixed = {fixed}); equation y^3 - y = u; {u}; end M;"
            );
            let model =
                acausal::Model::from_text("M.mo", &text, &acausal::Load::default()).unwrap();
            let settings = acausal::Settings {
                stop: 1.5 * scale,
                interval: 0.01 * scale,
                ..acausal::Settings::default()
            };
            let run = model.simulate_in_memory(&settings);
            let run = run.unwrap_or_else(|e| panic!("{scale}, {u}: {e}"));
            let told = &run.summary.warnings[..];
            assert_eq!(told.len(), 1, "{scale}, {u}: {told:?}");
            let at = told[0]
                .strip_prefix("at time = ")
                .unwrap()
                .split(':')
                .next();
            let at: f64 = at.unwrap().parse().unwrap();
            assert!(
                (at / scale - instant).abs() < 1e-5,
                "{scale}, {u}: {told:?}"
            );
            let end = |name| run.result.values(name).unwrap().last().copied().unwrap();
            let (y, u) = (end("y"), end("u"));
            assert!(
                y > 1.0 && (y.powi(3) - y - u).abs() < 1e-6,
                "{scale}: {y}, {u}"
            );
        }
    }
}

/// Behind the top of a sine there is no solution at all, and none is made up: at y = 7e5 an error of 1e-9 once passed for rounding.
#[test]
fn a_fold_without_another_solution_ends_the_run_at_every_time_scale() {
    for scale in [1e-13, 1e-11, 1e-9, 1e-6, 1e-3, 1.0, 1e6] {
        let text = format!("model M Real y(start = 0); equation sin(y) = time/{scale}; end M;");
        let model = acausal::Model::from_text("M.mo", &text, &acausal::Load::default()).unwrap();
        let settings = acausal::Settings {
            stop: 3.0 * scale,
            interval: 0.01 * scale,
            ..acausal::Settings::default()
        };
        let message = model.simulate_in_memory(&settings).unwrap_err().to_string();
        let told = message
            .split("this equation does not determine `y` at time = ")
            .nth(1);
        let told = told.unwrap_or_else(|| panic!("{scale}: {message}"));
        let at = told.split([':', '\n']).next().unwrap().trim();
        let at: f64 = at.parse().unwrap();
        assert!((at / scale - 1.0).abs() < 1e-6, "{scale}: {message}");
    }
}

/// The coefficient of z loses its difference to that of the other equation at an event, so the Jacobian is singular.
#[test]
fn a_singular_jacobian_on_the_way() {
    let place = Place::with(
        "S.mo",
        "model S Real x(start = 0, fixed = true), y, z; equation
  der(x) = 1;
  y + z = 1;
  y + (if time < 1 then 2 else 1)*z = 3;
end S;",
    );
    place
        .acausal(&["simulate", "S.mo", "--stop", "3", "--interval", "0.1"])
        .code(1)
        .complains(&[
            "error[singular]",
            "does not determine `y` at time = 1",
            "S.mo:4:3",
            "the result up to this point: S.partial.csv",
        ]);
    let times = times(&place, "S.partial.csv");
    // The last row of the grid, and the limit from the left at the event.
    assert_eq!(times[10..], [1.0, 1.0], "{times:?}");
}

/// A pole between two steps: `z = 2/(x - 1)`. The integrator would find the other branch behind it.
#[test]
fn equations_that_become_singular_between_steps() {
    let place = Place::with(
        "P.mo",
        "model P Real x(start = 0, fixed = true), w(start = 1, fixed = true), y, z; equation
  der(x) = 1;
  der(w) = -w;
  y + z = 1;
  y + x*z = 3;
end P;",
    );
    place
        .acausal(&["simulate", "P.mo", "--stop", "3", "--interval", "0.3"])
        .code(1)
        .complains(&[
            "error[singular]",
            "at time = 1.0000000",
            "P.mo:",
            "the result up to this point: P.partial.csv",
        ]);
    let times = times(&place, "P.partial.csv");
    assert!(times.len() >= 4, "{times:?}");
    // The equations agree with each other where they are singular: z = 2 throughout, and the run goes on.
    place.write(
        "R.mo",
        "model R Real x(start = 0, fixed = true), y, z; equation
  der(x) = 1;
  y + z = 1;
  y + x*z = 1 + 2*(x - 1);
end R;",
    );
    place
        .acausal(&["simulate", "R.mo", "--stop", "3.1", "--quiet"])
        .code(0);
}

/// A pole is found whatever else the model contains: other loops, few and many, and a second pole at the same instant, which leaves the sign of the determinant of the
/// whole model as it is.
#[test]
fn a_pole_is_found_in_every_model() {
    for (cells, poles) in [(1, 1), (1, 2), (100, 1), (3000, 2)] {
        let text = format!(
            "model P Real x(start = 0, fixed = true), y[{poles}], z[{poles}];
  Real a[{cells}](each start = 1, each fixed = true), w[{cells}]; equation
  der(x) = 1;
  for i in 1:{poles} loop y[i] + z[i] = 1; y[i] + x*z[i] = 3; end for;
  for i in 1:{cells} loop der(a[i]) = -w[i]; w[i]^3 + w[i] = a[i]; end for;
end P;"
        );
        let place = Place::with("P.mo", &text);
        let arguments = ["simulate", "P.mo", "--stop", "3", "--observe", "x"];
        place
            .acausal(&arguments)
            .code(1)
            .complains(&["error[singular]", "at time = 1.0000000"]);
    }
}

/// A disk that is full: the message names the file, and the run does not claim success. The limit on the size of files
/// stands for the disk. What fitted is a valid file with the rows from the start on; nothing but the torn end is lost.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    // 64 blocks of 512 bytes; at most a thousandth of the rows of a Parquet file more is given up.
    const LIMIT: u64 = 64 * 512;
    for (kind, interval, row_bytes) in [
        // Full long before the end, and full when the last buffer is written.
        ("csv", "1e-5", 48),
        ("csv", "4e-4", 48),
        ("mat", "1e-5", 24),
        ("mat", "2e-4", 24),
        ("parquet", "1e-5", 24),
    ] {
        let place = Place::with("Decay.mo", DECAY);
        let file = format!("full.{kind}");
        let output = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_acausal"))
            .args(["simulate", "Decay.mo", "--quiet", "--interval", interval])
            .args(["--output", &file])
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{kind}: {err}");
        let kept = format!("full.partial.{kind}");
        for part in [
            &format!("error[output]: cannot write to the result file {file}: File too large"),
            &format!("the result up to this point: {kept}"),
        ] {
            assert!(err.contains(part), "{kind}: {err}");
        }
        let mut names = vec!["Decay.mo".to_string(), kept.clone()];
        names.sort();
        assert_eq!(place.files(), names);
        let size = std::fs::metadata(place.path(&kept)).unwrap().len();
        assert!(size <= LIMIT, "{kind}: {size}");
        let result = acausal_results::read(&place.path(&kept)).unwrap();
        let (time, x) = (result.time(), result.values("x").unwrap());
        let step: f64 = interval.parse().unwrap();
        assert!(
            time.len() as u64 * row_bytes > LIMIT - 4096,
            "{kind}: only {} rows",
            time.len()
        );
        for (k, (t, x)) in time.iter().zip(x.iter()).enumerate() {
            assert!((t - step * k as f64).abs() < 1e-9, "{kind}: row {k} at {t}");
            assert!((x - (-t).exp()).abs() < 1e-4, "{kind}: {x} at {t}");
        }
    }
    let place = Place::with("Decay.mo", DECAY);
    place
        .acausal(&[
            "simulate",
            "Decay.mo",
            "--no-output",
            "--checkpoint",
            "/dev/full",
        ])
        .code(1)
        .complains(&[
            "error[output]",
            "/dev/full cannot be written: No space left",
        ]);
}

/// A start from which the first value overflows is refused with the guess; one that is too far is given up with the guess
/// and the residual; one that is merely far is solved.
#[test]
fn a_start_far_away() {
    let place = Place::with(
        "Far.mo",
        "model Far Real y(start = 1e6); equation
  exp(y) + y = 3;
end Far;",
    );
    place.acausal(&["simulate", "Far.mo"]).code(1).complains(&[
        "error[initial-not-finite]: this equation has no finite value at the start",
        "Far.mo:2:3",
        "with y = 1000000 (the guess)",
        "give start values for which it is defined",
    ]);
    assert_eq!(place.files(), ["Far.mo"]);
    place.write(
        "Farther.mo",
        "model Farther Real y(start = 500); equation exp(y) + y = 3; end Farther;",
    );
    place
        .acausal(&["simulate", "Farther.mo"])
        .code(1)
        .complains(&[
            "error[initial-no-convergence]: no solution for `y` was found at the start",
            "Farther.mo:1:",
            "y = 500",
        ]);
    place.write(
        "Farther.mo",
        "model Farther Real y(start = 50); equation exp(y) + y = 3; end Farther;",
    );
    place
        .acausal(&["simulate", "Farther.mo", "--quiet"])
        .code(0);
    let text = std::fs::read_to_string(place.path("Farther.csv")).unwrap();
    let y: f64 = text
        .lines()
        .last()
        .unwrap()
        .split(',')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!((y.exp() + y - 3.0).abs() < 1e-9, "{y}");
}

#[test]
fn tolerances_that_numbers_cannot_reach() {
    let place = Place::with("Decay.mo", DECAY);
    // The limit is a hundred units in the last place, 2.2e-14.
    for tolerance in ["1e-14", "1e-17"] {
        place
            .acausal(&["simulate", "Decay.mo", "--tolerance", tolerance])
            .code(1)
            .complains(&[
                "error[tolerance]: the tolerance is too small for double precision at time = 0",
                "times larger",
            ]);
    }
    place
        .acausal(&[
            "simulate",
            "Decay.mo",
            "--tolerance",
            "3e-14",
            "--no-output",
        ])
        .code(0);
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
        place
            .acausal(&all)
            .code(2)
            .complains(&["error[settings]", part]);
        assert_eq!(place.files(), ["Decay.mo"]);
    }
    // The stop time before the start time of the annotation.
    place.write(
        "Late.mo",
        "model Late Real x(start = 1, fixed = true); equation der(x) = -x; annotation(experiment(StartTime = 5)); end Late;",
    );
    place
        .acausal(&["simulate", "Late.mo", "--stop", "1"])
        .code(2)
        .complains(&[
            "error[settings]",
            "the stop time 1 lies before the start time 5",
        ]);
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

/// A subscript that runs out of its array is named with array, value and size; one that is not used is no error.
#[test]
fn a_subscript_out_of_range() {
    for (declaration, equation, array) in [
        (
            "parameter Real a[3] = {1, 2, 3};",
            "der(x) = a[i];",
            "subscript 4 of a is",
        ),
        (
            "Real a[3] = {x, 2*x, 3};",
            "der(x) = a[i];",
            "subscript 4 of a is",
        ),
        (
            "parameter Integer b[3] = {5, 6, 7}; Integer n;",
            "n = b[i]; der(x) = n;",
            "subscript 4 of b is",
        ),
    ] {
        let place = Place::new();
        place.write(
            "M.mo",
            format!(
                "model M Real x(start = 0, fixed = true); {declaration} Integer i(start = 1, fixed = true); equation
                   when sample(0.25, 0.25) then i = pre(i) + 1; end when; {equation}
                 end M;"
            ),
        );
        place
            .acausal(&["simulate", "M.mo", "--stop", "2"])
            .code(1)
            .complains(&[
                "error[subscript-bounds]",
                array,
                "outside of 1:3 at time = 0.75",
                "M.mo:",
            ]);
        let guarded = equation.replace("[i]", "[min(i, 3)]");
        place.write(
            "G.mo",
            format!(
                "model G Real x(start = 0, fixed = true); {declaration} Integer i(start = 1, fixed = true); equation
                   when sample(0.25, 0.25) then i = pre(i) + 1; end when; {guarded}
                 end G;"
            ),
        );
        place
            .acausal(&["simulate", "G.mo", "--stop", "2", "--quiet"])
            .code(0);
    }
}

/// The text of an assertion is built when it fails, with the values of that time, also where it stands in a function that
/// is inlined into another one.
#[test]
fn assertions_speak_with_values() {
    let place = Place::with(
        "A.mo",
        "model A
  function root
    input Real x;
    output Real y;
  algorithm
    assert(x >= 0, \"root of a negative number\");
    y := sqrt(noEvent(abs(x)));
  end root;
  function walk \"its loop depends on an argument\"
    input Real x;
    output Real y;
  protected
    Integer k;
  algorithm
    y := x;
    k := 0;
    while k < 10*x loop
      k := k + 1;
      y := y + 0.1*root(x - 0.5);
    end while;
  end walk;
  Real x(start = 1, fixed = true), z;
equation
  der(x) = -1;
  z = walk(x);
end A;",
    );
    place
        .acausal(&["simulate", "A.mo", "--interval", "0.1"])
        .code(1)
        .complains(&[
            "error[assertion]: assertion failed at time = 0.",
            "root of a negative number",
            "A.mo:25:3",
            "in function A.walk, called from here",
        ]);
    place.write(
        "B.mo",
        "model B
  parameter Integer n = 3;
  Real x[n](each start = 0, each fixed = true);
equation
  for i in 1:n loop
    der(x[i]) = i;
    assert(x[i] < 2, \"x[\" + String(i) + \"] = \" + String(x[i], significantDigits = 3) + \" at \" + String(time, format = \".2f\"));
  end for;
end B;",
    );
    place
        .acausal(&["simulate", "B.mo", "--stop", "2", "--interval", "0.1"])
        .code(1)
        .complains(&["error[assertion]", "B.mo:7:5", ": x[3] = 2", " at 0."]);
}
