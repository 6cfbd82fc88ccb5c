//! Working on arrays gives what working on their elements gives, and keeping all constraints gives what selecting states
//! gives: as many states, the same index, the same trajectories.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::every::{examples, same};
use acausal_expr::flat::FlatModel;
use acausal_index1::Options;

fn has_arrays(flat: &FlatModel) -> bool {
    let unknown = |v: &acausal_expr::flat::Variable| !v.dims.is_empty() && !v.is_parameter();
    flat.vars.iter().any(unknown) || flat.equations.iter().any(|e| !e.domain.is_empty())
}

#[test]
fn ar_1_array_result_is_the_scalarised_result_for_every_example() {
    let scalarise = Options {
        scalarise: true,
        ..Options::default()
    };
    let mut compared = Vec::new();
    for mut example in examples() {
        let text = example.text();
        if !has_arrays(&example.flatten(&text).0) {
            continue;
        }
        let mut variants = vec![example.load.set.clone()];
        if example.file.ends_with("OE_3_1_SlidingMass.mo") {
            variants.push(vec!["n={0.6,0,0.8}".to_string()]);
        }
        for set in variants {
            let what = format!("{} {set:?}", example.file);
            example.load.set = set;
            let (ra, a) = example.run(&text, &Options::default());
            let (rb, b) = example.run(&text, &scalarise);
            assert_eq!(
                (ra.equations, ra.unknowns),
                (rb.equations, rb.unknowns),
                "{what}"
            );
            assert_eq!(ra.structural_index, rb.structural_index, "{what}");
            // A system A*x = b is kept whole, so that nothing of it is torn.
            assert!(ra.form.n >= rb.form.n, "{what}");
            assert!(
                ra.form.n == rb.form.n || example.file.ends_with("CK_H7_4_Linear.mo"),
                "{what}: {} and {} unknowns",
                ra.form.n,
                rb.form.n
            );
            same(&what, &a, &b, 1e-5);
            if let (Ok(a), Ok(b)) = (&a, &b) {
                assert_eq!(a.summary.states, b.summary.states, "{what}");
            }
        }
        compared.push(example.file);
    }
    assert!(compared.len() >= 11, "{compared:?}");
}

#[test]
fn ar_1_full_form_gives_the_same_trajectories() {
    let full = Options {
        no_state_selection: true,
        ..Options::default()
    };
    for file in [
        "seeds/OE_3_1_SlidingMass.mo",
        "seeds/OE_3_2_MS18.mo",
        "seeds/OE_3_4a_PendulumXY.mo",
        "seeds/CK_5_4_CapacitorAtSource.mo",
        "seeds/CK_5_5_ParallelCapacitors.mo",
        "seeds/M_4_3_Rigid.mo",
    ] {
        let example = examples().into_iter().find(|e| e.file == file).unwrap();
        let text = example.text();
        let (_, a) = example.run(&text, &Options::default());
        let (_, b) = example.run(&text, &full);
        same(file, &a, &b, 1e-5);
    }
}

/// Masses that are tied to each other: one moves, all others follow.
const TIED: &str = "model Tied
  constant Integer N = 100;
  Real phi[N], w[N], tau[N + 1];
initial equation
  phi[1] = 1;
  w[1] = 0;
equation
  der(phi) = w;
  for i in 1:N loop
    der(w[i]) = tau[i] - tau[i + 1];
  end for;
  TIES
  tau[1] = -100*phi[1];
  tau[N + 1] = 0;
  annotation(experiment(StopTime = 3));
end Tied;";

#[test]
fn ar_1_recurrences_in_both_directions() {
    let scalarise = Options {
        scalarise: true,
        ..Options::default()
    };
    let any = examples().remove(0);
    for ties in [
        "for i in 1:N - 1 loop phi[i] = phi[i + 1]; end for;",
        "for i in 2:N loop phi[i] = phi[i - 1]; end for;",
        "phi[1:N - 1] = phi[2:N];",
        "for i in 1:N - 1 loop phi[N - i] = phi[N + 1 - i]; end for;",
        "for i in 1:N - 1 loop phi[N - i + 1] = phi[N - i]; end for;",
    ] {
        let text = TIED.replace("TIES", ties);
        let (ra, a) = any.run(&text, &Options::default());
        let (rb, b) = any.run(&text, &scalarise);
        assert_eq!((ra.form.n, rb.form.n), (2, 2), "{ties}: {:?}", ra.states);
        same(ties, &a, &b, 1e-6);
        // All of them together: 100 masses on a spring of 100.
        let a = a.unwrap_or_else(|f| panic!("{f}"));
        for k in [1, 2, 50, 99, 100] {
            let name = format!("phi[{k}]");
            crate::common::near(crate::common::last(&a, &name), 3f64.cos(), 1e-6);
        }
    }
}

/// Conditions between the iterator of an equation and that of a sum are decided for every term, not for the equation.
#[test]
fn conditions_inside_of_sums() {
    for n in [3usize, 12, 40] {
        let text = format!(
            "model Sums
              constant Integer N = {n};
              Real x[N], y[N], z[N];
            equation
              for i in 1:N loop
                x[i] = sum((if i == j then 100 else 1)*j for j in 1:N);
                y[i] = sum((if i < j then 100 else 1)*j for j in 1:N);
                z[i] = sum((if 2*i <> j + 1 then 100 else 1)*j for j in 1:N);
              end for;
            end Sums;"
        );
        let run = crate::common::run_text(&text, &acausal::Settings::default());
        let sum = |holds: &dyn Fn(usize) -> bool| -> f64 {
            (1..=n)
                .map(|j| if holds(j) { 100 * j } else { j } as f64)
                .sum()
        };
        for i in 1..=n {
            let last = |array: &str| crate::common::last(&run, &format!("{array}[{i}]"));
            assert_eq!(last("x"), sum(&|j| i == j), "N = {n}, i = {i}");
            assert_eq!(last("y"), sum(&|j| i < j), "N = {n}, i = {i}");
            assert_eq!(last("z"), sum(&|j| 2 * i != j + 1), "N = {n}, i = {i}");
        }
    }
}
