//! One answer, whatever happens: an internal error, a signal or a lack of memory ends with a message in the wanted format and leaves
//! no temporary files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use acausal_base::{Diagnostic, SourceMap, Span};

use crate::command::exit;

/// The JSON object has been printed.
static ANSWERED: AtomicBool = AtomicBool::new(false);
/// Where the last panic happened and what it said.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Whether the command line asks for JSON, also where the rest of it is wrong.
pub fn wants_json(arguments: impl IntoIterator<Item = String>) -> bool {
    let mut before = String::new();
    for a in arguments {
        if a == "--format=json" || before == "--format" && a == "json" {
            return true;
        }
        before = a;
    }
    false
}

/// The same for this process.
pub fn json() -> bool {
    wants_json(std::env::args_os().map(|a| a.to_string_lossy().into_owned()))
}

/// Says that the JSON object has been printed; false if it was before.
pub fn first() -> bool {
    !ANSWERED.swap(true, Ordering::Relaxed)
}

/// Runs a verb. After a panic the exit code is that of a failure, and there is a message.
pub fn guarded(run: impl FnOnce() -> u8) -> (u8, Option<Diagnostic>) {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(code) => (code, None),
        Err(_) => {
            let d = Diagnostic::error(
                "internal",
                Span::NONE,
                "acausal stopped because of a defect of its own",
            )
            .hint("please report it with the model");
            let said = PANIC.lock().ok().and_then(|mut p| p.take());
            let d = match said {
                Some(text) => d.note(text),
                None => d,
            };
            (exit::FAILED, Some(d))
        }
    }
}

/// Keeps what a panic says, for [`guarded`].
pub fn keep_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = Some(info.to_string());
        }
        usual(info);
    }));
}

/// The object for a message that belongs to no text.
pub fn failure_object(d: &Diagnostic) -> serde_json::Value {
    let diagnostics = super::json_diagnostics(std::slice::from_ref(d), &SourceMap::default());
    serde_json::json!({ "ok": false, "diagnostics": diagnostics })
}

/// Says a last word in the wanted format and ends the process at once.
pub fn end_with(d: &Diagnostic, code: u8) -> ! {
    acausal_results::temporary::remove_all();
    if json() {
        if first() {
            super::write_out(&format!("{}\n", super::json_text(&failure_object(d))));
        }
    } else {
        super::note_rendered(&d.render(&SourceMap::default(), false));
    }
    std::process::exit(code.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_known_before_anything_is_parsed() {
        let list = |text: &str| -> Vec<String> { text.split(' ').map(str::to_string).collect() };
        assert!(wants_json(list("acausal check x.mo --format json")));
        assert!(wants_json(list("acausal --format=json --nonsense")));
        assert!(!wants_json(list("acausal check json --format human")));
    }

    #[test]
    fn a_panic_becomes_a_message() {
        assert_eq!(guarded(|| 0), (0, None));
        let (code, message) = guarded(|| panic!("index out of bounds"));
        assert_eq!(code, exit::FAILED);
        let object = failure_object(&message.unwrap());
        assert_eq!(object["ok"], false);
        assert_eq!(object["diagnostics"][0]["code"], "internal");
    }
}
