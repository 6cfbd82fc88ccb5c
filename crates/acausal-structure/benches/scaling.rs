//! Prints how the structural algorithms scale: time per size, and the growth factor from one decade to the next (10 is
//! linear). Array passes are repeated for N = 10, 10³, 10⁶ elements: there the factor should be 1.
//!
//! `cargo bench -p acausal-structure [-- part of a task's name]`
//!
//! The time is user CPU time of the thread (on Linux), the least of several runs; sizes take turns, so that all of them
//! meet the same machine.

use std::time::Instant;

use acausal_structure::blt::highest_blocks;
use acausal_structure::flow::Graph;
use acausal_structure::integer_elimination::{Class, IntegerSystem, decide};
use acausal_structure::pantelides::{NodeDae, pantelides};
use acausal_structure::segments::{Index, Model, Span, analyse};
use acausal_structure::state_selection::{Preferences, select, sort};
use acausal_structure::tearing::tear;
use acausal_structure::{EqId, Rows, VarId};

fn main() {
    println!(
        "{:<44} {:>10} {:>12} {:>8}",
        "task", "size", "time", "factor"
    );
    timed(
        "band, Pantelides + BLT",
        &[10_000, 100_000, 1_000_000],
        band,
        |dae| {
            let d = pantelides(dae).expect("regular");
            format!("{} blocks", highest_blocks(&d).expect("complete").len())
        },
    );
    timed(
        "band, equations shuffled",
        &[10_000, 100_000, 1_000_000],
        |n| shuffled(band(n)),
        |dae| {
            let d = pantelides(dae).expect("regular");
            format!("{} blocks", highest_blocks(&d).expect("complete").len())
        },
    );
    timed(
        "independent pendulums, Pantelides + BLT",
        &[1_000, 10_000, 100_000],
        pendulums,
        |dae| {
            let d = pantelides(dae).expect("regular");
            format!("{} blocks", highest_blocks(&d).expect("complete").len())
        },
    );
    table(
        "pendulums, state selection + sorting",
        &[1_000, 10_000, 100_000],
        |n| {
            let d = pantelides(&pendulums(n)).expect("regular");
            let blocks = highest_blocks(&d).expect("complete");
            let solvable = |e: EqId, v: VarId| e.0 % 5 < 2 && v.0 % 9 == e.0 % 5 + 2;
            let s = select(&d, &blocks, &Preferences::default(), solvable, |_| false);
            let form = s.form(&d, &sort(&d, &s).expect("square"));
            format!("{} unknowns", form.unknowns())
        },
    );
    table(
        "tearing of the chain, forwards",
        &[10_000, 100_000, 1_000_000],
        |n| chain(n, false),
    );
    table(
        "tearing of the chain, backwards",
        &[10_000, 100_000, 1_000_000],
        |n| chain(n, true),
    );
    table(
        "integer elimination, ladder network",
        &[1_000, 10_000, 100_000],
        |n| {
            let d = decide(&network(n / 12, 2));
            format!("{} redundant, {} free", d.redundant.len(), d.free.len())
        },
    );
    table(
        "integer elimination, square network",
        &[1_000, 10_000, 100_000],
        |n| {
            let side = ((n as f64 / 8.0).sqrt()) as usize;
            let d = decide(&network(side, side));
            format!("{} redundant, {} free", d.redundant.len(), d.free.len())
        },
    );
    table(
        "integer elimination, star network",
        &[1_000, 10_000, 100_000],
        |n| {
            let d = decide(&star(n / 4));
            format!("{} redundant, {} free", d.redundant.len(), d.free.len())
        },
    );
    for (name, family) in FAMILIES {
        table(name, &[10, 1_000, 1_000_000], |n| {
            let a = analyse(&family(n as i64)).expect("regular");
            format!(
                "{} cells, {} segments, {} blocks",
                a.cells,
                a.segments.len(),
                a.blocks.len()
            )
        });
    }
    table(
        "segments, model of scalars",
        &[1_000, 10_000, 100_000],
        |n| {
            let a = analyse(&scalars(n)).expect("regular");
            format!("{} blocks", a.blocks.len())
        },
    );
    table("segments, enumerated (order grows)", &[10, 30, 100], |n| {
        let a = analyse(&integrators(n as i64)).expect("regular");
        format!("{} cells", a.cells)
    });
}

