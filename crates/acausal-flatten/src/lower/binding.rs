//! Bindings and attributes over all dimensions of a component (MLS 3.6 §7.2.5).
//!
//! `Resistor r[3](R = {1, 2, 3})` gives the variable `r.R` of shape `[3]` the value `{1, 2, 3}`; a default `R = 2*R0` in the class
//! is written inside of the array and becomes `2*r[i].R0` for `i in 1:3`; `each R = 1` is the same for all elements.

use std::sync::Arc;

use acausal_expr::{IterId, Range, RelOp};

use super::component::{is_inside, names_below};
use super::known::Spanned;
use super::{Context, Env, Error, Result, Tensor, Value, error};
use acausal_instance::instance::{Binding, ElementSetting, InstId, Scope};

impl Context {
    /// The lowered binding with the iterators for the enclosing arrays of its scope.
    fn binding_value(
        &mut self,
        holder: InstId,
        binding: &Binding,
        evaluate: bool,
    ) -> Result<Arc<Spanned>> {
        if let Some(known) = self.known.records.get(&(holder, evaluate)) {
            return Ok(known.clone());
        }
        let framed = self.frame(binding.scope)?;
        let iters = framed.iterators();
        let env = Env {
            evaluate,
            ..framed.env
        };
        let value = self.expr(&env, &binding.expr)?;
        let spanned = Arc::new((value, iters));
        if matches!(spanned.0, Value::Record(_)) {
            let key = (holder, evaluate);
            self.known.records.insert(key, Arc::clone(&spanned));
        }
        Ok(spanned)
    }

    /// The binding of `holder` for the component `inst` in it (or itself), over all dimensions of `inst`.
    pub fn bound(
        &mut self,
        inst: InstId,
        holder: InstId,
        binding: &Binding,
        evaluate: bool,
    ) -> Result<Tensor> {
        let spanned = self.binding_value(holder, binding, evaluate)?;
        let (mut value, iters) = (&spanned.0, &spanned.1);
        for name in names_below(&self.instances, inst, holder) {
            let Some(field) = value.field(name) else {
                let found = self.describe(value);
                let what = self.instances.display_name(inst);
                return Err(error(
                    "type-mismatch",
                    binding.expr.span,
                    format!(
                        "a record with the field `{name}` is expected for `{what}`, but this is {found}"
                    ),
                ));
            };
            value = field;
        }
        let t = self.as_tensor(value.clone(), binding.expr.span)?;
        // Own dimensions: those of the holder and of everything down to the component.
        let mut own = Vec::new();
        for array in self.enclosing_arrays(inst).into_iter().chain([inst]) {
            if is_inside(&self.instances, array, holder) {
                own.extend(self.dims(array)?);
            }
        }
        let ty = self.primitive_type(inst);
        let t = self.spread(inst, holder, t, iters, own, binding, ty)?;
        self.with_settings(inst, None, t, evaluate)
    }

    /// The value of a component (or of an attribute of it) with those elements replaced that are set from outside.
    pub fn with_settings(
        &mut self,
        inst: InstId,
        attribute: Option<&str>,
        t: Tensor,
        evaluate: bool,
    ) -> Result<Tensor> {
        let mut t = t;
        for k in 0..self.instances.element_settings.len() {
            let setting = &mut self.instances.element_settings[k];
            let wanted = setting.attribute.map(|a| a.to_string());
            if setting.inst != inst || wanted.as_deref() != attribute {
                continue;
            }
            setting.used = true;
            let setting = setting.clone();
            t = self.with_setting(inst, &setting, t, evaluate)?;
        }
        Ok(t)
    }

