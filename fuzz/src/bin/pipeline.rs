//! From a text to a result: compile, 0.01 s of simulation, a changed checkpoint, a restart. Anything but messages or finite numbers is a
//! finding.

#[path = "../../../crates/acausal/tests/all/common/whole.rs"]
mod whole;

use std::time::Duration;

use acausal::Load;

fn main() {
    let load = Load {
        limits: acausal_fuzz::limits(),
        ..Load::default()
    };
    acausal_fuzz::run(Duration::from_secs(5), move |data| {
        let text = String::from_utf8_lossy(data);
        if let Err(reason) = whole::check(&text, &load, 0) {
            panic!("{reason}");
        }
    });
}
