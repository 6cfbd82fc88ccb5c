//! Parameters and start values of a compiled model: set for a simulation, they give what compiling with them gives, or a message.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;
use crate::common::every::examples;
use acausal::{InMemory, Load, Model, ParameterValue, Settings};

/// The bits of all trajectories, with the names.
fn bits(run: &InMemory) -> Vec<(String, Vec<u64>)> {
    let bits = |v: Vec<f64>| v.iter().map(|v| v.to_bits()).collect();
    (run.result.signals().iter())
        .map(|s| (s.name.to_string(), bits(run.result.values_of(s).to_vec())))
        .collect()
}

fn load(text: &str, set: &[&str]) -> Model {
    let load = Load {
        set: set.iter().map(|s| s.to_string()).collect(),
        ..Load::default()
    };
    Model::from_text("M.mo", text, &load).unwrap_or_else(|f| panic!("{set:?}: {f}"))
}

/// The settings of a model with parameters.
fn with(model: &Model, set: &[&str]) -> Settings {
    let pair = |s: &&str| {
        let (name, value) = s.split_once('=').unwrap();
        (name.to_string(), value.parse().unwrap())
    };
    Settings {
        parameters: set.iter().map(pair).collect(),
        ..model.settings()
    }
}

/// Parameters that follow from others, arrays of components, a recurrence and a sum among parameters, Booleans and enumerations, starts of
/// states, of names for them, of sums and of discrete variables.
const MANY: &str = r#"model Many
  type Mode = enumeration(slow, fast);
  model Cell parameter Real R = 2 "resistance"; parameter Real G = 1/R; Real v(start = 1, fixed = true); Real i;
  equation der(v) = -i; i = G*v; end Cell;
  parameter Real R0(unit = "Ohm", min = 0) = 2 "common";
  parameter Real twice = 2*R0;
  parameter Integer n = 3;
  parameter Boolean on = true;
  parameter Mode mode = Mode.slow;
  parameter Real p[5] = {if i == 1 then 1 else i*R0 for i in 1:5};
  parameter Real total = sum(p);
  Cell cell[3](each R = R0), other(R = twice);
  Real x(start = R0, fixed = true), y(start = 0, fixed = false), name = x + y;
  Real both(start = 3, fixed = true) = x + y;
  discrete Real held(start = 5, fixed = true);
  Integer count(start = n, fixed = true);
equation
  der(x) = (if on then -x else 0) + total*1e-3 + n;
  der(y) = if mode == Mode.fast then 1 else -y;
  when sample(0.2, R0/10) then held = x; count = pre(count) + 1; end when;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end Many;"#;

#[test]
fn what_is_set_is_what_is_compiled() {
    let model = load(MANY, &[]);
    let bytes = model.to_bytes().unwrap();
    let stored = Model::from_bytes("Many.acm", &bytes).unwrap();
    let plain = bits(&stored.simulate_in_memory(&stored.settings()).unwrap());
    for set in [
        &["R0=3.5"][..],
        &["twice=7"],
        &["total=-2", "p={5,4,3,2,1}"],
        &["p[2]=100"],
        &["n=-4"],
        &["on=false"],
        &["mode=Mode.fast"],
        &["cell[2].R=0.5"],
        &["cell.R={1,2,3}", "other.G=9"],
        &["cell[3].G=0.25"],
        &["x.start=-1"],
        &["both.start=4.5"],
        &["held.start=6", "count.start=10"],
        &["cell.v.start={1.5,2.5,3.5}", "other.v.start=0"],
        &["cell[2].v.start=8"],
    ] {
        // Subscripts choose elements of what has a value; the compiler cannot set single ones of the others.
        let reference = match set {
            ["p[2]=100"] => load(MANY, &["p={1,100,3*R0,4*R0,5*R0}"]),
            ["cell[3].G=0.25"] => load(MANY, &["cell.G={0.5,0.5,0.25}"]),
            ["cell[2].R=0.5"] => load(MANY, &["cell.R={R0,0.5,R0}"]),
            ["cell[2].v.start=8"] => load(MANY, &["cell.v.start={1,8,1}"]),
            _ => load(MANY, set),
        };
        let expected = reference.simulate_in_memory(&reference.settings());
        let expected = bits(&expected.unwrap_or_else(|f| panic!("{set:?}: {f}")));
        for (what, model) in [("compiled", &model), ("stored", &stored)] {
            let run = model.simulate_in_memory(&with(model, set));
            let run = bits(&run.unwrap_or_else(|f| panic!("{set:?}: {f}")));
            assert!(run != plain, "{set:?} of the {what} model changes nothing");
            for (a, b) in expected.iter().zip(&run) {
                assert!(a == b, "{set:?} of the {what} model: {} differs", a.0);
            }
        }
    }
}

