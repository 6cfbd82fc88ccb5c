//! Tables against values by hand and properties of the methods.

use std::sync::Arc;

use super::*;
use crate::run_function::Number;

thread_local! {
    /// Each test has a thread, and objects, of its own.
    static OBJECTS: Objects = Objects::default();
}

/// A constructor and a reader of its object.
fn object(native: Native, table: &[&[f64]], rest: &[f64], columns: &[f64]) -> f64 {
    let (rows, width) = (table.len(), table[0].len());
    let mut values: Vec<f64> = table.concat();
    let mut shapes = vec![vec![rows, width], vec![], vec![]];
    values.extend([rows as f64, width as f64]);
    let mut rest = rest.iter();
    if native == Native::TimeTable {
        values.push(*rest.next().unwrap());
        shapes.push(vec![]);
    }
    if native != Native::Table2D {
        values.extend(columns);
        values.push(columns.len() as f64);
        shapes.extend([vec![columns.len()], vec![]]);
    }
    for v in rest {
        values.push(*v);
        shapes.push(vec![]);
    }
    let external = External {
        native,
        texts: vec!["NoName".into(), "NoName".into(), ",".into()],
        shapes,
    };
    let made = OBJECTS.with(|objects| external.evaluate(&values, objects));
    made.unwrap()[0]
}

fn get(native: Native, args: &[f64]) -> Result<f64, String> {
    let external = External {
        native,
        texts: Vec::new(),
        shapes: vec![Vec::new(); args.len()],
    };
    let found = OBJECTS.with(|objects| external.evaluate(args, objects));
    found.map(|v| v[0])
}

const POINTS: [&[f64]; 5] = [
    &[0.0, 0.0],
    &[1.0, 1.0],
    &[2.0, 4.0],
    &[3.0, 4.0],
    &[5.0, 3.0],
];

#[test]
fn lines_and_steps_between_points_and_beyond() {
    /// Smoothness, extrapolation, arguments with values.
    type Case<'a> = (f64, f64, &'a [(f64, f64)]);
    let cases: [Case<'_>; 4] = [
        (
            1.0,
            2.0,
            &[(0.5, 0.5), (1.5, 2.5), (-1.0, -1.0), (7.0, 2.0)],
        ),
        (1.0, 1.0, &[(-1.0, 0.0), (7.0, 3.0), (4.0, 3.5)]),
        (
            3.0,
            1.0,
            &[(0.9, 0.0), (1.0, 1.0), (4.9, 4.0), (5.0, 3.0), (6.0, 3.0)],
        ),
        (1.0, 3.0, &[(5.5, 0.5), (-0.5, 3.25), (10.0, 3.0)]),
    ];
    for (smoothness, extrapolation, pairs) in cases {
        let id = object(
            Native::Table1D,
            &POINTS,
            &[smoothness, extrapolation, 0.0, 0.0],
            &[2.0],
        );
        for &(u, y) in pairs {
            let found = get(Native::Table1DValue, &[id, 1.0, u]).unwrap();
            assert!(
                (found - y).abs() < 1e-12,
                "{smoothness} {extrapolation} at {u}: {found}, not {y}"
            );
        }
    }
    let id = object(Native::Table1D, &POINTS, &[1.0, 4.0, 0.0, 0.0], &[2.0]);
    let refused = get(Native::Table1DValue, &[id, 1.0, 6.0]).unwrap_err();
    assert!(
        refused.contains("greater than the largest abscissa 5"),
        "{refused}"
    );
    assert!(get(Native::Table1DValue, &[id, 2.0, 1.0]).is_err());
}

