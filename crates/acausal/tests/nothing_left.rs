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

/// Tests that count bytes do not run at the same time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

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

/// Events, functions, delays and derivatives in machine code, with a parameter that each simulation sets.
const HYBRID: &str = r#"
package H
  function f input Real u; output Real y = u; algorithm for k in 1:3 loop y := y + sin(k*u)/k; end for; end f;
  model Ball
    parameter Real e = 0.7;
    Real h(start = 1, fixed = true), v(start = 0, fixed = true), late = delay(h, 0.05), g;
    discrete Integer bounces(start = 0, fixed = true);
  equation
    der(h) = v;
    der(v) = -9.81;
    g = f(h) + late;
    when h < 0 then
      reinit(v, -e*pre(v));
      bounces = pre(bounces) + 1;
    end when;
    assert(e < 0.9, "too lively");
  end Ball;
end H;
"#;

/// Pieces of memory that hold machine code, where the system tells.
fn executable_maps() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let is_code = |line: &&str| line.split(' ').nth(1).is_some_and(|p| p.contains('x'));
    maps.lines().filter(is_code).count()
}

#[test]
fn models_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Model>();
    shared::<acausal_compiled::CompiledModel>();
    shared::<Settings>();
    shared::<acausal::Checkpoint>();
    shared::<acausal::Failure>();
    shared::<acausal_runtime::SimError>();
}

#[test]
fn a_thousand_simulations_leave_nothing_behind() {
    let _alone = ALONE.lock().unwrap();
    let load = Load {
        class: Some("H.Ball".into()),
        ..Load::default()
    };
    let text = Model::from_text("H.mo", HYBRID, &load).unwrap_or_else(|f| panic!("{f}"));
    let bytes = text.to_bytes().unwrap();
    let simulate = |model: &Model, e: f64| {
        let settings = Settings {
            interval: 0.25,
            parameters: vec![("e".into(), e.into())],
            checkpoint: true,
            ..Settings::default()
        };
        match model.simulate_in_memory(&settings) {
            Ok(run) => {
                let bounces = *run.result.values("bounces").unwrap().last().unwrap();
                assert!(e < 0.9 && bounces >= 1.0);
            }
            Err(failure) => assert!(e >= 0.9, "{failure}"),
        }
    };
    let study = |from: usize, to: usize| {
        let model = Model::from_bytes("H.acm", &bytes).unwrap();
        for k in from..to {
            // Every tenth one fails.
            simulate(
                &model,
                if k % 10 == 0 {
                    0.95
                } else {
                    0.5 + 1e-4 * k as f64
                },
            );
        }
        // Two at a time.
        std::thread::scope(|s| {
            s.spawn(|| simulate(&model, 0.6));
            s.spawn(|| simulate(&model, 0.7));
        });
    };
    study(0, 11);
    let before = (BYTES.load(Ordering::Relaxed), executable_maps());
    for k in 0..10 {
        study(100 * k, 100 * (k + 1));
    }
    let grown = BYTES.load(Ordering::Relaxed) - before.0;
    // A single machine of this model takes more.
    assert!(grown < 3200, "{grown} bytes are left");
    let maps = executable_maps();
    assert!(
        maps <= before.1 + 2,
        "{} pieces of machine code were {}",
        maps,
        before.1
    );
}

#[test]
fn a_thousand_simulations_leave_no_objects_behind() {
    let _alone = ALONE.lock().unwrap();
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
