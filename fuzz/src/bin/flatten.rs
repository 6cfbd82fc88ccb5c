//! From text to flat models, every class of it; and the messages.

use std::time::Duration;

use acausal_instance::class::Libraries;
use acausal_flatten::{flatten, print_flat};

fn main() {
    acausal_fuzz::run(Duration::from_secs(2), |data| {
        let text = String::from_utf8_lossy(data);
        let mut libraries = Libraries::new();
        libraries.limits = acausal_fuzz::limits();
        let messages = match libraries.load_text("fuzz.mo", &text) {
            Err(messages) => messages,
            Ok(classes) => {
                let mut all = Vec::new();
                for class in classes {
                    match flatten(&mut libraries, &class, &[]) {
                        Ok((model, _)) => drop(print_flat(&model)),
                        Err(messages) => all.extend(messages),
                    }
                }
                all
            }
        };
        for message in messages {
            message.render(libraries.sources(), false);
        }
    });
}
