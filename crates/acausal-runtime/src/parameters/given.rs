//! Computing parameters of which some are given.
//!
//! In: the programs that compute parameters and start attributes, and places with values. Out: the same programs, cut behind each repetition of a call that
//! writes to such a place, where the given value is written over what was computed. So what is computed later, in the same call or
//! another one, reads the given value, and whatever wrote the place before (a sum writes it several times) has no effect. Linear in the
//! calls and in the repetitions of those calls that write to a given place.

use acausal_compiled::fixed;
use acausal_jit::kernel::{Address, Bank, Call, Program};
use acausal_jit::points;

use crate::SimError;
use crate::machine::{Machine, ProgramId};

/// A place in `Mem` with the value that it is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenPlace {
    /// Where.
    pub place: usize,
    /// What.
    pub value: f64,
}

impl Machine {
    /// Evaluates parameters and attributes, once per simulation, with given values in their places. These are sorted by place, as [`resolve`](super::resolve)
    /// gives them.
    pub fn set_parameters_to(&mut self, given: &[GivenPlace]) -> Result<(), SimError> {
        if given.is_empty() {
            self.set_parameters();
            return Ok(());
        }
        let model = self.model.clone();
        for (program, which) in [
            (&model.parameters, ProgramId::Parameters),
            (&model.starts, ProgramId::Starts),
        ] {
            write(&mut self.mem, given);
            if !program
                .iter()
                .any(|call| (0..call.count).any(|j| writes(call, j, given)))
            {
                self.run(which, &[], &[]);
                continue;
            }
            for part in cut(program, given) {
                self.run_before_start(&part)?;
                write(&mut self.mem, given);
            }
        }
        self.start_timetable(self.mem[fixed::TIME]);
        Ok(())
    }
}

fn write(mem: &mut [f64], given: &[GivenPlace]) {
    for g in given {
        mem[g.place] = g.value;
    }
}

/// Whether a repetition of a call writes to a given place.
fn writes(call: &Call, j: usize, given: &[GivenPlace]) -> bool {
    let is_given = |a: &Address| {
        let place = a.element(j).filter(|_| a.bank() == Some(Bank::Mem));
        place.is_some_and(|p| given.binary_search_by_key(&p, |g| g.place).is_ok())
    };
    call.outputs.iter().any(|(a, _)| is_given(a))
}

/// The program in parts; only the last repetition of the last call of a part writes to a given place.
fn cut(program: &Program, given: &[GivenPlace]) -> Vec<Program> {
    let mut parts = Vec::new();
    let mut part = Program::new();
    for call in program {
        let mut first = 0;
        for j in 0..call.count {
            if writes(call, j, given) {
                part.push(points(call, first, j + 1));
                parts.push(std::mem::take(&mut part));
                first = j + 1;
            }
        }
        if first < call.count {
            part.push(points(call, first, call.count));
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use acausal_jit::kernel::Store;

    #[test]
    fn a_program_is_cut_behind_what_is_given() {
        let affine = |base| Address::Affine {
            bank: Bank::Mem,
            base,
            stride: 2,
        };
        let table = Address::Table {
            bank: Bank::Mem,
            table: vec![3, 1, 4, 1, 5].into(),
        };
        let counter = Address::Counter {
            start: 1.0,
            step: 1.0,
        };
        let call = Call {
            kernel: 7,
            count: 5,
            slots: vec![counter, table],
            outputs: vec![(affine(10), Store::Set)],
        };
        // Repetition 2 writes 14; 15 is written by nobody.
        let given = [14, 15].map(|place| GivenPlace { place, value: 0.0 });
        let parts = cut(&vec![call.clone(), call], &given);
        let counts: Vec<Vec<usize>> = (parts.iter())
            .map(|p| p.iter().map(|c| c.count).collect())
            .collect();
        assert_eq!(counts, [vec![3], vec![2, 3], vec![2]]);
        let rest = &parts[1][0];
        let at = |a: &Address| (0..2).map(|j| a.element(j)).collect::<Vec<_>>();
        assert_eq!(at(&rest.outputs[0].0), [Some(16), Some(18)]);
        assert_eq!(at(&rest.slots[1]), [Some(1), Some(5)]);
        assert_eq!(
            rest.slots[0],
            Address::Counter {
                start: 4.0,
                step: 1.0
            }
        );
    }
}
