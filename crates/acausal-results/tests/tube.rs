//! The tube comparison against the recorded verdicts of an independent implementation in NumPy.

use acausal_results::compare::{BadReference, CompareOptions, compare};
use acausal_results::{ResultSet, RunInfo, Signal};

const CASES: &str = include_str!("data/tube_cases.txt");

/// A result from plain comma separated lines, without the crate's CSV reader.
fn table(lines: &[&str]) -> ResultSet {
    let names: Vec<&str> = lines[0].split(',').collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in &lines[1..] {
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            column.push(cell.parse::<f64>().unwrap());
        }
    }
    let time = columns.remove(0);
    let signals = names[1..]
        .iter()
        .enumerate()
        .map(|(i, n)| Signal::column(*n, i))
        .collect();
    ResultSet::new(RunInfo::default(), signals, time, columns).unwrap()
}

fn section<'c>(case: &[&'c str], from: &str, to: &str) -> Vec<&'c str> {
    let lines = case.iter().skip_while(|l| **l != from).skip(1);
    lines.take_while(|l| **l != to).copied().collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-7 * a.abs().max(b.abs()) + 1e-12
}

#[test]
fn verdicts_agree_with_the_oracle() {
    let mut compared = 0;
    for block in CASES.split("\ncase ").skip(1) {
        let lines: Vec<&str> = block.lines().filter(|l| !l.is_empty()).collect();
        let options = CompareOptions {
            csv_compare: lines[0].ends_with("csvcompare"),
            ..CompareOptions::default()
        };
        let reference = table(&section(&lines, "reference", "result"));
        let result = table(&section(&lines, "result", "expect"));
        let verdicts = compare(&result, &reference, None, &options).unwrap();
        let expected = section(&lines, "expect", "");
        assert_eq!(verdicts.len(), expected.len(), "{}", lines[0]);
        for (v, line) in verdicts.iter().zip(expected) {
            compared += 1;
            let context = format!("{}: {v}\nexpected {line}", lines[0]);
            if let Some((signal, reason)) = line.split_once(" | ") {
                assert_eq!(v.signal, signal);
                assert_eq!(
                    v.detail.as_ref().unwrap_err().to_string(),
                    reason,
                    "{context}"
                );
                assert!(!v.pass && !v.strict);
                continue;
            }
            let fields: Vec<&str> = line.split(' ').collect();
            let d = v.detail.as_ref().unwrap();
            let flags = [v.pass, v.strict, d.wide].map(|f| if f { "1" } else { "0" });
            assert_eq!(flags[..], fields[1..4], "{context}");
            assert_eq!(
                [d.outside.to_string(), d.points.to_string()][..],
                fields[4..6],
                "{context}"
            );
            assert!(
                close(d.max_relative, fields[6].parse().unwrap()),
                "{context}"
            );
            match d.first_outside {
                None => assert_eq!(fields[7], "-", "{context}"),
                Some(t) => assert!(close(t, fields[7].parse().unwrap()), "{context}"),
            }
        }
    }
    assert!(compared > 40, "only {compared} signals compared");
}

#[test]
fn names_are_chosen_and_skipped() {
    let r = table(&["time,x,y", "0,1,2", "1,1,2"]);
    let names: Vec<String> = ["x", "", "Time", "// y", "\"z\""]
        .map(String::from)
        .to_vec();
    let verdicts = compare(&r, &r, Some(&names), &CompareOptions::default()).unwrap();
    let lines: Vec<String> = verdicts.iter().map(|v| v.to_string()).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("pass strict:pass x "), "{}", lines[0]);
    assert!(
        lines[1].starts_with("FAIL") && lines[1].ends_with("not in reference"),
        "{}",
        lines[1]
    );
}

#[test]
fn unusable_references_are_errors() {
    let good = table(&["time,x", "0,1", "1,1"]);
    for lines in [
        &["time,x"][..],
        &["time,x", "1,0", "0,0"],
        &["time,x", "0,0", "NaN,0"],
    ] {
        assert_eq!(
            compare(&good, &table(lines), None, &CompareOptions::default()),
            Err(BadReference)
        );
    }
}

/// 300,000 samples: a quadratic sweep would take minutes.
#[test]
fn long_signals_are_swept_in_linear_time() {
    let n = 300_000;
    let time: Vec<f64> = (0..n).map(|i| f64::from(i) * 1e-3).collect();
    let value: Vec<f64> = time.iter().map(|t| (t * 7.0).sin()).collect();
    let r = ResultSet::new(
        RunInfo::default(),
        vec![Signal::column("x", 0)],
        time,
        vec![value],
    )
    .unwrap();
    let start = std::time::Instant::now();
    let verdicts = compare(&r, &r, None, &CompareOptions::default()).unwrap();
    assert!(verdicts[0].pass && verdicts[0].strict);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
