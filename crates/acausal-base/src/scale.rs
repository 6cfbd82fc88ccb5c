//! From which size on the same is done in another way.
//!
//! A threshold by size may change speed, never results beyond rounding. Those that choose between two ways of doing the same lie here, so that a test forces each
//! way on small models (`crates/acausal/tests/all/scale_policy.rs`), and developers do with the hidden option `--scale-policy`.
//!
//! | threshold | on its two sides |
//! |---|---|
//! | `large_from` | the same numbers in another arrangement: the same bits; in single precision, where the tolerance allows it: the tolerance |
//! | `start_choice_to` | the same choice by numbers or by structure; where they differ, another start among those that the model allows, or a message |
//! | `selected_rows_from` | fewer numbers of a row: the same bits where all unknowns are states; algebraic unknowns satisfy their equations to the tolerance |
//! | `impasses_to` | the same trajectory, which is watched or not: rounding, or a message |
//! | `blocks_to` | the same system, solved by another iteration: the tolerance of that iteration |
//! | `aliases_from`, `smallest_form_to`, `taken_apart_to` | other equations with the same solution: the tolerance of the integration |
//!
//! Not here: limits beyond which something is refused with a message, bounds of searches whose failure is told, and sizes of buffers. The solver for linear systems
//! (dense up to 32 rows, then bands or sparse) follows from the pattern; tests in `acausal-solver` compare all of them on the same systems.
//!
//! ```
//! use acausal_base::Scale;
//! let forced: Scale = "large,blocks_to=100".parse()?;
//! assert_eq!((forced.large_from, forced.blocks_to), (0, 100));
//! assert!("larg".parse::<Scale>().is_err());
//! # Ok::<(), String>(())
//! ```

use std::str::FromStr;

/// The policy: every model below a threshold is done in one way, above in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Variables that equal others are taken out before the structural analysis from this many scalar equations on.
    pub aliases_from: usize,
    /// Models with at most this many scalar equations are reduced to the fewest unknowns whatever the fill; of larger ones unknowns stay whose substitution would add
    /// entries to the Jacobian.
    pub smallest_form_to: usize,
    /// Arrays of a block that is still entangled are taken apart if they have at most this many elements.
    pub taken_apart_to: usize,
    /// Consistent values of at most this many unknowns are solved for block by block; more are first tried all at once, because each level of blocks costs an
    /// evaluation of the whole model, and by division where equations are explicit.
    pub blocks_to: usize,
    /// Points at which the equations stop to determine the solution are looked for in blocks of at most this many derivatives and algebraic unknowns that depend on each
    /// other; each look factorises them.
    pub impasses_to: usize,
    /// Which start values that are not fixed are kept is decided by a dense elimination, O(n^3), with at most this many unknowns; with more by the structure alone.
    pub start_choice_to: usize,
    /// Rows with few signals compute only what these need from this many unknowns on.
    pub selected_rows_from: usize,
    /// From this many unknowns on residuals are evaluated while unknowns are predicted, and the history of the integrator is kept in single precision where the
    /// tolerance allows it: vectors are in no cache. Measured on two processors with 0.5 and 2 MB of second cache per core (`acausal-cpu/limits.rs`).
    pub large_from: usize,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale {
            aliases_from: 2_000,
            smallest_form_to: 500,
            taken_apart_to: 1_000,
            blocks_to: 2_000,
            impasses_to: 60,
            start_choice_to: 300,
            selected_rows_from: 10_000,
            large_from: 250_000,
        }
    }
}

impl Scale {
    /// Every model is done as small ones are.
    pub fn small() -> Scale {
        let never = usize::MAX;
        Scale {
            aliases_from: never,
            smallest_form_to: never,
            taken_apart_to: never,
            blocks_to: never,
            impasses_to: never,
            start_choice_to: never,
            selected_rows_from: never,
            large_from: never,
        }
    }

    /// Every model is done as large ones are.
    pub fn large() -> Scale {
        Scale {
            aliases_from: 0,
            smallest_form_to: 0,
            taken_apart_to: 0,
            blocks_to: 0,
            impasses_to: 0,
            start_choice_to: 0,
            selected_rows_from: 0,
            large_from: 0,
        }
    }

    fn field(&mut self, name: &str) -> Option<&mut usize> {
        Some(match name {
            "aliases_from" => &mut self.aliases_from,
            "smallest_form_to" => &mut self.smallest_form_to,
            "taken_apart_to" => &mut self.taken_apart_to,
            "blocks_to" => &mut self.blocks_to,
            "impasses_to" => &mut self.impasses_to,
            "start_choice_to" => &mut self.start_choice_to,
            "selected_rows_from" => &mut self.selected_rows_from,
            "large_from" => &mut self.large_from,
            _ => return None,
        })
    }
}

impl FromStr for Scale {
    type Err = String;

    /// `small`, `large` or thresholds by name, `blocks_to=0`, separated by commas; what comes later counts.
    fn from_str(text: &str) -> Result<Scale, String> {
        let mut scale = Scale::default();
        for part in text.split(',').map(str::trim) {
            match (part, part.split_once('=')) {
                ("small", _) => scale = Scale::small(),
                ("large", _) => scale = Scale::large(),
                (_, Some((name, number))) => {
                    let field = scale.field(name.trim());
                    let field = field.ok_or_else(|| format!("there is no threshold `{name}`"))?;
                    let number = number.trim().parse();
                    *field = number.map_err(|_| format!("`{part}` needs a whole number"))?;
                }
                _ => {
                    return Err(format!(
                        "`{part}` is neither `small`, `large` nor NAME=NUMBER"
                    ));
                }
            }
        }
        Ok(scale)
    }
}
