//! Random sparse nonlinear blocks with a known solution: torn and as a whole.
#![allow(clippy::unwrap_used)]

use super::ByTrust;
use acausal_solver::newton::{BlockNewton, Newton, Nonlinear};
use acausal_solver::{DaeError, NewtonOptions, Pattern};

/// A term `a * f(x[j])` or `a * x[j] * x[k]` of an equation.
#[derive(Clone, Copy)]
enum Term {
    Of(f64, u8, usize),
    Product(f64, usize, usize),
}

fn f(kind: u8, x: f64) -> (f64, f64) {
    match kind {
        0 => (x, 1.0),
        1 => (x.sin(), x.cos()),
        2 => (x * x * x, 3.0 * x * x),
        3 => (x.exp(), x.exp()),
        5 => (x.ln(), 1.0 / x),
        _ => (x.atan(), 1.0 / (1.0 + x * x)),
    }
}

/// Sums of terms, zero at a chosen point.
struct Sums {
    rows: Vec<Vec<Term>>,
    b: Vec<f64>,
    pattern: Pattern,
}

impl Sums {
    fn new(rows: Vec<Vec<Term>>, solution: &[f64]) -> Sums {
        let n = rows.len();
        let entries = rows.iter().enumerate().flat_map(|(i, row)| {
            row.iter().flat_map(move |t| match *t {
                Term::Of(_, _, j) => vec![(i, j)],
                Term::Product(_, j, k) => vec![(i, j), (i, k)],
            })
        });
        let pattern = Pattern::from_entries(n, entries).unwrap();
        let mut sums = Sums {
            rows,
            b: vec![0.0; n],
            pattern,
        };
        let mut r = vec![0.0; n];
        sums.residual(solution, &mut r).unwrap();
        sums.b = r;
        sums
    }
}

