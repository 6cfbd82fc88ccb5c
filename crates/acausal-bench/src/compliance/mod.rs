//! How the compiler answers the Modelica compliance suite (repository modelica/Modelica-Compliance).
//!
//! Every case is a class in a file of its own whose annotation says `shouldPass = true` or `false` and which section of the
//! specification it is about. The answer is *yes* if the class compiles and simulates to the end of its experiment (assertions
//! included), else *no*. A *no* because of something that is not supported yet, or because of a defect of the compiler, is
//! never right: it says nothing about the case.
//!
//! In: the directory that holds `ModelicaCompliance`. Out: a table by chapter and the list of wrong answers, on the standard
//! output or in a Markdown file.
//!
//! The cases are found in the text of the files and not in the tree, since many of them are meant to be refused by the parser.

mod case;
mod report;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use case::{Answer, ComplianceCase};

/// Options of the run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Directory that holds the package ModelicaCompliance
    #[arg(long, value_name = "DIR")]
    pub suite: PathBuf,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub only: String,
    /// Write the report to this file instead of the standard output
    #[arg(long, value_name = "FILE.md")]
    pub report: Option<PathBuf>,
    /// Fail when fewer answers are right
    #[arg(long, default_value_t = 0)]
    pub least: usize,
    /// Cases at a time
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
}

/// Asks for every case and reports.
pub fn run(options: &Options) -> Result<(), String> {
    let mut cases = case::find(&options.suite)?;
    cases.retain(|c| c.class.contains(&options.only));
    if cases.is_empty() {
        return Err(format!(
            "there is no case with `shouldPass` below {}",
            options.suite.display()
        ));
    }
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<Answer>>> = Mutex::new(vec![None; cases.len()]);
    std::thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(|| {
                while let Some((k, case)) = {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(k).map(|c| (k, c))
                } {
                    let answer = case::ask(&options.suite, case);
                    if let Ok(mut all) = answers.lock() {
                        all[k] = Some(answer);
                    }
                }
            });
        }
    });
    let answers = answers.into_inner().map_err(|e| e.to_string())?;
    let all: Vec<(ComplianceCase, Answer)> = cases
        .into_iter()
        .zip(answers)
        .filter_map(|(c, a)| Some((c, a?)))
        .collect();
    let text = report::text(&all);
    match &options.report {
        Some(file) => {
            std::fs::write(file, &text).map_err(|e| format!("{}: {e}", file.display()))?;
            print!("{}", report::table(&all));
        }
        None => print!("{text}"),
    }
    let right = all.iter().filter(|(c, a)| a.is_right(c)).count();
    if right < options.least {
        return Err(format!(
            "{right} right answers, at least {} are expected",
            options.least
        ));
    }
    Ok(())
}