#[test]
fn smooth_curves_meet_the_points_with_one_slope() {
    for smoothness in [2.0, 4.0, 5.0, 6.0] {
        let id = object(
            Native::Table1D,
            &POINTS,
            &[smoothness, 2.0, 0.0, 0.0],
            &[2.0],
        );
        for p in POINTS {
            let y = |u: f64| get(Native::Table1DValue, &[id, 1.0, u]).unwrap();
            let slope = |u: f64| get(Native::Table1DDer, &[id, 1.0, u, 1.0]).unwrap();
            assert!((y(p[0]) - p[1]).abs() < 1e-12);
            assert!((slope(p[0] - 1e-9) - slope(p[0] + 1e-9)).abs() < 1e-7);
            let difference = (y(p[0] + 0.4 + 1e-6) - y(p[0] + 0.4 - 1e-6)) / 2e-6;
            assert!((difference - slope(p[0] + 0.4)).abs() < 1e-7);
        }
    }
}

#[test]
fn monotone_curves_stay_between_their_points() {
    let id4 = object(Native::Table1D, &POINTS, &[4.0, 2.0, 0.0, 0.0], &[2.0]);
    let id5 = object(Native::Table1D, &POINTS, &[5.0, 2.0, 0.0, 0.0], &[2.0]);
    for id in [id4, id5] {
        for w in POINTS.windows(2) {
            let (low, high) = (w[0][1].min(w[1][1]), w[0][1].max(w[1][1]));
            for k in 0..=20 {
                let u = w[0][0] + (w[1][0] - w[0][0]) * k as f64 / 20.0;
                let y = get(Native::Table1DValue, &[id, 1.0, u]).unwrap();
                assert!(y >= low - 1e-12 && y <= high + 1e-12);
            }
        }
    }
    // By hand: the harmonic mean of 1 and 3 with equal widths is 1.5; Steffen takes the mean, at most twice the lesser.
    let slope = |id: f64| get(Native::Table1DDer, &[id, 1.0, 1.0, 1.0]).unwrap();
    assert!((slope(id4) - 1.5).abs() < 1e-12);
    assert!((slope(id5) - 2.0).abs() < 1e-12);
}

#[test]
fn akima_slopes_by_hand() {
    // Lines 1, 3, 0, -1/2 and two more at each side: -3, -1; and -1, -3/2.
    let id = object(Native::Table1D, &POINTS, &[2.0, 2.0, 0.0, 0.0], &[2.0]);
    let slope = |u: f64| get(Native::Table1DDer, &[id, 1.0, u, 1.0]).unwrap();
    // At 1: |0 - 3| = 3 for the line 1, |1 + 1| = 2 for the line 3.
    assert!((slope(1.0) - (3.0 * 1.0 + 2.0 * 3.0) / 5.0).abs() < 1e-12);
    // At 2: |-1/2 - 0| for the line 3, |3 - 1| for the line 0.
    assert!((slope(2.0) - 0.5 * 3.0 / 2.5).abs() < 1e-12);
    assert!((slope(0.0) - (-2.0 + 2.0) / 4.0).abs() < 1e-12);
}

#[test]
fn derivatives_of_any_order_come_with_the_number() {
    use crate::flat::{FlatModel, Function};
    use crate::{FuncId, Functions};
    let id = object(Native::Table1D, &POINTS, &[2.0, 2.0, 0.0, 0.0], &[2.0]);
    let external = External {
        native: Native::Table1DValue,
        texts: Vec::new(),
        shapes: vec![Vec::new(); 3],
    };
    let function = Function {
        name: "f".into(),
        inputs: 3,
        outputs: vec![0],
        frame: 3,
        unassigned: Vec::new(),
        body: Vec::new(),
        external: Some(external),
        span: acausal_base::Span::NONE,
    };
    let model = FlatModel {
        functions: vec![function],
        ..FlatModel::default()
    };
    let objects = OBJECTS.with(Objects::clone);
    let functions = Functions::new(&model).unwrap().with_objects(objects);
    let d = |u: f64, wrt: &[u32]| functions.run(FuncId(0), &[id, 1.0, u], wrt).unwrap()[0];
    for u in [-0.5, 0.3, 1.7, 4.2, 6.0] {
        let first = (d(u + 1e-6, &[]) - d(u - 1e-6, &[])) / 2e-6;
        let second = (d(u + 1e-6, &[2]) - d(u - 1e-6, &[2])) / 2e-6;
        assert!((d(u, &[2]) - first).abs() < 1e-7);
        assert!((d(u, &[2, 2]) - second).abs() < 1e-6);
    }
}

