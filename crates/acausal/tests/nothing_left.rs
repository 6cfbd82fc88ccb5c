//! What a simulation makes goes with it: any number of simulations in one process take the memory of one.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

use acausal::{Load, Model, Settings};

struct Live;

/// Bytes that were taken and not given back.
static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; the counter is an atomic number.
unsafe impl GlobalAlloc for Live {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size as i64 - layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Live = Live;

/// A table of 200 points through `(0, 0)` and `(1, slope)`, so 3.2 kB at least.
const MODEL: &str = r#"
package T
  class Curve
    extends ExternalObject;
    function constructor
      input Real table[:, 2];
      output Curve curve;
      external "C" curve = ModelicaStandardTables_CombiTable1D_init3("NoName", "NoName", table, size(table, 1),
        2, {2}, 1, 1, 2, false, ",", 0);
    end constructor;
    function destructor
      input Curve curve;
      external "C" ModelicaStandardTables_CombiTable1D_close(curve);
    end destructor;
  end Curve;
  function value
    input Curve curve;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(curve, 1, u);
  end value;
end T;
model M
  parameter Real slope = 1;
  parameter Real points[200, 2] = {{k, slope*k} for k in 0:199};
  parameter T.Curve curve = T.Curve(points);
  Real y = T.value(curve, time);
end M;
"#;

/// Simulates a table of this slope `count` times.
fn simulate(slope: i32, count: usize) {
    let load = Load {
        set: vec![format!("slope={slope}")],
        ..Load::default()
    };
    let model = Model::from_text("M.mo", MODEL, &load).unwrap_or_else(|f| panic!("{f}"));
    let settings = Settings {
        interval: 1.0,
        ..Settings::default()
    };
    for _ in 0..count {
        let run = model.simulate_in_memory(&settings);
        let run = run.unwrap_or_else(|f| panic!("{f}"));
        // At t = 1 the value of the table is its slope.
        let last = run.result.values("y").unwrap().last().copied();
        assert_eq!(last, Some(f64::from(slope)));
    }
}

#[test]
fn a_thousand_simulations_leave_no_objects_behind() {
    // The first ones take what stays for good: interned names, tables of the runtime library.
    for slope in 1..=3 {
        simulate(slope, 2);
    }
    let before = BYTES.load(Ordering::Relaxed);
    for slope in 4..24 {
        simulate(slope, 50);
    }
    let grown = BYTES.load(Ordering::Relaxed) - before;
    // A single table is more than this.
    assert!(grown < 3200, "{grown} bytes are left");
}
