//! What must cost as much as it is long. The only test of its file, since it measures the processor time of the process: other programs on the machine do not
//! disturb that much, other tests would.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use acausal::{Load, Model};

/// Seconds of processor time that this process has used, to a hundredth.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the command may contain anything; after it the 12th and 13th fields are ticks of the user and of the system (proc(5)).
    let fields: Vec<&str> = text[text.rfind(')').unwrap() + 2..].split(' ').collect();
    let ticks = |k: usize| fields[k].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

fn compile(branches: usize, value: &str) {
    let branches: Vec<String> = (0..branches)
        .map(|i| {
            let until = (i as f64 + 0.5) / branches as f64;
            format!("elseif time < {until} then {i}{value}")
        })
        .collect();
    let text = format!(
        "model M Real x(start = 1, fixed = true), y; equation der(x) = y; y = if time < 0 then 0 {} else -1; end M;",
        branches.join("\n")
    );
    Model::from_text("Test.mo", &text, &Load::default()).unwrap();
}

/// The text of a model of a size.
type Generator = fn(usize) -> String;

fn listed(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect()
}

/// Each variable from the one before.
fn algorithm(n: usize) -> String {
    let declared = listed(n, |i| format!("Real x{i};\n"));
    let assigned = listed(n - 1, |i| format!("x{} := x{i} + time;\n", i + 1));
    format!("model M {declared} algorithm x0 := time;\n{assigned} end M;")
}

/// Each variable by a branch of its own.
fn branches(n: usize) -> String {
    let declared = listed(n, |i| format!("Real x{i};\n"));
    let assigned = listed(n, |i| {
        format!("if time > 0.5 then x{i} := {i}; else x{i} := time; end if;\n")
    });
    format!("model M {declared} algorithm {assigned} end M;")
}

fn conditions(n: usize) -> String {
    let all: Vec<String> = (0..n).map(|i| format!("time > {i}")).collect();
    format!(
        "model M Integer k(start = 0, fixed = true); equation when {{{}}} then k = pre(k) + 1; end when; end M;",
        all.join(",\n")
    )
}

fn factors(n: usize) -> String {
    let all: Vec<String> = (1..=n).map(|i| format!("x[{i}]")).collect();
    format!(
        "model M Real x[{n}](each start = 1, each fixed = true); Real y; equation der(x) = -x; y = {}; end M;",
        all.join("*")
    )
}

/// A record of 2^(depth + 1) numbers that takes its values from another one.
fn compile_records(depth: usize) {
    let mut text = "record R0 Real a = 1; Real b = 2; end R0;\n".to_string();
    for k in 1..=depth {
        text += &format!("record R{k} R{0} a; R{0} b; end R{k};\n", k - 1);
    }
    text += &format!("model M R{depth} r; R{depth} s = r; end M;");
    Model::from_text("Test.mo", &text, &Load::default()).unwrap();
}

/// Some short texts cost as much as a long one of their total length, both in one run; if the cost were quadratic the long one would cost as many times
/// as much. Three times leaves room for caches, and half a second for what is too short to be measured.
fn expect_linear(what: &str, count: usize, short: impl Fn(), long: impl Fn()) {
    let begin = processor_seconds();
    (0..count).for_each(|_| short());
    let middle = processor_seconds();
    long();
    let (short, long) = (middle - begin, processor_seconds() - middle);
    println!("{what}: {count} short {short:.2} s, one long {long:.2} s");
    assert!(
        long < 3.0 * short + 0.5,
        "{what}: {short} s and {long} s of processor time"
    );
}

#[test]
fn long_texts_are_compiled_in_linear_time() {
    for value in ["", "*x", "*x^2 + sin(x)"] {
        let chain = |n: usize| move || compile(n, value);
        expect_linear("chains of conditions", 10, chain(300), chain(3000));
    }
    let texts: [(&str, Generator); 4] = [
        ("statements of an algorithm", algorithm),
        ("branches of an algorithm", branches),
        ("conditions of a `when`", conditions),
        ("factors of a product", factors),
    ];
    for (what, text) in texts {
        let compiled = |n: usize| {
            let text = text(n);
            move || {
                Model::from_text("Test.mo", &text, &Load::default()).unwrap();
            }
        };
        expect_linear(what, 10, compiled(400), compiled(4000));
    }
    let records = |depth: usize| move || compile_records(depth);
    expect_linear("records", 16, records(7), records(11));
}
