//! Which equations must be differentiated (Pantelides 1988), on pieces of arrays.
//!
//! In: the continuous equations. Out: the pieces with the differentiated graph ([`Nodes`]), or messages about a singular structure.
//!
//! | what | module |
//! |---|---|
//! | derivatives that enter nonlinearly | [`branches`] |
//! | the equations with their derivatives | [`derivatives`] |
//! | equations that must not be differentiated because they jump | [`jumps`] |
//! | messages about singular structure | [`singular`] |

pub(crate) mod branches;
pub(crate) mod derivatives;
pub(crate) mod jumps;
mod singular;

use acausal_base::{Diagnostic, Span};
use acausal_expr::Printer;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_structure::segments::{Error, analyse};

use crate::segments::incidence::{Incidence, incidence};
use crate::segments::nodes::{Nodes, nodes, scalar_nodes};
use crate::segments::scalarise::scalarise;
use crate::transform::internal;

/// Analyses the arrays, cuts them into pieces and differentiates these; falls back to single elements where pieces do not suffice.
pub(crate) fn reduce(
    flat: &mut FlatModel,
    equations: &mut Vec<Equation>,
) -> Result<Nodes, Vec<Diagnostic>> {
    for attempt in 0..2 {
        if let Some(n) = scalar_nodes(flat, equations) {
            return Ok(n);
        }
        let inc = incidence(flat, equations);
        let analysis = match analyse(&inc.model) {
            Ok(a) => a,
            Err(e) => return Err(structural_error(flat, equations, &inc, &e)),
        };
        if let Some(n) = nodes(equations, &inc, &analysis) {
            return Ok(n);
        }
        if attempt == 0 {
            *equations = scalarise(flat, std::mem::take(equations));
        }
    }
    Err(internal(
        "index reduction on array pieces does not agree with the element-wise analysis",
    ))
}

fn structural_error(
    flat: &FlatModel,
    equations: &[Equation],
    inc: &Incidence,
    e: &Error,
) -> Vec<Diagnostic> {
    match e {
        Error::Singular { over, under, .. } => {
            singular::diagnostics(flat, equations, inc, over, under)
        }
        Error::BadAccess(b) => {
            let eq = &equations[b.equation.index()];
            let node = inc.access_nodes.row(b.equation.index())[b.access];
            let text = Printer::new(flat).expr(node);
            vec![Diagnostic::error(
                "index-range",
                flat.origin(eq.origin).span,
                format!("a subscript of `{text}` leaves its array"),
            )]
        }
        Error::TooLarge { incidences } => vec![Diagnostic::error(
            "too-large",
            Span::NONE,
            format!(
                "the equations touch each other in {incidences} ways, more than can be analysed"
            ),
        )],
    }
}
