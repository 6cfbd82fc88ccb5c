//! The devices: what they look like in Modelica, and what they do.

use super::Track;
use crate::random::draw::{Draw, number};
use crate::random::shrink::simpler;

/// A device with events. Names end in its number; `n` counts its events.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Device {
    /// `x` goes up with one rate and down with another between two bounds.
    Relaxation {
        low: f64,
        high: f64,
        up: f64,
        down: f64,
        start: f64,
    },
    /// A room with a heater: `x' = k*(u - x)`, on below `low`, off above `high`.
    Thermostat {
        low: f64,
        high: f64,
        rate: f64,
        hot: f64,
        cold: f64,
        start: f64,
    },
    /// A ball.
    Ball {
        height: f64,
        speed: f64,
        gravity: f64,
        restitution: f64,
    },
    /// `x` grows to `top` and begins again at `bottom`.
    Sawtooth {
        slope: f64,
        top: f64,
        bottom: f64,
        start: f64,
    },
    /// `s = a*pre(s) + b*tick` at samples.
    Filter {
        first: f64,
        period: f64,
        a: f64,
        b: f64,
    },
    /// `q = floor(gain*x + offset)` of a linear motion.
    Quantiser {
        slope: f64,
        start: f64,
        gain: f64,
        offset: f64,
    },
    /// Phases of given lengths, one after the other, each with its own slope of `x`.
    Phases { lengths: [f64; 3], slopes: [f64; 3] },
    /// A decay towards a value that jumps at given times.
    Steps {
        times: Vec<f64>,
        rate: f64,
        size: f64,
    },
}

use Device::{Ball, Filter, Phases, Quantiser, Relaxation, Sawtooth, Steps, Thermostat};

impl Device {
    pub(super) fn make(draw: &mut Draw) -> Device {
        match draw.below(8) {
            0 => {
                let low = draw.signed(0.0, 1.0);
                let high = low + draw.real(0.2, 1.0);
                Relaxation {
                    low,
                    high,
                    up: draw.real(0.5, 5.0),
                    down: draw.real(0.5, 5.0),
                    start: low + draw.real(0.2, 0.8) * (high - low),
                }
            }
            1 => Thermostat {
                low: draw.real(0.3, 0.45),
                high: draw.real(0.55, 0.7),
                rate: draw.real(0.5, 5.0),
                hot: draw.real(0.9, 1.5),
                cold: draw.real(-0.5, 0.1),
                start: draw.real(0.46, 0.54),
            },
            2 => loop {
                let (height, speed) = (draw.real(0.5, 3.0), draw.signed(0.0, 2.0));
                let (gravity, restitution) = (draw.real(5.0, 15.0), draw.real(0.6, 0.95));
                // The bounces come to an end, as a geometric series, well after the end of the simulation.
                let impact = (speed * speed + 2.0 * gravity * height).sqrt();
                let rest = 2.0 * restitution * impact / gravity / (1.0 - restitution);
                if (speed + impact) / gravity + rest > 3.0 {
                    break Ball {
                        height,
                        speed,
                        gravity,
                        restitution,
                    };
                }
            },
            3 => Sawtooth {
                slope: draw.real(0.5, 8.0),
                top: draw.real(0.5, 1.0),
                bottom: draw.real(-1.0, 0.2),
                start: draw.real(0.25, 0.45),
            },
            4 => Filter {
                first: draw.real(0.0, 0.5),
                period: draw.real(0.01, 0.4),
                a: draw.signed(0.1, 0.9),
                b: draw.signed(0.1, 2.0),
            },
            5 => Quantiser {
                slope: draw.signed(0.3, 3.0),
                start: draw.signed(0.1, 1.0),
                gain: draw.real(2.0, 50.0),
                offset: draw.real(0.1, 0.9),
            },
            6 => Phases {
                lengths: [0; 3].map(|_| draw.real(0.05, 0.5)),
                slopes: [0; 3].map(|_| draw.signed(0.1, 3.0)),
            },
            _ => {
                let mut times: Vec<f64> =
                    (0..draw.range(1, 5)).map(|_| draw.real(0.1, 1.9)).collect();
                times.sort_by(f64::total_cmp);
                times.dedup_by(|a, b| *a - *b < 0.01);
                Steps {
                    times,
                    rate: draw.real(0.5, 5.0),
                    size: draw.signed(0.5, 2.0),
                }
            }
        }
    }

