//! Block triangular nonlinear systems: the order of solution, random systems with a known solution, failures by block.
#![allow(clippy::unwrap_used)]

use acausal_solver::newton::{BlockNewton, Nonlinear};
use acausal_solver::{DaeError, NewtonError, NewtonOptions, Pattern};

/// `F_i(x) = sum over entries of a_ij g_k(x_j) - b_i`, with the zero at a chosen point.
struct Random {
    pattern: Pattern,
    /// Coefficient and kind of nonlinearity per entry.
    terms: Vec<(f64, u8)>,
    b: Vec<f64>,
}

fn g(kind: u8, x: f64) -> (f64, f64) {
    match kind {
        0 => (x, 1.0),
        1 => (x + 0.2 * x.sin(), 1.0 + 0.2 * x.cos()),
        2 => (x + 0.05 * x * x * x, 1.0 + 0.15 * x * x),
        _ => (x + 0.3 * x.atan(), 1.0 + 0.3 / (1.0 + x * x)),
    }
}

impl Nonlinear for Random {
    fn len(&self) -> usize {
        self.b.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        for (r, b) in r.iter_mut().zip(&self.b) {
            *r = -b;
        }
        for (j, &x) in x.iter().enumerate() {
            for k in self.pattern.range(j) {
                let (a, kind) = self.terms[k];
                r[self.pattern.row_idx()[k] as usize] += a * g(kind, x).0;
            }
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
        for (j, &x) in x.iter().enumerate() {
            for k in self.pattern.range(j) {
                let (a, kind) = self.terms[k];
                values[k] = a * g(kind, x).1;
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

#[test]
fn random_block_triangular_systems_have_their_known_solution() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for round in 0..200 {
        // Blocks of one to five unknowns; each block is a cycle and has entries from earlier blocks.
        let count = 1 + numbers.below(12);
        let mut sizes = Vec::new();
        for _ in 0..count {
            sizes.push(1 + numbers.below(5));
        }
        let n: usize = sizes.iter().sum();
        let shuffle = |numbers: &mut Numbers| {
            let mut list: Vec<usize> = (0..n).collect();
            for k in (1..n).rev() {
                list.swap(k, numbers.below(k + 1));
            }
            list
        };
        let (row, col) = (shuffle(&mut numbers), shuffle(&mut numbers));
        let mut entries = Vec::new();
        let mut first = 0;
        for &size in &sizes {
            for k in 0..size {
                entries.push((row[first + k], col[first + k]));
                entries.push((row[first + k], col[first + (k + 1) % size]));
                if first > 0 {
                    entries.push((row[first + k], col[numbers.below(first)]));
                }
            }
            first += size;
        }
        let diagonal: Vec<(usize, usize)> = (0..n).map(|k| (row[k], col[k])).collect();
        let pattern = Pattern::from_entries(n, entries).unwrap();
        let solution: Vec<f64> = (0..n).map(|_| numbers.between(-3.0, 3.0)).collect();
        let mut terms = vec![(0.0, 0); pattern.nnz()];
        for j in 0..n {
            for k in pattern.range(j) {
                let own = diagonal.contains(&(pattern.row_idx()[k] as usize, j));
                // The diagonal dominates at every point, so that the solution is the only one.
                let size = if own {
                    numbers.between(4.0, 6.0)
                } else {
                    numbers.between(-1.0, 1.0)
                };
                let kind = numbers.below(4) as u8;
                terms[k] = (size, if kind == 2 && !own { 0 } else { kind });
            }
        }
        let mut system = Random {
            pattern,
            terms,
            b: vec![0.0; n],
        };
        let mut b = vec![0.0; n];
        system.residual(&solution, &mut b).unwrap();
        system.b = b;
        let blocks = BlockNewton::new(&system.pattern).unwrap();
        assert_eq!(blocks.len(), sizes.len(), "round {round}");
        let mut x: Vec<f64> = (0..n).map(|_| numbers.between(-50.0, 50.0)).collect();
        let statistics = blocks
            .solve(&mut system, &mut x, &NewtonOptions::default())
            .unwrap();
        for (x, s) in x.iter().zip(&solution) {
            assert!((x - s).abs() < 1e-8, "round {round}: {x} is not {s}");
        }
        assert!(statistics.singular.is_empty(), "round {round}");
    }
}

/// A system by closures: residual and entries of a full Jacobian, column by column.
struct Small<F, J> {
    pattern: Pattern,
    f: F,
    j: J,
}

impl<F: FnMut(&[f64]) -> Vec<f64>, J: FnMut(&[f64], usize, usize) -> f64> Nonlinear
    for Small<F, J>
{
    fn len(&self) -> usize {
        self.pattern.size()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        r.copy_from_slice(&(self.f)(x));
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
        for c in 0..self.pattern.size() {
            for k in self.pattern.range(c) {
                values[k] = (self.j)(x, self.pattern.row_idx()[k] as usize, c);
            }
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

#[test]
fn a_guess_that_is_singular_for_the_whole_is_none_for_the_blocks() {
    // 2*m = 3, m*y = 1 from m = 0, y = 0.
    let mut system = Small {
        pattern: Pattern::from_entries(2, [(0, 0), (1, 0), (1, 1)]).unwrap(),
        f: |x: &[f64]| vec![2.0 * x[0] - 3.0, x[0] * x[1] - 1.0],
        j: |x: &[f64], i: usize, j: usize| [[2.0, 0.0], [x[1], x[0]]][i][j],
    };
    let blocks = BlockNewton::new(&system.pattern).unwrap();
    assert_eq!((blocks.len(), blocks.levels()), (2, 2));
    let mut x = [0.0, 0.0];
    blocks
        .solve(&mut system, &mut x, &NewtonOptions::default())
        .unwrap();
    assert!((x[0] - 1.5).abs() < 1e-14 && (x[1] - 2.0 / 3.0).abs() < 1e-14);
}

#[test]
fn blocks_of_one_level_share_evaluations() {
    // 1,000 independent square roots: a few evaluations, not a thousand times as many.
    let n = 1000;
    let mut evaluations = 0;
    let mut system = Small {
        pattern: Pattern::from_entries(n, (0..n).map(|k| (k, k))).unwrap(),
        f: |x: &[f64]| {
            evaluations += 1;
            x.iter()
                .enumerate()
                .map(|(k, x)| x * x - (k + 1) as f64)
                .collect()
        },
        j: |x: &[f64], i, _| 2.0 * x[i],
    };
    let blocks = BlockNewton::new(&system.pattern).unwrap();
    assert_eq!((blocks.len(), blocks.levels()), (n, 1));
    let mut x = vec![1.0; n];
    blocks
        .solve(&mut system, &mut x, &NewtonOptions::default())
        .unwrap();
    for (k, x) in x.iter().enumerate() {
        assert!((x - ((k + 1) as f64).sqrt()).abs() < 1e-10 * x);
    }
    assert!(evaluations < 30, "{evaluations}");
}

#[test]
fn a_block_without_a_solution_is_named() {
    // Block of x0 is fine, x1^2 + 1 = x0 - 1 has no solution for x0 = 0.
    let mut system = Small {
        pattern: Pattern::from_entries(2, [(0, 0), (1, 0), (1, 1)]).unwrap(),
        f: |x: &[f64]| vec![x[0], x[1] * x[1] + 1.0 - x[0]],
        j: |x: &[f64], i: usize, j: usize| [[1.0, 0.0], [-1.0, 2.0 * x[1]]][i][j],
    };
    let blocks = BlockNewton::new(&system.pattern).unwrap();
    let mut x = [5.0, 0.7];
    let failure = blocks
        .solve(&mut system, &mut x, &NewtonOptions::default())
        .unwrap_err();
    assert_eq!(blocks.block(failure.block), (&[1][..], &[1][..]));
    assert!(
        matches!(
            failure.error,
            NewtonError::NoConvergence { .. } | NewtonError::Singular { .. }
        ),
        "{failure:?}"
    );
    assert!(x[0].abs() < 1e-12, "the block before is solved: {x:?}");
}

#[test]
fn a_guess_from_which_newtons_method_cycles() {
    // x^3 - 2x + 2 from 0: full steps alternate between 0 and 1; the only real zero is -1.7692923542386314.
    let mut system = Small {
        pattern: Pattern::dense(1),
        f: |x: &[f64]| vec![x[0] * x[0] * x[0] - 2.0 * x[0] + 2.0],
        j: |x: &[f64], _, _| 3.0 * x[0] * x[0] - 2.0,
    };
    let blocks = BlockNewton::new(&system.pattern).unwrap();
    for guess in [-0.9, -400.0, -1e9] {
        let mut x = [guess];
        blocks
            .solve(&mut system, &mut x, &NewtonOptions::default())
            .unwrap();
        assert!(
            (x[0] + 1.769_292_354_238_631_4).abs() < 1e-9,
            "{guess}: {x:?}"
        );
    }
}

#[test]
fn a_singular_guess_is_left_by_least_squares() {
    // x^2 + y^2 = 4, x*y = 1 from (1, -0.99): the rows of the Jacobian nearly depend on each other.
    let mut system = Small {
        pattern: Pattern::dense(2),
        f: |x: &[f64]| vec![x[0] * x[0] + x[1] * x[1] - 4.0, x[0] * x[1] - 1.0],
        j: |x: &[f64], i: usize, j: usize| [[2.0 * x[0], 2.0 * x[1]], [x[1], x[0]]][i][j],
    };
    let blocks = BlockNewton::new(&system.pattern).unwrap();
    let mut x = [1.0, -0.99];
    blocks
        .solve(&mut system, &mut x, &NewtonOptions::default())
        .unwrap();
    assert!((x[0] * x[1] - 1.0).abs() < 1e-12, "{x:?}");
    assert!((x[0].hypot(x[1]) - 2.0).abs() < 1e-12, "{x:?}");
}

/// Many blocks that need help get it together: the evaluations of the model do not grow with their number.
#[test]
fn blocks_are_rescued_in_lock_step() {
    /// Diodes with resistances, from voltages so large that the damped iteration does not arrive in time.
    struct Far(Pattern);
    impl Nonlinear for Far {
        fn len(&self) -> usize {
            self.0.size()
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
            for (k, (x, r)) in x.iter().zip(r).enumerate() {
                *r = (x / 0.05).exp() - 1.0 + x - 10.0 - k as f64;
            }
            Ok(())
        }
        fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
            for (x, v) in x.iter().zip(values) {
                *v = (x / 0.05).exp() / 0.05 + 1.0;
            }
            Ok(())
        }
        fn pattern(&self) -> &Pattern {
            &self.0
        }
    }
    let mut evaluations = Vec::new();
    for n in [1, 200] {
        let diagonal: Vec<(usize, usize)> = (0..n).map(|k| (k, k)).collect();
        let mut system = Far(Pattern::from_entries(n, diagonal).unwrap());
        let blocks = BlockNewton::new(system.pattern()).unwrap();
        let mut x = vec![4.0; n];
        let options = NewtonOptions {
            max_iterations: 20,
            ..NewtonOptions::default()
        };
        let s = blocks.solve(&mut system, &mut x, &options).unwrap();
        assert_eq!(s.rescued.len(), n);
        let mut r = vec![0.0; n];
        system.residual(&x, &mut r).unwrap();
        assert!(r.iter().all(|r| r.abs() < 1e-8), "{r:?}");
        evaluations.push(s.residual_evaluations);
    }
    assert!(evaluations[1] <= 2 * evaluations[0], "{evaluations:?}");
}
