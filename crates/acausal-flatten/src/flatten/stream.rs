//! Variables for what flows in through stream connectors (MLS 3.6 §15.2).
//!
//! Each stream variable that `inStream` was asked for, or whose connector passes streams on from inside, gets a
//! companion of the same shape: `inStream(tank.port.h_outflow)`. Its equations come with those of the connection sets. Start and nominal
//! values are those of the stream variable, since what flows in is of the same kind.

use acausal_base::Name;
use acausal_expr::VarId;
use acausal_expr::flat::{Causality, Comprehension, StateSelect, VarName, Variability, Variable};

use super::Flattener;
use crate::connect::{Face, LeafKind, OneWay, Stream};

impl Flattener {
    pub(super) fn streams(&mut self) {
        let mut passed_on = Vec::new();
        for link in &self.connections.links {
            for end in &link.ends {
                if end.port.face == Face::Outside {
                    passed_on.push(end.port.var);
                }
            }
        }
        let leaves = &self.connections.leaves;
        let is_stream = |var: &VarId| leaves.get(*var) == Some(LeafKind::Stream);
        passed_on.retain(is_stream);
        let all: Vec<VarId> = leaves.of(LeafKind::Stream).collect();
        for var in passed_on {
            if let Some(flow) = self.ctx.stream_flow(self.leaves[var.index()]) {
                self.ctx.in_stream(var, flow);
            }
        }
        for var in all {
            // A connector without its flow was reported where its stream was asked for.
            let Some(flow) = self.ctx.stream_flow(self.leaves[var.index()]) else {
                continue;
            };
            let stream = Stream {
                inside: self.ctx.streams.get(&var).map(|s| s.inside),
                flow,
                one_way: self.one_way(flow),
            };
            self.connections.streams.insert(var, stream);
        }
        for k in 0..self.ctx.streams.len() {
            if let Some((&var, _)) = self.ctx.streams.get_index(k) {
                let companion = companion(self.model.var(var));
                self.model.vars.push(companion);
            }
        }
    }

    /// The direction that `min` and `max` of a flow allow, where their values are known now.
    fn one_way(&mut self, flow: VarId) -> Option<OneWay> {
        let v = self.model.var(flow);
        let (min, max) = (v.min.clone(), v.max.clone());
        let mut bound = |c: Option<Comprehension>| {
            let e = self.ctx.with_known_parameters(c?.body).ok()?;
            self.ctx.exprs.as_f64(e)
        };
        match (bound(min), bound(max)) {
            (Some(min), _) if min >= 0.0 => Some(OneWay::In),
            (_, Some(max)) if max <= 0.0 => Some(OneWay::Out),
            _ => None,
        }
    }
}

fn companion(stream: &Variable) -> Variable {
    let name = format!("inStream({})", stream.name.plain());
    let mut companion = Variable {
        name: VarName::new(&[(Name::from(name.as_str()), stream.dims.len() as u8)]),
        variability: Variability::Continuous,
        causality: Causality::Local,
        binding: None,
        state_select: StateSelect::Default,
        flow: false,
        protected: true,
        structural: false,
        ..stream.clone()
    };
    if companion.fixed.is_some() {
        companion.attributes_mut().fixed = None;
    }
    companion
}
