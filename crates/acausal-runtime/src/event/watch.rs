//! Chattering and accumulating events: when a run ends because time no longer advances.
//!
//! Per condition and direction of its change the instants are counted. How often something happens in a second says nothing: `sin(1e9*time) > 0` changes 3*10^8 times
//! in one, each time by a way of the size of the sine, and each instant is located exactly. What says something is that time comes to a stop. The rule, which the guide states for users:
//!
//! - **Chattering**: one condition changes the same way more than [`CHATTER_EVENTS`] times within [`CHATTER_WINDOW`] of
//!   the time span, *without leaving its threshold in between* ([`Change::confined`]): since the last event its two sides have not differed by more than a few widths of its hysteresis, so that it is
//!   the hysteresis that makes time go on. On both sides of its threshold the motion leads back to it (a sliding mode). Changes that follow each other by less than instants are
//!   located to count as well.
//! - **Accumulation** (Zeno): the distances between its changes have become shorter [`ZENO_SHRINKS`] times in a row, by more than
//!   the error of the instants, and if
//!   they go on like that, all further ones together are below [`ZENO_DISTANCE`] of the time span: with distances d that
//!   shrink by a factor r each, the instants accumulate at `t + d r / (1 - r)`. Events that only become more frequent, as
//!   those of a quantiser whose input accelerates, have distances that shrink by ever less, and no such instant ahead. Regular events have distances that
//!   differ by the errors of their instants only, which do not count: d of 6e-12 s at t = 1, each known to 2e-14 s, would shrink five times in a row once in a hundred events, "by a third of a percent".
//!
//! Both end the run with the condition, the time and the count; what was computed is kept. There is no value that a
//! simulator could choose for the model beyond such a point. Anything else is bounded by the number of events only.

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

/// A change of a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// Number of the condition.
    pub number: usize,
    /// Its value before.
    pub value: bool,
    pub t: f64,
    /// How exactly `t` is known.
    pub error: f64,
    /// The condition has not left its threshold since the last event.
    pub confined: bool,
}

impl Watch {
    /// Notes a change; says when it is one too many.
    pub fn note(&mut self, change: Change, span: f64) -> Option<Standstill> {
        let Change {
            number,
            value,
            t,
            error,
            confined,
        } = change;
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
        // Each distance is wrong by the errors of two instants.
        c.shrinks = if distance < c.distance - 4.0 * error {
            c.shrinks + 1
        } else {
            0
        };
        (c.last, c.distance) = (t, distance);
        let window = CHATTER_WINDOW * span;
        if t - c.window_start > window {
            (c.window_start, c.window_count) = (t, 0);
        }
        c.window_count += u64::from(confined || distance <= 2.0 * error);
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

    fn change(t: f64, error: f64, confined: bool) -> Change {
        Change {
            number: 3,
            value: true,
            t,
            error,
            confined,
        }
    }

    #[test]
    fn geometric_distances_are_an_accumulation() {
        let (mut watch, mut t, mut d) = (Watch::default(), 0.0, 0.5);
        for _ in 0..100 {
            match watch.note(change(t, 1e-14, false), 1.0) {
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
            assert_eq!(watch.note(change(t, 1e-14, false), 100.0), None, "{k}");
        }
    }

    /// Distances of 1e-12 whose instants are known to 2e-14: five that shrink in a row by a hundredth are no accumulation.
    #[test]
    fn errors_of_instants_are_no_accumulation() {
        let mut watch = Watch::default();
        for k in 0..8 {
            let t = 1.0 + 1e-12 * f64::from(k) - 0.5e-14 * f64::from(k * k);
            assert_eq!(watch.note(change(t, 2e-14, false), 1.0), None, "{k}");
        }
    }

    #[test]
    fn what_stays_at_its_threshold_chatters_and_what_is_fast_does_not() {
        let first = |d: f64, confined: bool| {
            let mut watch = Watch::default();
            (0..100_000).find_map(|k| watch.note(change(k as f64 * d, 1e-20, confined), 1.0))
        };
        assert_eq!(first(1e-5, true), None);
        assert_eq!(first(1e-12, false), None);
        assert!(matches!(
            first(1e-12, true),
            Some(Standstill::Chattering { count: 1001, .. })
        ));
    }
}
