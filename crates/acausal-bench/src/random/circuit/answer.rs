//! The sparse tableau of a circuit (Hachtel, Brayton, Gustavson 1971) and its solution.

use std::borrow::Cow;
use std::collections::BTreeMap;

use acausal::InMemory;

use super::{Circuit, INTERVAL, Part, STOP};
use crate::random::case::{Disagreement, TRAJECTORY, compare_columns};
use crate::random::matrix::{DenseMatrix, Radau, zeros};
use crate::random::orthogonal::Qr;

/// The parts that hang together, by node. The two ports of an element are not connected by it.
pub(super) fn islands(circuit: &Circuit) -> BTreeMap<usize, usize> {
    let mut of: BTreeMap<usize, usize> = BTreeMap::new();
    for e in &circuit.elements {
        for port in e.nodes.chunks(2) {
            let [a, b] = [port[0], port[1]].map(|n| *of.entry(n).or_insert(n));
            for island in of.values_mut() {
                if *island == a.max(b) {
                    *island = a.min(b);
                }
            }
        }
    }
    of
}

/// `E x' + A x = b(t)`. Unknowns: potentials of nodes, then per element a current for each port, and the voltage of
/// capacitors.
pub(super) struct Tableau {
    e: DenseMatrix,
    a: DenseMatrix,
    /// Rows whose right-hand side is the wave of an element.
    sources: Vec<(usize, usize)>,
    nodes: BTreeMap<usize, usize>,
    /// First unknown of each element.
    first: Vec<usize>,
    /// Unknowns with derivatives, and their starts.
    states: Vec<(usize, f64)>,
}

impl Tableau {
    pub(super) fn new(circuit: &Circuit) -> Tableau {
        let islands = islands(circuit);
        let nodes: BTreeMap<usize, usize> =
            islands.keys().enumerate().map(|(k, n)| (*n, k)).collect();
        // A part without ground has one here: its potentials are not compared.
        let mut zero: Vec<usize> = circuit.grounds.clone();
        for (node, island) in &islands {
            if !zero.iter().any(|z| islands.get(z) == Some(island)) {
                zero.push(*node);
            }
        }
        let mut n = nodes.len();
        let mut first = Vec::new();
        for e in &circuit.elements {
            first.push(n);
            n += e.part.ports() + usize::from(matches!(e.part, Part::Capacitor(..)));
        }
        let mut t = Tableau {
            e: zeros(n, n),
            a: zeros(n, n),
            sources: Vec::new(),
            nodes,
            first,
            states: Vec::new(),
        };
        for (k, node) in islands.keys().enumerate() {
            if zero.contains(node) {
                t.a[k][k] = 1.0;
            }
        }
        for (k, e) in circuit.elements.iter().enumerate() {
            for (port, pair) in e.nodes.chunks(2).enumerate() {
                for (node, sign) in pair.iter().zip([1.0, -1.0]) {
                    if !zero.contains(node) {
                        let row = t.nodes[node];
                        t.a[row][t.first[k] + port] += sign;
                    }
                }
            }
            t.element(k, e.part, &e.nodes);
        }
        t
    }

    /// Adds `factor` times the voltage of a port to a row.
    fn voltage(&mut self, row: usize, port: &[usize], factor: f64) {
        let (p, n) = (self.nodes[&port[0]], self.nodes[&port[1]]);
        self.a[row][p] += factor;
        self.a[row][n] -= factor;
    }

    fn element(&mut self, k: usize, part: Part, nodes: &[usize]) {
        let i = self.first[k];
        let row = i;
        match part {
            Part::Resistor(r) => {
                self.voltage(row, nodes, 1.0);
                self.a[row][i] = -r;
            }
            Part::Inductor(l, start) => {
                self.voltage(row, nodes, 1.0);
                self.e[row][i] = -l;
                self.states.push((i, start));
            }
            Part::Capacitor(c, start) => {
                self.voltage(row, nodes, 1.0);
                self.a[row][i + 1] = -1.0;
                self.e[row + 1][i + 1] = c;
                self.a[row + 1][i] = -1.0;
                self.states.push((i + 1, start));
            }
            Part::Voltage(_) => {
                self.voltage(row, nodes, 1.0);
                self.sources.push((row, k));
            }
            Part::Current(_) => {
                self.a[row][i] = 1.0;
                self.sources.push((row, k));
            }
            Part::Transformer(n) => {
                self.voltage(row, &nodes[..2], 1.0);
                self.voltage(row, &nodes[2..], -n);
                self.a[row + 1][i] = n;
                self.a[row + 1][i + 1] = 1.0;
            }
            Part::Gyrator(g) => {
                self.a[row][i] = 1.0;
                self.voltage(row, &nodes[2..], -g);
                self.a[row + 1][i + 1] = 1.0;
                self.voltage(row + 1, &nodes[..2], g);
            }
            Part::OpAmp => {
                self.voltage(row, &nodes[..2], 1.0);
                self.a[row + 1][i] = 1.0;
            }
        }
    }

    /// Of `s E + A`; infinite if it is singular.
    pub(super) fn condition(&self, s: f64) -> f64 {
        let sum =
            |(e, a): (&Vec<f64>, &Vec<f64>)| e.iter().zip(a).map(|(e, a)| s * e + a).collect();
        let m: DenseMatrix = self.e.iter().zip(&self.a).map(sum).collect();
        Qr::new(m).map_or(f64::INFINITY, |qr| qr.condition())
    }

    /// Of the equations for derivatives and algebraic unknowns when the states are known: regular if they are independent.
    pub(super) fn static_condition(&self) -> f64 {
        let mut m = self.a.clone();
        for &(column, _) in &self.states {
            for (row, e) in m.iter_mut().zip(&self.e) {
                row[column] = e[column];
            }
        }
        Qr::new(m).map_or(f64::INFINITY, |qr| qr.condition())
    }

