//! Names of signals: which exist, which to show, which was probably meant.

use acausal_base::similar::most_similar;
use acausal_expr::ValueKind;

use crate::Model;

impl Model {
    /// All scalar signals by name.
    pub fn signal_names(&self) -> impl Iterator<Item = String> + '_ {
        let c = &self.compiled;
        c.outputs.iter().flat_map(move |o| {
            let len = c.symbols.var(o.var).len();
            (0..len).map(move |k| c.element_name(o.var, ValueKind::Value, k))
        })
    }

    /// True when the model has a signal of this name.
    pub fn has_signal(&self, name: &str) -> bool {
        let one = crate::Observe::patterns([name]);
        let c = &self.compiled;
        let is_it = |var, kind, elements: Vec<usize>| {
            let mut elements = elements.into_iter();
            elements.any(|k| c.element_name(var, kind, k) == name)
        };
        let (mut outputs, mut derivatives) = (c.outputs.iter(), c.derivatives.iter());
        outputs.any(|o| is_it(o.var, o.kind, one.elements(c, o.var)))
            || derivatives.any(|o| is_it(o.var, o.kind, one.derivatives(c, o)))
    }

    /// ` (did you mean ...?)` with the most similar name, or nothing.
    pub fn suggest_signal(&self, name: &str) -> String {
        most_similar(name, self.signal_names())
            .map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
    }

    /// What to draw when the user names nothing: states, then varying public variables of the model itself. Variables
    /// of components come in only when there is nothing else, as most of them repeat each other.
    pub fn default_signals(&self, count: usize) -> Vec<String> {
        let c = &self.compiled;
        let states: std::collections::HashSet<_> = c
            .unknowns
            .iter()
            .filter(|u| u.derivative.is_some())
            .filter_map(|u| u.value)
            .map(|q| q.0)
            .collect();
        let mut candidates: Vec<(u8, usize, String)> = Vec::new();
        for (position, o) in c.outputs.iter().enumerate() {
            let v = c.symbols.var(o.var);
            if v.is_parameter() || v.is_empty() {
                continue;
            }
            let rank = match (
                states.contains(&o.var),
                v.protected,
                v.name.parts().len() > 1,
            ) {
                (true, ..) => 0,
                (_, false, false) => 1,
                (_, false, true) => 2,
                _ => 3,
            };
            // Of an array the first, middle and last element give a picture.
            let len = v.len();
            let mut picks = vec![0, len / 2, len - 1];
            picks.dedup();
            for k in picks {
                candidates.push((rank, position, c.element_name(o.var, ValueKind::Value, k)));
            }
        }
        candidates.sort_by_key(|c| (c.0, c.1));
        if candidates.first().is_some_and(|c| c.0 <= 1) {
            candidates.retain(|c| c.0 <= 1);
        }
        candidates.into_iter().take(count).map(|c| c.2).collect()
    }
}
