//! The index of the linear examples of Mattsson 1986, §4 (sheet 4.4, KR-1): slip coupling, rigid coupling and
//! differentiator, for all cases of their data.
//!
//! Each case is computed twice: by the compiler, from Modelica source with the data as literals, and by exact reduction
//! of the matrix pencil `E y' = F y + f` in this file. Singular pencils must be refused, while compiling or at the start.
#![allow(clippy::unwrap_used, clippy::panic)]

use acausal::{Load, Model};
use acausal_index1::{Options, transform_with};

/// A case: what it is called, Modelica equations, E and F, and the index (`None`: a singular pencil).
struct Case {
    name: String,
    declarations: &'static str,
    equations: String,
    e: Vec<Vec<i64>>,
    f: Vec<Vec<i64>>,
    index: Option<usize>,
}

const COUPLING: &str = "Real w1(start = 1), w2(start = 1), Qr1, Ql2;";

/// Unknowns w1, w2, Qr1, Ql2.
fn slip(j1: i64, j2: i64, d: i64, index: Option<usize>) -> Case {
    Case {
        name: format!("slip J1={j1} J2={j2} d={d}"),
        declarations: COUPLING,
        equations: format!(
            "({j1})*der(w1) = 1 + Qr1; ({j2})*der(w2) = Ql2 - 2; Qr1 = -Ql2; Qr1 = ({d})*(w2 - w1);"
        ),
        e: vec![vec![j1, 0, 0, 0], vec![0, j2, 0, 0], vec![0; 4], vec![0; 4]],
        f: vec![
            vec![0, 0, 1, 0],
            vec![0, 0, 0, 1],
            vec![0, 0, 1, 1],
            vec![d, -d, 1, 0],
        ],
        index,
    }
}

fn rigid(j1: i64, j2: i64, index: Option<usize>) -> Case {
    Case {
        name: format!("rigid J1={j1} J2={j2}"),
        declarations: COUPLING,
        equations: format!(
            "({j1})*der(w1) = 1 + Qr1; ({j2})*der(w2) = Ql2 - 2; Qr1 = -Ql2; w1 = w2;"
        ),
        e: vec![vec![j1, 0, 0, 0], vec![0, j2, 0, 0], vec![0; 4], vec![0; 4]],
        f: vec![
            vec![0, 0, 1, 0],
            vec![0, 0, 0, 1],
            vec![0, 0, 1, 1],
            vec![1, -1, 0, 0],
        ],
        index,
    }
}

/// The rigid coupling reduced by hand: (c, e, f, g).
fn rigid_reduced() -> Case {
    Case {
        name: "rigid as (c,e,f,g)".into(),
        declarations: COUPLING,
        equations: "Qr1 = -Ql2; w1 = w2; 3*Qr1 = 2*(-2) - 1; 3*der(w1) = -1;".into(),
        e: vec![vec![0; 4], vec![0; 4], vec![0; 4], vec![3, 0, 0, 0]],
        f: vec![
            vec![0, 0, 1, 1],
            vec![1, -1, 0, 0],
            vec![0, 0, 3, 0],
            vec![0; 4],
        ],
        index: Some(1),
    }
}

/// Unknowns vc, i, vout; `k` is 1/K, C = 1.
fn differentiator(r: i64, k: i64, index: Option<usize>) -> Case {
    Case {
        name: format!("differentiator R={r} 1/K={k}"),
        declarations: "Real vc, i, vout;",
        equations: format!(
            "der(vc) = i; sin(time) = vc - ({k})*vout; sin(time) = vc + vout + ({r})*i;"
        ),
        e: vec![vec![1, 0, 0], vec![0; 3], vec![0; 3]],
        f: vec![vec![0, 1, 0], vec![1, 0, -k], vec![1, r, 1]],
        index,
    }
}

/// The table.
fn cases() -> Vec<Case> {
    vec![
        slip(2, 1, 3, Some(1)),
        slip(2, 1, 0, Some(1)),
        slip(2, -2, 3, Some(1)),
        slip(2, 0, 3, Some(1)),
        slip(0, 1, 3, Some(1)),
        slip(2, 0, 0, None),
        slip(0, 0, 3, None),
        rigid(2, 1, Some(2)),
        rigid(2, 0, Some(1)),
        rigid(0, 1, Some(1)),
        rigid(2, -2, None),
        rigid(0, 0, None),
        rigid_reduced(),
        differentiator(2, 1, Some(1)),
        differentiator(2, -1, Some(1)),
        differentiator(2, 0, Some(2)),
        differentiator(0, 0, Some(2)),
        differentiator(0, 1, Some(2)),
        differentiator(0, -1, None),
    ]
}

/// How often algebraic rows have to be differentiated until E is regular; exact in integers.
fn kronecker_index(mut e: Vec<Vec<i64>>, mut f: Vec<Vec<i64>>) -> Option<usize> {
    let n = e.len();
    for times in 0..=n {
        // Row compression of E: below the pivots, E is zero.
        let mut rank = 0;
        for column in 0..n {
            let Some(p) = (rank..n).find(|&r| e[r][column] != 0) else {
                continue;
            };
            e.swap(rank, p);
            f.swap(rank, p);
            for r in rank + 1..n {
                let (a, b) = (e[rank][column], e[r][column]);
                for c in 0..n {
                    e[r][c] = a * e[r][c] - b * e[rank][c];
                    f[r][c] = a * f[r][c] - b * f[rank][c];
                }
            }
            rank += 1;
        }
        if rank == n {
            return Some(times);
        }
        // 0 = F y + f differentiated: F y' = -f'.
        for r in rank..n {
            e[r] = std::mem::replace(&mut f[r], vec![0; n]);
        }
    }
    None
}

#[test]
fn kr_1_index_table() {
    for case in cases() {
        let name = &case.name;
        assert_eq!(kronecker_index(case.e, case.f), case.index, "{name}");
        let text = format!(
            "model M {} equation {} end M;",
            case.declarations, case.equations
        );
        match case.index {
            Some(index) => {
                let mut libraries = acausal_instance::class::Libraries::new();
                libraries.load_text("M.mo", &text).unwrap();
                let (flat, _) = acausal_flatten::flatten(&mut libraries, "M", &[]).unwrap();
                let (_, report) = transform_with(flat, &Options::default())
                    .unwrap_or_else(|d| panic!("{name}: {d:?}"));
                assert_eq!(report.structural_index, index, "{name}");
            }
            None => {
                let refused = match Model::from_text("M.mo", &text, &Load::default()) {
                    Err(_) => true,
                    Ok(m) => m.simulate_in_memory(&m.settings()).is_err(),
                };
                assert!(refused, "{name} was accepted");
            }
        }
    }
}
