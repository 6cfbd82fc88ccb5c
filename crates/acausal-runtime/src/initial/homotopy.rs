//! `homotopy(actual, simplified)` at the start (MLS 3.6 §3.7.4.4): the solution of the simplified equations is followed to the actual ones.
//!
//! In: the guesses. Out: the guesses at the end of the path, near the solution that belongs to it; unchanged where the path
//! cannot be followed. The path is followed before anything else is tried, because it says *which* solution is meant where the actual
//! equations have several: an operational amplifier with positive feedback can start at either limit or between them, and
//! `simplified = lower limit` is how its author chooses.
//!
//! Relations follow along the path: at each point the branches are those of the solution there. Each point of
//! [`acausal_solver::newton::continuation`] costs at least one solution of the start, and a path has four points or more.

use acausal_compiled::fixed;
use acausal_solver::newton::continuation::continuation;

use super::{InitialSystem, StartData};
use crate::consistent::Point;
use crate::event::EventState;
use crate::machine::{Machine, ProgramId};

/// Bound on the solutions at one point of the path until relations agree with them.
const MOST_ROUNDS: usize = 10;

/// Moves the guesses along the path.
pub(crate) fn follow_homotopy(
    machine: &mut Machine,
    events: &EventState,
    initial: &mut InitialSystem,
    data: &StartData,
    t: f64,
    (y, yp): (&mut Vec<f64>, &mut Vec<f64>),
) {
    let before = (machine.mem.clone(), y.clone(), yp.clone());
    let n = y.len();
    let mut x = [&y[..], &yp[..]].concat();
    x.extend(data.free.iter().map(|&place| machine.mem[place]));
    let followed = continuation(&mut x, |lambda, x| {
        y.copy_from_slice(&x[..n]);
        yp.copy_from_slice(&x[n..2 * n]);
        for (&place, value) in data.free.iter().zip(&x[2 * n..]) {
            machine.mem[place] = *value;
        }
        machine.mem[fixed::HOMOTOPY] = lambda;
        take_branches(machine, events, t, y, yp);
        for _ in 0..MOST_ROUNDS {
            let branches = events.cells(machine);
            let mut at = Point {
                machine,
                t,
                y,
                yp,
                nominal: &data.nominal,
            };
            if !initial.attempt(&mut at) {
                return Err(());
            }
            take_branches(machine, events, t, y, yp);
            if events.cells(machine) == branches {
                x[..n].copy_from_slice(y);
                x[n..2 * n].copy_from_slice(yp);
                for (&place, value) in data.free.iter().zip(&mut x[2 * n..]) {
                    *value = machine.mem[place];
                }
                return Ok(());
            }
        }
        Err(())
    });
    machine.mem[fixed::HOMOTOPY] = 1.0;
    if followed.is_err() {
        machine.mem.copy_from_slice(&before.0);
        y.copy_from_slice(&before.1);
        yp.copy_from_slice(&before.2);
    }
}

/// Relations and what depends on them at a point.
fn take_branches(machine: &mut Machine, events: &EventState, t: f64, y: &[f64], yp: &[f64]) {
    machine.update_all(t, y, yp);
    events.refresh_start(machine, y, yp);
    machine.run(ProgramId::InitialDiscrete, y, yp);
    machine.run(ProgramId::Discrete, y, yp);
}
