//! Random models with independent answers: what a simulation gives is compared with what theory says, thousands of times.
//!
//! A *kind* makes a [`RandomCase`] from a seed: a value that prints as Modelica text and knows its answer by other means (a
//! direct solve, a matrix exponential, exact event times, plain evaluation in Rust). Each case is compiled and simulated
//! through the façade; the outcome is right, wrong, refused, slow or a crash. A case that fails [shrinks](shrink) itself to
//! a small model that fails in the same way.
//!
//! The same seed gives the same models on every machine, and model `k` does not depend on how many are tried.
//!
//! | file | what |
//! |---|---|
//! | [`case`] | what a case is, and comparing rows with an answer |
//! | [`attempt`] | one simulation, bounded in time, panics caught |
//! | [`shrink`] | from a failure to a small one |
//! | [`draw`] | the random numbers |
//! | [`matrix`] | matrix exponential, Radau IIA: the answers' own numerics |
//! | [`orthogonal`] | direct solves and condition numbers by orthogonal factors |
//! | [`arrays`] | array expressions |
//! | [`circuit`] | linear circuits, regular and singular, grounded or not |
//! | [`functions`] | functions with algorithms |
//! | [`hybrid`] | automata with exact event times |
//! | [`impulse`] | what is differentiated and may jump |
//! | [`initial`] | initial conditions of many kinds |
//! | [`language`] | what must not change results |
//! | [`loops`] | linear and mildly nonlinear algebraic loops, also sampled |
//! | [`mechanics`] | drive trains with rigid parts |
//! | [`streams`] | networks of pipes with stream connectors |

pub mod arrays;
pub mod attempt;
pub mod case;
pub mod circuit;
pub mod draw;
pub mod functions;
pub mod hybrid;
pub mod impulse;
pub mod initial;
pub mod language;
pub mod loops;
pub mod matrix;
pub mod mechanics;
pub mod orthogonal;
pub mod shrink;
pub mod streams;

use std::path::PathBuf;

use attempt::{CompilerForm, TrialLimits};
use case::{RandomCase, RandomOutcome};
use draw::Draw;

/// Options of a run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Which models
    #[arg(long, value_enum)]
    pub kind: RandomKind,
    /// How many
    #[arg(long, default_value_t = 1000)]
    pub count: usize,
    /// Where the random numbers begin
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Relative tolerance of the simulations
    #[arg(long, default_value_t = 1e-6)]
    pub tolerance: f64,
    /// Options of the compiler
    #[arg(long, value_enum, default_value_t = CompilerForm::Default)]
    pub form: CompilerForm,
    /// Seconds of processor time after which a model counts as slow
    #[arg(long, default_value_t = 2.0)]
    pub slow: f64,
    /// Only this model of the sequence
    #[arg(long, value_name = "INDEX")]
    pub only: Option<usize>,
    /// Write the small models that fail here
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Print every model that is tried
    #[arg(long)]
    pub verbose: bool,
    /// Do not shrink what fails
    #[arg(long)]
    pub whole: bool,
}

/// The kinds of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RandomKind {
    /// Algebraic loops against a direct solve
    Loops,
    /// Algebraic loops whose unknowns are sampled
    Sampled,
    /// Linear circuits with a ground in each part
    Circuit,
    /// Linear circuits without ground
    Ungrounded,
    /// The same circuits in other units
    Scaled,
    /// Drive trains
    Mechanics,
    /// Hybrid automata with exact event times
    Hybrid,
    /// Array expressions
    Arrays,
    /// Functions with algorithms
    Functions,
    /// Models and examples, changed in ways that must not matter
    Language,
    /// Initial conditions of many kinds
    Initial,
    /// Networks of pipes with stream connectors
    Streams,
    /// What is differentiated and may jump
    Impulse,
}

impl RandomKind {
    /// The name on the command line.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Case number `index` of the sequence that begins at `seed`.
    pub fn case(self, seed: u64, index: usize) -> Box<dyn RandomCase> {
        let mut draw = Draw::new(seed, index as u64);
        match self {
            RandomKind::Loops => loops::case(&mut draw, false),
            RandomKind::Sampled => loops::case(&mut draw, true),
            RandomKind::Circuit => circuit::case(&mut draw, true),
            RandomKind::Ungrounded => circuit::case(&mut draw, false),
            RandomKind::Scaled => circuit::scaled(&mut draw),
            RandomKind::Mechanics => mechanics::case(&mut draw),
            RandomKind::Hybrid => hybrid::case(&mut draw),
            RandomKind::Arrays => arrays::case(&mut draw),
            RandomKind::Functions => functions::case(&mut draw),
            RandomKind::Language => language::case(&mut draw),
            RandomKind::Initial => initial::case(&mut draw),
            RandomKind::Streams => streams::case(&mut draw),
            RandomKind::Impulse => impulse::case(&mut draw),
        }
    }
}