#[test]
fn parameters_say_what_they_are() {
    let stored = Model::from_bytes("M.acm", &load(MANY, &[]).to_bytes().unwrap()).unwrap();
    let all: Vec<_> = stored.parameters().collect();
    let names: Vec<&str> = all.iter().map(|p| &*p.name).collect();
    let expected = [
        "R0", "twice", "n", "on", "mode", "p", "total", "cell.R", "cell.G", "other.R", "other.G",
    ];
    assert_eq!(names, expected);
    let r0 = &all[0];
    assert_eq!(
        (r0.unit, r0.description, r0.min, r0.max),
        ("Ohm", "common", Some(0.0), None)
    );
    assert_eq!(r0.default, Some(vec![2.0]));
    assert_eq!(all[5].default, Some(vec![1.0, 4.0, 6.0, 8.0, 10.0]));
    assert_eq!(
        (all[5].dims, all[4].default.as_deref()),
        (&[5][..], Some(&[1.0][..]))
    );
    assert_eq!(all[8].default, Some(vec![0.5; 3]));
    assert!(all.iter().all(|p| p.can_be_set));
    let text = "model S parameter Integer N = 2; final parameter Real f = 1; parameter Real c(start = 1, fixed = false);
        Real x[N](each start = 1, each fixed = true); initial equation c = 2; equation der(x) = -f*c*x; end S;";
    let s = load(text, &[]);
    let can: Vec<(String, bool)> = s.parameters().map(|p| (p.name, p.can_be_set)).collect();
    assert_eq!(can, ["N", "f", "c"].map(|n| (n.to_string(), false)));
}

#[test]
fn what_cannot_be_set_is_told() {
    let text = "model M type E = enumeration(a, b); parameter Integer N = 2; final parameter Real q = 1; constant Real k = 1;
        parameter Real p = 1; parameter Real A[2,2] = {{1, 2}, {3, 4}}; parameter E e = E.a; parameter Boolean b = true;
        parameter String s = \"t\"; parameter Real free(fixed = false, start = 1); parameter Real follows = 2*free;
        protected parameter Real hidden = 1;
        public Real x[N](each start = 1, each fixed = true), y, level(start = 1), m;
        initial equation free = 2;
        equation der(x) = -p*q*x*follows; y = k*hidden; m = 1000*level; der(m) = 1;
        end M;";
    let place = Place::with("M.mo", text);
    place.acausal(&["compile", "M.mo"]).code(0);
    let refused = |set: &str, parts: &[&str]| {
        let said = place.acausal(&["simulate", "M.acm", "--no-output", "--set", set]);
        said.code(2).complains(parts);
    };
    refused("pp=1", &["no parameter `pp`", "did you mean `p`?"]);
    refused("y.stat=1", &["no parameter `y.stat`"]);
    refused(
        "N=3",
        &[
            "`N` cannot be set any more",
            "compile MODEL.mo --set N=",
            "M.mo:1",
        ],
    );
    refused("q=3", &["`q` cannot be set any more", "final"]);
    refused("k=3", &["`k` cannot be set any more"]);
    refused("s=a", &["`s` cannot be set any more"]);
    refused("free=3", &["`free` is computed at the start"]);
    refused("follows=3", &["`follows` is computed at the start"]);
    refused("hidden=3", &["`hidden` is protected"]);
    refused("y=3", &["`y` is a variable and no parameter"]);
    refused("level=3", &["`level` is a variable", "`level.start`"]);
    refused(
        "y.start=3",
        &[
            "the start value of `y` cannot be set any more",
            "--set y.start=",
        ],
    );
    // The start of m follows from it.
    refused(
        "level.start=3",
        &["the start value of `level` cannot be set any more"],
    );
    refused("p.max=3", &["`p.max` cannot be set any more"]);
    refused("x.fixed=true", &["`x.fixed` cannot be set any more"]);
    refused("p=true", &["`p` needs a finite number, not true"]);
    refused("p=1e999", &["`p` needs a finite number"]);
    refused("b=1", &["`b` needs true or false, not 1"]);
    refused("e=c", &["`e` needs one of a, b, not c"]);
    refused("e=F.a", &["`e` needs one of a, b"]);
    refused("A=1", &["`A` is an array of 2 x 2 elements", "A[1,1]=.."]);
    refused("A={1,2,3,4}", &["`A` is an array of 2 x 2 elements"]);
    refused("p={1}", &["`p` is a scalar, not an array"]);
    refused(
        "A[3,1]=1",
        &["`A[3,1]` is no element: the subscripts are 1:2, 1:2"],
    );
    refused("A[1]=1", &["`A[1]` is no element"]);
    refused("p=2*q", &["`2*q` is no value for `p`", "numbers"]);
    refused("p", &["needs the form name=value"]);
    let twice = [
        "simulate",
        "M.acm",
        "--set",
        "A[1,1]=1",
        "--set",
        "A={{1,2},{3,4}}",
    ];
    place.acausal(&twice).code(2).complains(&["is set twice"]);
    let fine = [
        "--set",
        "p=2",
        "--set",
        "e=E.b",
        "--set",
        "A[2,1]=9",
        "--set",
        "x.start={1,2}",
    ];
    let simulate = [&["simulate", "M.acm", "--no-output"][..], &fine[..]].concat();
    place.acausal(&simulate).code(0);
}

