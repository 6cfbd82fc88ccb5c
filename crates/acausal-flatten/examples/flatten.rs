//! Prints the flat model of a class: `cargo run -p acausal-flatten --example flatten [FILE.mo] [Class]`.
//!
//! `MODELICAPATH` is the search path for libraries. Without a class the last one in the file is taken.

use std::process::ExitCode;

use acausal_flatten::{flatten, print_flat};
use acausal_instance::class::Libraries;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = args.first() else {
        eprintln!("usage: flatten FILE.mo [Class]");
        return ExitCode::from(2);
    };
    let mut libraries = Libraries::new();
    if let Some(path) = std::env::var_os("MODELICAPATH") {
        for directory in std::env::split_paths(&path) {
            libraries.add_search_path(directory);
        }
    }
    let class = if file.ends_with(".mo") {
        match libraries.load_file(std::path::Path::new(file)) {
            Ok(classes) => args.get(1).or(classes.last()).cloned(),
            Err(messages) => {
                for m in &messages {
                    eprintln!("{}", m.render(libraries.sources(), false));
                }
                return ExitCode::FAILURE;
            }
        }
    } else {
        Some(file.clone())
    };
    let Some(class) = class else {
        eprintln!("{file} contains no class");
        return ExitCode::FAILURE;
    };
    match flatten(&mut libraries, &class, &[]) {
        Ok((model, warnings)) => {
            for m in &warnings {
                eprintln!("{}", m.render(libraries.sources(), false));
            }
            match print_flat(&model) {
                Ok(text) => {
                    print!("{text}");
                    ExitCode::SUCCESS
                }
                Err(m) => {
                    eprintln!("{}", m.render(libraries.sources(), false));
                    ExitCode::FAILURE
                }
            }
        }
        Err(messages) => {
            for m in &messages {
                eprintln!("{}", m.render(libraries.sources(), false));
            }
            ExitCode::FAILURE
        }
    }
}
