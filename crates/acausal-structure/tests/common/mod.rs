//! Models written as text, and the reference implementation of array Pantelides on tuples (equation, element).
#![allow(dead_code)] // each test file uses its part

use std::collections::BTreeMap;

use acausal_structure::blt::Blocks;
use acausal_structure::flow::Graph;
use acausal_structure::pantelides::{Differentiated, NodeDae};
use acausal_structure::{EqId, Rows, VarId};

/// A model: `vars` like `"s r[3]"`, `equations` one per line like `"8a[3]: r s"`; a prime is a derivative.
pub struct Model {
    pub dae: NodeDae,
    pub var_names: Vec<String>,
    pub eq_names: Vec<String>,
}

fn sized(word: &str) -> (String, u64) {
    match word.split_once('[') {
        Some((name, rest)) => (
            name.to_string(),
            rest.trim_end_matches(']').parse().unwrap(),
        ),
        None => (word.to_string(), 1),
    }
}

pub fn model(vars: &str, equations: &str) -> Model {
    let vars: Vec<(String, u64)> = vars.split_whitespace().map(sized).collect();
    let lines: Vec<(&str, &str)> = equations
        .trim()
        .lines()
        .map(|l| l.trim().split_once(':').unwrap())
        .collect();
    let mut order: BTreeMap<&str, usize> = vars.iter().map(|(n, _)| (n.as_str(), 0)).collect();
    for (_, words) in &lines {
        for w in words.split_whitespace() {
            let base = w.trim_end_matches('\'');
            let o = order
                .get_mut(base)
                .unwrap_or_else(|| panic!("unknown variable {base}"));
            *o = (*o).max(w.len() - base.len());
        }
    }
    let mut m = Model {
        dae: NodeDae::default(),
        var_names: Vec::new(),
        eq_names: Vec::new(),
    };
    let mut ids = BTreeMap::new();
    for (name, length) in &vars {
        for o in 0..=order[name.as_str()] {
            let full = name.clone() + &"'".repeat(o);
            let id = m.dae.graph.add_variable(*length);
            m.dae.derivative.push(None);
            if o > 0 {
                m.dae.derivative[id.index() - 1] = Some(id);
            }
            ids.insert(full.clone(), id);
            m.var_names.push(full);
        }
    }
    for (head, words) in lines {
        let (name, length) = sized(head);
        m.dae
            .graph
            .add_equation(length, words.split_whitespace().map(|w| ids[w]));
        m.eq_names.push(name);
    }
    m
}

/// Names of all variables and equations after differentiation.
pub struct Names {
    pub vars: Vec<String>,
    pub eqs: Vec<String>,
}

impl Model {
    pub fn names(&self, d: &Differentiated) -> Names {
        let mut vars = self.var_names.clone();
        let integral = d.var_integral();
        for v in vars.len()..d.graph.vlen.len() {
            vars.push(format!("{}'", vars[integral[v].unwrap().index()]));
        }
        let mut eqs = self.eq_names.clone();
        let integral = d.eq_integral();
        for e in eqs.len()..d.graph.elen.len() {
            eqs.push(format!("{}'", eqs[integral[e].unwrap().index()]));
        }
        Names { vars, eqs }
    }

    pub fn eq(&self, name: &str) -> EqId {
        EqId::new(self.eq_names.iter().position(|n| n == name).unwrap())
    }

    pub fn var(&self, name: &str) -> VarId {
        VarId::new(self.var_names.iter().position(|n| n == name).unwrap())
    }

