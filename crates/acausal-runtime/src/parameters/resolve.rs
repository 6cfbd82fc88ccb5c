//! From names and values to places.
//!
//! A name is that of a parameter, `R`, `r.R`, of an element, `r[2].R`, `A[1,2]`, or of a start attribute, `x.start`, `cell[3].T.start`. Names are looked
//! for in an index ([`NameIndex`]), which takes one pass over all variables.

use std::collections::{BTreeMap, BTreeSet};

use acausal_base::similar::most_similar;
use acausal_compiled::{CompiledModel, subscripts};
use acausal_expr::flat::{VarType, Variability, Variable};
use acausal_expr::{LARGEST_INTEGER, Symbols, ValueKind, VarId};
use acausal_jit::kernel::Bank;

use super::{GivenPlace, ParameterValue, SettingError, is_free};

/// Attributes that only the compiler can change.
const OTHER_ATTRIBUTES: [&str; 8] = [
    "fixed",
    "min",
    "max",
    "nominal",
    "unit",
    "displayUnit",
    "quantity",
    "stateSelect",
];

/// All names of a model, so that many simulations look through its variables once.
pub struct NameIndex {
    variables: BTreeMap<String, VarId>,
    /// Places of parameters that the start computes.
    computed: BTreeSet<usize>,
}

impl NameIndex {
    /// Of a model.
    pub fn new(model: &CompiledModel) -> NameIndex {
        let named = model.symbols.var_ids().filter(|(_, v)| !v.auxiliary);
        NameIndex {
            variables: named.map(|(id, v)| (v.name.plain(), id)).collect(),
            computed: computed_at_start(model),
        }
    }
}

/// The places that names stand for, with their values, ascending.
pub fn resolve(
    model: &CompiledModel,
    index: &NameIndex,
    settings: &[(String, ParameterValue)],
) -> Result<Vec<GivenPlace>, SettingError> {
    let names: Vec<Written> = settings.iter().map(|s| Written::new(&s.0)).collect();
    let mut given: BTreeMap<usize, f64> = BTreeMap::new();
    for (name, (_, value)) in names.iter().zip(settings) {
        let target = name.target(model, index)?;
        for (place, value) in target.values(model, value)? {
            if given.insert(place, value).is_some() {
                let name = name.text.clone();
                return Err(SettingError::Twice { name });
            }
        }
    }
    let places = given.into_iter();
    Ok(places
        .map(|(place, value)| GivenPlace { place, value })
        .collect())
}

/// The places of parameters that the start computes, or that follow from those.
pub(super) fn computed_at_start(model: &CompiledModel) -> BTreeSet<usize> {
    let calls = model
        .initial
        .dependent
        .iter()
        .chain(&model.initial.discrete);
    let written = calls.flat_map(|call| {
        let outputs = call.outputs.iter().map(|(a, _)| a);
        let in_mem = outputs.filter(|a| a.bank() == Some(Bank::Mem));
        in_mem.flat_map(|a| (0..call.count).filter_map(|j| a.element(j)))
    });
    written.collect()
}

/// A name as the user wrote it.
struct Written {
    /// Without blanks.
    text: String,
    /// Without subscripts.
    plain: String,
    /// All subscripts, in order.
    subscripts: Vec<String>,
}

impl Written {
    fn new(name: &str) -> Written {
        let text: String = name.split_whitespace().collect();
        let (mut plain, mut subscripts) = (String::new(), Vec::new());
        let (mut quoted, mut inside) = (false, false);
        for c in text.chars() {
            quoted ^= c == '\'';
            match c {
                '[' if !quoted && !inside => {
                    inside = true;
                    subscripts.push(String::new());
                }
                ']' if !quoted && inside => inside = false,
                ',' if inside => subscripts.push(String::new()),
                c => match subscripts.last_mut() {
                    Some(subscript) if inside => subscript.push(c),
                    _ => plain.push(c),
                },
            }
        }
        Written {
            text,
            plain,
            subscripts,
        }
    }

    fn target<'n>(
        &'n self,
        model: &CompiledModel,
        index: &NameIndex,
    ) -> Result<Target<'n>, SettingError> {
        let found = &index.variables;
        if let Some(&var) = found.get(&self.plain) {
            let base = parameter_base(model, var, &index.computed)?;
            return Ok(Target {
                name: self,
                var,
                base,
            });
        }
        let attribute = self.plain.rsplit_once('.');
        let of = attribute.and_then(|(name, a)| Some((*found.get(name)?, a)));
        match of {
            Some((var, "start")) => Ok(Target {
                name: self,
                var,
                base: start_base(model, var)?,
            }),
            Some((var, a)) if OTHER_ATTRIBUTES.contains(&a) => Err(SettingError::NotAtRunTime {
                name: self.text.clone(),
                span: model.symbols.var(var).span,
            }),
            _ => {
                let all = super::visible(&model.symbols).map(|(_, v)| v.name.plain());
                let starts = model.start_of.keys();
                let starts =
                    starts.map(|v| format!("{}.start", model.symbols.var(*v).name.plain()));
                Err(SettingError::Unknown {
                    name: self.text.clone(),
                    similar: most_similar(&self.plain, all.chain(starts)),
                })
            }
        }
    }
}

