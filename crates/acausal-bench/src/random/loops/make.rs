//! Random loops: shape, coefficients, right-hand sides, and how they are written.

use super::{
    Basis, Loop, Manufactured, Nonlinear, Row, Sampled, State, Style, WORST_CONDITION, answer,
};
use crate::random::draw::{Draw, rounded};

/// One loop; drawn again, with stronger diagonals, until it is well-conditioned.
pub(super) fn make(draw: &mut Draw, sampled: bool) -> Loop {
    let mut firmness = *draw.one(&[0.5, 0.8, 1.0, 1.0, 1.001, 1.02, 1.1, 1.25, 2.0, 4.0]);
    loop {
        let case = once(draw, firmness, sampled);
        if answer::condition(&case) < WORST_CONDITION {
            return case;
        }
        firmness = firmness.max(0.9) * 1.1;
    }
}

fn once(draw: &mut Draw, firmness: f64, sampled: bool) -> Loop {
    let largest = if sampled { 40 } else { 500 };
    let n = draw.size(3, largest);
    let (mut matrix, columns, arrays) = match draw.below(5) {
        0 => (band(draw, n, firmness, false), None, vec![0]),
        1 => (band(draw, n, firmness, true), None, vec![0]),
        2 => {
            let columns = draw.range(2, ((n as f64).sqrt() as usize).max(2));
            let rows = (n / columns).max(2);
            (grid(draw, rows, columns, firmness), Some(columns), vec![0])
        }
        3 => {
            let half = (n / 2).max(2);
            let arrays = if draw.chance(70) {
                vec![0, half]
            } else {
                vec![0]
            };
            (ladder(draw, half), None, arrays)
        }
        _ => (sparse(draw, n.min(300), firmness), None, vec![0]),
    };
    let n = matrix.len();
    for (k, row) in matrix.iter_mut().enumerate() {
        row.sort_by_key(|t| t.0);
        row.dedup_by(|a, b| {
            a.0 == b.0 && {
                b.1 += a.1;
                true
            }
        });
        row.retain(|t| t.1 != 0.0 || t.0 == k);
    }
    let state = draw.chance(if sampled { 80 } else { 60 }).then(|| State {
        rate: draw.real(0.2, 5.0),
        gain: if draw.chance(50) {
            draw.real(0.05, 0.3)
        } else {
            0.0
        },
        of: draw.below(n),
    });
    let mut basis = vec![
        Basis::One,
        Basis::Sin(draw.real(0.5, 10.0)),
        *draw.one(&[Basis::Time, Basis::Cos(3.0), Basis::Sin(1.0)]),
    ];
    if state.is_some() {
        basis.push(Basis::State);
    }
    let sources = sources(draw, n, basis.len());
    let style = *draw.one(&[
        Style::Scalars,
        Style::Elements,
        Style::ForLoops,
        Style::ForLoops,
    ]);
    let mut case = Loop {
        rows: matrix
            .into_iter()
            .zip(sources)
            .map(|(terms, sources)| Row { terms, sources })
            .collect(),
        basis,
        modulation: None,
        manufactured: None,
        state,
        sampled: sampled.then(|| Sampled {
            start: draw.real(0.0, 0.3),
            period: draw.real(0.03, 0.2),
            of: (draw.below(n), draw.below(n)),
        }),
        columns: columns.filter(|_| style != Style::Scalars && draw.chance(70)),
        arrays,
        style,
        parameters: draw.chance(40),
        right: draw.chance(40),
        order: match draw.chance(50) {
            true => draw.permutation(n),
            false => (0..n).collect(),
        },
        names: names(draw, n),
    };
    match draw.below(6) {
        0 => {
            case.modulation = Some((draw.real(0.05, 0.4), draw.real(0.5, 6.0)));
            if let Some(s) = &mut case.state {
                s.gain = 0.0;
            }
        }
        1 if firmness >= 1.0 && dominant(&case) => case.manufactured = Some(manufactured(draw)),
        _ => {}
    }
    if super::answer::grows(&case)
        && let Some(s) = &mut case.state
    {
        s.gain = 0.0;
    }
    case
}

