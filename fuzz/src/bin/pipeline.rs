//! From a text to a result: compile, 0.01 s of simulation, a changed checkpoint, a restart. Anything but messages or finite numbers is a
//! finding.

use std::hash::Hasher;
use std::time::Duration;

use acausal::Load;
use acausal_base::Fnv;

fn main() {
    let load = Load {
        limits: acausal_fuzz::limits(),
        ..Load::default()
    };
    acausal_fuzz::run(Duration::from_secs(5), move |data| {
        // Every text changes another bit of its checkpoint, and always the same one.
        let mut place = Fnv::default();
        place.write(data);
        let text = String::from_utf8_lossy(data);
        acausal_fuzz::whole::check(&text, &load, place.finish() as usize).map(drop)
    });
}
