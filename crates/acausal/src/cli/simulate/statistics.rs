//! The work of the integrator, for `--stats`.

use acausal::Summary;

use crate::cli::count;

/// A table for people.
pub fn statistics(s: &Summary) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("  {name:<22} {value}\n"));
    };
    let p = &s.profile;
    let orders: Vec<String> = (1..s.steps_by_order.len())
        .filter(|&k| s.steps_by_order[k] > 0)
        .map(|k| format!("{k}: {}", s.steps_by_order[k]))
        .collect();
    line("steps by order", orders.join(", "));
    line("corrector iterations", p.newton_iterations.to_string());
    line(
        "refused steps",
        format!(
            "{}, {}, {}",
            count(s.error_test_failures, "error test"),
            count(s.convergence_failures, "divergence"),
            count(p.evaluation_failures, "failed evaluation"),
        ),
    );
    if !p.limiting.is_empty() {
        line("limited by the error of", named(&p.limiting));
    }
    if !p.diverging.is_empty() {
        line("no convergence of", named(&p.diverging));
    }
    if p.order_holds > 0 {
        line("order held at two", count(p.order_holds, "time"));
    }
    line(
        "events",
        format!(
            "{}, {}, {}, {} evaluations of relations and discrete variables",
            s.events,
            count(p.restarts, "restart"),
            count(p.root_evaluations, "look") + " at the indicators",
            p.event_evaluations,
        ),
    );
    if p.inner_points > 0 {
        line(
            "points inside of steps",
            format!(
                "{} corrected, {}, {} solved from scratch",
                p.inner_points,
                count(p.inner_iterations, "iteration"),
                p.inner_solutions,
            ),
        );
    }
    let share = 100.0 * p.jacobian_entries as f64 / (s.unknowns.max(1) as f64).powi(2);
    line(
        "Jacobian",
        format!(
            "{n} x {n}, {} entries ({share:.3} %), {}",
            p.jacobian_entries,
            count(s.factorisations, "factorisation"),
            n = s.unknowns,
        ),
    );
    if let Some(entries) = p.factor_entries {
        let fill = entries as f64 / p.jacobian_entries.max(1) as f64;
        line(
            "factors",
            format!("{entries} entries, {fill:.2} per entry of the Jacobian"),
        );
    }
    let shares: Vec<String> = parts(s)
        .iter()
        .map(|(name, t)| format!("{name} {t:.4}"))
        .collect();
    line("seconds of integrate", shares.join(", "));
    text
}

/// The same for programs.
pub fn statistics_json(s: &Summary) -> serde_json::Value {
    let p = &s.profile;
    let seconds: serde_json::Map<String, serde_json::Value> = parts(s)
        .into_iter()
        .map(|(name, t)| (name.to_string(), t.into()))
        .collect();
    let table = |list: &[(String, u64)]| -> Vec<serde_json::Value> {
        list.iter()
            .map(|(name, n)| serde_json::json!({"name": name, "count": n}))
            .collect()
    };
    serde_json::json!({
        "steps_by_order": s.steps_by_order[1..],
        "newton_iterations": p.newton_iterations,
        "evaluation_failures": p.evaluation_failures,
        "root_evaluations": p.root_evaluations,
        "inner_points": p.inner_points,
        "inner_iterations": p.inner_iterations,
        "inner_solutions": p.inner_solutions,
        "event_evaluations": p.event_evaluations,
        "restarts": p.restarts,
        "order_holds": p.order_holds,
        "limiting": table(&p.limiting),
        "diverging": table(&p.diverging),
        "jacobian_entries": p.jacobian_entries,
        "factor_entries": p.factor_entries,
        "seconds": seconds,
    })
}

fn named(list: &[(String, u64)]) -> String {
    let items: Vec<String> = list.iter().map(|(n, k)| format!("{n} ({k})")).collect();
    items.join(", ")
}

/// Parts of the time of integration; the rest is the integrator's own work on vectors.
fn parts(s: &Summary) -> [(&'static str, f64); 9] {
    let t = &s.seconds;
    let model = t.residual + t.predicted + t.jacobian + t.indicators;
    let known = model + t.factor + t.solve + t.events + t.output;
    [
        ("residual", t.residual),
        ("prediction with residual", t.predicted),
        ("jacobian", t.jacobian),
        ("factor", t.factor),
        ("solve", t.solve),
        ("indicators", t.indicators),
        ("events", t.events),
        ("output", t.output),
        ("rest", (t.integrate - known).max(0.0)),
    ]
}
