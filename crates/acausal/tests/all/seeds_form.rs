//! The matrices of the special index-one form (17), from Modelica source: the stabilising matrix G against the Jacobian
//! of the constraints, the rank of J (sheet 3.2, MS-2), and what scaling with the step size does to the iteration matrix
//! (sheet section 1, HS-1).
#![allow(clippy::unwrap_used, clippy::panic, clippy::needless_range_loop)]

use crate::common::{at, digits, near};
use acausal::{Load, Model};
use acausal_expr::unknown::{RowKind, UnknownRole};
use acausal_index1::Options;
use acausal_runtime::Machine;
use acausal_solver::Dae;

/// The Jacobians of a compiled model at a point.
struct Matrices {
    /// Names of the unknowns; multipliers are called `mu`, other integrals after what they integrate.
    names: Vec<String>,
    roles: Vec<UnknownRole>,
    kinds: Vec<RowKind>,
    /// `dF/dx` and `dF/dx'`, by rows.
    by_value: Vec<Vec<f64>>,
    by_slope: Vec<Vec<f64>>,
}

/// Values of the unknowns and of the derivatives that are not zero, by name.
fn matrices(model: &Model, values: &[(&str, f64)], slopes: &[(&str, f64)]) -> Matrices {
    let compiled = &model.compiled;
    let (mut names, mut roles) = (Vec::new(), Vec::new());
    for u in &compiled.unknowns {
        let (var, kind) = u.value.or(u.derivative).unwrap();
        for k in 0..u.len {
            let element = u.elements.as_ref().map_or(k, |e| e.at(k));
            names.push(match u.role {
                UnknownRole::Mu => "mu".to_string(),
                _ => compiled.element_name(var, kind, element),
            });
            roles.push(u.role);
        }
    }
    let place = |wanted: &str| {
        let found = names.iter().position(|n| n == wanted);
        found.unwrap_or_else(|| panic!("no {wanted} in {names:?}"))
    };
    let n = compiled.n;
    let (mut y, mut yp) = (vec![0.0; n], vec![0.0; n]);
    for (name, v) in values {
        y[place(name)] = *v;
    }
    for (name, v) in slopes {
        yp[place(name)] = *v;
    }
    let mut machine = Machine::new(compiled.clone(), &*acausal_jit::default_backend()).unwrap();
    machine.set_parameters();
    let mut dense = |cj: f64| {
        let mut entries = vec![0.0; machine.pattern().row_idx().len()];
        machine.jacobian(0.0, &y, &yp, cj, &mut entries).unwrap();
        let mut rows = vec![vec![0.0; n]; n];
        for column in 0..n {
            for k in machine.pattern().range(column) {
                rows[machine.pattern().row_idx()[k] as usize][column] = entries[k];
            }
        }
        rows
    };
    let by_value = dense(0.0);
    let mut by_slope = dense(1.0);
    for (a, b) in by_slope.iter_mut().zip(&by_value) {
        for (a, b) in a.iter_mut().zip(b) {
            *a -= b;
        }
    }
    Matrices {
        names,
        roles,
        kinds: compiled.row_kinds.clone(),
        by_value,
        by_slope,
    }
}

impl Matrices {
    fn columns(&self, role: UnknownRole) -> Vec<usize> {
        (0..self.names.len())
            .filter(|&k| self.roles[k] == role)
            .collect()
    }

    fn is_dynamic(&self, row: usize) -> bool {
        self.kinds[row] == RowKind::Dynamic
    }

    /// J of (2b): derivatives of f_d by x' over those of f_c by x.
    fn j(&self) -> Vec<Vec<f64>> {
        (0..self.names.len())
            .map(|r| {
                if self.is_dynamic(r) {
                    self.by_slope[r].clone()
                } else {
                    self.by_value[r].clone()
                }
            })
            .collect()
    }

    /// The iteration matrix of the implicit Euler method with step h, rows of f_d and f_c multiplied.
    fn iteration(&self, h: f64, dynamic: f64, other: f64) -> Vec<Vec<f64>> {
        (0..self.names.len())
            .map(|r| {
                let scale = if self.is_dynamic(r) { dynamic } else { other };
                let row = self.by_slope[r].iter().zip(&self.by_value[r]);
                row.map(|(s, v)| scale * (s / h + v)).collect()
            })
            .collect()
    }
}