fn manufactured(draw: &mut Draw) -> Manufactured {
    Manufactured {
        middle: draw.signed(0.0, 1.0),
        swing: draw.real(0.2, 1.0),
        frequency: draw.real(0.5, 8.0),
        phase: draw.real(0.0, 0.5),
        strength: draw.real(0.02, 0.3),
        function: *draw.one(&[Nonlinear::Cube, Nonlinear::Tanh, Nonlinear::Exp]),
    }
}

/// All diagonals are positive and at least the sum of the others: the nonlinear terms, which grow, then leave one solution.
fn dominant(case: &Loop) -> bool {
    case.rows.iter().enumerate().all(|(k, row)| {
        let (mut diagonal, mut others) = (0.0, 0.0);
        for &(j, c) in &row.terms {
            match j == k {
                true => diagonal += c,
                false => others += f64::abs(c),
            }
        }
        diagonal > 0.0 && diagonal >= others - 1e-9
    })
}

/// Most right-hand sides are empty, or all are alike, as in a discretised field; or each has its own.
fn sources(draw: &mut Draw, n: usize, basis: usize) -> Vec<Vec<(usize, f64)>> {
    let one = |draw: &mut Draw| {
        let mut all = vec![(draw.below(basis), draw.signed(0.5, 10.0))];
        if draw.chance(40) {
            let other = draw.below(basis);
            if other != all[0].0 {
                all.push((other, draw.signed(0.5, 10.0)));
            }
        }
        all
    };
    let mode = draw.below(3);
    let common = one(draw);
    let mut all: Vec<Vec<(usize, f64)>> = (0..n)
        .map(|_| match mode {
            0 => Vec::new(),
            1 => common.clone(),
            _ => one(draw),
        })
        .collect();
    all[0] = one(draw);
    if draw.chance(50) {
        all[n - 1] = one(draw);
    }
    all
}

type Terms = Vec<Vec<(usize, f64)>>;

/// A diagonal for the other coefficients of a row.
fn diagonal(draw: &mut Draw, others: &[(usize, f64)], firmness: f64, sign: f64) -> f64 {
    let sum: f64 = others.iter().map(|t| t.1.abs()).sum();
    let extra = if firmness < 1.0 { 1.0 } else { firmness };
    let wobble = if draw.chance(20) {
        draw.real(1.0, 1.3)
    } else {
        1.0
    };
    sign * rounded((sum * firmness.min(extra) * wobble).max(0.1) + 0.0005)
}

/// Neighbours on both sides, up to two of them, all rows alike or each with its own coefficients.
fn band(draw: &mut Draw, n: usize, firmness: f64, ring: bool) -> Terms {
    let width = if n > 6 && draw.chance(25) { 2 } else { 1 };
    let alike = draw.chance(60);
    let sign = if draw.chance(70) { 1.0 } else { -1.0 };
    let off: Vec<f64> = (0..2 * width).map(|_| draw.signed(0.2, 2.0)).collect();
    let mut common: Option<f64> = None;
    (0..n)
        .map(|i| {
            let mut others: Vec<(usize, f64)> = Vec::new();
            for d in 1..=width {
                for (side, j) in [(0, i.checked_sub(d)), (1, Some(i + d).filter(|j| *j < n))] {
                    let wrapped = match (j, ring, side) {
                        (Some(j), _, _) => Some(j),
                        (None, true, 0) => Some(n + i - d),
                        (None, true, _) => Some(i + d - n),
                        _ => None,
                    };
                    let c = if alike {
                        off[2 * (d - 1) + side]
                    } else {
                        draw.signed(0.2, 2.0)
                    };
                    others.extend(wrapped.map(|j| (j, c)));
                }
            }
            let full = others.len() == 2 * width;
            let d = match (full && alike, common) {
                (true, Some(d)) => d,
                _ => diagonal(draw, &others, firmness, sign),
            };
            if full && alike {
                common = Some(d);
            }
            others.push((i, d));
            others
        })
        .collect()
}

