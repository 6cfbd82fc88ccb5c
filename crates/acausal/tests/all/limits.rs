//! Nothing breaks, hangs or is lost: what asks for too much is refused with a message, whatever happens there is one answer, and
//! nothing is left behind.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::command::{Place, Said};

/// A model that asks for too much, the codes of which one must be said, and options.
struct TooMuch {
    text: &'static str,
    code: &'static str,
    says: &'static str,
    options: &'static [&'static str],
}

/// Runs a verb for people and for programs; both must say the same within seconds.
#[track_caller]
fn refused(verb: &str, case: &TooMuch) {
    let place = Place::with("M.mo", case.text);
    let clock = Instant::now();
    let mut arguments = vec![verb, "M.mo"];
    arguments.extend_from_slice(case.options);
    if verb == "simulate" {
        arguments.push("--no-output");
    }
    let said = place.acausal(&arguments).code(1);
    let code = format!("error[{}]", case.code);
    let said = said.complains(&[&code, case.says, "hint: "]);
    assert!(!said.err.contains("internal"), "{}", said.err);
    arguments.extend(["--format", "json"]);
    let said = place.acausal(&arguments).code(1);
    let object = said.json();
    assert_eq!(object["ok"], false);
    assert_eq!(object["diagnostics"][0]["code"], case.code, "{object}");
    // Sixty times what it takes on a machine with nothing else to do.
    let seconds = clock.elapsed().as_secs();
    assert!(seconds < 120, "{seconds} s for {}", case.text);
    assert_eq!(place.files(), ["M.mo"]);
}

#[test]
fn arrays_and_texts_beyond_memory() {
    let small: &[&str] = &["--memory-limit", "100M"];
    let cases = [
        TooMuch {
            text: "model M Real x[2147483647]; equation\n for i in 1:2147483647 loop x[i] = time; end for; end M;",
            code: "too-large",
            says: "M.mo:1:",
            options: &[],
        },
        TooMuch {
            text: "model M\n parameter Real e[:] = fill(1.0, 2000000000); Real x = e[3]*time; end M;",
            code: "too-large",
            says: "M.mo:2:",
            options: &[],
        },
        TooMuch {
            text: "model M\n Real x[20000000](each start = 1, each fixed = true); equation der(x) = -x; end M;",
            code: "too-large",
            says: "`x`",
            options: small,
        },
        // A full matrix of derivatives.
        TooMuch {
            text: "model M parameter Integer n = 20000; Real x[n](each start = 1, each fixed = true); equation
  for i in 1:n loop der(x[i]) = sum(x[j]*sin(i*j) for j in 1:n); end for; end M;",
            code: "too-large",
            says: "M.mo:2:",
            options: small,
        },
        // Each array fits, all of them together do not.
        TooMuch {
            text: "model M\n Real x[1000000](each start = 1, each fixed = true); equation der(x) = -x; end M;",
            code: "too-large",
            says: "needs at least",
            options: small,
        },
        TooMuch {
            text: "model M
  function f input Integer n; output String s; algorithm s := \"a\";
    for i in 1:n loop s := s + s; end for; end f;
  parameter String s = f(60); Real z = time; end M;",
            code: "too-large",
            says: "a text of",
            options: small,
        },
        TooMuch {
            text: "model M parameter String s = String(1.5, minimumLength = 2000000000); Real z = time; end M;",
            code: "too-large",
            says: "a text of 2.0 GB",
            options: small,
        },
    ];
    for case in &cases {
        for verb in ["check", "simulate"] {
            refused(verb, case);
        }
    }
}

