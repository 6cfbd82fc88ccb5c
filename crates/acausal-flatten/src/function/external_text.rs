//! External functions on strings and file names, which are evaluated at compile time: strings do not exist at run time.

use acausal_base::Span;
use acausal_expr::native::strings;
use acausal_expr::{ExprId, IterId, Node, Range};
use acausal_symbolic::Substitute;

use super::constant::fold;
use super::external::text;
use crate::lower::graph::points;
use crate::lower::{Context, Error, Result, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;

/// The functions.
const KNOWN: [&str; 13] = [
    "ModelicaStrings_compare",
    "ModelicaStrings_hashString",
    "ModelicaStrings_length",
    "ModelicaStrings_scanIdentifier",
    "ModelicaStrings_scanInteger",
    "ModelicaStrings_scanReal",
    "ModelicaStrings_scanString",
    "ModelicaStrings_skipWhiteSpace",
    "ModelicaStrings_substring",
    "ModelicaInternal_fullPathName",
    "ModelicaInternal_stat",
    "ModelicaInternal_countLines",
    "ModelicaInternal_readLine",
];

/// What a function gives.
enum Out {
    Number(f64),
    Text(String),
}

/// True for functions of this module.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// Calls one of them; `outputs` are those that it gives, in its order. Arguments that depend on iterators, such as the names of an array of components, are
/// known value by value: the results are selections by the iterators.
pub(super) fn call(
    ctx: &mut Context,
    outputs: &[InstId],
    name: &str,
    args: &[Tensor],
    span: Span,
) -> Result<Vec<Value>> {
    let domain = iterators(ctx, args);
    let mut columns: Vec<Vec<ExprId>> = vec![Vec::new(); outputs.len()];
    for point in points(&domain) {
        let pairs: Vec<(IterId, ExprId)> = domain
            .iter()
            .zip(point)
            .map(|(d, k)| (d.0, ctx.exprs.int(k)))
            .collect();
        let at_point: Vec<Tensor> = args
            .iter()
            .map(|t| Tensor {
                body: ctx.exprs.substitute_iters(t.body, &pairs),
                ..t.clone()
            })
            .collect();
        let results = call_with_literals(ctx, outputs, name, &at_point, span)?;
        for (column, result) in columns.iter_mut().zip(results) {
            column.push(result);
        }
    }
    let mut values = Vec::new();
    for (&output, column) in outputs.iter().zip(columns) {
        let ty = ctx.primitive_type(output).unwrap_or(Type::Real);
        values.extend(ctx.selected(&domain, column).map(|e| Value::scalar(ty, e)));
    }
    Ok(values)
}

/// Iterators that arguments depend on, if a selection by them is possible; without them the call is not constant.
fn iterators(ctx: &Context, args: &[Tensor]) -> Vec<(IterId, Range)> {
    const MOST: i64 = 100_000;
    let bodies: Vec<ExprId> = args.iter().map(|t| t.body).collect();
    let mut domain: Vec<(IterId, Range)> = Vec::new();
    for n in ctx.exprs.reachable(&bodies) {
        let Node::Iter(i) = ctx.exprs.node(n) else {
            continue;
        };
        match ctx.ranges.get(&i) {
            Some(&range) if range.step == 1 && range.count > 0 => domain.push((i, range)),
            _ => return Vec::new(),
        }
    }
    domain.sort_by_key(|d| d.0);
    domain.dedup();
    let count = domain
        .iter()
        .try_fold(1i64, |n, d| n.checked_mul(d.1.count));
    match count {
        Some(n) if n <= MOST => domain,
        _ => Vec::new(),
    }
}

fn call_with_literals(
    ctx: &mut Context,
    outputs: &[InstId],
    name: &str,
    args: &[Tensor],
    span: Span,
) -> Result<Vec<ExprId>> {
    let mut texts = Vec::new();
    let mut numbers = Vec::new();
    for t in args {
        if t.ty == Type::String {
            texts.push(text(ctx, t, name, span)?);
            continue;
        }
        let e = fold(ctx, t.body);
        let boolean = ctx.exprs.as_bool(e).map(|b| b as u8 as f64);
        let Some(value) = ctx.exprs.as_f64(e).or(boolean) else {
            let message =
                format!("the external function `{name}` needs its arguments before the simulation");
            return Err(Error::not_constant(span, message));
        };
        numbers.push(value);
    }
    if name == "ModelicaInternal_fullPathName"
        && let Some(uri) = texts.first().and_then(|t| t.strip_prefix("modelica://"))
    {
        // What a library writes for a file of its own (MLS 3.6 §13.5).
        let file = resource(ctx, uri);
        let file = file.ok_or_else(|| {
            let message =
                format!("modelica://{uri} names no library that has been loaded from a directory");
            error("function-error", span, message)
        })?;
        texts[0] = file;
    }
    let results = evaluate(name, &texts, &numbers)
        .map_err(|m| error("function-error", span, format!("{name}: {m}")))?;
    let mut values = Vec::new();
    for (&output, result) in outputs.iter().zip(results) {
        let ty = ctx.primitive_type(output).unwrap_or(Type::Real);
        values.push(match result {
            Out::Text(s) => ctx.exprs.str(&s),
            Out::Number(v) => super::specialise::literal_of(ctx, ty, v),
        });
    }
    Ok(values)
}

/// The file `Library.Package/rest` of a URI: `rest` in the directory of the package.
fn resource(ctx: &mut Context, uri: &str) -> Option<String> {
    let (package, rest) = uri.split_once('/').unwrap_or((uri, ""));
    let mut name = package;
    // The nearest enclosing class with a directory of its own.
    loop {
        let class = ctx.instances.libraries_mut().find(name)?;
        let libraries = ctx.instances.libraries();
        let span = libraries.class(class).def.span;
        let source = libraries.sources().get(span.file)?;
        if let Some(directory) = source.name.strip_suffix("/package.mo") {
            return Some(format!("{directory}/{rest}"));
        }
        name = name.rsplit_once('.')?.0;
    }
}

fn evaluate(
    name: &str,
    texts: &[String],
    numbers: &[f64],
) -> std::result::Result<Vec<Out>, String> {
    let text = |k: usize| texts.get(k).map_or("", |s| s.as_str());
    let number = |k: usize| numbers.get(k).copied().unwrap_or(0.0);
    let integer = |k: usize| number(k) as i64;
    let count = |n: i64| Out::Number(n as f64);
    Ok(match name {
        "ModelicaStrings_length" => vec![count(text(0).len() as i64)],
        "ModelicaStrings_substring" => {
            vec![Out::Text(strings::substring(
                text(0),
                integer(0),
                integer(1),
            ))]
        }
        "ModelicaStrings_compare" => {
            vec![count(strings::compare(text(0), text(1), number(0) != 0.0))]
        }
        "ModelicaStrings_hashString" => vec![count(strings::hash(text(0)))],
        "ModelicaStrings_skipWhiteSpace" => {
            vec![count(strings::skip_white_space(text(0), integer(0)))]
        }
        "ModelicaStrings_scanReal" => {
            let (next, value) = strings::scan_real(text(0), integer(0), number(1) != 0.0);
            vec![count(next), Out::Number(value)]
        }
        "ModelicaStrings_scanInteger" => {
            let (next, value) = strings::scan_integer(text(0), integer(0), number(1) != 0.0);
            vec![count(next), count(value)]
        }
        "ModelicaStrings_scanString" => {
            let (next, value) = strings::scan_string(text(0), integer(0));
            vec![count(next), Out::Text(value)]
        }
        "ModelicaStrings_scanIdentifier" => {
            let (next, value) = strings::scan_identifier(text(0), integer(0));
            vec![count(next), Out::Text(value)]
        }
        "ModelicaInternal_fullPathName" => vec![Out::Text(full_path(text(0))?)],
        "ModelicaInternal_stat" => {
            // Modelica.Utilities.Types.FileType: NoFile, RegularFile, Directory, SpecialFile.
            let kind = match std::fs::metadata(text(0)) {
                Err(_) => 1,
                Ok(m) if m.is_file() => 2,
                Ok(m) if m.is_dir() => 3,
                Ok(_) => 4,
            };
            vec![count(kind)]
        }
        "ModelicaInternal_countLines" => vec![count(lines(text(0))?.len() as i64)],
        "ModelicaInternal_readLine" => {
            let all = lines(text(0))?;
            let line = usize::try_from(integer(0) - 1)
                .ok()
                .and_then(|k| all.get(k));
            // The outputs are the line, and whether the end of the file was reached.
            vec![
                Out::Text(line.cloned().unwrap_or_default()),
                Out::Number(if line.is_none() { 1.0 } else { 0.0 }),
            ]
        }
        _ => return Err("not known".to_string()),
    })
}

fn lines(file: &str) -> std::result::Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| format!("the file {file} cannot be read: {e}"))?;
    Ok(text.lines().map(str::to_string).collect())
}

fn full_path(name: &str) -> std::result::Result<String, String> {
    std::path::absolute(name)
        .map(|p| p.display().to_string())
        .map_err(|e| format!("{name}: {e}"))
}
