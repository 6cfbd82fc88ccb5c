//! Connection sets of scalars: union-find over single variables.
//!
//! A network that is written out has a hundred thousand links between scalars and no array. They need neither cells nor
//! parameters; this is the same as [`super::sets`] for them, at the cost of a union-find over numbers, and a set is put together only
//! when its equations are written. Sets that an array takes part in are left to the general way, as a whole.
//!
//! Example: `r1.n -- r2.p`, `r1.n -- c1.p`, `a[1] -- x`, `x -- y` gives the set `{r1.n, r2.p, c1.p}`; the links of `x` are given back,
//! because it is connected with an element of `a`.

use acausal_expr::flat::OriginId;

use super::compress::{Set, Strip};
use super::link::{Face, Link, Port};

/// A link between scalars, outside of any loop.
pub(super) fn is_scalar(link: &Link) -> bool {
    link.domain.is_empty() && link.ends.iter().all(|end| end.subs.is_empty())
}

/// Sets of scalars. The ports that are connected here have numbers in the order in which the links name them.
pub(super) struct Scalars {
    /// By variable and face: the number of the port plus one.
    number: Vec<u32>,
    /// The ports with the first connection of each.
    ports: Vec<(Port, OriginId)>,
    /// The set of each port, by its first one. Until the sets are complete, a forest towards it.
    root: Vec<u32>,
    /// By root: an array takes part in the set.
    mixed: Vec<bool>,
}

impl Scalars {
    /// Unites the ends of scalar links between so many variables. `taken` says that a port is part of an array link.
    pub fn new(vars: usize, links: &[&Link], taken: impl Fn(Port) -> bool) -> Scalars {
        let mut scalars = Scalars {
            number: vec![0; 2 * vars],
            ports: Vec::new(),
            root: Vec::new(),
            mixed: Vec::new(),
        };
        for link in links {
            let [a, b] = [0, 1].map(|k| scalars.add(link.ends[k].port, link.origin));
            let (a, b) = (scalars.find(a), scalars.find(b));
            // The earlier port becomes the root.
            scalars.root[a.max(b) as usize] = a.min(b);
        }
        for k in 0..scalars.ports.len() as u32 {
            scalars.root[k as usize] = scalars.find(k);
        }
        scalars.mixed = vec![false; scalars.ports.len()];
        for ((port, _), &root) in scalars.ports.iter().zip(&scalars.root) {
            scalars.mixed[root as usize] |= taken(*port);
        }
        scalars
    }

    /// Whether a link belongs to a set that an array takes part in.
    pub fn is_mixed(&self, link: &Link) -> bool {
        let number = self.number[slot(link.ends[0].port)];
        let root = number.checked_sub(1).map(|k| self.root[k as usize]);
        root.is_some_and(|root| self.mixed[root as usize])
    }

    /// Whether a port has been connected here.
    pub fn contains(&self, port: Port) -> bool {
        self.number[slot(port)] > 0
    }

    /// The sets of scalars alone in the order of their first members, made one by one.
    pub fn sets(&self) -> impl Iterator<Item = Set> {
        let whole = |k: &u32| !self.mixed[self.root[*k as usize] as usize];
        let mut order: Vec<u32> = (0..self.ports.len() as u32).filter(whole).collect();
        order.sort_unstable_by_key(|&k| self.ports[k as usize].0);
        // By root: the first member, which orders the sets.
        let mut first = vec![u32::MAX; self.ports.len()];
        for (at, &k) in order.iter().enumerate() {
            let first = &mut first[self.root[k as usize] as usize];
            *first = (*first).min(at as u32);
        }
        order.sort_by_key(|&k| first[self.root[k as usize] as usize]);
        let mut at = 0;
        std::iter::from_fn(move || {
            let root = self.root[*order.get(at)? as usize];
            let members = order[at..].iter();
            let members = members.take_while(|&&k| self.root[k as usize] == root);
            let strips: Vec<Strip> = members.map(|&k| self.strip(k)).collect();
            at += strips.len();
            Some(Set {
                params: Vec::new(),
                strips,
            })
        })
    }

    fn strip(&self, number: u32) -> Strip {
        let (port, origin) = self.ports[number as usize];
        Strip {
            port,
            lines: Vec::new(),
            origin: Some(origin),
        }
    }

    fn add(&mut self, port: Port, origin: OriginId) -> u32 {
        let number = &mut self.number[slot(port)];
        if *number == 0 {
            self.root.push(self.ports.len() as u32);
            self.ports.push((port, origin));
            *number = self.ports.len() as u32;
        }
        *number - 1
    }

    /// The root of a port; the path to it is halved on the way.
    fn find(&mut self, mut p: u32) -> u32 {
        while self.root[p as usize] != p {
            let up = self.root[self.root[p as usize] as usize];
            self.root[p as usize] = up;
            p = up;
        }
        p
    }
}

/// Where a port stands in a table by variable and face.
fn slot(port: Port) -> usize {
    2 * port.var.index() + usize::from(port.face == Face::Outside)
}
