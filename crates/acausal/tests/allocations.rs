//! A step allocates nothing: memory is taken when a simulation starts and when pivots or the set of equations change.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use acausal::{Load, Model, Settings};
use acausal_runtime::{Machine, Sink, simulate};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain cell of the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's contract.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes the counter after every step.
#[derive(Default)]
struct PerStep(Vec<u64>);

impl Sink for PerStep {
    fn begin(&mut self, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        self.0.reserve(1_000_000);
        Ok(())
    }

    fn row(&mut self, _: f64, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        Ok(())
    }

    fn progress(&mut self, _: f64) {
        self.0.push(ALLOCATIONS.with(Cell::get));
    }
}

/// Steps of a run that may choose new pivots.
const NEW_PIVOTS: usize = 2;

fn per_step(file: &str, stop: f64) -> Result<Vec<u64>, String> {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let model = Model::load(&path, &Load::default()).map_err(|f| f.to_string())?;
    let settings = Settings {
        stop,
        interval: stop,
        ..model.settings()
    };
    let mut counts = PerStep::default();
    simulate(model.compiled.clone(), &settings, &mut counts)
        .map_err(|e| model.failed(&e).to_string())?;
    Ok(counts.0.windows(2).map(|w| w[1] - w[0]).collect())
}

#[test]
fn steps_allocate_nothing() -> Result<(), String> {
    // A rod, and a mechanism with constraints.
    for (file, stop) in [
        ("examples/HeatedRodFlux.mo", 1.0),
        ("examples/ivp/CarAxis.mo", 0.5),
    ] {
        let steps = per_step(file, stop)?;
        assert!(steps.len() > 100, "{file}: {} steps", steps.len());
        // The first steps choose pivots; so does a later one whose kept pivots have become too small.
        let later = &steps[20..];
        let busy = later.iter().filter(|&&n| n > 0).count();
        assert!(
            busy <= NEW_PIVOTS,
            "{file}: {busy} of {} steps allocate, {} times in all",
            later.len(),
            later.iter().sum::<u64>()
        );
    }
    Ok(())
}