    pub(super) fn declare(&self, k: usize, out: &mut Vec<String>) {
        let mut x = |start: f64| {
            out.push(format!("Real x{k}(start = {start:?}, fixed = true);"));
        };
        match self {
            Relaxation { start, .. } => {
                x(*start);
                out.push(format!("Boolean up{k}(start = true, fixed = true);"));
            }
            Thermostat { start, .. } => {
                x(*start);
                out.push(format!("Boolean on{k}(start = true, fixed = true);"));
            }
            Ball { height, speed, .. } => {
                x(*height);
                out.push(format!("Real v{k}(start = {speed:?}, fixed = true);"));
            }
            Sawtooth { start, .. } => x(*start),
            Filter { .. } => {
                out.push(format!("discrete Real s{k}(start = 0, fixed = true);"));
            }
            Quantiser { start, .. } => {
                x(*start);
                out.push(format!("Real q{k};"));
                out.push(format!("Integer whole{k};"));
            }
            Phases { lengths, slopes } => {
                x(0.0);
                out.push(format!("parameter Real length{k}[3] = {};", list(lengths)));
                out.push(format!("parameter Real slope{k}[3] = {};", list(slopes)));
                out.push(format!("Integer mode{k}(start = 1, fixed = true);"));
                out.push(format!(
                    "discrete Real next{k}(start = {:?}, fixed = true);",
                    lengths[0]
                ));
            }
            Steps { .. } => {
                x(1.0);
                out.push(format!("Real u{k};"));
            }
        }
        out.push(format!("Integer n{k}(start = 0, fixed = true);"));
    }

    pub(super) fn equations(&self, k: usize, out: &mut Vec<String>) {
        let n = format!("n{k} = pre(n{k}) + 1;");
        let num = |x: &f64| number(*x);
        match self {
            Relaxation {
                low,
                high,
                up,
                down,
                ..
            } => {
                out.push(format!("der(x{k}) = if up{k} then {up:?} else -{down:?};"));
                out.push(format!(
                    "when x{k} > {} then up{k} = false; {n} elsewhen x{k} < {} then up{k} = true; {n} end when;",
                    num(high),
                    num(low)
                ));
            }
            Thermostat {
                low,
                high,
                rate,
                hot,
                cold,
                ..
            } => {
                let cold = num(cold);
                out.push(format!(
                    "der(x{k}) = {rate:?}*((if on{k} then {hot:?} else {cold}) - x{k});"
                ));
                out.push(format!(
                    "on{k} = if pre(on{k}) then x{k} < {high:?} else x{k} <= {low:?};"
                ));
                out.push(format!("when change(on{k}) then {n} end when;"));
            }
            Ball {
                gravity,
                restitution,
                ..
            } => {
                out.push(format!("der(x{k}) = v{k};"));
                out.push(format!("der(v{k}) = -{gravity:?};"));
                out.push(format!(
                    "when x{k} <= 0 then reinit(v{k}, -{restitution:?}*pre(v{k})); {n} end when;"
                ));
            }
            Sawtooth {
                slope, top, bottom, ..
            } => {
                out.push(format!("der(x{k}) = {slope:?};"));
                out.push(format!(
                    "when x{k} >= {top:?} then reinit(x{k}, {}); {n} end when;",
                    num(bottom)
                ));
            }
            Filter {
                first,
                period,
                a,
                b,
            } => {
                out.push(format!(
                    "when sample({first:?}, {period:?}) then {n} s{k} = {}*pre(s{k}) + {}*n{k}; end when;",
                    num(a),
                    num(b)
                ));
            }
            Quantiser {
                slope,
                gain,
                offset,
                ..
            } => {
                out.push(format!("der(x{k}) = {};", num(slope)));
                out.push(format!("q{k} = floor({gain:?}*x{k} + {offset:?});"));
                out.push(format!("whole{k} = integer({gain:?}*x{k} + {offset:?});"));
                out.push(format!("when change(whole{k}) then {n} end when;"));
            }
            Phases { .. } => {
                out.push(format!("der(x{k}) = slope{k}[mode{k}];"));
                out.push(format!(
                    "when time >= pre(next{k}) then mode{k} = if pre(mode{k}) == 3 then 1 else pre(mode{k}) + 1; \
                     next{k} = pre(next{k}) + length{k}[mode{k}]; {n} end when;"
                ));
            }
            Steps { times, rate, size } => {
                let steps: Vec<String> = times
                    .iter()
                    .map(|t| format!("(if time < {t:?} then 0 else {})", num(size)))
                    .collect();
                out.push(format!("u{k} = {};", steps.join(" + ")));
                out.push(format!("der(x{k}) = {rate:?}*(u{k} - x{k});"));
                let conditions: Vec<String> =
                    times.iter().map(|t| format!("time >= {t:?}")).collect();
                out.push(format!(
                    "when {{{}}} then {n} end when;",
                    conditions.join(", ")
                ));
            }
        }
    }

