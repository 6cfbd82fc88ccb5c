//! How often each clock ticks, in steps of a grid (MLS 3.6 §16.5, §16.7).
//!
//! In: classes with relations. Out: for each clocked class the grid of its base clock, and period and offset in whole steps of it.
//!
//! Each class gets an interval and a shift relative to the interval of its base clock, as exact fractions, going through the
//! relations in both directions from the classes that have a base clock. `subSample(u, n)` makes the interval `n` times as long,
//! `superSample(u, n)` as many times shorter, `shiftSample(u, c, r)` moves the first tick by `c/r` intervals. The grid is as fine as the
//! common denominator of all of them.
//!
//! Example: `u` on `Clock(0.1)`, `v = superSample(u, 2)`, `w = shiftSample(v, 1, 3)`: intervals 1, 1/2, 1/2, shifts 0, 0, 1/6. The grid has 6
//! steps per interval: periods 6, 3, 3 and offsets 0, 0, 1.

use acausal_base::Diagnostic;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Builtin, ExprId, Node};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::partition::{Partitions, Relation};

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub above: i64,
    pub below: i64,
}

impl Fraction {
    pub fn new(above: i64, below: i64) -> Fraction {
        let divisor = gcd(above.unsigned_abs(), below.unsigned_abs()).max(1) as i64;
        let sign = if below < 0 { -1 } else { 1 };
        Fraction {
            above: sign * above / divisor,
            below: (sign * below / divisor).max(1),
        }
    }

    pub fn whole(n: i64) -> Fraction {
        Fraction { above: n, below: 1 }
    }

    /// `None` where the numbers do not fit, as for all of these.
    fn times(self, other: Fraction) -> Option<Fraction> {
        let above = self.above.checked_mul(other.above)?;
        Some(Fraction::new(above, self.below.checked_mul(other.below)?))
    }

    fn over(self, other: Fraction) -> Option<Fraction> {
        self.times(Fraction::new(other.below, other.above))
    }

    fn plus(self, other: Fraction) -> Option<Fraction> {
        let (a, b) = (
            self.above.checked_mul(other.below)?,
            other.above.checked_mul(self.below)?,
        );
        let below = self.below.checked_mul(other.below)?;
        Some(Fraction::new(a.checked_add(b)?, below))
    }

    fn minus(self, other: Fraction) -> Option<Fraction> {
        self.plus(Fraction::new(-other.above, other.below))
    }

    /// So many steps of a grid with `fine` steps per unit.
    fn steps(self, fine: i64) -> Option<i64> {
        self.above.checked_mul(fine / self.below)
    }
}

/// The least common multiple.
fn lcm(a: i64, b: i64) -> Option<i64> {
    (a / gcd(a as u64, b as u64) as i64).checked_mul(b)
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The grid of a base clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// The call that makes the clock.
    pub clock: ExprId,
    /// Steps per interval.
    pub fine: i64,
    pub origin: OriginId,
}

/// When a class ticks: at the steps `offset + k*period` of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    pub grid: usize,
    pub period: i64,
    pub offset: i64,
}

/// Grids, and the ticks of each clocked class.
pub(super) struct Grids {
    pub grids: Vec<Grid>,
    pub ticks: IndexMap<usize, Ticks, FxBuildHasher>,
}

/// Relative to a base clock.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rate {
    grid: usize,
    interval: Fraction,
    shift: Fraction,
}

impl Rate {
    /// The rate of a clock that is slower, then shifted by so many of its own intervals.
    fn derived(&self, slower: Fraction, shift: Fraction) -> Option<Rate> {
        let interval = self.interval.times(slower)?;
        Some(Rate {
            interval,
            shift: self.shift.plus(interval.times(shift)?)?,
            ..*self
        })
    }

    /// The rate of the clock that this one is derived from.
    fn source(&self, slower: Fraction, shift: Fraction) -> Option<Rate> {
        Some(Rate {
            interval: self.interval.over(slower)?,
            shift: self.shift.minus(self.interval.times(shift)?)?,
            ..*self
        })
    }
}

fn too_fine(model: &FlatModel, origin: OriginId) -> Diagnostic {
    let span = model.origin(origin).span;
    let message = "the factors of these clocks have no common grid that can be counted";
    Diagnostic::error("clock-factor", span, message).hint("use smaller factors and counters")
}

pub(super) fn infer(model: &FlatModel, classes: &Partitions) -> Result<Grids, Vec<Diagnostic>> {
    let mut messages = Vec::new();
    let (mut rates, mut grids) = base_clocks(model, classes, &mut messages);
    derived_clocks(model, classes, &mut rates, &mut messages);
    expect_all_clocked(model, classes, &rates, &mut messages);
    refine(model, &rates, &mut grids, &mut messages);
    if !messages.is_empty() {
        return Err(messages);
    }
    let ticks = ticks_on_grids(model, &rates, &grids, &mut messages);
    check_ticks(model, &grids, &ticks, &mut messages);
    match messages.is_empty() {
        true => Ok(Grids { grids, ticks }),
        false => Err(messages),
    }
}

/// The rates of the partitions, by class.
type Rates = IndexMap<usize, Rate, FxBuildHasher>;