/// The five-point star in the inside, given values or given slopes on the edges.
fn grid(draw: &mut Draw, rows: usize, columns: usize, firmness: f64) -> Terms {
    let c: Vec<f64> = (0..4).map(|_| draw.real(0.3, 2.0)).collect();
    let star = rounded(c.iter().sum::<f64>() * firmness + 0.0005);
    let slopes = draw.chance(50);
    let at = |i: usize, j: usize| i * columns + j;
    let mut all = Vec::new();
    for i in 0..rows {
        for j in 0..columns {
            let inside = i > 0 && j > 0 && i + 1 < rows && j + 1 < columns;
            all.push(if inside {
                vec![
                    (at(i - 1, j), -c[0]),
                    (at(i + 1, j), -c[1]),
                    (at(i, j - 1), -c[2]),
                    (at(i, j + 1), -c[3]),
                    (at(i, j), star),
                ]
            } else if slopes && i > 0 && i + 1 < rows {
                let next = if j == 0 { at(i, 1) } else { at(i, j - 1) };
                vec![(at(i, j), 1.25), (next, -1.0)]
            } else {
                vec![(at(i, j), 1.0)]
            });
        }
    }
    all
}

/// Potentials and currents of a ladder of resistors: `v[k] - v[k+1] = r*i[k]`, `i[k] - i[k+1] = g*v[k+1]`, a source at one
/// end, a load at the other. Nothing is dominant here.
fn ladder(draw: &mut Draw, half: usize) -> Terms {
    let (r, g) = (draw.real(0.1, 2.0), draw.real(0.1, 2.0));
    let alike = draw.chance(60);
    let mut near = |x: f64| {
        if alike {
            x
        } else {
            rounded(x * draw.real(0.5, 1.5))
        }
    };
    let mut all = vec![vec![(0, 1.0)]];
    for k in 0..half - 1 {
        all.push(vec![(k, 1.0), (k + 1, -1.0), (half + k, -near(r))]);
    }
    for k in 0..half - 1 {
        all.push(vec![
            (half + k, 1.0),
            (half + k + 1, -1.0),
            (k + 1, -near(g)),
        ]);
    }
    all.push(vec![(2 * half - 1, 1.0), (half - 1, -near(g))]);
    // Row 0 is the source for v[1]; the others follow one place later, so that the diagonal is where it is solved.
    all
}

/// A few coefficients per row, anywhere.
fn sparse(draw: &mut Draw, n: usize, firmness: f64) -> Terms {
    (0..n)
        .map(|i| {
            let mut others: Vec<(usize, f64)> = Vec::new();
            for _ in 0..draw.range(1, 3) {
                let j = draw.below(n);
                if j != i && others.iter().all(|t| t.0 != j) {
                    others.push((j, draw.signed(0.2, 2.0)));
                }
            }
            let sign = if draw.chance(70) { 1.0 } else { -1.0 };
            let d = diagonal(draw, &others, firmness, sign);
            others.push((i, d));
            others
        })
        .collect()
}

/// Names as people choose them, in no order.
fn names(draw: &mut Draw, n: usize) -> Vec<String> {
    const STEMS: [&str; 8] = ["T", "u", "p_", "flow", "z", "a", "Q", "voltage"];
    let stem = draw.below(STEMS.len());
    let numbers = draw.permutation(n);
    let mixed = draw.chance(50);
    numbers
        .into_iter()
        .map(|k| match mixed {
            true => format!("{}{k}", STEMS[(stem + k * k) % STEMS.len()]),
            false => format!("{}{k}", STEMS[stem]),
        })
        .collect()
}