#[test]
fn a_time_table_waits_for_its_events() {
    let jump: [&[f64]; 4] = [&[0.0, 1.0], &[1.0, 1.0], &[1.0, 2.0], &[2.0, 4.0]];
    // Start 0, lines, held at the ends, no shift, events at all points.
    let id = object(
        Native::TimeTable,
        &jump,
        &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0],
        &[2.0],
    );
    let next = |t: f64| get(Native::TimeTableEvent, &[id, t]).unwrap();
    assert_eq!(next(0.0), 1.0);
    assert_eq!(next(1.0), 2.0);
    // Time may come a little short of the event by rounding.
    assert_eq!(next(1.0 - 1e-16), 2.0);
    assert_eq!(next(2.0), f64::MAX);
    let y = |t: f64, next: f64, before: f64| {
        get(Native::TimeTableValue, &[id, 1.0, t, next, before]).unwrap()
    };
    assert_eq!(y(0.5, 1.0, 1.0), 1.0);
    // The event is about to happen, happens, has happened.
    assert_eq!(y(1.0, 1.0, 1.0), 1.0);
    assert_eq!(y(1.0, 2.0, 1.0), 2.0);
    assert_eq!(y(1.0 - 1e-16, 2.0, 1.0), 2.0);
    assert_eq!(y(1.5, 2.0, 2.0), 3.0);
    assert_eq!(y(2.0, 2.0, 2.0), 4.0);
    assert_eq!(y(3.0, f64::MAX, f64::MAX), 4.0);
}

#[test]
fn a_periodic_table_of_steps_repeats() {
    let steps: [&[f64]; 3] = [&[0.0, 5.0], &[1.0, 7.0], &[3.0, 9.0]];
    let id = object(
        Native::TimeTable,
        &steps,
        &[0.0, 3.0, 3.0, 0.0, 1.0, 0.0, 0.0],
        &[2.0],
    );
    let next = |t: f64| get(Native::TimeTableEvent, &[id, t]).unwrap();
    assert_eq!(
        [next(0.0), next(1.0), next(3.0), next(4.0)],
        [1.0, 3.0, 4.0, 6.0]
    );
    let y = |t: f64, next: f64, before: f64| {
        get(Native::TimeTableValue, &[id, 1.0, t, next, before]).unwrap()
    };
    assert_eq!(y(0.5, 1.0, 1.0), 5.0);
    assert_eq!(y(1.0, 1.0, 1.0), 5.0);
    assert_eq!(y(1.0, 3.0, 1.0), 7.0);
    assert_eq!(y(3.0, 3.0, 3.0), 7.0);
    assert_eq!(y(3.0, 4.0, 3.0), 5.0);
    assert_eq!(y(4.5, 6.0, 6.0), 7.0);
}

/// A period that is no binary fraction: the k-th one ends at k times its length up to rounding, none is left out, and in its middle the ramp
/// has half of its height.
#[test]
fn no_period_is_lost() {
    for period in [0.1, 0.3, 1.0 / 3.0, 0.7, 1e-3] {
        let ramp: [&[f64]; 2] = [&[0.0, 0.0], &[period, 1.0]];
        let id = object(
            Native::TimeTable,
            &ramp,
            &[0.0, 1.0, 3.0, 0.0, 1.0, 0.0, 0.0],
            &[2.0],
        );
        let mut event = 0.0;
        for k in 1..=3000 {
            let before = event;
            event = get(Native::TimeTableEvent, &[id, before]).unwrap();
            assert!((event / (k as f64 * period) - 1.0).abs() < 1e-14, "{event}");
            let y =
                |t: f64, next: f64| get(Native::TimeTableValue, &[id, 1.0, t, next, next]).unwrap();
            let middle = y(0.5 * (before + event), event);
            assert!(
                (middle - 0.5).abs() < 1e-9,
                "{middle} in period {k} of {period}"
            );
            assert!(
                y(before, event).abs() < 1e-9,
                "the beginning of period {k} of {period}"
            );
            assert!(
                (y(event, event) - 1.0).abs() < 1e-9,
                "the end of period {k} of {period}"
            );
        }
    }
}