    pub(super) fn track(&self, k: usize, stop: f64) -> Track {
        let named = |letters: &[&str]| letters.iter().map(|l| format!("{l}{k}")).collect();
        match self.clone() {
            Relaxation {
                low,
                high,
                up,
                down,
                start,
            } => {
                let mut events = vec![(high - start) / up];
                let (fall, rise) = ((high - low) / down, (high - low) / up);
                cycle(&mut events, stop, &[fall, rise]);
                pieces(
                    named(&["x"]),
                    events,
                    start,
                    vec![high, low],
                    move |part, since, from| match part % 2 {
                        0 => from + up * since,
                        _ => from - down * since,
                    },
                )
            }
            Thermostat {
                low,
                high,
                rate,
                hot,
                cold,
                start,
            } => {
                // (target - from) exp(-rate t) = target - to
                let lasts =
                    |target: f64, from: f64, to: f64| ((target - from) / (target - to)).ln() / rate;
                let mut events = vec![lasts(hot, start, high)];
                cycle(
                    &mut events,
                    stop,
                    &[lasts(cold, high, low), lasts(hot, low, high)],
                );
                pieces(
                    named(&["x"]),
                    events,
                    start,
                    vec![high, low],
                    move |part, since, from| {
                        let target = if part % 2 == 0 { hot } else { cold };
                        target + (from - target) * (-rate * since).exp()
                    },
                )
            }
            Ball {
                height,
                speed,
                gravity,
                restitution,
            } => ball(
                named(&["x", "v"]),
                height,
                speed,
                gravity,
                restitution,
                stop,
            ),
            Sawtooth {
                slope,
                top,
                bottom,
                start,
            } => {
                let mut events = vec![(top - start) / slope];
                cycle(&mut events, stop, &[(top - bottom) / slope]);
                pieces(
                    named(&["x"]),
                    events,
                    start,
                    vec![bottom],
                    move |_, since, from| from + slope * since,
                )
            }
            Filter {
                first,
                period,
                a,
                b,
            } => filter(named(&["s"]), first, period, a, b, stop),
            Quantiser {
                slope,
                start,
                gain,
                offset,
            } => quantiser(named(&["x", "q"]), slope, start, gain, offset, stop),
            Phases { lengths, slopes } => phases(named(&["x", "mode"]), lengths, slopes, stop),
            Steps { times, rate, size } => steps(named(&["x", "u"]), times, rate, size),
        }
    }

    /// The same with simpler numbers.
    pub(super) fn simpler(&self) -> Vec<Device> {
        let mut all = Vec::new();
        if let Steps { times, rate, size } = self {
            for times in crate::random::shrink::shorter(times) {
                if !times.is_empty() {
                    all.push(Steps {
                        times,
                        rate: *rate,
                        size: *size,
                    });
                }
            }
        }
        if let Quantiser {
            slope,
            start,
            gain,
            offset,
        } = self
        {
            let numbers = [*slope, *start, *gain, *offset];
            for k in 0..4 {
                for x in simpler(numbers[k]) {
                    let mut other = numbers;
                    other[k] = x;
                    // Not on a step at the start.
                    let y = other[2] * other[1] + other[3];
                    if (y - y.round()).abs() > 0.01 {
                        let [slope, start, gain, offset] = other;
                        all.push(Quantiser {
                            slope,
                            start,
                            gain,
                            offset,
                        });
                    }
                }
            }
        }
        all
    }
}

fn list(numbers: &[f64]) -> String {
    let all: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
    format!("{{{}}}", all.join(", "))
}

