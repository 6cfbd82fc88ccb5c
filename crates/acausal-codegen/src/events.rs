//! Code for everything that happens at events.

use acausal_compiled::{
    ActionCode, AssertCode, BranchCode, ContinuityCode, DelayCode, EventCode, IndexCode,
    RelationCode, SampleCode, SpatialCode, SpatialOutput, TimeEventCode, WhenCode,
};
use acausal_expr::flat::{Action, Assert, OriginId, Variability, When};
use acausal_expr::{Access, ExprId, IterId, List, Node, Range, RelOp, ValueKind, VarId};
use acausal_jit::kernel::{Bank, Program};
use acausal_symbolic::elements::overlap;
use acausal_symbolic::{Solve, Substitute, hoist_reductions};
use rustc_hash::FxHashMap;

use crate::CodegenError;
use crate::address::domain_len;
use crate::cells::{CellKind, is_continuous};
use crate::items::{Item, ItemTarget, merge};
use crate::lower::Lowering;
use acausal_compiled::Loc;

type DomainVec = Vec<(IterId, Range)>;

impl Lowering<'_> {
    /// A program that writes an expression over a domain to consecutive places of `Out`.
    pub fn out_program(
        &mut self,
        domain: &[(IterId, Range)],
        value: ExprId,
        first: usize,
        origin: OriginId,
    ) -> Result<Program, CodegenError> {
        let mut locals = Vec::new();
        let value = hoist_reductions(
            self.flat,
            domain,
            value,
            origin,
            Variability::Continuous,
            &mut locals,
        );
        let mut items = Vec::new();
        for l in locals {
            self.layout.add_mem(
                (l.target.var, ValueKind::Value),
                self.flat.var(l.target.var).len(),
            );
            items.push(Item {
                domain: l.domain.into(),
                value: l.value,
                target: ItemTarget::Access(l.target),
                origin,
            });
        }
        items.push(Item {
            domain: domain.to_vec(),
            value,
            target: ItemTarget::Consecutive(Bank::Out, first),
            origin,
        });
        self.ordered_program(&items)
    }

    /// Code for all cells that exist when this is called, including those that their expressions bring in.
    pub fn cell_code(&mut self, code: &mut EventCode) -> Result<(), CodegenError> {
        let mut k = 0;
        while k < self.cells.len() {
            let g = self.cells.get(k).clone();
            k += 1;
            match g.key.kind {
                CellKind::Relation(op, a, b) => {
                    let difference = self.flat.exprs.sub(a, b);
                    self.relation(code, &g, Some(op), difference)?;
                }
                CellKind::Floor(arg) => {
                    // Positive inside of the current unit interval, negative outside.
                    let x = &mut self.flat.exprs;
                    let below = x.sub(arg, g.key.expr);
                    let one = x.int(1);
                    let next = x.add(&[g.key.expr, one]);
                    let above = x.sub(next, arg);
                    let difference = x.mul(&[below, above]);
                    self.relation(code, &g, None, difference)?;
                }
                CellKind::Value => self.watched_value(code, &g)?,
                CellKind::Sample(start, interval) => {
                    let mut arguments = self.out_program(&g.domain, start, 0, g.origin)?;
                    arguments.extend(self.out_program(&g.domain, interval, g.len, g.origin)?);
                    code.samples.push(SampleCode {
                        base: g.base,
                        len: g.len,
                        arguments,
                        origin: g.origin,
                    });
                }
                CellKind::Delay(value, time, longest, slope) => {
                    let mut arguments = self.out_program(&g.domain, value, 0, g.origin)?;
                    arguments.extend(self.out_program(&g.domain, time, g.len, g.origin)?);
                    arguments.extend(self.out_program(&g.domain, longest, 2 * g.len, g.origin)?);
                    code.delays.push(DelayCode {
                        base: g.base,
                        len: g.len,
                        arguments,
                        variable: is_continuous(self.flat, time),
                        slope,
                        origin: g.origin,
                    });
                }
                CellKind::Spatial(list) => self.spatial_code(code, &g, list)?,
            }
        }
        code.values = merge(std::mem::take(&mut code.values));
        code.indicators = merge(std::mem::take(&mut code.indicators));
        let known = &mut code.timetable;
        known.values = merge(std::mem::take(&mut known.values));
        known.instants = merge(std::mem::take(&mut known.instants));
        Ok(())
    }

    fn spatial_code(
        &mut self,
        code: &mut EventCode,
        g: &crate::cells::CellGroup,
        list: List,
    ) -> Result<(), CodegenError> {
        let args = self.flat.exprs.list(list).to_vec();
        let output = match self.flat.exprs.as_int(args[0]) {
            Some(0) => SpatialOutput::Left,
            Some(1) => SpatialOutput::Right,
            _ => SpatialOutput::Distance,
        };
        let mut arguments = Program::default();
        for (k, &e) in args[1..].iter().enumerate() {
            arguments.extend(self.out_program(&g.domain, e, k * g.len, g.origin)?);
        }
        code.spatials.push(SpatialCode {
            base: g.base,
            len: g.len,
            output,
            points: (args.len() - 1 - SpatialCode::POINTS) / 2,
            arguments,
            origin: g.origin,
        });
        Ok(())
    }

    fn relation(
        &mut self,
        code: &mut EventCode,
        g: &crate::cells::CellGroup,
        op: Option<RelOp>,
        difference: ExprId,
    ) -> Result<(), CodegenError> {
        let instant = op.and_then(|_| self.event_instant(difference));
        if let (Some(op), Some(instant)) = (op, instant)
            && self.is_known_before(g.key.expr)
        {
            return self.timetable_relation(&mut code.timetable, g, op, instant);
        }
        let first = code.cells;
        code.cells += g.len;
        code.values.extend(self.cell_value(g, first)?);
        if let Some(instant) = instant {
            let out = code.time_events.iter().map(|t| t.len).sum();
            code.times
                .extend(self.out_program(&g.domain, instant, out, g.origin)?);
            code.time_events.push(TimeEventCode { out, len: g.len });
            // The indicator never changes sign: the time event does its work.
            let one = self.flat.exprs.real(1.0);
            code.indicators
                .extend(self.out_program(&g.domain, one, first, g.origin)?);
        } else {
            code.indicators
                .extend(self.out_program(&g.domain, difference, first, g.origin)?);
        }
        let relation = RelationCode {
            base: g.base,
            len: g.len,
            first,
            op,
            expr: g.key.expr,
            by_time: instant.is_some(),
            by_value: false,
            algebraic: false,
            slopes: false,
            origin: g.origin,
        };
        code.relations.push(relation);
        Ok(())
    }

    /// A program for what the cells of a group should hold now. Relations inside of the expression are as their own cells say.
    pub(crate) fn cell_value(
        &mut self,
        g: &crate::cells::CellGroup,
        first: usize,
    ) -> Result<Program, CodegenError> {
        self.defined = Some(g.key.expr);
        let program = self.out_program(&g.domain, g.key.expr, first, g.origin);
        self.defined = None;
        program
    }

    /// A value that is watched itself: its indicator is the value, which the simulator compares with the cell.
    fn watched_value(
        &mut self,
        code: &mut EventCode,
        g: &crate::cells::CellGroup,
    ) -> Result<(), CodegenError> {
        let first = code.cells;
        code.cells += g.len;
        let value = self.cell_value(g, first)?;
        code.values.extend(value.clone());
        code.indicators.extend(value);
        code.relations.push(RelationCode {
            base: g.base,
            len: g.len,
            first,
            op: None,
            expr: g.key.expr,
            by_time: false,
            by_value: true,
            algebraic: false,
            slopes: false,
            origin: g.origin,
        });
        Ok(())
    }

    /// The instant at which `difference` is zero, if it is linear in time and otherwise constant between events.
    fn event_instant(&mut self, difference: ExprId) -> Option<ExprId> {
        let time = self.flat.exprs.time();
        let (coefficient, rest) = self.flat.exprs.linear_in(difference, time)?;
        if self.flat.exprs.is_zero(coefficient)
            || is_continuous(self.flat, coefficient)
            || is_continuous(self.flat, rest)
        {
            return None;
        }
        let negated = self.flat.exprs.neg(rest);
        Some(self.flat.exprs.div(negated, coefficient))
    }

    /// Code of the `when` clauses.
    pub fn when_code(&mut self, whens: &[When], code: &mut EventCode) -> Result<(), CodegenError> {
        code.uses_terminal = self.flat.exprs.ids().any(|e| {
            matches!(
                self.flat.exprs.node(e),
                Node::Call(acausal_expr::Builtin::Terminal, _)
            )
        });
        for when in whens {
            let when = &self.conditions_before(when);
            let points = domain_len(&when.domain);
            let mut branches = Vec::new();
            for branch in &when.branches {
                let mut conditions = Vec::new();
                let mut at_start = false;
                for &c in &branch.conditions {
                    at_start |= self.flat.exprs.any(c, |x, n| {
                        matches!(x.node(n), Node::Call(acausal_expr::Builtin::Initial, _))
                    });
                    let first = code.conditions_len;
                    code.conditions_len += points;
                    self.watches = true;
                    let program = self.out_program(&when.domain, c, first, when.origin);
                    self.watches = false;
                    code.conditions.extend(program?);
                    conditions.push(first);
                }
                let mut actions = Vec::new();
                for action in &branch.actions {
                    actions.push(self.action(when, action)?);
                }
                branches.push(BranchCode {
                    conditions,
                    at_start,
                    actions,
                });
            }
            code.whens.push(WhenCode {
                points,
                branches,
                origin: when.origin,
            });
        }
        Ok(())
    }

    /// The clause with conditions that come before its own assignments: `when time >= next then next = time + 1` means
    /// `when time >= pre(next)`. Where the equations of the clause have a solution this is one of them: a condition that is
    /// false before leaves everything as it is, and one that is true before and after is true. Where they have none,
    /// because the assignment makes the condition false again, it is what the same clause in an algorithm does.
    fn conditions_before(&mut self, when: &When) -> When {
        let actions = when.branches.iter().flat_map(|b| &b.actions);
        let targets: Vec<(Access, DomainVec)> = actions
            .filter_map(|a| match a {
                Action::Assign { domain, target, .. } => {
                    let all = when.domain.iter().chain(domain).copied().collect();
                    Some((*target, all))
                }
                _ => None,
            })
            .collect();
        let mut before = when.clone();
        for condition in before.branches.iter_mut().flat_map(|b| &mut b.conditions) {
            let own: Vec<ExprId> = (self.flat.exprs.accesses(*condition).into_iter())
                .filter(|(_, a)| {
                    a.kind == ValueKind::Value
                        && targets.iter().any(|(t, domain)| {
                            t.var == a.var && overlap(self.flat, (*t, domain), (*a, &when.domain))
                        })
                })
                .map(|(e, _)| e)
                .collect();
            if own.is_empty() {
                continue;
            }
            *condition = self.flat.exprs.rewrite(*condition, |x, e| match x.node(e) {
                Node::Var(a) if own.contains(&e) => {
                    let (kind, ty) = (ValueKind::Pre, x.ty(e));
                    Some(x.access(Access { kind, ..a }, ty))
                }
                _ => None,
            });
        }
        before
    }

    fn action(&mut self, when: &When, action: &Action) -> Result<ActionCode, CodegenError> {
        let joined =
            |inner: &DomainVec| -> DomainVec { when.domain.iter().chain(inner).copied().collect() };
        Ok(match action {
            Action::Assign {
                domain,
                target,
                value,
            } => self.set(&joined(domain), domain, *target, *value, false, when.origin)?,
            Action::Reinit {
                domain,
                target,
                value,
            } => self.set(&joined(domain), domain, *target, *value, true, when.origin)?,
            Action::Assert(a) => {
                ActionCode::Assert(self.assert_code(a, &joined(&a.domain), true)?)
            }
            Action::Print { message, .. } => ActionCode::Print {
                message: *message,
                domain: when.domain.clone(),
            },
            Action::Terminate { message, origin } => ActionCode::Terminate {
                message: *message,
                domain: when.domain.clone(),
                origin: *origin,
            },
        })
    }

    fn set(
        &mut self,
        domain: &DomainVec,
        inner: &DomainVec,
        target: Access,
        value: ExprId,
        reinit: bool,
        origin: OriginId,
    ) -> Result<ActionCode, CodegenError> {
        let values = self.out_program(domain, value, 0, origin)?;
        let place =
            self.layout
                .place((target.var, target.kind))
                .ok_or(CodegenError::Unassigned {
                    access: target,
                    origin,
                })?;
        let locations = crate::address::locate(self.flat, place, domain, target, origin)?;
        let targets: Vec<Loc> = (0..domain_len(domain)).map(|j| locations.at(j)).collect();
        Ok(ActionCode::Set {
            values,
            targets,
            inner: domain_len(inner),
            reinit,
            target,
        })
    }

    /// Code of the subscripts that were met.
    pub fn index_code(&mut self, code: &mut EventCode) -> Result<(), CodegenError> {
        let mut k = 0;
        // Subscripts may contain further ones.
        while let Some((key, origin)) = self.indexed.get_index(k) {
            let ((index, size, domain), origin) = (key.clone(), *origin);
            k += 1;
            let array = match self.index_names.get(&(index, size)) {
                Some(&var) => self.flat.var(var).name.element(&[]),
                None => format!("an array of {size} elements"),
            };
            code.indexed.push(IndexCode {
                values: self.out_program(&domain, index, 0, origin)?,
                len: domain_len(&domain),
                size,
                array,
                origin,
            });
        }
        Ok(())
    }

    /// Code of the sides of equations that must not jump.
    pub fn continuity_code(
        &mut self,
        equations: &[acausal_index1::Continuity],
        nominal_of: &FxHashMap<VarId, usize>,
        code: &mut EventCode,
    ) -> Result<(), CodegenError> {
        for c in equations {
            let len = domain_len(&c.domain);
            let [left, right] = c.sides;
            let mut sides = self.out_program(&c.domain, left, 0, c.origin)?;
            sides.extend(self.out_program(&c.domain, right, len, c.origin)?);
            code.continuous.push(ContinuityCode {
                sides,
                len,
                nominal: c.scale.and_then(|v| nominal_of.get(&v).copied()),
                origin: c.origin,
            });
        }
        Ok(())
    }

    /// Code of an assertion over a domain. Its relations are events, unless they are looked at in a `when` clause only.
    pub fn assert_code(
        &mut self,
        a: &Assert,
        domain: &DomainVec,
        no_event: bool,
    ) -> Result<AssertCode, CodegenError> {
        let condition = match no_event {
            true => self.flat.exprs.no_event(a.condition),
            false => a.condition,
        };
        let conditions = self.out_program(domain, condition, 0, a.origin)?;
        let initial = self.flat.exprs.any(condition, |x, n| {
            matches!(x.node(n), Node::Call(acausal_expr::Builtin::Initial, _))
        });
        Ok(AssertCode {
            conditions,
            len: domain_len(domain),
            condition,
            initial,
            message: a.message,
            domain: domain.clone(),
            level: a.level,
            origin: a.origin,
        })
    }
}