/// Singular values, by one-sided Jacobi rotations: accurate for small ones too.
fn singular_values(rows: &[Vec<f64>]) -> Vec<f64> {
    let n = rows.len();
    let mut columns: Vec<Vec<f64>> = (0..n)
        .map(|j| rows.iter().map(|r| r[j]).collect())
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    for _ in 0..60 {
        let mut off = 0f64;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                let c = dot(&columns[p], &columns[q]);
                if c == 0.0 {
                    continue;
                }
                off = off.max(c.abs() / (a * b).sqrt());
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cos = 1.0 / (1.0 + t * t).sqrt();
                for i in 0..n {
                    let (x, y) = (columns[p][i], columns[q][i]);
                    columns[p][i] = cos * (x - t * y);
                    columns[q][i] = cos * (t * x + y);
                }
            }
        }
        if off < 1e-15 {
            break;
        }
    }
    let mut values: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn condition(rows: &[Vec<f64>]) -> f64 {
    let s = singular_values(rows);
    s[s.len() - 1] / s[0]
}

/// (18) without state selection; with names for derivatives as unknowns of their own, or not.
fn ms18(derivative_names: bool) -> Model {
    let load = Load {
        structure: Options {
            no_state_selection: true,
            derivative_names,
            ..Options::default()
        },
        ..Load::default()
    };
    let path = crate::common::example_path("seeds/OE_3_2_MS18.mo");
    Model::load(path.to_str().unwrap(), &load).unwrap_or_else(|f| panic!("{f}"))
}

