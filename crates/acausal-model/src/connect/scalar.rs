//! Connection sets of scalars: union-find over single variables.
//!
//! A network that is written out has a hundred thousand links between scalars and no array. They need neither cells nor
//! parameters; this is the same as [`super::sets`] for them, at the cost of a union-find. Sets that an array takes part in are
//! left to the general way, as a whole.
//!
//! Example: `r1.n -- r2.p`, `r1.n -- c1.p`, `a[1] -- x`, `x -- y` gives the set `{r1.n, r2.p, c1.p}`; the links of `x` are given back,
//! because it is connected with an element of `a`.

use acausal_expr::flat::OriginId;
use rustc_hash::FxHashMap;

use super::compress::{Set, Strip};
use super::link::{Link, Port};

/// A link between scalars, outside of any loop.
pub(super) fn is_scalar(link: &Link) -> bool {
    link.domain.is_empty() && link.ends.iter().all(|end| end.subs.is_empty())
}

/// Sets of scalars.
#[derive(Default)]
pub(super) struct Scalars {
    number: FxHashMap<Port, u32>,
    /// The ports with the first connection of each.
    ports: Vec<(Port, OriginId)>,
    /// Union-find: a root is its own parent.
    parent: Vec<u32>,
}

impl Scalars {
    /// Unites the ends of scalar links. Gives the sets without the ones that hold a port that `taken` says is part of an
    /// array link; the links of those are given back.
    pub fn sets<'l>(
        &mut self,
        links: &[&'l Link],
        taken: impl Fn(Port) -> bool,
    ) -> (Vec<Set>, Vec<&'l Link>) {
        for link in links {
            let [a, b] = [0, 1].map(|k| self.add(link.ends[k].port, link.origin));
            let (a, b) = (self.root(a), self.root(b));
            // The earlier port becomes the root, which keeps the order of sets that of the links.
            self.parent[a.max(b) as usize] = a.min(b);
        }
        let roots: Vec<u32> = (0..self.ports.len() as u32).map(|p| self.root(p)).collect();
        let mut general = vec![false; roots.len()];
        for (k, &root) in roots.iter().enumerate() {
            general[root as usize] |= taken(self.ports[k].0);
        }
        let mut sets: Vec<Set> = Vec::new();
        let mut set_of = vec![u32::MAX; roots.len()];
        for (k, &root) in roots.iter().enumerate() {
            if general[root as usize] {
                continue;
            }
            let slot = &mut set_of[root as usize];
            if *slot == u32::MAX {
                *slot = sets.len() as u32;
                sets.push(Set {
                    params: Vec::new(),
                    strips: Vec::new(),
                });
            }
            let (port, origin) = self.ports[k];
            sets[*slot as usize].strips.push(Strip {
                port,
                lines: Vec::new(),
                origin: Some(origin),
            });
        }
        for set in &mut sets {
            set.strips.sort_by_key(|s| s.port);
        }
        let back = |link: &&&Link| {
            let k = self.number[&link.ends[0].port];
            general[roots[k as usize] as usize]
        };
        (sets, links.iter().filter(back).copied().collect())
    }

    /// Whether a port has been connected here.
    pub fn contains(&self, port: Port) -> bool {
        self.number.contains_key(&port)
    }

    fn add(&mut self, port: Port, origin: OriginId) -> u32 {
        let next = self.ports.len() as u32;
        let number = *self.number.entry(port).or_insert(next);
        if number == next {
            self.ports.push((port, origin));
            self.parent.push(next);
        }
        number
    }

    /// The root of a port; the path to it is halved on the way.
    fn root(&mut self, mut p: u32) -> u32 {
        while self.parent[p as usize] != p {
            let up = self.parent[self.parent[p as usize] as usize];
            self.parent[p as usize] = up;
            p = up;
        }
        p
    }
}
