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

/// Ten chains of `elseif` cost as much as one of ten times the length, both in one run; if the cost were quadratic one would cost ten times as much. Three times
/// leaves room for caches, and half a second for what is too short to be measured.
#[test]
fn a_long_chain_of_conditions_is_compiled_in_linear_time() {
    for value in ["", "*x", "*x^2 + sin(x)"] {
        let begin = processor_seconds();
        (0..10).for_each(|_| compile(300, value));
        let middle = processor_seconds();
        compile(3000, value);
        let (short, long) = (middle - begin, processor_seconds() - middle);
        println!("ten short {short:.2} s, one long {long:.2} s");
        assert!(long < 3.0 * short + 0.5, "{short} s and {long} s");
    }
}