/// What nobody foresaw is refused by the allocator. Reading a large file needs memory for its text and tree.
#[test]
fn the_last_resort_is_a_message() {
    let mut text = "model M\n".to_string();
    for k in 0..60_000 {
        text.push_str(&format!("  Real x{k} = {k}*time;\n"));
    }
    text.push_str("end M;");
    let place = Place::with("M.mo", &text);
    let limit = ["check", "M.mo", "--memory-limit", "20M"];
    place
        .acausal(&limit)
        .code(1)
        .complains(&["error[memory-limit]: out of memory while", "--memory-limit"]);
    let said = place.acausal(&[
        "simulate",
        "M.mo",
        "-o",
        "x.csv",
        "--memory-limit",
        "20M",
        "--format",
        "json",
    ]);
    let object = said.code(1).json();
    assert_eq!(object["diagnostics"][0]["code"], "memory-limit");
    assert_eq!(place.files(), ["M.mo"]);
    // With enough of it the model is fine.
    place
        .acausal(&["check", "M.mo", "--memory-limit", "2G"])
        .code(0);
}

#[test]
fn recursions_and_loops_without_end() {
    let counting = "model M
  function f input Integer n; output Real y; algorithm y := f(n + 1); end f;
  parameter Real e = f(1);
  Real x = e*time; end M;";
    let mutual = "model M
  function f input Integer n; output Real y; algorithm y := g(n + 1); end f;
  function g input Integer n; output Real y; algorithm y := f(n + 1); end g;
  Real x = f(1)*time; end M;";
    let real = "model M
  function f input Real n; output Real y; algorithm y := f(n + 1); end f;
  parameter Real e = f(1); Real x = e*time; end M;";
    let growing = "model M
  function f input Real a[:]; output Real y; algorithm y := f(cat(1, a, {1})); end f;
  parameter Real e = f({1}); Real x = e*time; end M;";
    for text in [counting, mutual, real, growing] {
        for verb in ["check", "simulate", "flatten", "explain"] {
            let case = TooMuch {
                text,
                code: "endless-recursion",
                says: "calls itself without end",
                options: &[],
            };
            refused(verb, &case);
        }
    }
    let endless = TooMuch {
        text: "model M
  function f input Integer n; output Integer y; algorithm y := 0; while y >= 0 loop y := y + 1; y := y - 1; end while; end f;
  parameter Integer n = f(1); Real x[n]; equation x = fill(time, n); end M;",
        code: "evaluation-steps",
        says: "function M.f does not end within 1000000 steps",
        options: &["--max-evaluation-steps", "1e6"],
    };
    refused("check", &endless);
}

/// At run time the function is named as well.
#[test]
fn a_recursion_without_end_at_run_time() {
    let place = Place::with(
        "M.mo",
        "model M
  function f input Real n; output Real y; algorithm y := f(n + 1); end f;
  Real x(start = 0, fixed = true); equation der(x) = f(x); end M;",
    );
    place
        .acausal(&["simulate", "M.mo", "--no-output"])
        .code(1)
        .complains(&["function M.f calls itself without end"]);
}

/// A recursion that ends is evaluated: 120! = 6.69e198, and the Fibonacci number 20 is 6765.
#[test]
fn recursions_that_end() {
    let place = Place::with(
        "M.mo",
        "model M
  function f input Integer n; output Real y; algorithm y := if n <= 1 then 1 else n*f(n - 1); end f;
  function g input Integer n; output Integer y; algorithm y := if n <= 2 then 1 else g(n - 1) + g(n - 2); end g;
  parameter Real e = f(120); parameter Integer k = g(20); Real x = e*time; end M;",
    );
    place
        .acausal(&["simulate", "M.mo", "--quiet", "--interval", "1"])
        .code(0);
    let text = std::fs::read_to_string(place.path("M.csv")).unwrap();
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let last: Vec<f64> = (text.lines().last().unwrap().split(','))
        .map(|v| v.parse().unwrap())
        .collect();
    let value = |name: &str| last[names.iter().position(|n| *n == name).unwrap()];
    assert!((value("e") / 6.689502913449127e198 - 1.0).abs() < 1e-12);
    assert_eq!(value("k"), 6765.0);
}