/// User CPU time of this thread where the system tells it (other programs do not disturb it), else the clock.
fn cpu_seconds() -> f64 {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    {
        unsafe extern "C" {
            fn getrusage(who: i32, usage: *mut [i64; 18]) -> i32;
        }
        const RUSAGE_THREAD: i32 = 1;
        let mut usage = [0i64; 18];
        // SAFETY: `struct rusage` is two `timeval`s and 14 longs, and lives through the call.
        if unsafe { getrusage(RUSAGE_THREAD, &mut usage) } == 0 {
            return usage[0] as f64 + 1e-6 * usage[1] as f64;
        }
    }
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Each size is measured this often.
const ROUNDS: usize = 5;
/// Short runs are repeated for as long as this.
const LEAST: f64 = 0.05;

/// Times a task by its size alone.
fn table(task: &str, sizes: &[usize], run: impl Fn(usize) -> String) {
    timed(task, sizes, |n| n, |&n| run(n));
}

/// Times a task on inputs that are made before.
fn timed<T>(task: &str, sizes: &[usize], make: impl Fn(usize) -> T, run: impl Fn(&T) -> String) {
    let wanted = std::env::args()
        .skip(1)
        .find(|a| !a.starts_with("--"))
        .unwrap_or_default();
    if !task.contains(&wanted) {
        return;
    }
    let inputs: Vec<T> = sizes.iter().map(|&n| make(n)).collect();
    let mut best = vec![(f64::INFINITY, String::new()); sizes.len()];
    for _ in 0..ROUNDS {
        for (n, best) in inputs.iter().zip(&mut best) {
            let (start, mut runs, mut result) = (cpu_seconds(), 0, String::new());
            while runs == 0 || (cpu_seconds() - start < LEAST && runs < 10_000) {
                result = run(n);
                runs += 1;
            }
            let mean = (cpu_seconds() - start) / f64::from(runs);
            if mean < best.0 {
                *best = (mean, result);
            }
        }
    }
    let mut before: Option<f64> = None;
    for (n, (time, result)) in sizes.iter().zip(best) {
        let factor = before.map_or(String::new(), |b| format!("{:.1}", time / b));
        println!(
            "{task:<44} {n:>10} {:>9.3} ms {factor:>8}   {result}",
            time * 1e3
        );
        before = Some(time);
    }
}

/// Tridiagonal system.
fn band(n: usize) -> NodeDae {
    let rows: Rows<VarId> = (0..n)
        .map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(VarId::new))
        .collect();
    NodeDae {
        graph: Graph::scalar(rows, n),
        derivative: vec![None; n],
    }
}

fn shuffled(dae: NodeDae) -> NodeDae {
    let n = dae.graph.elen.len();
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = 12345u64;
    for k in (1..n).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        order.swap(k, (state >> 33) as usize % (k + 1));
    }
    let rows = order
        .iter()
        .map(|&e| dae.graph.incidence.row(e).to_vec())
        .collect();
    NodeDae {
        graph: Graph::scalar(rows, n),
        derivative: dae.derivative,
    }
}

fn pendulums(n: usize) -> NodeDae {
    let mut dae = NodeDae {
        graph: Graph::scalar(Rows::new(), 9 * n),
        derivative: vec![None; 9 * n],
    };
    for p in 0..n {
        for v in 0..4 {
            dae.derivative[9 * p + v] = Some(VarId::new(9 * p + v + 4));
        }
        let rows: [&[usize]; 5] = [&[2, 4], &[3, 5], &[0, 6, 8], &[1, 7, 8], &[0, 1]];
        for row in rows {
            dae.graph
                .add_equation(1, row.iter().map(|v| VarId::new(9 * p + v)));
        }
    }
    dae
}

