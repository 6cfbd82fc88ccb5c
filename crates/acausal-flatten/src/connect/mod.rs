//! Connection sets as index ranges (MLS 3.6 §9).
//!
//! In: one [`Link`] per pair of connected primitive variables, over an iteration domain and with affine subscripts.
//! Out: equations (and assertions) over domains, see [`generate()`].
//!
//! ```text
//! connect(r[i].n, r[i+1].p) for i in 1:N-1      link  r.n[i] -- r.p[i+1]   (one per leaf: v and i)
//! connect(src.p, r[1].p)                        link  src.p -- r.p[1]
//! ```
//!
//! | step | module | what happens to the example |
//! |---|---|---|
//! | references to links | [`collect`] | both connectors are walked in step, one link per primitive variable |
//! | links to translations | [`link`] | subscripts are `i` or a constant; what is not is enumerated |
//! | cut arrays into cells | [`cells`] | `r.n` at N, `r.p` at 2; each link maps cells onto cells |
//! | unite cells | [`sets`] | `{r.n[1:N-1], r.p[2:N]}`, `{src.p, r.p[1]}`, `{r.n[N]}` |
//! | scalars among themselves | `scalar` | nothing here: `src.p` is connected with an element of an array |
//! | find progressions again | [`compress`] | sets that had to be enumerated become ranges where they are regular |
//! | what flows in | `stream` | `inStream` of the members, streams of outside connectors |
//! | write equations | [`generate`](mod@generate) | `r.n.v[i] = r.p.v[i+1]`, `r.n.i[i] + r.p.i[i+1] = 0`, ..., `r.n.i[N] = 0` |
//!
//! Cost: linear in the number of links and cells; for regular patterns that is independent of N.
//!
//! # Entry points
//! - [`connect()`]: one call per `connect` equation, with the iterators around it; collects into [`Connections`].
//! - [`flow_leaves`]: once, when all variables have been given out.
//! - [`generate()`]: once, on the flat model that has all variables; appends equations, gives diagnostics.

pub mod cells;
mod check;
pub mod collect;
pub mod compress;
pub mod generate;
pub mod link;
mod scalar;
pub mod sets;
mod stream;

#[cfg(test)]
mod tests;

pub use collect::{connect, flow_leaves};
pub use generate::generate;
pub use link::{Connections, End, Face, LeafKind, Leaves, Link, OneWay, Port, Stream};