/// The sum of the first 10^9 numbers: the compiler leaves it to run time, where it takes a second or two.
#[test]
fn long_sums() {
    let place = Place::with(
        "M.mo",
        "model M parameter Real e = sum(i for i in 1:1000000000); Real x = e*time; end M;",
    );
    let clock = Instant::now();
    place.acausal(&["check", "M.mo"]).code(0);
    assert!(clock.elapsed() < Duration::from_secs(60));
}

/// Twenty levels of two components each are a million; the limit is said once and can be raised.
/// Arrays that fit into memory one by one and not together, before a pass goes through their elements.
#[test]
fn arrays_of_components_beyond_memory() {
    refused(
        "check",
        &TooMuch {
            text: "model M connector C Real v; flow Real i; end C; model A C p, n; equation p.v - n.v = p.i; p.i + n.i = 0; end A; A a[30000000];\n \
                   equation for i in 1:29999999 loop connect(a[i].n, a[i+1].p); end for; a[1].p.v = 1; a[30000000].n.v = 0; end M;",
            code: "too-large",
            says: "of variables before it need at least 720.0 MB of memory, the limit is 500.0 MB",
            options: &["--memory-limit", "500M"],
        },
    );
}

/// Arrays in pieces stay pieces, however long one of them is: the sum of 1 to n, 1 and 2.
#[test]
fn long_pieces_of_arrays() {
    let place = Place::new();
    for (text, value) in [
        (
            "model M constant Real x = sum(cat(1, 1:3000000, {1, 2})); Real y = x*time; end M;",
            4.500_001_5e12 + 3.0,
        ),
        (
            "model M constant Real x = max(cat(1, {4e6, 2}, 1:3000000)); Real y = x*time; end M;",
            4e6,
        ),
        (
            "model M Real x = sum(cat(1, {time, 2*time}, 1:2:3000000)); Real y = x - 3*time; end M;",
            2.25e12,
        ),
    ] {
        place.write("M.mo", text);
        let clock = Instant::now();
        place
            .acausal(&["simulate", "M.mo", "-q", "--interval", "1", "--stop", "1"])
            .code(0);
        assert!(clock.elapsed() < Duration::from_secs(60), "{text}");
        let csv = std::fs::read_to_string(place.path("M.csv")).unwrap();
        let (names, last) = (csv.lines().next().unwrap(), csv.lines().last().unwrap());
        let k = names.split(',').position(|n| n == "y").unwrap();
        let found: f64 = last.split(',').nth(k).unwrap().parse().unwrap();
        assert!(
            (found - value).abs() <= 1e-9 * value,
            "{found} {value} {text}"
        );
    }
}

#[test]
fn components_that_double() {
    let mut text = "package P\n model A0 Real x = time; end A0;\n".to_string();
    for k in 1..=12 {
        text.push_str(&format!(
            " model A{k} A{p} a; A{p} b; end A{k};\n",
            p = k - 1
        ));
    }
    text.push_str("end P;");
    let place = Place::with("P.mo", &text);
    let few = [
        "check",
        "P.mo",
        "--model",
        "P.A12",
        "--max-components",
        "1000",
    ];
    let said = place.acausal(&few).code(1).complains(&[
        "error[too-many-components]",
        "more than 1000 components",
        "--max-components",
    ]);
    assert_eq!(said.err.matches("error[").count(), 1, "{}", said.err);
    place
        .acausal(&[
            "check",
            "P.mo",
            "--model",
            "P.A12",
            "--max-components",
            "20000",
        ])
        .code(0);
}

