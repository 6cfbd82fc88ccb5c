//! Names to variables, constants and iterators (MLS 3.6 §5.3, §10.5.1).
//!
//! A component reference is first resolved to a [`ComponentRange`]: the component and one subscript per dimension of all components
//! on its path. Dimensions of components that we are inside of take the subscripts of the element that we are in
//! ([`Env::arrays`]); the others take what is written, or stay whole: `r.v` with `r[N]` is a vector.

use acausal_syntax::ast::{ComponentRef, RefPart};

use super::{Context, Env, Error, FunctionValue, Result, Subscript, Type, Value, error};
use acausal_instance::instance::{Found, InstId, InstanceKind};

/// A component, or elements of an array of components.
#[derive(Clone, Debug)]
pub struct ComponentRange {
    /// The component.
    pub inst: InstId,
    /// The size and the subscript of every dimension on the path, from the outermost component to this one.
    pub slots: Vec<(usize, Subscript)>,
}

impl ComponentRange {
    /// Dimensions that are left.
    pub fn dims(&self) -> Vec<usize> {
        self.slots
            .iter()
            .filter_map(|(n, s)| match s {
                Subscript::Element(_) => None,
                Subscript::Vector(v) => Some(v.dims[0]),
                Subscript::All => Some(*n),
            })
            .collect()
    }
}