fn chain(n: usize, backwards: bool) -> String {
    let g: Rows<VarId> = (0..n)
        .map(|i| [VarId::new(i), VarId::new((i + n - 1) % n)])
        .collect();
    let unknowns: Vec<VarId> = (0..n).map(VarId::new).collect();
    let mut order: Vec<EqId> = (0..n).map(EqId::new).collect();
    if backwards {
        order.reverse();
    }
    let t = tear(&g, n, &unknowns, &order, |_, _| true);
    format!(
        "{} tearing variable, {:.2} visits per equation",
        t.tearing.len(),
        t.visits as f64 / n as f64
    )
}

/// An ungrounded network of resistors on a grid, one set of connection equations per node.
fn network(length: usize, width: usize) -> IntegerSystem {
    let mut s = IntegerSystem::default();
    let mut node: Vec<Vec<(usize, usize)>> = vec![Vec::new(); length * width];
    for a in 0..length {
        for b in 0..width {
            let here = a * width + b;
            if a + 1 < length {
                resistor(&mut s, &mut node, here, here + width);
            }
            if b + 1 < width {
                resistor(&mut s, &mut node, here, here + 1);
            }
        }
    }
    connect(&mut s, &node);
    s
}

/// All resistors between two nodes.
fn star(n: usize) -> IntegerSystem {
    let mut s = IntegerSystem::default();
    let mut node = vec![Vec::new(); 2];
    for _ in 0..n {
        resistor(&mut s, &mut node, 0, 1);
    }
    connect(&mut s, &node);
    s
}

fn resistor(s: &mut IntegerSystem, node: &mut [Vec<(usize, usize)>], from: usize, to: usize) {
    let at = s.classes.len(); // v, p.v, n.v, p.i, n.i
    s.classes.extend([
        Class::Rest,
        Class::Local,
        Class::Local,
        Class::Rest,
        Class::Local,
    ]);
    s.rows.push(vec![(at, 1), (at + 1, -1), (at + 2, 1)]);
    s.rows.push(vec![(at + 3, 1), (at + 4, 1)]);
    node[from].push((at + 1, at + 3));
    node[to].push((at + 2, at + 4));
}

fn connect(s: &mut IntegerSystem, node: &[Vec<(usize, usize)>]) {
    for pins in node {
        s.rows.push(pins.iter().map(|p| (p.1, 1)).collect());
        for pair in pins.windows(2) {
            s.rows.push(vec![(pair[0].0, 1), (pair[1].0, -1)]);
        }
    }
}