#[test]
fn instants_that_are_too_many_or_too_near() {
    let decay = "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;";
    let sampled = |interval: &str| {
        format!(
            "model M Integer n(start = 0); equation\n when sample(0, {interval}) then n = pre(n) + 1; end when; end M;"
        )
    };
    let clocked = "model M Real y; equation\n y = sample(time, Clock(1e-9)); end M;";
    let table: [(&str, &[&str], &str); 9] = [
        (decay, &["--stop", "1e-306"], "is too short"),
        (decay, &["--interval", "1e-310"], "is too short"),
        (
            decay,
            &["--interval", "1e-12"],
            "1.000e12 rows, more than 100000000",
        ),
        (
            decay,
            &[
                "--start",
                "1e9",
                "--stop",
                "1000000001",
                "--interval",
                "1e-9",
            ],
            "too short",
        ),
        (decay, &["--start=-1e308", "--stop", "1e308"], "too long"),
        (
            &sampled("1e-300"),
            &[],
            "an interval of 1e-300 is too short",
        ),
        (
            &sampled("1e-9"),
            &[],
            "an interval of 1e-9 gives 1.000e9 events until time = 1",
        ),
        (&sampled("1e-4"), &["--max-events", "100"], "more than 100"),
        (clocked, &[], "events until time = 1, more than 10000000"),
    ];
    for (text, options, says) in table {
        let place = Place::with("M.mo", text);
        let mut arguments = vec!["simulate", "M.mo"];
        arguments.extend_from_slice(options);
        // A time or an interval that was asked for is wrong use, one in the model a wrong model.
        let code = if text == decay { 2 } else { 1 };
        place.acausal(&arguments).code(code).complains(&[says]);
        assert_eq!(place.files(), ["M.mo"], "{text} {options:?}");
    }
    // Raised limits, and short spans that numbers can express.
    for options in [
        &["--interval", "1e-3", "--max-rows", "1000"][..],
        &["--stop", "1e-200"],
        &["--stop", "1e-12"],
    ] {
        let place = Place::with("M.mo", decay);
        let mut arguments = vec!["simulate", "M.mo", "--quiet"];
        arguments.extend_from_slice(options);
        place.acausal(&arguments).code(0);
    }
    let place = Place::with("M.mo", &sampled("0.01"));
    place
        .acausal(&["simulate", "M.mo", "--quiet", "--max-events", "101"])
        .code(0);
}

