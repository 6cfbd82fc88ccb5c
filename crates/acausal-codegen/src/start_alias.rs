//! Start values of variables that are another name for an unknown.
//!
//! A local assignment `v := u` (or `v := -u`) with an unknown or a derivative of one on its right side says that the
//! start value of `v` is a guess for `u` as well. `Real v(start = -1); x = v^2; v = der(x)` starts with `der(x)` near -1.
//!
//! In: local assignments. Out: for each such `v` with a written start, which element belongs to which place. Linear in
//! the number of these elements.

use acausal_compiled::StartAlias;
use acausal_expr::{Node, ValueKind};
use acausal_index1::Local;
use acausal_jit::kernel::Bank;

use crate::CodegenError;
use crate::address::{domain_len, for_each_element, locate};
use crate::lower::Lowering;
use acausal_compiled::Loc;

impl Lowering<'_> {
    /// The aliases among local assignments.
    pub(crate) fn start_aliases(&self, locals: &[Local]) -> Result<Vec<StartAlias>, CodegenError> {
        let mut aliases = Vec::new();
        for item in locals {
            let target = item.target;
            let v = self.flat.var(target.var);
            if target.kind != ValueKind::Value || v.start.is_none() || v.auxiliary {
                continue;
            }
            let x = &self.flat.exprs;
            let (negative, value) = match x.node(item.value) {
                Node::Mul(l) if x.list(l).len() == 2 && x.as_f64(x.list(l)[0]) == Some(-1.0) => {
                    (true, x.list(l)[1])
                }
                _ => (false, item.value),
            };
            let Node::Var(source) = x.node(value) else {
                continue;
            };
            if !matches!(source.kind, ValueKind::Value | ValueKind::Der(_)) {
                continue;
            }
            let Some(place) = self.layout.place((source.var, source.kind)) else {
                continue;
            };
            let locations = locate(self.flat, place, &item.domain, source, item.origin)?;
            let mut alias = StartAlias {
                var: target.var,
                negative,
                elements: Vec::with_capacity(domain_len(&item.domain)),
                places: Vec::with_capacity(domain_len(&item.domain)),
            };
            let mut j = 0;
            for_each_element(self.flat, &item.domain, target, item.origin, |e| {
                let loc = locations.at(j);
                j += 1;
                if loc != Loc::NONE && matches!(loc.bank(), Bank::Y | Bank::Yp) {
                    alias.elements.push(e as u32);
                    alias.places.push(loc);
                }
            })?;
            if !alias.elements.is_empty() {
                aliases.push(alias);
            }
        }
        Ok(aliases)
    }
}
