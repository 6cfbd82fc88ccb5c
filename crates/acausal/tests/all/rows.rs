//! Output rows: what is in them does not depend on how many signals are asked for, nor on where they stand.

use acausal::{Load, Model, Observe};
use acausal_results::ResultSet;

fn load(text: &str) -> Model {
    Model::from_text("Test.mo", text, &Load::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn simulate(model: &Model, observe: Observe) -> Result<ResultSet, String> {
    let run = model.simulate_observing(&model.settings(), observe);
    run.map(|r| r.result).map_err(|e| e.to_string())
}

fn column<'a>(result: &'a ResultSet, name: &str) -> std::borrow::Cow<'a, [f64]> {
    result.values(name).unwrap_or_else(|| panic!("{name}"))
}

/// The stop time lies between two output instants: the last row belongs to it, with all its variables.
#[test]
fn the_last_row_is_up_to_date() {
    let model = load(
        "model Off
           Real x(start = 1, fixed = true);
           Real z = 2*x + time;
           Real w = sin(z);
         equation
           der(x) = -x;
           annotation(experiment(StopTime = 1, Interval = 0.3));
         end Off;",
    );
    let result = simulate(&model, Observe::everything()).unwrap();
    let times = result.time();
    assert_eq!(times.last(), Some(&1.0));
    let (x, z, w) = (
        column(&result, "x"),
        column(&result, "z"),
        column(&result, "w"),
    );
    for (k, t) in times.iter().enumerate() {
        assert_eq!(z[k], 2.0 * x[k] + t, "at {t}");
        assert_eq!(w[k], z[k].sin(), "at {t}");
    }
}

/// A rod that is long enough for rows that compute what they need only; `q` and `p` are assigned, `r` by a recurrence.
const ROD: &str = "model Rod
  constant Integer N = 12000;
  Real T[N](each start = 0, each fixed = true);
  Real q[N - 1];
  Real p[N - 1];
  Real r[4];
equation
  for k in 1:N - 1 loop
    q[k] = 100*(T[k] - T[k + 1]);
    p[k] = q[k]^2 + time;
  end for;
  r[1] = p[1];
  for k in 2:4 loop
    r[k] = r[k - 1] + p[k];
  end for;
  der(T[1]) = 1 - q[1];
  for k in 2:N - 1 loop
    der(T[k]) = q[k - 1] - q[k];
  end for;
  der(T[N]) = q[N - 1];
  annotation(experiment(StopTime = 1, Interval = 0.07));
end Rod;";

#[test]
fn few_signals_are_those_of_all() {
    let model = load(ROD);
    let all = simulate(&model, Observe::everything()).unwrap();
    let names = [
        "T[1]",
        "T[3]",
        "T[12000]",
        "q[1]",
        "q[11999]",
        "p[2]",
        "p[77]",
        "r[4]",
        "der(T[5])",
    ];
    let names: Vec<&str> = names
        .into_iter()
        .filter(|n| all.values(n).is_some())
        .collect();
    assert!(names.len() >= 8, "{names:?}");
    let few = simulate(&model, Observe::patterns(&names)).unwrap();
    assert_eq!(all.time(), few.time());
    for name in names {
        let (a, b) = (column(&all, name), column(&few, name));
        assert_eq!(a, b, "{name}");
    }
}

/// A value that is not finite is reported in the row where it is asked for, and in the last row on the grid if nobody asks.
#[test]
fn values_that_are_not_finite_are_found() {
    let text = ROD
        .replace("Real r[4];", "Real r[4]; Real s = sqrt(0.5 - time);")
        .replace("Rod", "Root");
    let model = load(&text);
    let message = |names: &[&str]| simulate(&model, Observe::patterns(names)).unwrap_err();
    let asked = message(&["s"]);
    assert!(asked.contains("`s`") && asked.contains("0.56"), "{asked}");
    let unasked = message(&["T[1]"]);
    assert!(
        unasked.contains("`s`") && unasked.contains("time = 0.98"),
        "{unasked}"
    );
}

/// What a constraint determines is the derivative of a multiplier's integral where no states are selected: `i = C*cos(time)`. Right behind a restart the integrator knows
/// it to its first order only.
#[test]
fn derivatives_of_constraints_are_exact_behind_a_restart() {
    let text = "model Differentiator
        parameter Real R = 2, C = 0.5;
        Real vin = sin(time), vc, vout, i;
        Integer crossings(start = 0, fixed = true);
        Real crossed(start = 0, fixed = true);
      equation
        der(vc) = i/C;
        vin = vc;
        vin = vc + vout + R*i;
        when sample(0.1, 0.1) then crossings = pre(crossings) + 1; end when;
        when i < 0.25 then crossed = time; end when;
        annotation(experiment(StopTime = 2, Interval = 0.001, Tolerance = 1e-6));
      end Differentiator;";
    let model = |select: bool| {
        let mut options = Load::default();
        options.structure.no_state_selection = !select;
        Model::from_text("Test.mo", text, &options).unwrap_or_else(|e| panic!("{e}"))
    };
    for select in [true, false] {
        let run = simulate(&model(select), Observe::everything()).unwrap();
        let vout = column(&run, "vout");
        for (t, vout) in run.time().iter().zip(&*vout) {
            assert!((vout + t.cos()).abs() < 1e-6, "{vout} at {t}");
        }
        let crossed = column(&run, "crossed");
        let found = crossed.last().copied().unwrap_or_default();
        assert!((found - 0.5f64.acos()).abs() < 1e-6, "{found}");
    }
}