/// Periods that time cannot tell apart are refused; they were counted without end.
#[test]
fn a_period_below_the_rounding_of_time() {
    let ramp: [&[f64]; 2] = [&[0.0, 0.0], &[1e-20, 1.0]];
    let id = object(
        Native::TimeTable,
        &ramp,
        &[0.0, 1.0, 3.0, 0.0, 1.0, 0.0, 0.0],
        &[2.0],
    );
    let refused = get(Native::TimeTableEvent, &[id, 1.0]);
    assert!(refused.unwrap_err().contains("too short"));
}

#[test]
fn a_table_starts_at_its_start_time_and_is_shifted() {
    let ramp: [&[f64]; 2] = [&[0.0, 0.0], &[1.0, 2.0]];
    let id = object(
        Native::TimeTable,
        &ramp,
        &[0.5, 1.0, 1.0, 0.5, 1.0, 0.0, 0.0],
        &[2.0],
    );
    let next = |t: f64| get(Native::TimeTableEvent, &[id, t]).unwrap();
    assert_eq!([next(0.0), next(0.5)], [0.5, 1.5]);
    let y = |t: f64, next: f64, before: f64| {
        get(Native::TimeTableValue, &[id, 1.0, t, next, before]).unwrap()
    };
    assert_eq!(y(0.2, 0.5, 0.5), 0.0);
    assert_eq!(y(1.0, 1.5, 1.5), 1.0);
}

#[test]
fn grids_reproduce_what_they_can() {
    let z = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y + 0.5 * x * y;
    let xs = [0.0, 1.0, 2.5, 3.0];
    let ys = [-1.0, 0.0, 0.5, 2.0, 4.0];
    let mut rows: Vec<Vec<f64>> = vec![std::iter::once(0.0).chain(ys).collect()];
    for x in xs {
        rows.push(
            std::iter::once(x)
                .chain(ys.iter().map(|&y| z(x, y)))
                .collect(),
        );
    }
    let table: Vec<&[f64]> = rows.iter().map(|r| r.as_slice()).collect();
    for smoothness in [1.0, 2.0] {
        let id = object(Native::Table2D, &table, &[smoothness, 2.0, 0.0, 0.0], &[]);
        for (x, y) in [
            (0.3, 0.2),
            (2.0, 3.0),
            (2.9, -0.7),
            (-1.0, 0.3),
            (4.0, 5.0),
            (1.0, -2.0),
        ] {
            let found = get(Native::Table2DValue, &[id, x, y]).unwrap();
            assert!(
                (found - z(x, y)).abs() < 1e-12,
                "{smoothness} at {x}, {y}: {found}"
            );
            let by_x = get(Native::Table2DDer, &[id, x, y, 1.0, 0.0]).unwrap();
            let by_y = get(Native::Table2DDer, &[id, x, y, 0.0, 1.0]).unwrap();
            assert!((by_x - (2.0 + 0.5 * y)).abs() < 1e-12);
            assert!((by_y - (-3.0 + 0.5 * x)).abs() < 1e-12);
        }
    }
    let id = object(Native::Table2D, &table, &[3.0, 1.0, 0.0, 0.0], &[]);
    assert_eq!(
        get(Native::Table2DValue, &[id, 1.5, 1.9]).unwrap(),
        z(1.0, 0.5)
    );
    assert_eq!(
        get(Native::Table2DValue, &[id, 9.0, 9.0]).unwrap(),
        z(3.0, 4.0)
    );
}

#[test]
fn random_numbers_are_those_of_the_published_generators() {
    // The first number of xorshift64* from the state 1 is 5180492295206395165.
    let out = random::xorshift64star(&[1.0, 0.0]);
    let word = 5_180_492_295_206_395_165_u64;
    assert_eq!(out[0], word as u32 as i32 as f64);
    assert_eq!(out[1], (word >> 32) as u32 as i32 as f64);
    assert!((out[2] - (word as f64 / 2f64.powi(64) + 0.5)).abs() < 1e-15);
    let state = vec![1.0; 33];
    let out = random::xorshift1024star(&state);
    assert_eq!(out.len(), 34);
    assert_eq!(out[32], 2.0);
}