#[test]
fn ms_2_g_is_the_jacobian_of_the_constraint_derivatives() {
    let m = matrices(&ms18(true), &[("x8", 2.5)], &[]);
    // x1', x2', x3', x6', x7', x6'', x7'' and the corrected G of the sheet, one row per derivative of a constraint.
    let columns = [
        "der(x1)",
        "der(x2)",
        "der(x3)",
        "der(x6)",
        "der(x7)",
        "der(der(x6))",
        "der(der(x7))",
    ];
    let expected = [
        [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0],
    ];
    let place = |name: &str| m.names.iter().position(|n| n == name);
    let columns = columns.map(|c| place(c).unwrap_or_else(|| panic!("{c} in {:?}", m.names)));
    // Rows as they stand in the constraints, and as the multipliers enter the derivative relations. Signs are free.
    let normal = |row: Vec<f64>| -> Vec<i64> {
        let sign = row.iter().find(|v| **v != 0.0).map_or(1.0, |v| v.signum());
        row.iter().map(|v| (sign * v).round() as i64).collect()
    };
    let mut wanted: Vec<Vec<i64>> = expected.iter().map(|r| normal(r.to_vec())).collect();
    wanted.sort();
    let rows = 0..m.names.len();
    let mut of_constraints: Vec<Vec<i64>> = rows
        .clone()
        .filter(|&r| m.kinds[r].constraint_level().is_some())
        .map(|r| normal(columns.iter().map(|&c| m.by_value[r][c]).collect()))
        .filter(|r| r.iter().any(|v| *v != 0))
        .collect();
    of_constraints.sort();
    // b and c hold der(x6) and der(x3), but their integrals are no states of the form: they are not derivatives.
    let lowest = [
        normal(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        normal(vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    ];
    of_constraints.retain(|r| !lowest.contains(r));
    assert_eq!(of_constraints, wanted);
    let mut of_multipliers: Vec<Vec<i64>> = m
        .columns(UnknownRole::Mu)
        .into_iter()
        .map(|mu| {
            let entry = |&c: &usize| {
                // The relation of the state whose derivative is c: it holds c with factor -1 and a slope with 1.
                let relation = rows.clone().find(|&r| {
                    m.is_dynamic(r)
                        && m.by_value[r][c] == -1.0
                        && m.columns(UnknownRole::State)
                            .iter()
                            .filter(|&&s| m.by_slope[r][s] != 0.0)
                            .count()
                            == 1
                        && m.by_value[r].iter().filter(|v| **v != 0.0).count() == 1
                });
                m.by_slope[relation.unwrap()][mu]
            };
            normal(columns.iter().map(entry).collect())
        })
        .collect();
    of_multipliers.sort();
    assert_eq!(of_multipliers, wanted);
}

#[test]
fn ms_2_j_has_rank_21() {
    let m = matrices(&ms18(true), &[("x8", 2.5)], &[]);
    assert_eq!(m.names.len(), 21);
    let s = singular_values(&m.j());
    assert!(s[0] > 1e-3 * s[20], "{s:?}");
    // (18h) has no slope at x8 = 0: rank 20.
    let s = singular_values(&matrices(&ms18(true), &[("x8", 0.0)], &[]).j());
    assert!(s[0] < 1e-14 && s[1] > 1e-3 * s[20], "{s:?}");
}

#[test]
fn ms_2_values() {
    // The table of the sheet, six digits of every value, at a tolerance of 1e-8. In this form the integrator
    // differentiates the given functions by the same formula as the states, so that errors cancel; with states selected, the
    // functions are differentiated symbolically, and their large accelerations are a quadrature without damping: see
    // `ms_2_constraints_of_several_orders`.
    for derivative_names in [false, true] {
        let model = ms18(derivative_names);
        let mut settings = model.settings();
        settings.tolerance = 1e-8;
        settings.interval = 0.5;
        let run = model
            .simulate_in_memory(&settings)
            .unwrap_or_else(|f| panic!("{f}"));
        for (t, values) in TABLE {
            for (name, value) in NAMES.iter().zip(values) {
                match value {
                    0.0 => near(at(&run, name, t), 0.0, 1e-12),
                    v => digits(at(&run, name, t), v, 6),
                }
            }
        }
    }
}

const NAMES: [&str; 9] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x2d"];

#[rustfmt::skip]
const TABLE: [(f64, [f64; 9]); 5] = [
    (0.0, [0.0, 0.0, -3.4, 1.0, 224.4588661190, 0.0, 0.0, 2.5541959528, 0.0]),
    (0.5, [-3.3229050285, -2.8434794899, -1.8839889122, -0.1019707668, -236.4137671979,
           -0.1830526520, 0.2249852959, 2.3400374772, -2.7407573191]),
    (1.0, [-0.4140239633, 0.4274470215, -2.6306337348, -2.6619364737, 241.8374244698,
           0.3549297183, -0.4304439384, 2.8152551292, 6.7345992381]),
    (2.0, [0.4857738678, 1.3950712947, -2.7350242292, -4.1486026935, 307.6684604165,
           0.6273798055, -0.7181866931, 2.4746416088, 10.8487157331]),
    (5.0, [0.6057684109, -0.3531558637, -2.2969846103, -3.2893664736, 199.6255126694,
           0.7047887654, -0.4215459067, 2.7521912656, 10.8377515659]),
];

/// The pendulum as in (15): the force of the rod along the gradient (2x, 2y) of the constraint.
const PENDULUM: &str = "model P
  Real x(start = 0.8414709848, fixed = true), y(start = 0.54), vx(start = 0, fixed = true), vy, lam;
equation
  der(vx) = -2*x*lam;
  der(vy) = 9.81 - 2*y*lam;
  der(x) = vx;
  der(y) = vy;
  x^2 + y^2 = 1;
end P;";

#[test]
fn hs_1_scaling_with_the_step_keeps_the_condition() {
    let model = Model::from_text("P.mo", PENDULUM, &Load::default()).unwrap();
    let (x, y) = 1f64.sin_cos();
    let at_rest = [("x", x), ("y", y)];
    let m = matrices(&model, &at_rest, &[("lam", 9.81 * y / 2.0)]);
    assert_eq!(m.names.len(), 6);
    // Sheet, section 1: h, condition without scaling, with (4a) h*f_d, with (4b) f_c/h.
    for (h, plain, scaled) in [
        (1e-1, 1.4e1, 3.27),
        (1e-2, 1.3e2, 2.63),
        (1e-4, 1.25e4, 2.56),
        (1e-6, 1.25e6, 2.56),
        (1e-8, 1.25e8, 2.56),
    ] {
        near(condition(&m.iteration(h, 1.0, 1.0)) / plain, 1.0, 0.04);
        near(condition(&m.iteration(h, h, 1.0)), scaled, 0.005);
        near(condition(&m.iteration(h, 1.0, 1.0 / h)), scaled, 0.005);
        // The sparse solver scales rows to their largest entry, which takes away the same powers of h.
        let mut balanced = m.iteration(h, 1.0, 1.0);
        for row in &mut balanced {
            let largest = row.iter().fold(0f64, |a, b| a.max(b.abs()));
            row.iter_mut().for_each(|v| *v /= largest);
        }
        assert!(condition(&balanced) < 10.0);
    }
    let j = singular_values(&m.j());
    near(j[5] / j[0], 2.56, 0.005);
    near(j.iter().product::<f64>(), 16.0, 1e-9);
}