impl Nonlinear for Sums {
    fn len(&self) -> usize {
        self.b.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        for ((r, row), b) in r.iter_mut().zip(&self.rows).zip(&self.b) {
            *r = -b;
            for t in row {
                *r += match *t {
                    Term::Of(a, kind, j) => a * f(kind, x[j]).0,
                    Term::Product(a, j, k) => a * x[j] * x[k],
                };
            }
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
        values.fill(0.0);
        for (i, row) in self.rows.iter().enumerate() {
            let mut add = |j: usize, v: f64| values[self.pattern.position(i, j).unwrap()] += v;
            for t in row {
                match *t {
                    Term::Of(a, kind, j) => add(j, a * f(kind, x[j]).1),
                    Term::Product(a, j, k) => {
                        add(j, a * x[k]);
                        add(k, a * x[j]);
                    }
                }
            }
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

/// A small generator of numbers, the same on every machine (Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `explicit` unknowns, each given by a nonlinear expression of two others before it, and `torn` equations that close the
/// loop; with the solution.
fn loop_of(numbers: &mut Numbers, torn: usize, explicit: usize, far: f64) -> (Sums, Vec<f64>) {
    let n = torn + explicit;
    let solution: Vec<f64> = (0..n).map(|_| numbers.between(-far, far)).collect();
    let mut rows = Vec::new();
    let term = |numbers: &mut Numbers, below: usize, size: f64| {
        // Near neighbours, so that the chains are long.
        let j = below - 1 - numbers.below(below.min(4));
        let k = numbers.below(below);
        let a = numbers.between(-size, size);
        match numbers.below(6) {
            5 => Term::Product(a, j, k),
            kind => Term::Of(a, kind as u8, j),
        }
    };
    for v in torn..n {
        let mut row = vec![Term::Of(1.0, 0, v)];
        row.extend((0..2).map(|_| term(numbers, v, 0.6)));
        rows.push(row);
    }
    for z in 0..torn {
        let mut row = vec![Term::Of(2.0, 0, z), Term::Of(0.5, 2, z)];
        row.push(Term::Of(0.3, 0, n - 1 - z % explicit.max(1)));
        row.push(term(numbers, n, 0.5));
        rows.push(row);
    }
    // Which equation is which must not be seen from its place.
    for k in (1..n).rev() {
        rows.swap(k, numbers.below(k + 1));
    }
    (Sums::new(rows, &solution), solution)
}

fn solves(system: &mut Sums, x: &[f64]) -> bool {
    let mut r = vec![0.0; x.len()];
    system.residual(x, &mut r).unwrap();
    let size = 1.0 + x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    r.iter().all(|r| r.abs() < 1e-7 * size.powi(3))
}

/// Why a block is solved as a whole first: random loops are then solved at least as often, and with fewer Jacobians.
#[test]
fn the_whole_block_is_the_better_first_attempt() {
    let options = NewtonOptions::default();
    for (torn, explicit) in [(1, 20), (3, 20), (5, 60)] {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let (mut solved, mut jacobians) = ([0u32; 2], [0.0; 2]);
        for _ in 0..60 {
            let (mut system, solution) = loop_of(&mut numbers, torn, explicit, 1.0);
            let mut guess = vec![0.0; solution.len()];
            for z in 0..torn {
                guess[z] = solution[z] + numbers.between(-0.5, 0.5);
            }
            let mut trust = vec![0; guess.len()];
            trust[..torn].fill(1);
            let newton = Newton::new(&system).unwrap();
            let whole = { newton }.solve(&mut system, &mut guess.clone(), &options);
            let blocks = BlockNewton::new(&system.pattern.clone()).unwrap();
            let tearing = ByTrust {
                trust: &trust,
                first: true,
            };
            let by_tearing = blocks.solve_with(&mut system, &mut guess, &options, Some(&tearing));
            // What had to be rescued was not solved by tearing.
            let by_tearing = (by_tearing.ok()).filter(|s| s.rescued.is_empty());
            let counts = [
                whole.ok().map(|s| s.jacobian_evaluations),
                by_tearing.map(|s| s.jacobian_evaluations),
            ];
            for (k, count) in counts.into_iter().enumerate() {
                solved[k] += u32::from(count.is_some());
                jacobians[k] += count.map_or(0.0, f64::from);
            }
        }
        let mean = [0, 1].map(|k| jacobians[k] / f64::from(solved[k].max(1)));
        println!("{torn} {explicit}: {solved:?} of 60, {mean:?} Jacobians");
        assert!(solved[0] >= solved[1] && solved[1] > 30, "{solved:?}");
        assert!(mean[0] < mean[1], "{mean:?}");
    }
}

/// `v = z + 2; log(v) + z = 1 + log(3)` with the solution z = 1, v = 3, from zero: log(0) is undefined, but v follows from z.
#[test]
fn an_equation_that_is_undefined_at_the_guess_of_a_solved_unknown() {
    let rows = vec![
        vec![Term::Of(1.0, 0, 1), Term::Of(-1.0, 0, 0)],
        vec![Term::Of(1.0, 5, 1), Term::Of(1.0, 0, 0)],
    ];
    let mut system = Sums::new(rows, &[1.0, 3.0]);
    let blocks = BlockNewton::new(&system.pattern.clone()).unwrap();
    let options = NewtonOptions::default();
    let mut x = [0.0, 0.0];
    assert!(blocks.solve(&mut system, &mut x, &options).is_err());
    let mut x = [0.0, 0.0];
    let tearing = ByTrust {
        trust: &[],
        first: false,
    };
    let done = blocks.solve_with(&mut system, &mut x, &options, Some(&tearing));
    assert_eq!(done.unwrap().torn, [0]);
    assert!(
        (x[0] - 1.0).abs() < 1e-12 && (x[1] - 3.0).abs() < 1e-12,
        "{x:?}"
    );
}

#[test]
fn with_and_without_tearing_the_same_solution_is_found() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let options = NewtonOptions::default();
    let (mut compared, mut torn_blocks) = (0, 0);
    for round in 0..150 {
        let (torn, explicit) = (1 + numbers.below(4), 2 + numbers.below(30));
        let (mut system, solution) = loop_of(&mut numbers, torn, explicit, 0.8);
        // Near the solution, so that both ways lead to this one.
        let guess: Vec<f64> = (solution.iter())
            .map(|s| s + numbers.between(-1e-3, 1e-3))
            .collect();
        let blocks = BlockNewton::new(&system.pattern.clone()).unwrap();
        let mut whole = guess.clone();
        if blocks.solve(&mut system, &mut whole, &options).is_err() {
            continue;
        }
        let mut torn = guess.clone();
        let tearing = ByTrust {
            trust: &[],
            first: true,
        };
        let done = (blocks.solve_with(&mut system, &mut torn, &options, Some(&tearing))).unwrap();
        torn_blocks += done.torn.len();
        compared += 1;
        assert!(solves(&mut system, &torn), "round {round}");
        for ((a, b), s) in whole.iter().zip(&torn).zip(&solution) {
            assert!((a - b).abs() < 1e-8, "round {round}: {a} {b} near {s}");
        }
    }
    assert!(
        compared > 120 && torn_blocks > 100,
        "{compared} {torn_blocks}"
    );
}