    fn with_setting(
        &mut self,
        inst: InstId,
        setting: &ElementSetting,
        t: Tensor,
        evaluate: bool,
    ) -> Result<Tensor> {
        let span = setting.value.span;
        let mut condition = self.exprs.bool(true);
        let (mut iters, mut dims, mut next) = (Vec::new(), Vec::new(), 0);
        for array in self.enclosing_arrays(inst).into_iter().chain([inst]) {
            let sizes = self.dims(array)?;
            let subs = setting.subscripts.iter().find(|s| s.0 == array);
            for (d, n) in sizes.into_iter().enumerate() {
                let iter = t.iters[next];
                next += 1;
                match subs.map(|s| s.1[d]) {
                    None => {
                        iters.push(iter);
                        dims.push(n);
                    }
                    Some(k) if k < 1 || k > n as i64 => {
                        let message =
                            format!("subscript {k} in `{}` is outside of 1:{n}", setting.path);
                        return Err(Error::subscript_bounds(span, message));
                    }
                    Some(k) => {
                        let (i, k) = (self.exprs.iter(iter), self.exprs.int(k));
                        let here = self.exprs.rel(RelOp::Eq, i, k);
                        condition = self.exprs.and(condition, here);
                    }
                }
            }
        }
        let scope = self.instances.root().unwrap_or(InstId::GLOBAL);
        let env = Env {
            evaluate,
            ..Env::new(Scope::of(scope))
        };
        let value = self.tensor(&env, &setting.value)?;
        let dims = if value.is_scalar() { Vec::new() } else { dims };
        let what = format!("`{}`", setting.path);
        let value = self.expect(value, t.ty, &dims, span, &what)?;
        let value = match value.is_scalar() {
            true => value.body,
            false => value.over(&mut self.exprs, &iters),
        };
        let body = self.exprs.if_(condition, value, t.body);
        Ok(Tensor { body, ..t })
    }

    /// The value of an attribute, over all dimensions of the component.
    pub fn attribute_value(
        &mut self,
        inst: InstId,
        binding: &Binding,
        ty: Option<super::Type>,
        evaluate: bool,
    ) -> Result<Tensor> {
        let framed = self.frame(binding.scope)?;
        let iters = framed.iterators();
        let env = Env {
            evaluate,
            ..framed.env
        };
        let t = self.tensor(&env, &binding.expr)?;
        // The dimensions of the component itself count as enclosing ones: an attribute belongs to the element.
        let ty = match ty {
            Some(ty) => Some(ty),
            None => self.primitive_type(inst),
        };
        let holder = InstId(u32::MAX);
        self.spread(inst, holder, t, &iters, Vec::new(), binding, ty)
    }

    /// Brings a value to all dimensions of a component: those it is written inside of are bound by its scope, the last
    /// `levels` of the others are dimensions of the value, and it is the same for the rest.
    #[allow(clippy::too_many_arguments)]
    fn spread(
        &mut self,
        inst: InstId,
        holder: InstId,
        t: Tensor,
        bound: &[(InstId, IterId)],
        own: Vec<usize>,
        binding: &Binding,
        ty: Option<super::Type>,
    ) -> Result<Tensor> {
        let attribute = holder == InstId(u32::MAX);
        let mut outer: Vec<(InstId, usize)> = Vec::new();
        for array in self.enclosing_arrays(inst).into_iter().chain([inst]) {
            let inside = attribute || !is_inside(&self.instances, array, holder);
            if inside {
                outer.extend(self.dims(array)?.into_iter().map(|n| (array, n)));
            }
        }
        let levels = (binding.levels as usize).min(outer.len());
        let mut spanned = outer.len() - levels;
        let mut expected: Vec<usize> = outer[spanned..].iter().map(|o| o.1).collect();
        expected.extend_from_slice(&own);
        let name = self.instances.display_name(inst);
        if levels > 0 && t.dims == own && t.dims != expected {
            // The same value for every element, although `each` is missing: what everybody means by it.
            self.warnings.push(
                acausal_base::Diagnostic::warning(
                    "missing-each",
                    binding.span,
                    format!("`each` is missing: the value holds for every element of `{name}`"),
                )
                .hint("write `each` before the modifier"),
            );
            spanned = outer.len();
            expected = own;
        }
        let ty = ty.unwrap_or(t.ty);
        let t = self.expect(t, ty, &expected, binding.expr.span, &format!("`{name}`"))?;
        let mut iters = Vec::new();
        let mut used = 0;
        let mut bound = bound.to_vec();
        for (k, (array, n)) in outer.iter().enumerate() {
            if k >= spanned {
                iters.push(t.iters[used]);
                used += 1;
            } else if let Some(p) = bound.iter().position(|b| b.0 == *array) {
                iters.push(bound.remove(p).1);
            } else {
                iters.push(self.iterator(None, Range::upto(*n)));
            }
        }
        iters.extend_from_slice(&t.iters[used..]);
        let mut dims: Vec<usize> = outer.iter().map(|o| o.1).collect();
        dims.extend_from_slice(&t.dims[used..]);
        Ok(Tensor {
            ty: t.ty,
            dims,
            iters,
            body: t.body,
        })
    }
}