/// What a name stands for.
enum Resolved<'r> {
    /// A component, with the part of the reference that names each component on the way.
    Component(Vec<(InstId, &'r RefPart)>),
    /// Something that is a value already, and the parts that follow.
    Value(Value, &'r [RefPart]),
}

impl Context {
    /// The value of a component reference.
    pub(super) fn reference(&mut self, env: &Env<'_>, r: &ComponentRef) -> Result<Value> {
        match self.resolve(env, r)? {
            Resolved::Value(value, rest) => self.fields(env, value, 0, rest, r),
            Resolved::Component(chain) => {
                if let Some(locals) = env.locals
                    && let Some(k) = chain.iter().position(|(inst, _)| locals.contains_key(inst))
                {
                    let value = locals[&chain[k].0].clone();
                    let value = self.subscripted(env, value, 0, chain[k].1)?;
                    return self.fields(
                        env,
                        value,
                        0,
                        &r.parts[r.parts.len() - (chain.len() - k - 1)..],
                        r,
                    );
                }
                self.expect_unconditional(&chain)?;
                let place = self.place_of(env, &chain)?;
                self.value_at(env, &place, r.span)
            }
        }
    }

    /// The component that a reference names, for `connect` and assignments. Not for function variables.
    pub fn place(&mut self, env: &Env<'_>, r: &ComponentRef) -> Result<ComponentRange> {
        Ok(self.place_and_first(env, r)?.0)
    }

    /// The place that a reference names, and the first component on the way.
    pub fn place_and_first(
        &mut self,
        env: &Env<'_>,
        r: &ComponentRef,
    ) -> Result<(ComponentRange, Option<InstId>)> {
        match self.resolve(env, r)? {
            Resolved::Component(chain) => {
                let first = chain.first().map(|c| c.0);
                Ok((self.place_of(env, &chain)?, first))
            }
            Resolved::Value(..) => Err(error(
                "not-a-component",
                r.span,
                "a component is expected here",
            )),
        }
    }

    /// The components on the way of a reference, without their subscripts: for assignments in functions.
    pub fn component_chain(&mut self, env: &Env<'_>, r: &ComponentRef) -> Result<Vec<InstId>> {
        match self.resolve(env, r)? {
            Resolved::Component(chain) => Ok(chain.into_iter().map(|c| c.0).collect()),
            Resolved::Value(..) => Err(error(
                "not-a-component",
                r.span,
                "a component is expected here",
            )),
        }
    }

    /// Sizes of what a reference names.
    pub(super) fn reference_dims(&mut self, env: &Env<'_>, r: &ComponentRef) -> Result<Vec<usize>> {
        match self.resolve(env, r)? {
            Resolved::Component(chain)
                if env
                    .locals
                    .is_none_or(|l| chain.iter().all(|c| !l.contains_key(&c.0))) =>
            {
                Ok(self.place_of(env, &chain)?.dims())
            }
            _ => Ok(self.reference(env, r)?.dims().to_vec()),
        }
    }

    fn resolve<'r>(&mut self, env: &Env<'_>, r: &'r ComponentRef) -> Result<Resolved<'r>> {
        let first = &r.parts[0];
        let mut found = if r.global {
            self.instances.find_global(first.name.name, first.span)
        } else {
            if let Some((_, value)) = env.loops.iter().rev().find(|l| l.0 == first.name.name) {
                let value = self.subscripted(env, value.clone(), 0, first)?;
                return Ok(Resolved::Value(value, &r.parts[1..]));
            }
            self.instances
                .find(env.scope, first.name.name, first.name.span)
        };
        let mut chain = Vec::new();
        for (k, part) in r.parts.iter().enumerate() {
            let owner = match found {
                Found::Component(inst) => {
                    chain.push((inst, part));
                    inst
                }
                Found::Class(inst) => {
                    chain.clear();
                    if k + 1 == r.parts.len() {
                        return match self.instances.kind(inst) {
                            InstanceKind::Function => {
                                let value = Value::Function(FunctionValue {
                                    function: inst,
                                    bound: Vec::new(),
                                });
                                Ok(Resolved::Value(value, &[]))
                            }
                            _ => Err(error(
                                "class-as-value",
                                r.span,
                                format!("`{}` is a class, not a value", text(r)),
                            )),
                        };
                    }
                    inst
                }
                Found::EnumLiteral(id, n) => {
                    let value = Value::scalar(Type::Enum(id), self.exprs.int(n));
                    return Ok(Resolved::Value(value, &r.parts[k + 1..]));
                }
                Found::Time => {
                    let value = Value::scalar(Type::Real, self.exprs.time());
                    if env.evaluate && !env.shape {
                        return Err(Error::not_constant(
                            part.span,
                            "`time` varies, but a constant or parameter is needed here",
                        ));
                    }
                    return Ok(Resolved::Value(value, &r.parts[k + 1..]));
                }
                Found::BuiltinFunction(name) => {
                    return Err(error(
                        "class-as-value",
                        r.span,
                        format!("`{name}` is a function, not a value"),
                    ));
                }
                Found::NotFound(message) => return Err(message.into()),
            };
            match r.parts.get(k + 1) {
                Some(next) => {
                    found = self
                        .instances
                        .find_member(owner, next.name.name, next.name.span)
                }
                None => break,
            }
        }
        Ok(Resolved::Component(chain))
    }

    /// A conditional component may be used in `connect` only (MLS 3.6 §4.4.5).
    fn expect_unconditional(&mut self, chain: &[(InstId, &RefPart)]) -> Result<()> {
        for &(inst, part) in chain {
            if self.absent.contains(&inst) {
                return Err(self.absent_error(inst, part.span));
            }
            if self.instances.condition(inst).is_some() {
                let name = self.instances.display_name(inst);
                let at = self.instances.data(inst).span;
                return Err(error(
                    "conditional-component",
                    part.span,
                    format!("`{name}` exists under a condition and can only be used in `connect`"),
                )
                .label(at, "declared here"));
            }
        }
        Ok(())
    }

    fn place_of(&mut self, env: &Env<'_>, chain: &[(InstId, &RefPart)]) -> Result<ComponentRange> {
        let mut slots = Vec::new();
        for outer in self.enclosing_arrays(chain[0].0) {
            let dims = self.dims(outer)?;
            let inside = env.arrays.iter().find(|a| a.0 == outer);
            for (d, n) in dims.into_iter().enumerate() {
                slots.push((
                    n,
                    inside.map_or(Subscript::All, |a| Subscript::Element(a.1[d])),
                ));
            }
        }
        for &(inst, part) in chain {
            if self.absent.contains(&inst) {
                return Err(self.absent_error(inst, part.span));
            }
            let dims = self.dims(inst)?;
            let subs = if part.subscripts.is_empty() {
                Vec::new()
            } else {
                self.subscripts_of(
                    env,
                    Some(inst),
                    &dims,
                    &part.subscripts,
                    part.span,
                    &format!("`{}`", part.name),
                )?
            };
            for (d, n) in dims.into_iter().enumerate() {
                slots.push((n, subs.get(d).cloned().unwrap_or(Subscript::All)));
            }
        }
        let inst = chain.last().map_or(InstId::GLOBAL, |c| c.0);
        Ok(ComponentRange { inst, slots })
    }

    /// Applies the subscripts of a part behind `lead` dimensions of the value that belong to outer parts.
    fn subscripted(
        &mut self,
        env: &Env<'_>,
        value: Value,
        lead: usize,
        part: &RefPart,
    ) -> Result<Value> {
        if part.subscripts.is_empty() {
            return Ok(value);
        }
        let dims = value.dims()[lead..].to_vec();
        let mut subs = vec![Subscript::All; lead];
        subs.extend(self.subscripts(
            env,
            &dims,
            &part.subscripts,
            part.span,
            &format!("`{}`", part.name),
        )?);
        Ok(value.index(&mut self.exprs, &subs))
    }

    /// Takes fields of a record value.
    fn fields(
        &mut self,
        env: &Env<'_>,
        value: Value,
        lead: usize,
        parts: &[RefPart],
        r: &ComponentRef,
    ) -> Result<Value> {
        let mut value = value;
        let mut lead = lead;
        for part in parts {
            lead = value.dims().len().max(lead);
            let Some(field) = value.field(part.name.name).cloned() else {
                let what = self.describe(&value);
                return Err(error(
                    "unknown-field",
                    part.span,
                    format!("{what} has no field `{}` (in `{}`)", part.name, text(r)),
                ));
            };
            value = self.subscripted(env, field, lead, part)?;
        }
        Ok(value)
    }
}

/// The reference as written, without subscripts.
pub fn text(r: &ComponentRef) -> String {
    let names: Vec<&str> = r.parts.iter().map(|p| p.name.as_str()).collect();
    format!("{}{}", if r.global { "." } else { "" }, names.join("."))
}
