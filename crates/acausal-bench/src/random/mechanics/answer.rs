//! The answer: a linear system of first order, its matrix exponential, and accelerations from the state of each row.
//!
//! Angles and speeds are a trajectory. Accelerations follow from them without a history, and where a stiff spring turns by a small part of
//! the angles that it connects they amplify their errors (`c/J` times the tolerance of the angle, not of the twist). So accelerations are compared with
//! those that belong to angles and speeds of the same row.

use acausal::InMemory;

use super::{INTERVAL, Joint, STOP, Train};
use crate::random::case::{ALLOWED, Disagreement, TRAJECTORY, compare_bounded, compare_within};
use crate::random::matrix::{DenseMatrix, exponential, times, zeros};

/// Compares angles, speeds and accelerations of all inertias.
pub(super) fn judge(train: &Train, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
    let system = System::new(train);
    let points = system.solve();
    let all = 0..train.inertias.len();
    let point = |t: f64| &points[((t / INTERVAL).round() as usize).min(points.len() - 1)];
    let names: Vec<String> = all
        .clone()
        .flat_map(|k| ["phi", "w"].map(|v| format!("j{k}.{v}")))
        .collect();
    let moved = compare_within(run, &names, TRAJECTORY * tolerance, |t| {
        let z = point(t);
        let each = system.members.iter();
        each.flat_map(|&(i, r)| [z[i] * r, z[system.parts() + i] * r])
            .collect()
    })?;
    let g = system.parts();
    let mut found = Vec::new();
    for (offset, signal) in [(0, "phi"), (g, "w")] {
        for (i, first) in system.firsts.iter().enumerate() {
            let name = format!("j{first}.{signal}");
            let values = run.result.values(&name);
            found.push((offset + i, values.ok_or(Disagreement::missing(&name))?));
        }
    }
    let mut answers = Vec::new();
    for (row, &t) in run.result.time().iter().enumerate() {
        let mut z = point(t).clone();
        for (k, values) in &found {
            z[*k] = values[row];
        }
        let slope = times(&system.a, &z);
        let each = system.members.iter();
        answers.push(each.map(|&(i, r)| slope[g + i] * r).collect::<Vec<f64>>());
    }
    let scale = answers.iter().flatten().fold(1.0f64, |m, v| m.max(v.abs()));
    let names: Vec<String> = all.map(|k| format!("j{k}.acceleration")).collect();
    let bound = ALLOWED * tolerance * scale;
    Ok(moved.max(compare_bounded(run, &names, bound, &answers)?))
}

/// `z' = a z`: one angle and one speed for each rigid part, then sine and cosine of each source.
struct System {
    a: DenseMatrix,
    start: Vec<f64>,
    /// The first inertia of each rigid part.
    firsts: Vec<usize>,
    /// For each inertia its part, and its angle over that of the part.
    members: Vec<(usize, f64)>,
}

impl System {
    fn parts(&self) -> usize {
        self.firsts.len()
    }

    fn new(train: &Train) -> System {
        let parts = train.parts();
        let firsts: Vec<usize> = (0..train.inertias.len())
            .filter(|k| parts.of[*k].0 == *k)
            .collect();
        let g = firsts.len();
        let place = |k: usize| firsts.iter().position(|f| *f == parts.of[k].0).unwrap_or(0);
        let mut mass = vec![0.0; g];
        for (k, j) in train.inertias.iter().enumerate() {
            mass[place(k)] += j * parts.of[k].1 * parts.of[k].1;
        }
        let (mut stiff, mut damp) = (zeros(g, g), zeros(g, g));
        let springs = train
            .parents
            .iter()
            .enumerate()
            .map(|(k, p)| (p.0, Some(k + 1), p.1));
        for (from, to, joint) in springs.chain(train.links.iter().copied()) {
            let Joint::Spring(c, d) = joint else { continue };
            let mut b = vec![0.0; g];
            b[place(from)] += parts.of[from].1;
            if let Some(to) = to {
                b[place(to)] -= parts.of[to].1;
            }
            for i in 0..g {
                for j in 0..g {
                    stiff[i][j] += c * b[i] * b[j];
                    damp[i][j] += d * b[i] * b[j];
                }
            }
        }
        // z = q, q', then sine and cosine of each source.
        let mut waves: Vec<f64> = train.torques.iter().map(|t| t.2).collect();
        waves.extend(train.motion.map(|m| m.2));
        let n = 2 * g + 2 * waves.len();
        let mut a = zeros(n, n);
        let mut start = vec![0.0; n];
        for (s, w) in waves.iter().enumerate() {
            let k = 2 * g + 2 * s;
            (a[k][k + 1], a[k + 1][k]) = (*w, -*w);
            start[k + 1] = 1.0;
        }
        for i in 0..g {
            a[i][g + i] = 1.0;
            (start[i], start[g + i]) = train.starts[firsts[i]];
            for j in 0..g {
                a[g + i][j] = -stiff[i][j] / mass[i];
                a[g + i][g + j] = -damp[i][j] / mass[i];
            }
        }
        for (s, (at, amplitude, _)) in train.torques.iter().enumerate() {
            let i = place(*at);
            a[g + i][2 * g + 2 * s] += amplitude * parts.of[*at].1 / mass[i];
        }
        if let Some((at, amplitude, w)) = train.motion {
            // q follows the sine: q' = A w cos, q'' = -A w^2 sin.
            let i = place(at);
            let amplitude = amplitude / parts.of[at].1;
            let k = n - 2;
            a[i] = vec![0.0; n];
            a[g + i] = vec![0.0; n];
            a[i][k + 1] = amplitude * w;
            a[g + i][k] = -amplitude * w * w;
            (start[i], start[g + i]) = (0.0, amplitude * w);
        }
        System {
            a,
            start,
            members: (0..train.inertias.len())
                .map(|k| (place(k), parts.of[k].1))
                .collect(),
            firsts,
        }
    }

    /// The state at multiples of the interval.
    fn solve(&self) -> Vec<Vec<f64>> {
        let rows = (STOP / INTERVAL).round() as usize;
        let scaled: DenseMatrix = self
            .a
            .iter()
            .map(|r| r.iter().map(|v| v * INTERVAL).collect())
            .collect();
        let step = exponential(&scaled);
        let mut z = self.start.clone();
        let mut all = Vec::new();
        for _ in 0..=rows {
            let next = times(&step, &z);
            all.push(std::mem::replace(&mut z, next));
        }
        all
    }
}