/// A parabola between bounces, each with the speed that the restitution leaves.
fn ball(
    names: Vec<String>,
    height: f64,
    speed: f64,
    gravity: f64,
    restitution: f64,
    stop: f64,
) -> Track {
    let mut events = Vec::new();
    let mut speeds = vec![speed];
    let first = (speed + (speed * speed + 2.0 * gravity * height).sqrt()) / gravity;
    let mut t = first;
    let mut v = restitution * (gravity * first - speed);
    while t < stop {
        events.push(t);
        speeds.push(v);
        t += 2.0 * v / gravity;
        v *= restitution;
    }
    let begins = events.clone();
    Track {
        events,
        names,
        values: Box::new(move |t| {
            let part = begins.iter().filter(|e| **e <= t).count();
            let (from, at) = match part {
                0 => (height, 0.0),
                p => (0.0, begins[p - 1]),
            };
            let (v, s) = (speeds[part], t - at);
            vec![from + v * s - 0.5 * gravity * s * s, v - gravity * s]
        }),
    }
}

/// The sums of the samples so far.
fn filter(names: Vec<String>, first: f64, period: f64, a: f64, b: f64, stop: f64) -> Track {
    let mut events = Vec::new();
    let mut sums = vec![0.0];
    while first + events.len() as f64 * period < stop + 1e-9 {
        events.push(first + events.len() as f64 * period);
        let last = sums[sums.len() - 1];
        sums.push(a * last + b * events.len() as f64);
    }
    let ticks = events.clone();
    Track {
        events,
        names,
        values: Box::new(move |t| vec![sums[ticks.iter().filter(|e| **e <= t).count()]]),
    }
}

/// Steps where `gain*(start + slope*t) + offset` passes whole numbers.
fn quantiser(
    names: Vec<String>,
    slope: f64,
    start: f64,
    gain: f64,
    offset: f64,
    stop: f64,
) -> Track {
    let (y, v) = (gain * start + offset, gain * slope);
    let mut events = Vec::new();
    let mut step = if v > 0.0 { y.floor() + 1.0 } else { y.floor() };
    while (step - y) / v < stop + 1e-9 {
        events.push((step - y) / v);
        step += v.signum();
    }
    Track {
        events,
        names,
        values: Box::new(move |t| vec![start + slope * t, (y + v * t).floor()]),
    }
}

/// A line of other slope in each phase.
fn phases(names: Vec<String>, lengths: [f64; 3], slopes: [f64; 3], stop: f64) -> Track {
    let mut events = vec![lengths[0]];
    cycle(&mut events, stop, &[lengths[1], lengths[2], lengths[0]]);
    let begins = events.clone();
    Track {
        events,
        names,
        values: Box::new(move |t| {
            let (mut x, mut at, mut mode) = (0.0, 0.0, 0);
            for e in begins.iter().filter(|e| **e <= t) {
                x += slopes[mode] * (e - at);
                (at, mode) = (*e, (mode + 1) % 3);
            }
            vec![x + slopes[mode] * (t - at), mode as f64 + 1.0]
        }),
    }
}

/// An exponential between jumps of its input.
fn steps(names: Vec<String>, times: Vec<f64>, rate: f64, size: f64) -> Track {
    let jumps = times.clone();
    Track {
        events: times,
        names,
        values: Box::new(move |t| {
            let (mut x, mut at, mut u) = (1.0, 0.0, 0.0);
            for e in jumps.iter().filter(|e| **e <= t) {
                x = u + (x - u) * (-rate * (e - at)).exp();
                (at, u) = (*e, u + size);
            }
            vec![u + (x - u) * (-rate * (t - at)).exp(), u]
        }),
    }
}

/// Adds events at the given distances, again and again.
fn cycle(events: &mut Vec<f64>, stop: f64, distances: &[f64]) {
    let mut k = 0;
    while let Some(last) = events.last().copied() {
        if last > stop {
            events.pop();
            return;
        }
        events.push(last + distances[k % distances.len()]);
        k += 1;
    }
}

/// A signal that begins again at each event, at the given values in turn: `value(part, time since, from)`.
fn pieces(
    names: Vec<String>,
    events: Vec<f64>,
    start: f64,
    begins: Vec<f64>,
    value: impl Fn(usize, f64, f64) -> f64 + 'static,
) -> Track {
    let instants = events.clone();
    Track {
        events,
        names,
        values: Box::new(move |t| {
            let part = instants.iter().filter(|e| **e <= t).count();
            vec![match part {
                0 => value(0, t, start),
                p => value(p, t - instants[p - 1], begins[(p - 1) % begins.len()]),
            }]
        }),
    }
}