    /// Values of all unknowns at multiples of the interval; at time 0 of the states only. Nothing if the pencil is singular.
    fn solve(&self, circuit: &Circuit, steps_per_row: usize) -> Option<Vec<Vec<f64>>> {
        let n = self.a.len();
        let mut start = vec![0.0; n];
        for &(k, v) in &self.states {
            start[k] = v;
        }
        let mut rows = vec![vec![f64::NAN; n]];
        for &(k, v) in &self.states {
            rows[0][k] = v;
        }
        let step = INTERVAL / steps_per_row as f64;
        let mut radau = Radau::new(self.e.clone(), &self.a, start, step)?;
        let b = |t: f64| {
            let mut b = vec![0.0; n];
            for &(row, k) in &self.sources {
                if let Part::Voltage(w) | Part::Current(w) = circuit.elements[k].part {
                    b[row] = w.value(t);
                }
            }
            b
        };
        for _ in 0..(STOP / INTERVAL).round() as usize {
            for _ in 1..steps_per_row {
                radau.advance(b);
            }
            rows.push(radau.advance(b).to_vec());
        }
        Some(rows)
    }

    /// The largest value, found with few steps.
    pub(super) fn largest(&self, circuit: &Circuit) -> Option<f64> {
        let rows = self.solve(circuit, 1)?;
        let all = rows.iter().flatten().filter(|v| !v.is_nan());
        Some(all.fold(0.0, |m, v| m.max(v.abs())))
    }
}

const STEPS_PER_ROW: usize = 20;

/// Compares voltages and currents of all ports, and potentials where there is a ground.
pub(super) fn judge(
    circuit: &Circuit,
    run: &InMemory,
    tolerance: f64,
) -> Result<f64, Disagreement> {
    let tableau = Tableau::new(circuit);
    let islands = islands(circuit);
    let missing = |name: &str| Disagreement::missing(name);
    let rows = tableau
        .solve(circuit, STEPS_PER_ROW)
        .ok_or_else(|| missing("a regular pencil"))?;
    // Per column: which unknown, minus which other.
    let mut columns: Vec<(String, Cow<'_, [f64]>)> = Vec::new();
    let mut unknowns: Vec<(usize, Option<usize>)> = Vec::new();
    for (k, e) in circuit.elements.iter().enumerate() {
        for (port, pair) in e.nodes.chunks(2).enumerate() {
            let pins = match (e.part.ports(), port) {
                (1, _) => ["p", "n"],
                (_, 0) => ["p1", "n1"],
                _ => ["p2", "n2"],
            };
            let values = |pin: &str, of: &str| {
                let name = format!("{}.{pin}.{of}", e.name);
                let found = run.result.values(&name).map(Cow::into_owned);
                found
                    .map(|v| (name.clone(), v))
                    .ok_or_else(|| missing(&name))
            };
            let (name, current) = values(pins[0], "i")?;
            let current = current.iter().map(|i| i * circuit.units.ohm).collect();
            columns.push((name, Cow::Owned(current)));
            unknowns.push((tableau.first[k] + port, None));
            let ((p, high), (n, low)) = (values(pins[0], "v")?, values(pins[1], "v")?);
            let across = high.iter().zip(&low).map(|(a, b)| a - b).collect();
            columns.push((format!("{p} - {n}"), Cow::Owned(across)));
            let [a, b] = [pair[0], pair[1]].map(|n| tableau.nodes[&n]);
            unknowns.push((a, Some(b)));
            if circuit
                .grounds
                .iter()
                .any(|g| islands.get(g) == islands.get(&pair[0]))
            {
                columns.push((p, Cow::Owned(high)));
                unknowns.push((a, None));
            }
        }
    }
    let answers: Vec<Vec<f64>> = run
        .result
        .time()
        .iter()
        .map(|t| {
            let t = t / circuit.units.second;
            let row = &rows[((t / INTERVAL).round() as usize).min(rows.len() - 1)];
            let value =
                |(k, minus): &(usize, Option<usize>)| row[*k] - minus.map_or(0.0, |m| row[m]);
            unknowns.iter().map(value).collect()
        })
        .collect();
    let finite = answers.iter().flatten().filter(|v| !v.is_nan());
    let scale = finite.fold(1.0f64, |m, v| m.max(v.abs()));
    compare_columns(
        run.result.time(),
        &columns,
        TRAJECTORY * tolerance * scale,
        &answers,
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::make;
    use super::*;
    use crate::random::draw::Draw;

    /// Half the step changes nothing that matters: the error of the answers is below 10^-6 of the scale, a hundredth of what is
    /// allowed at the default tolerance. (Currents through dependent capacitors have the largest, of third order in the step.)
    #[test]
    fn answers_do_not_depend_on_the_step() {
        for index in 0..40 {
            let circuit = make::make(&mut Draw::new(7, index), true);
            let tableau = Tableau::new(&circuit);
            if circuit.singular {
                continue;
            }
            let [a, b] =
                [STEPS_PER_ROW, 2 * STEPS_PER_ROW].map(|n| tableau.solve(&circuit, n).unwrap());
            let scale = b
                .iter()
                .flatten()
                .filter(|v| !v.is_nan())
                .fold(1.0f64, |m, v| m.max(v.abs()));
            for (x, y) in a.iter().flatten().zip(b.iter().flatten()) {
                assert!(
                    x.is_nan() || (x - y).abs() < 1e-6 * scale,
                    "model {index}: {x} {y}"
                );
            }
        }
    }
}
