//! What flows in through stream connectors (MLS 3.6 §15.2).
//!
//! In: the connection sets of stream variables. Out: equations for `inStream` of inside connectors, where it is asked for, and
//! for the stream variables of outside connectors, which have no other equation.
//!
//! All members of a set mix in one point without volume. With the inside connectors `m_j` and the outside ones `c_k`, each
//! weighted by what it brings *into* the point,
//!
//! ```text
//! inStream(m_i.h) = (Σ_{j≠i} p(-m_j.f) m_j.h + Σ_k p(c_k.f) inStream(c_k.h)) / (Σ_{j≠i} p(-m_j.f) + Σ_k p(c_k.f))
//! c_q.h           = (Σ_j p(-m_j.f) m_j.h + Σ_{k≠q} p(c_k.f) inStream(c_k.h)) / (Σ_j p(-m_j.f) + Σ_{k≠q} p(c_k.f))
//! ```
//!
//! With one term only this is that term: two connected ports see each other, without any flow in the equation, and
//! a port that is not connected sees itself. A connector whose flow cannot bring anything (`min = 0` inside,
//! `max = 0` outside) has no term. `p(f) = max(f, e)` with a small `e` takes the place of `max(f, 0)`, so that nothing is undefined
//! at rest; where something flows it changes the mean by `e` relative to that flow.
//!
//! A mixing point of `n` members has `n²` terms by its nature, so members that are ranges within one set are written out
//! here. Families of sets stay families.

use acausal_expr::flat::{Equation, OriginKind};
use acausal_expr::{Builtin, ExprId, VarId};

use super::compress::{IndexLine, Set, Strip};
use super::generate::{Frame, Writer};
use super::link::{Connections, Face, OneWay};

/// The least weight of a member, in the unit of the flow.
const SMALL_FLOW: f64 = 1e-8;

/// What a member brings into the mixing point.
#[derive(Clone, Copy)]
struct Term {
    /// Flow into the point.
    flow: ExprId,
    value: ExprId,
    /// The flow never has this direction.
    never: bool,
}

impl Writer<'_> {
    pub(super) fn streams(&mut self, connections: &Connections, sets: Vec<Set>) {
        for set in sets {
            self.mixing_point(connections, &written_out(set));
        }
    }

    fn mixing_point(&mut self, connections: &Connections, set: &Set) {
        let frame = self.frame(set, 0);
        for (q, strip) in set.strips.iter().enumerate() {
            let Some(&own) = connections.streams.get(&strip.port.var) else {
                continue;
            };
            let target = match (strip.port.face, own.inside) {
                (Face::Outside, _) => strip.port.var,
                (Face::Inside, Some(inside)) => inside,
                _ => continue,
            };
            let mut terms = Vec::new();
            for (k, other) in set.strips.iter().enumerate() {
                if k != q || set.strips.len() == 1 {
                    terms.extend(self.term(connections, other, &frame));
                }
            }
            let lhs = self.stream_element(target, strip, &frame);
            let rhs = self.mixture(&terms);
            let origin = match strip.origin {
                Some(origin) => self.origin(origin, OriginKind::Potential),
                None => self.unconnected(strip),
            };
            self.model.equations.push(Equation {
                domain: frame.domain.clone().into(),
                lhs,
                rhs,
                origin,
            });
        }
    }

    fn term(&mut self, connections: &Connections, strip: &Strip, frame: &Frame) -> Option<Term> {
        let stream = connections.streams.get(&strip.port.var)?;
        let rank = self.model.var(stream.flow).dims.len();
        let mut of_flow = strip.clone();
        of_flow.port.var = stream.flow;
        of_flow.lines.truncate(rank);
        let flow = self.element(&of_flow, frame, |x, range| x.int(range.start));
        Some(match strip.port.face {
            Face::Inside => Term {
                flow: self.model.exprs.neg(flow),
                value: self.stream_element(strip.port.var, strip, frame),
                never: stream.one_way == Some(OneWay::In),
            },
            Face::Outside => Term {
                flow,
                value: self.stream_element(stream.inside?, strip, frame),
                never: stream.one_way == Some(OneWay::Out),
            },
        })
    }

    fn stream_element(&mut self, var: VarId, strip: &Strip, frame: &Frame) -> ExprId {
        let mut strip = strip.clone();
        strip.port.var = var;
        self.element(&strip, frame, |x, range| x.int(range.start))
    }

    /// The mean of the terms, weighted by what flows.
    fn mixture(&mut self, terms: &[Term]) -> ExprId {
        let can: Vec<Term> = terms.iter().filter(|t| !t.never).copied().collect();
        let terms = if can.is_empty() { terms } else { &can };
        let x = &mut self.model.exprs;
        if let [one] = terms {
            return one.value;
        }
        let small = x.real(SMALL_FLOW);
        let mut above = Vec::new();
        let mut below = Vec::new();
        for t in terms {
            let weight = x.call(Builtin::Max, &[t.flow, small]);
            above.push(x.mul(&[weight, t.value]));
            below.push(weight);
        }
        let (above, below) = (x.add(&above), x.add(&below));
        x.div(above, below)
    }
}

/// Ranges within one set as single members.
fn written_out(set: Set) -> Set {
    let mut strips = Vec::new();
    for strip in set.strips {
        let mut todo = vec![strip];
        while let Some(s) = todo.pop() {
            let free = s.lines.iter().position(|l| l.free_range().is_some());
            let Some((d, range)) = free.and_then(|d| Some((d, s.lines[d].free_range()?))) else {
                strips.push(s);
                continue;
            };
            for i in range.values().collect::<Vec<_>>().into_iter().rev() {
                let mut next = s.clone();
                next.lines[d] = IndexLine::At(i);
                todo.push(next);
            }
        }
    }
    Set { strips, ..set }
}