/// The first place of a parameter.
pub(super) fn parameter_base(
    model: &CompiledModel,
    id: VarId,
    computed: &BTreeSet<usize>,
) -> Result<usize, SettingError> {
    let v = model.symbols.var(id);
    let (name, span) = (v.name.plain(), v.span);
    if !v.is_parameter() {
        let has_start = model.start_of.contains_key(&id);
        return Err(SettingError::Variable {
            name,
            has_start,
            span,
        });
    }
    if v.protected {
        return Err(SettingError::Protected { name, span });
    }
    if v.ty == VarType::String {
        return Err(SettingError::NotAtRunTime { name, span });
    }
    if v.structural || v.variability == Variability::Constant {
        return Err(SettingError::Structural { name, span });
    }
    let base = model.region(id, ValueKind::Value);
    let waits = |b: usize| computed.range(b..b + v.len()).next().is_some();
    let base = base.filter(|&b| !is_free(&model.symbols, id) && !waits(b));
    base.ok_or(SettingError::Computed { name, span })
}

/// The first place of a start attribute.
fn start_base(model: &CompiledModel, id: VarId) -> Result<usize, SettingError> {
    let v = model.symbols.var(id);
    let (name, span) = (v.name.plain(), v.span);
    if v.protected {
        return Err(SettingError::Protected { name, span });
    }
    let base = model.start_of.get(&id).copied();
    let base = base.filter(|_| !v.is_parameter() && !model.symbols.inlined_starts.contains(&id));
    base.ok_or(SettingError::Start { name, span })
}

/// What a name stands for.
struct Target<'n> {
    name: &'n Written,
    var: VarId,
    base: usize,
}

impl Target<'_> {
    /// The places with their values.
    fn values(
        &self,
        model: &CompiledModel,
        value: &ParameterValue,
    ) -> Result<Vec<(usize, f64)>, SettingError> {
        let v = model.symbols.var(self.var);
        let number = |value: &ParameterValue| self.number(&model.symbols, v, value);
        if !self.name.subscripts.is_empty() {
            let k = self.element(v)?;
            return Ok(vec![(self.base + k, number(value)?)]);
        }
        let mut flat = Vec::with_capacity(v.len());
        if !flatten(value, &v.dims, &mut flat) {
            return Err(SettingError::Shape {
                name: self.name.text.clone(),
                dims: v.dims.to_vec(),
                span: v.span,
            });
        }
        let numbered = flat.into_iter().enumerate();
        numbered
            .map(|(k, value)| Ok((self.base + k, number(value)?)))
            .collect()
    }

    /// The element that the subscripts say.
    fn element(&self, v: &Variable) -> Result<usize, SettingError> {
        let numbers: Option<Vec<usize>> = (self.name.subscripts.iter())
            .map(|s| s.parse().ok())
            .collect();
        let place = numbers.filter(|n| n.len() == v.dims.len()).and_then(|n| {
            let mut pairs = v.dims.iter().zip(n);
            pairs.try_fold(0, |place, (&d, s)| {
                (1..=d).contains(&s).then(|| place * d + s - 1)
            })
        });
        // Subscripts stand where the dimensions are declared: `r[2].R`, not `r.R[2]`.
        let written = |k: &usize| {
            let name = v.name.element(&subscripts(&v.dims, *k));
            self.name.text == name || self.name.text.strip_suffix(".start") == Some(&*name)
        };
        place
            .filter(written)
            .ok_or_else(|| SettingError::Subscript {
                name: self.name.text.clone(),
                dims: v.dims.to_vec(),
                span: v.span,
            })
    }

    fn number(
        &self,
        symbols: &Symbols,
        v: &Variable,
        value: &ParameterValue,
    ) -> Result<f64, SettingError> {
        let exact = |x: f64| x.fract() == 0.0 && x.abs() <= LARGEST_INTEGER;
        let found = match (v.ty, value) {
            (VarType::Real, ParameterValue::Number(x)) => Some(*x).filter(|x| x.is_finite()),
            (VarType::Integer, ParameterValue::Number(x)) => Some(*x).filter(|&x| exact(x)),
            (VarType::Boolean, ParameterValue::Boolean(b)) => Some(f64::from(*b)),
            (VarType::Enum(e), ParameterValue::Literal(name)) => {
                let of = &symbols.enums[e as usize];
                let (ty, last) = name.rsplit_once('.').unwrap_or(("", name));
                let fits = ty.is_empty() || of.name == ty || of.name.ends_with(&format!(".{ty}"));
                let literal = of.literals.iter().position(|l| l.as_str() == last);
                literal.filter(|_| fits).map(|k| (k + 1) as f64)
            }
            _ => None,
        };
        found.ok_or_else(|| SettingError::Type {
            name: self.name.text.clone(),
            value: value.to_string(),
            wanted: wanted(symbols, v.ty),
            span: v.span,
        })
    }
}

/// What a value of a type is, in words.
fn wanted(symbols: &Symbols, ty: VarType) -> String {
    match ty {
        VarType::Real => "a finite number".to_string(),
        VarType::Integer => "a whole number".to_string(),
        VarType::Boolean => "true or false".to_string(),
        VarType::String => "a String".to_string(),
        VarType::Enum(e) => {
            let literals = symbols.enums[e as usize].literals.iter();
            let names: Vec<&str> = literals.map(|l| l.as_str()).collect();
            format!("one of {}", names.join(", "))
        }
    }
}

/// The scalars of a value of this shape, row by row; false if it has another one. (Recurs on the dimensions.)
fn flatten<'v>(
    value: &'v ParameterValue,
    dims: &[usize],
    out: &mut Vec<&'v ParameterValue>,
) -> bool {
    match (value, dims) {
        (ParameterValue::Array(rows), [size, rest @ ..]) => {
            rows.len() == *size && rows.iter().all(|row| flatten(row, rest, out))
        }
        (ParameterValue::Array(_), []) => false,
        (_, []) => {
            out.push(value);
            true
        }
        _ => false,
    }
}