    /// Differentiation counts that are not zero, as `"a2 b1"`.
    pub fn counts(&self, d: &Differentiated) -> String {
        let counted = self
            .eq_names
            .iter()
            .enumerate()
            .map(|(e, n)| (n, d.differentiations(EqId::new(e))));
        counted
            .filter(|&(_, k)| k > 0)
            .map(|(n, k)| format!("{n}{k}"))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl Names {
    pub fn eqs(&self, ids: &[EqId]) -> String {
        let mut n: Vec<&str> = ids.iter().map(|e| self.eqs[e.index()].as_str()).collect();
        n.sort_unstable();
        n.join(" ")
    }

    pub fn vars(&self, ids: &[VarId]) -> String {
        let mut n: Vec<&str> = ids.iter().map(|v| self.vars[v.index()].as_str()).collect();
        n.sort_unstable();
        n.join(" ")
    }

    /// Blocks as `"equations | unknowns"`, sorted by text (independent blocks have no fixed order).
    pub fn blocks(&self, blocks: &Blocks) -> Vec<String> {
        let mut out: Vec<String> = blocks
            .iter()
            .map(|(e, v)| format!("{} | {}", self.eqs(e), self.vars(v)))
            .collect();
        out.sort();
        out
    }
}

/// Array Pantelides in tuple form (Otter & Elmqvist 2017, §4.2): elements are enumerated, the search is recursive.
/// Returns the differentiations per original equation and the blocks as sets of (original equation, order).
pub fn pantelides_tuples(dae: &NodeDae) -> (Vec<usize>, Vec<Vec<(usize, usize)>>) {
    let mut s = Tuples {
        rows: dae.graph.incidence.iter().map(|r| r.to_vec()).collect(),
        vlen: dae.graph.vlen.clone(),
        elen: dae.graph.elen.clone(),
        a: dae.derivative.clone(),
        b: vec![None; dae.graph.elen.len()],
        assign: dae
            .graph
            .vlen
            .iter()
            .map(|&l| vec![None; l as usize])
            .collect(),
        vcolour: Vec::new(),
        ecolour: Vec::new(),
        base: (0..dae.graph.elen.len()).map(|e| (e, 0)).collect(),
    };
    let n0 = s.elen.len();
    for k in 0..n0 {
        for ii in 0..s.elen[k] as usize {
            loop {
                let mut i = k;
                while let Some(d) = s.b[i] {
                    i = d;
                }
                s.vcolour = s.vlen.iter().map(|&l| vec![false; l as usize]).collect();
                s.ecolour = s.elen.iter().map(|&l| vec![false; l as usize]).collect();
                if s.augment(i, ii) {
                    break;
                }
                s.differentiate();
            }
        }
    }
    let counts = (0..n0)
        .map(|e| std::iter::successors(s.b[e], |&d| s.b[d]).count())
        .collect();
    let top: Vec<usize> = (0..s.elen.len()).filter(|&e| s.b[e].is_none()).collect();
    let adjacent: Vec<Vec<usize>> = (0..s.elen.len())
        .map(|e| {
            let unknown = s.rows[e].iter().filter(|v| s.a[v.index()].is_none());
            let mut to: Vec<usize> = unknown
                .flat_map(|v| s.assign[v.index()].iter().flatten().map(|&(o, _)| o))
                .collect();
            to.sort_unstable();
            to.dedup();
            to
        })
        .collect();
    // reachability by brute force
    let n = s.elen.len();
    let mut reach = vec![vec![false; n]; n];
    for &e in &top {
        let mut stack = vec![e];
        while let Some(x) = stack.pop() {
            if std::mem::replace(&mut reach[e][x], true) {
                continue;
            }
            stack.extend(adjacent[x].iter().copied());
        }
    }
    let mut blocks: Vec<Vec<(usize, usize)>> = Vec::new();
    for &e in &top {
        let same: Vec<usize> = top
            .iter()
            .copied()
            .filter(|&o| reach[e][o] && reach[o][e])
            .collect();
        if same[0] == e {
            let mut b: Vec<_> = same.iter().map(|&o| s.base[o]).collect();
            b.sort_unstable();
            blocks.push(b);
        }
    }
    blocks.sort();
    (counts, blocks)
}

struct Tuples {
    rows: Vec<Vec<VarId>>,
    vlen: Vec<u64>,
    elen: Vec<u64>,
    a: Vec<Option<VarId>>,
    b: Vec<Option<usize>>,
    assign: Vec<Vec<Option<(usize, usize)>>>,
    vcolour: Vec<Vec<bool>>,
    ecolour: Vec<Vec<bool>>,
    base: Vec<(usize, usize)>,
}

impl Tuples {
    fn augment(&mut self, e: usize, ii: usize) -> bool {
        self.ecolour[e][ii] = true;
        for v in self.rows[e].clone() {
            let v = v.index();
            if self.a[v].is_none()
                && let Some(jj) = self.assign[v].iter().position(Option::is_none)
            {
                self.assign[v][jj] = Some((e, ii));
                return true;
            }
        }
        for v in self.rows[e].clone() {
            let v = v.index();
            if self.a[v].is_some() {
                continue;
            }
            for jj in 0..self.vlen[v] as usize {
                if !std::mem::replace(&mut self.vcolour[v][jj], true) {
                    let (o, oo) = self.assign[v][jj].unwrap();
                    if self.augment(o, oo) {
                        self.assign[v][jj] = Some((e, ii));
                        return true;
                    }
                }
            }
        }
        false
    }

    fn differentiate(&mut self) {
        let coloured_v: Vec<usize> = (0..self.vcolour.len())
            .filter(|&v| self.vcolour[v].contains(&true))
            .collect();
        let coloured_e: Vec<usize> = (0..self.ecolour.len())
            .filter(|&e| self.ecolour[e].contains(&true))
            .collect();
        for &v in &coloured_v {
            assert!(
                self.vcolour[v].iter().all(|&c| c),
                "all elements of a variable are coloured together (T1)"
            );
            if self.a[v].is_none() {
                self.a[v] = Some(VarId::new(self.vlen.len()));
                self.a.push(None);
                self.vlen.push(self.vlen[v]);
                self.assign.push(vec![None; self.vlen[v] as usize]);
            }
        }
        for &e in &coloured_e {
            if self.b[e].is_none() {
                self.b[e] = Some(self.elen.len());
                self.b.push(None);
                self.elen.push(self.elen[e]);
                let mut row = self.rows[e].clone();
                row.extend(self.rows[e].iter().map(|v| self.a[v.index()].unwrap()));
                row.sort_unstable();
                row.dedup();
                self.rows.push(row);
                self.base.push((self.base[e].0, self.base[e].1 + 1));
            }
        }
        for &v in &coloured_v {
            let d = self.a[v].unwrap().index();
            for jj in 0..self.assign[v].len() {
                if let Some((e, ii)) = self.assign[v][jj] {
                    self.assign[d][jj] = Some((self.b[e].unwrap(), ii));
                }
            }
        }
    }
}

/// The blocks of a differentiated system as sets of (original equation, order), for comparison with the tuple form.
pub fn blocks_by_origin(d: &Differentiated, blocks: &Blocks) -> Vec<Vec<(usize, usize)>> {
    let integral = d.eq_integral();
    let origin = |e: &EqId| {
        let (mut e, mut order) = (*e, 0);
        while let Some(i) = integral[e.index()] {
            e = i;
            order += 1;
        }
        (e.index(), order)
    };
    let mut out: Vec<Vec<(usize, usize)>> = blocks
        .iter()
        .map(|(equations, _)| {
            let mut b: Vec<_> = equations.iter().map(origin).collect();
            b.sort_unstable();
            b
        })
        .collect();
    out.sort();
    out
}

/// A scalar incidence from names.
pub fn rows_of(names: &[&str], rows: &[&str]) -> Rows<VarId> {
    let find = |w: &str| VarId::new(names.iter().position(|n| *n == w).unwrap());
    rows.iter()
        .map(|r| r.split_whitespace().map(find).collect::<Vec<_>>())
        .collect()
}

/// A graph for tests that do not differentiate.
pub fn scalar_graph(names: &[&str], rows: &[&str]) -> Graph {
    Graph::scalar(rows_of(names, rows), names.len())
}
