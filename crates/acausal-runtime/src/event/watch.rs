//! Chattering and accumulating events: when a run ends because time no longer advances.
//!
//! Per condition and direction of its change the instants are counted. The rule, which the guide states for users:
//!
//! - **Chattering**: one condition changes the same way more than [`CHATTER_EVENTS`] times within [`CHATTER_WINDOW`] of
//!   the time span. On both sides of its threshold the motion leads back to it (a sliding mode).
//! - **Accumulation** (Zeno): the distances between its changes have become shorter [`ZENO_SHRINKS`] times in a row, and if
//!   they go on like that, all further ones together are below [`ZENO_DISTANCE`] of the time span: with distances d that
//!   shrink by a factor r each, the instants accumulate at `t + d r / (1 - r)`. Events that only become more frequent, as
//!   those of a quantiser whose input accelerates, have distances that shrink by ever less, and no such instant ahead.
//!
//! Both end the run with the condition, the time and the count; what was computed is kept. There is no value that a
//! simulator could choose for the model beyond such a point.

use std::collections::BTreeMap;

/// See the module.
const CHATTER_EVENTS: u64 = 1_000;
/// See the module.
const CHATTER_WINDOW: f64 = 1e-6;
/// See the module.
const ZENO_SHRINKS: u32 = 4;
/// See the module.
const ZENO_DISTANCE: f64 = 1e-7;

/// Why time does not advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standstill {
    /// A condition changes to and fro.
    Chattering {
        /// Changes in one direction.
        count: u64,
        /// Within this time.
        window: f64,
    },
    /// The distances between changes shrink to nothing.
    Accumulation {
        /// Changes in one direction.
        count: u64,
        /// Factor between the last two distances.
        ratio: f64,
        /// Where the instants accumulate.
        limit: f64,
    },
    /// The bound on the number of events was reached.
    Bound {
        /// Events.
        count: u64,
    },
}

/// The recent changes of all conditions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Watch {
    of: BTreeMap<(usize, bool), Changes>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Changes {
    count: u64,
    last: f64,
    distance: f64,
    shrinks: u32,
    window_start: f64,
    window_count: u64,
}

impl Watch {
    /// Notes a change of a relation at `t`; says when it is one too many.
    pub fn note(&mut self, number: usize, value: bool, t: f64, span: f64) -> Option<Standstill> {
        let c = self.of.entry((number, value)).or_insert(Changes {
            count: 0,
            last: t,
            distance: f64::INFINITY,
            shrinks: 0,
            window_start: t,
            window_count: 0,
        });
        c.count += 1;
        if c.count == 1 {
            return None;
        }
        let distance = t - c.last;
        let ratio = distance / c.distance;
        c.shrinks = if distance < c.distance {
            c.shrinks + 1
        } else {
            0
        };
        (c.last, c.distance) = (t, distance);
        let window = CHATTER_WINDOW * span;
        if t - c.window_start > window {
            (c.window_start, c.window_count) = (t, 0);
        }
        c.window_count += 1;
        // The first distance is compared with infinity; that is not a decrease.
        let further = distance * ratio / (1.0 - ratio);
        if c.shrinks > ZENO_SHRINKS && further < ZENO_DISTANCE * span && ratio < 1.0 {
            return Some(Standstill::Accumulation {
                count: c.count,
                ratio,
                limit: t + further,
            });
        }
        if c.window_count > CHATTER_EVENTS {
            return Some(Standstill::Chattering {
                count: c.window_count,
                window: t - c.window_start,
            });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_distances_are_an_accumulation() {
        let (mut watch, mut t, mut d) = (Watch::default(), 0.0, 0.5);
        for _ in 0..100 {
            match watch.note(3, true, t, 1.0) {
                None => {}
                Some(Standstill::Accumulation { limit, ratio, .. }) => {
                    assert!((limit - 1.0).abs() < 1e-7 && (ratio - 0.5).abs() < 1e-6);
                    return;
                }
                other => panic!("{other:?}"),
            }
            t += d;
            d *= 0.5;
        }
        panic!("not seen");
    }

    /// Changes at t = sqrt(k) * 1e-4: the distances shrink for ever, but nothing accumulates.
    #[test]
    fn more_and_more_frequent_changes_are_no_accumulation() {
        let mut watch = Watch::default();
        for k in 0..10_000 {
            let t = 1e-4 * f64::from(k).sqrt();
            assert_eq!(watch.note(0, true, t, 100.0), None, "{k}");
        }
    }

    #[test]
    fn regular_changes_are_fine_and_dense_ones_chatter() {
        let mut watch = Watch::default();
        for k in 0..100_000 {
            assert_eq!(watch.note(0, true, k as f64 * 1e-5, 1.0), None);
        }
        let mut watch = Watch::default();
        let verdict = (0..2_000).find_map(|k| watch.note(0, true, k as f64 * 1e-12, 1.0));
        assert!(matches!(
            verdict,
            Some(Standstill::Chattering { count: 1001, .. })
        ));
    }
}
