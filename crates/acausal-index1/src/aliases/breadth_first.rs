//! Equations in the order in which they hang together.
//!
//! In: the equations that are left when aliases are out, in the order of the source. Out: their numbers in an order in which those that share an unknown
//! are near to each other. Every later pass goes through the equations and looks at the unknowns in them. In the order of a drawn
//! network, whose components are declared in any order, each look is a wait for memory as soon as the model is larger than the processor's cache;
//! in the order of the graph what is needed was needed just before.
//!
//! Breadth first, as Cuthill & McKee (1969) do it for matrices, from the first equation of the source: an equation, then those that share an
//! unknown with it. Unknowns in more than [`MOST_USERS`] equations (a ground, the temperature outside) lead everywhere and are not followed.
//! Invariant: each equation occurs once; what hangs together only through such unknowns begins anew with its first equation. Linear in the incidence.
//!
//! ```text
//! e0: x, y    e1: u, v    e2: z    e3: y, z    e4: v       e0 e3 e2 e1 e4
//! ```
//!
//! The result of the analysis does not depend on the order: ties are broken by names ([`crate::state_selection::preferences`]). Models with few equations, as those
//! of arrays are, stay in the order of the source.

use acausal_structure::Rows;

/// Fewer equations are left in the order of the source: they fit into the processor's cache.
pub(crate) const LEAST: usize = 1_000;

/// Unknowns with more users are not followed.
const MOST_USERS: usize = 64;

/// The numbers of rows along the graph. A row holds the unknowns of an equation, by numbers below `unknowns`.
pub(crate) fn breadth_first_order(rows: &Rows<u32>, unknowns: usize) -> Vec<u32> {
    let users = users(rows, unknowns);
    let mut order: Vec<u32> = Vec::with_capacity(rows.len());
    let mut found = vec![false; rows.len()];
    let mut followed = vec![false; unknowns];
    let mut head = 0;
    for first in 0..rows.len() {
        if std::mem::replace(&mut found[first], true) {
            continue;
        }
        order.push(first as u32);
        while let Some(&e) = order.get(head) {
            head += 1;
            for &v in rows.row(e as usize) {
                let users = users.of(v);
                if users.len() > MOST_USERS || std::mem::replace(&mut followed[v as usize], true) {
                    continue;
                }
                let new = users.iter().copied();
                order.extend(new.filter(|&e| !std::mem::replace(&mut found[e as usize], true)));
            }
        }
    }
    order
}

/// The rows with each unknown, ascending: one table and where the part of each unknown begins.
struct Users {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Users {
    fn of(&self, unknown: u32) -> &[u32] {
        let k = unknown as usize;
        &self.rows[self.starts[k] as usize..self.starts[k + 1] as usize]
    }
}

fn users(rows: &Rows<u32>, unknowns: usize) -> Users {
    // Counted one place behind, so that the sums are where the parts begin; filling moves them to where they end.
    let mut starts = vec![0u32; unknowns + 2];
    for &v in rows.items() {
        starts[v as usize + 2] += 1;
    }
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    let mut users = vec![0u32; rows.items().len()];
    for e in 0..rows.len() {
        for &v in rows.row(e) {
            let at = &mut starts[v as usize + 1];
            users[*at as usize] = e as u32;
            *at += 1;
        }
    }
    Users {
        starts,
        rows: users,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_that_share_an_unknown_follow_each_other() {
        // The example above.
        let rows: Rows<u32> = [&[0, 1][..], &[3, 4], &[2], &[1, 2], &[4]]
            .iter()
            .map(|r| r.iter().copied())
            .collect();
        assert_eq!(breadth_first_order(&rows, 5), [0, 3, 2, 1, 4]);
    }

    /// A chain in any order comes out as a chain, with a ground in every equation.
    #[test]
    fn a_shuffled_chain_is_put_in_order() {
        let n = 1000;
        let position = |k: u32| 389 * k % n;
        let mut chain = vec![[0; 3]; n as usize];
        for k in 0..n {
            chain[position(k) as usize] = [k, k + 1, n + 1];
        }
        let order = breadth_first_order(&chain.iter().copied().collect(), n as usize + 2);
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n), "each equation once");
        // From the first one outwards, in both directions: neighbours are at most two apart.
        let mut place = vec![0i64; n as usize];
        for (at, &e) in order.iter().enumerate() {
            place[chain[e as usize][0] as usize] = at as i64;
        }
        assert!(place.windows(2).all(|p| (p[0] - p[1]).abs() <= 2));
    }
}