/// No byte that a terminal obeys, wherever text of the model goes.
#[test]
fn terminals_are_not_commanded() {
    let place = Place::with(
        "M\u{1b}[31m.mo",
        "model M \"about \u{1b}[32m\"
  Real 'a\u{1b}]0;pwned\u{7}\u{1b}[31m\u{9b}1m\u{202e}'(unit = \"\u{1b}[33m\") = time \"text \u{1b}[34m\";
  parameter String s = \"\u{1b}[35m\";
equation
  assert(time < 0.5, \"boom \u{1b}[31m\" + s, AssertionLevel.warning);
  when time > 0.8 then terminate(\"done \u{1b}[36m\" + s); end when;
end M;",
    );
    let file = "M\u{1b}[31m.mo";
    let clean = |text: &str, from: &str| {
        let bad = text.chars().find(|c| {
            c.is_control() && *c != '\n' && *c != '\t' || ('\u{202a}'..='\u{202e}').contains(c)
        });
        assert_eq!(bad, None, "{from}: {text:?}");
    };
    let runs: [&[&str]; 10] = [
        &["simulate", file, "--log", "events,steps"],
        &["simulate", file, "--format", "json", "--stats"],
        &["simulate", file, "--plot-file", "p.svg", "--quiet"],
        &["simulate", file, "--plot-file", "p.html", "--quiet"],
        &["simulate", file, "-o", "x.mat", "--quiet"],
        &["check", file, "--set", "nothing=1"],
        &["flatten", file],
        &["explain", file],
        &["explain", file, "--format", "json"],
        &["check", "missing\u{1b}[31m.mo"],
    ];
    for arguments in runs {
        let said = place.acausal(arguments);
        clean(&said.out, &format!("{arguments:?}"));
        clean(&said.err, &format!("{arguments:?}"));
    }
    for name in ["M.csv", "p.svg", "p.html"] {
        clean(&std::fs::read_to_string(place.path(name)).unwrap(), name);
    }
    // What was said is still there to be read.
    let said = place.acausal(&["simulate", file]).code(0);
    assert!(
        said.out.contains("boom \\u{1b}[31m\\u{1b}[35m"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("done \\u{1b}[36m\\u{1b}[35m"),
        "{}",
        said.out
    );
}

/// Texts are evaluated: String parameters, those of records and arrays, numbers, in assertions and `terminate`.
#[test]
fn messages_with_string_parameters() {
    let place = Place::with(
        "M.mo",
        "model M
  record R String n; end R;
  parameter String s = \"abc\"; parameter String twice = s + s; parameter Real k = 3;
  parameter String names[2] = {\"one\", \"two\"};
  parameter R r(n = \"rec\"); Real x = time; Real w[2] = {time, 2*time};
equation
  assert(x < 0.5, \"s=\" + s + \" twice=\" + twice + \" k=\" + String(k) + \" r=\" + r.n, AssertionLevel.warning);
  for i in 1:2 loop assert(w[i] < 2.2 - i or time > 0.12, \"w of \" + names[i], AssertionLevel.warning); end for;
  when time > 0.75 then terminate(\"end of \" + s + \" at \" + String(time)); end when;
end M;",
    );
    let run = |options: &[&str]| -> Said {
        let mut arguments = vec!["simulate", "M.mo", "--no-output", "--format", "json"];
        arguments.extend_from_slice(options);
        place.acausal(&arguments).code(0)
    };
    let object = run(&[]).json();
    let warnings = object["warnings"].to_string();
    assert!(
        warnings.contains("s=abc twice=abcabc k=3 r=rec"),
        "{warnings}"
    );
    assert!(
        warnings.contains("w of two") && !warnings.contains("w of one"),
        "{warnings}"
    );
    assert_eq!(object["terminated"], "end of abc at 0.75");
    let object = run(&["--set", "s=\"xyz\""]).json();
    assert!(
        object["warnings"]
            .to_string()
            .contains("s=xyz twice=xyzxyz"),
        "{object}"
    );
}

/// The table of the guide: what ends with which code, and exactly one JSON object for each.
#[test]
fn exit_codes_and_one_object() {
    let place = Place::with(
        "M.mo",
        "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;",
    );
    place.write("Wrong.mo", "model Wrong Real x; equation x = y; end Wrong;");
    place.write("Syntax.mo", "model Syntax Real ; end Syntax;");
    place.write(
        "Fails.mo",
        "model Fails Real x = sqrt(0.5 - time); end Fails;",
    );
    place.write("a.csv", "time,x\n0,0\n1,1\n");
    place.write("b.csv", "time,x\n0,0\n1,2\n");
    place.write("nan.csv", "time,x\n0,0\n1,NaN\n");
    place.write("binary.mo", b"model\0");
    let table: [(i32, &[&str]); 27] = [
        (0, &["simulate", "M.mo", "--no-output"]),
        (0, &["check", "M.mo"]),
        (0, &["flatten", "M.mo"]),
        (0, &["explain", "M.mo"]),
        (0, &["parse", "M.mo"]),
        (0, &["compare", "a.csv", "a.csv"]),
        (1, &["simulate", "Wrong.mo"]),
        (1, &["simulate", "Fails.mo", "--no-output"]),
        (1, &["check", "Wrong.mo"]),
        (1, &["flatten", "Wrong.mo"]),
        (1, &["explain", "Wrong.mo"]),
        (1, &["check", "Syntax.mo"]),
        (1, &["parse", "Syntax.mo"]),
        (1, &["compare", "a.csv", "b.csv"]),
        (1, &["compare", "a.csv", "nan.csv"]),
        (1, &["compare", "nan.csv", "a.csv"]),
        (2, &["simulate", "M.mo", "--nonsense"]),
        (2, &["nonsense"]),
        (2, &["check", "missing.mo"]),
        (2, &["check", "binary.mo"]),
        (2, &["check", "M.mo", "--memory-limit", "much"]),
        (2, &["simulate", "M.mo", "--set", "nothing=1"]),
        (2, &["simulate", "M.mo", "--set", "k=="]),
        (2, &["simulate", "M.mo", "--plot", "nothing"]),
        (2, &["simulate", "M.mo", "--observe", "nothing"]),
        (2, &["simulate", "M.mo", "-o", "missing/x.csv"]),
        (2, &["compare", "a.csv", "missing.csv"]),
    ];
    for (code, arguments) in table {
        let said = place.acausal(arguments);
        assert_eq!(said.code, code, "{arguments:?}\n{}\n{}", said.out, said.err);
        let json: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(["--format", "json"])
            .collect();
        let said = place.acausal(&json);
        assert_eq!(said.code, code, "{json:?}\n{}\n{}", said.out, said.err);
        let object = said.json();
        // `explain` and `flatten` may say more than `ok`.
        if code != 0 {
            assert_eq!(object["ok"], false, "{json:?}: {object}");
        }
    }
}

/// A long simulation, and a model that takes long to compile.
const LONG: &str = "model Long Real x(start = 1, fixed = true), y(start = 0, fixed = true); equation der(x) = y; der(y) = -x; end Long;";

fn start(place: &Place, arguments: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_acausal"))
        .args(arguments)
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(child: &std::process::Child, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Waits until a file whose name contains a text is not empty.
fn wait_for(place: &Place, part: &str, bytes: u64) {
    let clock = Instant::now();
    loop {
        let there = place.files().into_iter().any(|f| {
            f.contains(part) && std::fs::metadata(place.path(&f)).is_ok_and(|m| m.len() >= bytes)
        });
        if there {
            return;
        }
        assert!(clock.elapsed() < Duration::from_secs(60), "no {part}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn signals_stop_a_simulation_and_keep_what_is_there() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::with("Long.mo", LONG);
        let arguments = [
            "simulate",
            "Long.mo",
            "--stop",
            "1e7",
            "--interval",
            "0.1",
            "-o",
            "x.csv",
            "--checkpoint",
            "c.state",
            "--format",
            "json",
        ];
        let child = start(&place, &arguments);
        wait_for(&place, "x.csv.partial-", 1 << 20);
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal}");
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["interrupted"], true);
        assert_eq!(
            place.files(),
            ["Long.mo", "c.state", "x.partial.csv"],
            "{signal}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn signals_while_compiling_leave_nothing() {
    // Sixteen levels of two components each take seconds.
    let mut text = "package P\n model A0 Real x = time; end A0;\n".to_string();
    for k in 1..=17 {
        text.push_str(&format!(
            " model A{k} A{p} a; A{p} b; end A{k};\n",
            p = k - 1
        ));
    }
    text.push_str("end P;");
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::with("P.mo", &text);
        let arguments = [
            "simulate",
            "P.mo",
            "--model",
            "P.A17",
            "-o",
            "x.csv",
            "--plot-file",
            "x.svg",
            "--checkpoint",
            "c.state",
            "--format",
            "json",
        ];
        let child = start(&place, &arguments);
        wait_for(&place, "c.state.partial-", 0);
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal}");
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["ok"], false);
        assert_eq!(place.files(), ["P.mo"], "{signal}");
    }
}

/// A bouncing ball with a delay and a sample: everything that a checkpoint holds.
const BALL: &str = "model Ball
  parameter Real e = 0.8; Real h(start = 1, fixed = true), v(start = 0, fixed = true), d; discrete Integer n(start = 0);
equation
  der(h) = v; der(v) = -9.81; d = delay(h, 0.1);
  when h < 0 then reinit(v, -e*pre(v)); end when;
  when sample(0, 0.1) then n = pre(n) + 1; end when;
end Ball;";

#[test]
fn damaged_checkpoints_are_refused() {
    let place = Place::with("Ball.mo", BALL);
    place
        .acausal(&[
            "simulate",
            "Ball.mo",
            "--stop",
            "0.3",
            "--no-output",
            "--checkpoint",
            "c.state",
        ])
        .code(0);
    let good = std::fs::read(place.path("c.state")).unwrap();
    let model = acausal::Model::from_text("Ball.mo", BALL, &acausal::Load::default()).unwrap();
    let accepted = |bytes: &[u8]| -> bool {
        let text = std::str::from_utf8(bytes).ok();
        text.is_some_and(|t| acausal::Checkpoint::from_text(t).is_ok())
    };
    assert!(accepted(&good));
    drop(model);
    // A linear congruence (Knuth, MMIX) is random enough to choose bytes and bits.
    let mut seed = 20_261_118u64;
    let mut random = |n: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    for _ in 0..500 {
        let mut bad = good.clone();
        let at = random(bad.len());
        bad[at] ^= 1 << random(8);
        assert!(
            !accepted(&bad),
            "byte {at}: {:?} to {:?}",
            good[at] as char,
            bad[at] as char
        );
    }
    for _ in 0..50 {
        assert!(!accepted(&good[..random(good.len())]));
    }
    let mut longer = good.clone();
    longer.extend(b"\n");
    assert!(!accepted(&longer));
    // The command says it as wrong use.
    let mut bad = good;
    let at = bad.len() / 2;
    bad[at] = if bad[at] == b'1' { b'2' } else { b'1' };
    place.write("bad.state", bad);
    place
        .acausal(&[
            "simulate",
            "Ball.mo",
            "--from",
            "bad.state",
            "--until",
            "1",
            "--no-output",
        ])
        .code(2)
        .complains(&["bad.state cannot be read", "checksum"]);
}

/// The same variables with other equations, other literals, another function: refused. Another value of a parameter, also one that is
/// zero: taken.
#[test]
fn checkpoints_of_other_equations_are_refused() {
    let model = |equation: &str, factor: &str| {
        format!(
            "model M parameter Real k = 1, z = 0; Real x(start = 1, fixed = true);
  function f input Real u; output Real y; protected Real s = 0; algorithm while s < {factor} loop s := s + 1; y := u*s; end while; end f;
equation {equation} end M;"
        )
    };
    let original = model("der(x) = -k*x + z*sin(x) + z*f(x);", "2");
    let place = Place::with("M.mo", &original);
    place
        .acausal(&[
            "simulate",
            "M.mo",
            "--stop",
            "0.5",
            "--no-output",
            "--checkpoint",
            "c.state",
        ])
        .code(0);
    let go_on = |options: &[&str]| {
        let mut arguments = vec![
            "simulate",
            "M.mo",
            "--from",
            "c.state",
            "--until",
            "1",
            "--no-output",
        ];
        arguments.extend_from_slice(options);
        place.acausal(&arguments)
    };
    go_on(&[]).code(0);
    go_on(&["--set", "k=2"]).code(0);
    go_on(&["--set", "z=0.5"]).code(0);
    go_on(&["--tolerance", "1e-9"]).code(0);
    for other in [
        model("der(x) = k*x + z*sin(x) + z*f(x);", "2"),
        model("der(x) = -k*x + z*cos(x) + z*f(x);", "2"),
        model("der(x) = -k*x + z*sin(x) + z*f(x);", "3"),
        model("der(x) = -2*k*x + z*sin(x) + z*f(x);", "2"),
        model(
            "der(x) = -k*x + z*sin(x) + z*f(x); when x < 0.1 then reinit(x, 1); end when;",
            "2",
        ),
    ] {
        place.write("M.mo", &other);
        go_on(&[])
            .code(2)
            .complains(&["other variables or equations"]);
    }
}

#[test]
fn a_reference_that_is_not_a_number_does_not_pass() {
    let place = Place::new();
    place.write("res.csv", "time,x\n0,500\n1,-300\n2,9\n");
    place.write("good.csv", "time,x\n0,0\n1,1\n2,2\n");
    for value in ["inf", "-inf", "NaN"] {
        place.write("ref.csv", format!("time,x\n0,0\n1,1\n2,{value}\n"));
        let said = place.acausal(&["compare", "res.csv", "ref.csv"]).code(1);
        assert!(said.out.contains("NaN/Inf in reference"), "{}", said.out);
        let said = place.acausal(&["compare", "ref.csv", "good.csv"]).code(1);
        assert!(said.out.contains("NaN/Inf in result"), "{}", said.out);
    }
}

/// What a model prints is printed, when it is reached: from equations, algorithms and functions, with values.
#[test]
fn models_can_print() {
    let place = Place::with(
        "M.mo",
        "model M
  function print input String string = \"\"; input String fileName = \"\";
    external \"C\" ModelicaInternal_print(string, fileName); end print;
  function both input Real x; algorithm print(\"both \" + String(x)); if x > 10 then print(\"never\"); end if; end both;
  parameter String s = \"M\"; Real x(start = 0, fixed = true); Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.25 then n = pre(n) + 1; print(s + \" at \" + String(time)); end when;
algorithm
  when initial() then print(\"begin\"); end when;
  when time > 0.5 then
    both(time);
    if x > 10 then print(\"never\"); else print(\"else\"); end if;
  end when;
  when terminal() then print(\"end\"); end when;
end M;",
    );
    let expected = ["begin", "M at 0.25", "both 0.5", "else", "end"];
    let said = place
        .acausal(&["simulate", "M.mo", "--no-output", "--quiet"])
        .code(0);
    assert_eq!(said.out.lines().collect::<Vec<_>>(), expected);
    let said = place
        .acausal(&["simulate", "M.mo", "--no-output", "--format", "json"])
        .code(0);
    assert_eq!(said.json()["printed"], serde_json::json!(expected));
}

/// The message names the file, not what fails later because of it.
#[test]
fn a_missing_table_file_is_named() {
    let place = Place::with(
        "M.mo",
        "model M
  class TimeTable extends ExternalObject;
    function constructor input String file; input Real start; output TimeTable t;
      external \"C\" t = ModelicaStandardTables_CombiTimeTable_init3(file, \"tab\", fill(0.0, 0, 2), 0, 2, start, {2}, 1, 1, 1, 0.0, 1, false, \",\", 0);
    end constructor;
    function destructor input TimeTable t; external \"C\" ModelicaStandardTables_CombiTimeTable_close(t); end destructor;
  end TimeTable;
  function at input TimeTable t; input Real time_; output Real y;
    external \"C\" y = ModelicaStandardTables_CombiTimeTable_getValue(t, 1, time_, 1e300, 1e300); end at;
  parameter String file = \"nowhere/table.txt\";
  parameter Real start = 0; TimeTable t = TimeTable(file, start);
  Real x(start = 0, fixed = true);
equation
  der(x) = at(t, time);
end M;",
    );
    place
        .acausal(&["simulate", "M.mo", "--no-output"])
        .code(1)
        .complains(&["error[function-error]", "nowhere/table.txt cannot be read"]);
}

/// A scalar and an array of slopes: an array, which is no scalar. It was an internal error.
#[test]
fn semi_linear_of_arrays() {
    let place = Place::with(
        "M.mo",
        "model M Real x = time; Real y = semiLinear(x, 3, 1:3); end M;",
    );
    let said = place.acausal(&["check", "M.mo"]).code(1);
    assert!(
        said.err.contains("error[") && !said.err.contains("internal"),
        "{}",
        said.err
    );
    // Slope 3 above zero; 1 and 2 below: at x = -0.5 and at x = 0.5.
    place.write(
        "M.mo",
        "model M Real y[2] = semiLinear(time - 0.5, 3, {1, 2}); end M;",
    );
    place
        .acausal(&["simulate", "M.mo", "--interval", "1", "--quiet"])
        .code(0);
    let text = std::fs::read_to_string(place.path("M.csv")).unwrap();
    assert_eq!(text.lines().nth(1), Some("0.0,-0.5,-1.0"), "{text}");
    assert_eq!(text.lines().last(), Some("1.0,1.5,1.5"), "{text}");
}
