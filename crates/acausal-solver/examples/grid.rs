//! CPU times of the sparse LU on five-point grids, and the ratio of refactorisation to first factorisation.
//!
//! For comparison, KLU needs about 1.6 times our refactorisation and twice our solve at 200 x 200; faer 0.24 (supernodal)
//! needs the same refactorisation at 300 x 300 and twice our solve.
#![allow(missing_docs)]

use acausal_solver::Pattern;
use acausal_solver::linear::{LinearSolver, SparseLu};
use clock::cpu_seconds;

#[path = "support/clock.rs"]
mod clock;

fn main() {
    for m in [30usize, 60, 100, 200, 300] {
        let n = m * m;
        let entries = (0..n).flat_map(|v| {
            let (r, c) = (v / m, v % m);
            let mut list = vec![(v, v)];
            if r > 0 {
                list.push((v, v - m));
            }
            if c > 0 {
                list.push((v, v - 1));
            }
            if c + 1 < m {
                list.push((v, v + 1));
            }
            if r + 1 < m {
                list.push((v, v + m));
            }
            list
        });
        let pattern = Pattern::from_entries(n, entries).expect("indices are below n");
        let mut values = vec![0.0; pattern.nnz()];
        for j in 0..n {
            for k in pattern.range(j) {
                values[k] = if pattern.row_idx()[k] as usize == j {
                    4.1
                } else {
                    -1.0
                };
            }
        }
        let mut lu = SparseLu::default();
        let time = |f: &mut dyn FnMut()| {
            let start = 1e3 * cpu_seconds();
            f();
            1e3 * cpu_seconds() - start
        };
        let analyse = time(&mut || lu.analyse(&pattern).expect("regular"));
        let first = time(&mut || lu.factor(&values).expect("regular"));
        let again = time(&mut || lu.factor(&values).expect("regular"));
        let mut x = vec![1.0; n];
        let solve = time(&mut || lu.solve(&mut x));
        println!(
            "grid {m} x {m}: nnz {} -> {}, analyse {analyse:.1} ms, factor {first:.1} ms, refactor {again:.1} ms, solve {solve:.2} ms, ratio {:.2}",
            pattern.nnz(),
            lu.factor_nnz(),
            again / first
        );
    }
}