type Family = (&'static str, fn(i64) -> Model);

const FAMILIES: [Family; 6] = [
    ("segments, sliding mass in N dimensions", |n| {
        let mut m = Model::default();
        let all = Span::new(1, n);
        let s = m.variable(&[], 1);
        let (r, v) = (m.variable(&[all], 1), m.variable(&[all], 1));
        let (f, u) = (m.variable(&[all], 0), m.variable(&[all], 0));
        m.equation(&[all], &[(r, &[at(0)]), (s, &[])]);
        m.equation(&[all], &[(v, &[at(0)]), (der(r), &[at(0)])]);
        m.equation(&[all], &[(der(v), &[at(0)]), (f, &[at(0)]), (u, &[at(0)])]);
        m.equation(&[], &[(f, &[Index::All(all)])]);
        m.equation(&[all], &[(u, &[at(0)]), (s, &[]), (der(s), &[])]);
        m
    }),
    ("segments, heat conduction", |n| {
        let mut m = Model::default();
        let t = m.variable(&[Span::new(1, n)], 1);
        m.equation(&[], &[(t, &[Index::Fixed(1)])]);
        let inner = [Span::new(2, n - 1)];
        m.equation(
            &inner,
            &[
                (der(t), &[at(0)]),
                (t, &[at(-1)]),
                (t, &[at(0)]),
                (t, &[at(1)]),
            ],
        );
        m.equation(&[], &[(t, &[Index::Fixed(n)])]);
        m
    }),
    ("segments, heat conduction with fluxes", |n| {
        let mut m = Model::default();
        let (t, q) = (
            m.variable(&[Span::new(1, n)], 1),
            m.variable(&[Span::new(1, n + 1)], 0),
        );
        m.equation(
            &[Span::new(1, n)],
            &[(der(t), &[at(0)]), (q, &[at(0)]), (q, &[at(1)])],
        );
        m.equation(
            &[Span::new(2, n)],
            &[(q, &[at(0)]), (t, &[at(-1)]), (t, &[at(0)])],
        );
        m.equation(&[], &[(q, &[Index::Fixed(1)]), (t, &[Index::Fixed(1)])]);
        m.equation(&[], &[(q, &[Index::Fixed(n + 1)])]);
        m
    }),
    ("segments, tied masses (index 3)", |n| {
        let mut m = Model::default();
        let all = Span::new(1, n);
        let (phi, w) = (m.variable(&[all], 1), m.variable(&[all], 1));
        let tau = m.variable(&[Span::new(1, n - 1)], 0);
        m.equation(&[all], &[(der(phi), &[at(0)]), (w, &[at(0)])]);
        m.equation(
            &[Span::new(2, n - 1)],
            &[(der(w), &[at(0)]), (tau, &[at(-1)]), (tau, &[at(0)])],
        );
        m.equation(
            &[],
            &[(der(w), &[Index::Fixed(1)]), (tau, &[Index::Fixed(1)])],
        );
        m.equation(
            &[],
            &[(der(w), &[Index::Fixed(n)]), (tau, &[Index::Fixed(n - 1)])],
        );
        m.equation(&[Span::new(1, n - 1)], &[(phi, &[at(0)]), (phi, &[at(1)])]);
        m
    }),
    ("segments, independent pendulums (index 3)", |n| {
        let mut m = Model::default();
        let all = [Span::new(1, n)];
        let [x, y, w, z] = [0; 4].map(|_| m.variable(&all, 1));
        let force = m.variable(&all, 0);
        m.equation(&all, &[(der(x), &[at(0)]), (w, &[at(0)])]);
        m.equation(&all, &[(der(y), &[at(0)]), (z, &[at(0)])]);
        m.equation(
            &all,
            &[(der(w), &[at(0)]), (force, &[at(0)]), (x, &[at(0)])],
        );
        m.equation(
            &all,
            &[(der(z), &[at(0)]), (force, &[at(0)]), (y, &[at(0)])],
        );
        m.equation(&all, &[(x, &[at(0)]), (y, &[at(0)])]);
        m
    }),
    ("segments, slices x[1:N-1] = x[2:N]", |n| {
        let mut m = Model::default();
        let x = m.variable(&[Span::new(1, n)], 0);
        m.equation(&[Span::new(1, n - 1)], &[(x, &[at(0)]), (x, &[at(1)])]);
        m.equation(&[], &[(x, &[Index::Fixed(1)])]);
        m
    }),
];

/// A tridiagonal model of scalars only.
fn scalars(n: usize) -> Model {
    let mut m = Model::default();
    let x: Vec<VarId> = (0..n).map(|_| m.variable(&[], 0)).collect();
    for i in 0..n {
        let row: Vec<(VarId, &[Index])> = (i.saturating_sub(1)..(i + 2).min(n))
            .map(|j| (x[j], &[][..]))
            .collect();
        m.equation(&[], &row);
    }
    m
}

/// x[i+1] = der(x[i]): equation i is differentiated n - i times.
fn integrators(n: i64) -> Model {
    let mut m = Model::default();
    let x = m.variable(&[Span::new(1, n)], 1);
    m.equation(&[], &[(x, &[Index::Fixed(1)])]);
    m.equation(&[Span::new(1, n - 1)], &[(x, &[at(1)]), (der(x), &[at(0)])]);
    m
}

fn at(offset: i64) -> Index {
    Index::shifted(0, offset)
}

fn der(v: VarId) -> VarId {
    VarId(v.0 + 1)
}