#[test]
fn every_example_takes_its_own_parameters() {
    let mut simulated = 0;
    for example in examples() {
        let model = Model::from_text(&example.file, &example.text(), &example.load);
        let model = model.unwrap_or_else(|f| panic!("{}: {f}", example.file));
        let mut settings = model.settings();
        settings.stop = settings.stop.min(settings.start + example.stop);
        settings.interval = (settings.stop - settings.start) / 10.0;
        let scalar = |p: &acausal::Parameter<'_>| {
            let value = p
                .default
                .clone()
                .filter(|_| p.can_be_set && p.dims.is_empty())?;
            let real = p.ty == acausal_expr::flat::VarType::Real;
            real.then(|| (p.name.clone(), ParameterValue::Number(value[0])))
        };
        let parameters: Vec<_> = model.parameters().filter_map(|p| scalar(&p)).collect();
        let Ok(plain) = model.simulate_in_memory(&settings) else {
            continue;
        };
        simulated += usize::from(!parameters.is_empty());
        settings.parameters = parameters;
        let run = model.simulate_in_memory(&settings);
        let run = run.unwrap_or_else(|f| panic!("{}: {f}", example.file));
        assert!(
            bits(&plain) == bits(&run),
            "{}: other numbers",
            example.file
        );
    }
    assert!(simulated > 20, "{simulated}");
}

/// A loop whose assignments `T[i] := T[i-1]/k` make errors smaller for k > 1 and larger for k < 1.
fn chain(array: bool) -> String {
    let body = match array {
        true => "for i in 2:N loop k*T[i] = T[i-1]; end for;".to_string(),
        false => (2..=40)
            .map(|i| format!("k*T[{i}] = T[{}];", i - 1))
            .collect(),
    };
    format!(
        "model Chain constant Integer N = 40; parameter Real k = 2; Real T[N], x(start = 0, fixed = true);
         equation der(x) = T[2] - x; T[1] = time + 0.3*T[N]; {body}
         annotation(experiment(StopTime = 1, Interval = 0.5)); end Chain;"
    )
}