/// The classes that have a base clock of their own, and a grid for each of these clocks.
fn base_clocks(
    model: &FlatModel,
    classes: &Partitions,
    messages: &mut Vec<Diagnostic>,
) -> (Rates, Vec<Grid>) {
    let mut rates = Rates::default();
    let mut grids: Vec<Grid> = Vec::new();
    for r in &classes.relations {
        let Relation::Base { of, clock, origin } = *r else {
            continue;
        };
        let grid = match grids.iter().position(|g| g.clock == clock) {
            Some(k) => k,
            None => {
                grids.push(Grid {
                    clock,
                    fine: 1,
                    origin,
                });
                grids.len() - 1
            }
        };
        let rate = Rate {
            grid,
            interval: Fraction::whole(1),
            shift: Fraction::whole(0),
        };
        note(model, &mut rates, of, rate, origin, messages);
    }
    (rates, grids)
}

/// The classes whose clock follows from that of another.
fn derived_clocks(
    model: &FlatModel,
    classes: &Partitions,
    rates: &mut Rates,
    messages: &mut Vec<Diagnostic>,
) {
    // Going round until nothing is added: each round reaches at least one class more.
    loop {
        let before = rates.len();
        for r in &classes.relations {
            let Relation::Derived {
                of,
                from,
                slower,
                shift,
                origin,
            } = *r
            else {
                continue;
            };
            let Some(slower) = slower else { continue };
            let (class, rate) = if let Some(source) = rates.get(&from) {
                (of, source.derived(slower, shift))
            } else if let Some(target) = rates.get(&of) {
                (from, target.source(slower, shift))
            } else {
                continue;
            };
            match rate {
                Some(rate) => note(model, rates, class, rate, origin, messages),
                None => messages.push(too_fine(model, origin)),
            }
        }
        if rates.len() == before || !messages.is_empty() {
            break;
        }
    }
}

/// Every equation that is clocked has a clock.
fn expect_all_clocked(
    model: &FlatModel,
    classes: &Partitions,
    rates: &Rates,
    messages: &mut Vec<Diagnostic>,
) {
    for (class, origin) in classes.clocked() {
        if !rates.contains_key(&class)
            && let Some(origin) = origin
        {
            let span = model.origin(origin).span;
            let message = "no clock can be found for the variables of this equation";
            messages.push(
                Diagnostic::error("clock-unknown", span, message)
                    .hint("give one of them a clock, such as `sample(u, Clock(0.1))`"),
            );
        }
    }
}

/// Makes each grid as fine as its classes need.
fn refine(model: &FlatModel, rates: &Rates, grids: &mut [Grid], messages: &mut Vec<Diagnostic>) {
    for rate in rates.values() {
        let g = &mut grids[rate.grid];
        let fine = lcm(g.fine, rate.interval.below).and_then(|f| lcm(f, rate.shift.below));
        match fine {
            Some(fine) => g.fine = fine,
            None => messages.push(too_fine(model, g.origin)),
        }
    }
}

/// How the ticks of each class lie on its grid.
fn ticks_on_grids(
    model: &FlatModel,
    rates: &Rates,
    grids: &[Grid],
    messages: &mut Vec<Diagnostic>,
) -> IndexMap<usize, Ticks, FxBuildHasher> {
    let mut ticks: IndexMap<usize, Ticks, FxBuildHasher> = IndexMap::default();
    for (&class, rate) in rates {
        let g = &grids[rate.grid];
        let (period, offset) = (rate.interval.steps(g.fine), rate.shift.steps(g.fine));
        let Some((period, offset)) = period.zip(offset) else {
            messages.push(too_fine(model, g.origin));
            continue;
        };
        let grid = rate.grid;
        ticks.insert(
            class,
            Ticks {
                grid,
                period,
                offset,
            },
        );
    }
    ticks
}

/// No tick lies before the first one of its base clock, and the ticks of a condition are not divided further.
fn check_ticks(
    model: &FlatModel,
    grids: &[Grid],
    ticks: &IndexMap<usize, Ticks, FxBuildHasher>,
    messages: &mut Vec<Diagnostic>,
) {
    for (k, g) in grids.iter().enumerate() {
        let span = model.origin(g.origin).span;
        let early = (ticks.values()).any(|t| t.grid == k && t.offset < 0);
        if early {
            let message = "`backSample` moves a tick before the first one of its base clock";
            messages.push(Diagnostic::error("clock-shift", span, message));
        }
        let event = matches!(
            model.exprs.node(g.clock),
            Node::Call(Builtin::EventClock, _)
        );
        if event && g.fine > 1 {
            let message = "the ticks of a clock with a condition cannot be divided further";
            messages.push(
                Diagnostic::error("clock-event", span, message)
                    .hint("`superSample` and fractions of shifts need a clock with an interval"),
            );
        }
    }
}

/// Notes the rate of a class; another one that is noted already is an error.
fn note(
    model: &FlatModel,
    rates: &mut Rates,
    class: usize,
    rate: Rate,
    origin: OriginId,
    messages: &mut Vec<Diagnostic>,
) {
    let known = *rates.entry(class).or_insert(rate);
    if known != rate {
        let span = model.origin(origin).span;
        let message = "the variables of this equation would have two different clocks";
        messages.push(
            Diagnostic::error("clock-conflict", span, message)
                .hint("`subSample`, `superSample` and the like make a signal of another clock"),
        );
    }
}