#[test]
fn strings_are_scanned() {
    use strings::*;
    assert_eq!(substring("modelica", 2, 4), "ode");
    assert_eq!(scan_real("  -1.5e2x", 1, false), (9, -150.0));
    assert_eq!(scan_real(" x", 1, false), (1, 0.0));
    assert_eq!(scan_integer("12 ", 1, true), (3, 12));
    assert_eq!(scan_integer("12.5", 1, true), (1, 0));
    assert_eq!(scan_identifier(" a_1+", 1), (5, "a_1".to_string()));
    assert_eq!(scan_string(" \"a b\" ", 1), (7, "a b".to_string()));
    assert_eq!(compare("abc", "ABC", false), 2);
    assert_eq!(compare("a", "b", true), 1);
}

#[test]
fn a_missing_object_is_an_error() {
    assert!(get(Native::Table1DValue, &[0.0, 1.0, 0.0]).is_err());
    let one = 1.0f64;
    assert_eq!(Number::value(one), 1.0);
}

/// The functions of a model with one constructor (of a line through `(0, 0)` and `(1, slope)`) and one reader.
fn line_functions() -> crate::Functions {
    use crate::flat::{FlatModel, Function};
    let function = |external: External, inputs| Function {
        name: "f".into(),
        inputs,
        outputs: vec![0],
        frame: inputs,
        unassigned: Vec::new(),
        body: Vec::new(),
        external: Some(external),
        span: acausal_base::Span::NONE,
    };
    let mut shapes = vec![Vec::new(); 9];
    shapes[0] = vec![2, 2];
    shapes[3] = vec![1];
    let constructor = External {
        native: Native::Table1D,
        texts: vec!["NoName".into(), "NoName".into(), ",".into()],
        shapes,
    };
    let reader = External {
        native: Native::Table1DValue,
        texts: Vec::new(),
        shapes: vec![Vec::new(); 3],
    };
    let model = FlatModel {
        functions: vec![function(constructor, 12), function(reader, 3)],
        ..FlatModel::default()
    };
    crate::Functions::new(&model).unwrap()
}

fn line(functions: &crate::Functions, slope: f64) -> f64 {
    let args = [0.0, 0.0, 1.0, slope, 2.0, 2.0, 2.0, 1.0, 1.0, 2.0, 0.0, 0.0];
    functions.run(crate::FuncId(0), &args, &[]).unwrap()[0]
}

/// Two simulations number their objects each for itself and do not see those of the other; a clone belongs to the same simulation.
#[test]
fn objects_belong_to_a_simulation() {
    let [first, second] = [line_functions(), line_functions()];
    let read = |f: &crate::Functions, id| f.run(crate::FuncId(1), &[id, 1.0, 0.5], &[]);
    assert_eq!([line(&first, 2.0), line(&first, 4.0)], [1.0, 2.0]);
    assert_eq!(line(&second, 6.0), 1.0);
    // Equal arguments, equal object.
    assert_eq!(line(&first, 2.0), 1.0);
    assert_eq!(read(&first, 1.0), Ok(vec![1.0]));
    assert_eq!(read(&first.clone(), 2.0), Ok(vec![2.0]));
    assert_eq!(read(&second, 1.0), Ok(vec![3.0]));
    assert!(read(&second, 2.0).is_err());
}

/// What a simulation made goes with it.
#[test]
fn objects_go_with_their_simulation() {
    let objects = Objects::default();
    let functions = line_functions().with_objects(objects.clone());
    let id = line(&functions, 2.0);
    let made = Arc::downgrade(&objects.get(id).unwrap());
    drop(objects);
    assert!(made.upgrade().is_some());
    drop(functions);
    assert!(made.upgrade().is_none());
}