/// Simulates a compiled chain with values that the loop can take and with those that it cannot.
fn try_values(text: &str, fit: &[&str], refused: &[&str], agree: impl Fn(&InMemory, &InMemory)) {
    let model = load(text, &[]);
    assert!(model.compiled.n < 5, "{} unknowns", model.compiled.n);
    let stored = Model::from_bytes("Chain.acm", &model.to_bytes().unwrap()).unwrap();
    for k in fit {
        let set = format!("k={k}");
        let compiled = load(text, &[&set]);
        let expected = compiled.simulate_in_memory(&compiled.settings()).unwrap();
        let run = stored.simulate_in_memory(&with(&stored, &[&set]));
        agree(&expected, &run.unwrap_or_else(|f| panic!("{set}: {f}")));
    }
    for k in refused {
        let set = format!("k={k}");
        let run = stored.simulate_in_memory(&with(&stored, &[&set]));
        let refused = run.err().unwrap_or_else(|| panic!("{set} was accepted"));
        assert_eq!(refused.diagnostics[0].code, "compile-again", "{refused}");
        assert!(refused.to_string().contains("compile the model again"));
    }
    // Compiled with the value, the loop is solved by the sparse factors.
    let compiled = load(text, &["k=0.5"]);
    let run = compiled.simulate_in_memory(&compiled.settings()).unwrap();
    let last = *run.result.values("T[40]").unwrap().last().unwrap();
    let exact = 1.0 / (0.5f64.powi(39) - 0.3);
    assert!((last - exact).abs() < 1e-9, "{last} {exact}");
}

#[test]
fn a_value_for_which_the_loop_was_not_torn_is_refused() {
    let same = |a: &InMemory, b: &InMemory| assert!(bits(a) == bits(b));
    let (fit, refused) = (["1.5", "-3", "1000"], ["0.5", "0", "-0.01"]);
    try_values(&chain(true), &fit, &refused, same);
    // Scalars are solved from both ends, and the compiler chooses where they meet by the value: errors grow 2^6 times on the way back. So large values do not fit
    // either, and compiling with another value gives another arrangement.
    let near = |a: &InMemory, b: &InMemory| {
        for name in ["x", "T[1]", "T[20]", "T[40]"] {
            let last = |run: &InMemory| *run.result.values(name).unwrap().last().unwrap();
            let (a, b) = (last(a), last(b));
            assert!((a - b).abs() <= 1e-6 * a.abs(), "{name}: {a} {b}");
        }
    };
    let (fit, refused) = (["1.5", "-1.5", "2"], ["1000", "0.5", "0", "-0.01"]);
    try_values(&chain(false), &fit, &refused, near);
}

#[test]
fn what_was_redundant_for_other_values_is_refused() {
    // Two current sources in series: they agree, and nothing determines how they share the voltage.
    let text =
        "model Sources parameter Real I1 = 10, I2 = 10; Real i, v1, v2, x(start = 0, fixed = true);
        equation i = I1; i = I2; v1 + v2 = 0; der(x) = i - x; end Sources;";
    let model = load(text, &[]);
    let run = |set: &[&str]| model.simulate_in_memory(&with(&model, set));
    run(&["I1=12", "I2=12"]).unwrap();
    let refused = run(&["I1=12"]).unwrap_err().to_string();
    assert!(
        refused.contains("was left out, but now its sides differ by"),
        "{refused}"
    );
}

#[test]
fn slopes_that_parameters_bound_are_looked_at_again() {
    // An ideal diode: its slopes in s are between Ron or Goff and 1.
    let text = "model D parameter Real Ron = 1e-5, Goff = 1e-5, R = 10; Real s, u, i, x(start = 0, fixed = true); Boolean off;
        equation off = s < 0; u = s*(if off then 1 else Ron); i = s*(if off then Goff else 1);
        R*i + u = sin(6*time); der(x) = i - x; end D;";
    let model = load(text, &[]);
    for set in [&["Ron=1e-3"][..], &["Goff=1e-8"], &["R=20", "Ron=0"]] {
        let compiled = load(text, set);
        let expected = compiled.simulate_in_memory(&compiled.settings()).unwrap();
        let run = model.simulate_in_memory(&with(&model, set));
        let run = run.unwrap_or_else(|f| panic!("{set:?}: {f}"));
        let last = |run: &InMemory| *run.result.values("x").unwrap().last().unwrap();
        assert!((last(&expected) - last(&run)).abs() < 1e-6, "{set:?}");
    }
    // Relative to the scales of the new coefficients errors would grow as R.
    let refused = model.simulate_in_memory(&with(&model, &["R=1000"]));
    assert_eq!(refused.unwrap_err().diagnostics[0].code, "compile-again");
}