/// How many models had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RandomCounts {
    pub models: usize,
    pub wrong: usize,
    pub refused: usize,
    pub slow: usize,
    pub crashed: usize,
}

impl RandomCounts {
    /// Whether everything was right.
    pub fn all_right(&self) -> bool {
        self.wrong + self.refused + self.slow + self.crashed == 0
    }

    fn add(&mut self, outcome: &RandomOutcome) {
        self.models += 1;
        match outcome {
            RandomOutcome::Right { .. } => {}
            RandomOutcome::Wrong { .. } | RandomOutcome::Accepted => self.wrong += 1,
            RandomOutcome::Refused { .. } => self.refused += 1,
            RandomOutcome::Slow { .. } => self.slow += 1,
            RandomOutcome::Crashed { .. } => self.crashed += 1,
        }
    }
}

/// Tries all models, prints failures and a summary; an error if anything failed.
pub fn run(options: &Options) -> Result<(), String> {
    let limits = TrialLimits {
        tolerance: options.tolerance,
        form: options.form,
        slow: options.slow,
    };
    let indices = match options.only {
        Some(k) => k..k + 1,
        None => 0..options.count,
    };
    let mut counts = RandomCounts::default();
    let mut worst = 0.0f64;
    for index in indices {
        let case = options.kind.case(options.seed, index);
        if options.verbose {
            println!("// model {index}\n{}", case.text());
        }
        let outcome = case.attempt(&limits);
        counts.add(&outcome);
        if let RandomOutcome::Right { ratio } = outcome {
            worst = worst.max(ratio);
            continue;
        }
        println!("model {index}: {outcome}");
        let (small, outcome, tries) = match options.whole {
            true => (case, outcome, 0),
            false => shrink::shrink(case, outcome, &limits),
        };
        report(options, index, &*small, &outcome, tries)?;
    }
    let RandomCounts {
        models,
        wrong,
        refused,
        slow,
        crashed,
    } = counts;
    println!(
        "{}: {models} models, {wrong} wrong, {refused} refused, {slow} slow, {crashed} crashed (seed {}); the worst \
         right one has {:.1} % of the bound",
        options.kind.name(),
        options.seed,
        100.0 * worst
    );
    match counts.all_right() {
        true => Ok(()),
        false => Err("not all models came out right".to_string()),
    }
}

/// Runs a sequence and counts, for tests: the failures' messages come along, those beyond the known number with their small
/// models.
pub fn count(
    kind: RandomKind,
    seed: u64,
    number: usize,
    known: usize,
    limits: &TrialLimits,
) -> (RandomCounts, Vec<String>) {
    let mut counts = RandomCounts::default();
    let mut failed = Vec::new();
    for index in 0..number {
        let case = kind.case(seed, index);
        let outcome = case.attempt(limits);
        counts.add(&outcome);
        if !matches!(outcome, RandomOutcome::Right { .. }) {
            failed.push((index, case, outcome));
        }
    }
    let too_many = failed.len() > known;
    let messages = failed.into_iter().map(|(index, case, outcome)| {
        let (small, outcome) = match too_many {
            true => {
                let (small, outcome, _) = shrink::shrink(case, outcome, limits);
                (small.text(), outcome)
            }
            false => (String::new(), outcome),
        };
        let name = kind.name();
        format!("{name} model {index} of seed {seed}: {outcome}\n{small}")
    });
    (counts, messages.collect())
}

fn report(
    options: &Options,
    index: usize,
    small: &dyn RandomCase,
    outcome: &RandomOutcome,
    tries: usize,
) -> Result<(), String> {
    let text = small.text();
    println!("  small ({tries} tries): {outcome}");
    for line in text.lines() {
        println!("    {line}");
    }
    let Some(dir) = &options.keep else {
        return Ok(());
    };
    let name = format!("{}_{}_{index}.mo", options.kind.name(), options.seed);
    let file = dir.join(name);
    let first = outcome.to_string().replace('\n', " ");
    std::fs::create_dir_all(dir)
        .and_then(|()| {
            std::fs::write(
                &file,
                format!("// stop {}; {first}\n{text}", small.settings().stop),
            )
        })
        .map_err(|e| format!("{}: {e}", file.display()))
}
