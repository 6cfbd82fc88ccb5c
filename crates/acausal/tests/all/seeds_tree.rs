//! Tree-structured multibody systems in 3-D, written with rotation matrices and joint forces (Otter & Elmqvist 2017, §3.1,
//! footnote 3 and §4.7; sheet 3.5): the index-one form with and without state selection, and the motion against
//! joint-space equations.
//!
//! The oracle is a program of its own: mass matrix from geometric Jacobians, bias forces from accelerations at zero joint
//! acceleration, integrated by an explicit Runge-Kutta method of order 8 at a tolerance of 1e-13.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{at, near, values};
use acausal::{InMemory, Load, Model};
use acausal_index1::{Options, Report};

fn load(set: &[&str], class: Option<&str>, structure: Options) -> Load {
    Load {
        class: class.map(str::to_string),
        set: set.iter().map(|s| s.to_string()).collect(),
        structure,
        ..Load::default()
    }
}

fn report(file: &str, load: &Load) -> Report {
    let path = crate::common::example_path(file);
    let (flat, _, sources) =
        acausal::flatten_target(path.to_str().unwrap(), load).unwrap_or_else(|f| panic!("{f}"));
    match acausal_index1::transform_with(flat, &load.structure) {
        Ok((_, report)) => report,
        Err(diagnostics) => panic!(
            "{}",
            acausal::Failure {
                diagnostics,
                sources
            }
        ),
    }
}

fn run(file: &str, load: &Load) -> InMemory {
    let path = crate::common::example_path(file);
    let model = Model::load(path.to_str().unwrap(), load).unwrap_or_else(|f| panic!("{f}"));
    let mut settings = model.settings();
    settings.tolerance = 1e-8;
    settings.interval = 0.25;
    let run = model.simulate_in_memory(&settings);
    run.unwrap_or_else(|f| panic!("{f}"))
}

#[test]
fn tr_1_form_17_has_89_unknowns_per_body() {
    for n in [1, 2, 3] {
        let full = Options {
            no_state_selection: true,
            ..Options::default()
        };
        let set = format!("n={n}");
        let r = report("seeds/OE_3_5_Chain.mo", &load(&[&set], None, full));
        // Per body: x_d 56, lambda 9 (f, tau, al), mu 24. The first joint stands still, so r[1], der(r[1]) and the mu of
        // its derivative are given: 9 less. The energy is one more.
        assert_eq!(r.form.n, 89 * n - 9 + 1, "n = {n}");
        assert_eq!(r.form.lambda, 9 * n, "n = {n}");
        assert_eq!(r.form.mu, 24 * n - 3, "n = {n}");
        // T, Tc, r and rc twice; w and wc once.
        let times = |k: usize| r.differentiated.iter().filter(|d| d.1 == k).count();
        assert!(times(1) > 0 && times(2) > 0 && times(3) == 0);
        assert_eq!(r.structural_index, 3);
    }
}

#[test]
fn tr_1_two_states_per_body() {
    for (n, states) in [
        (1, vec!["phi[1]", "der(phi[1])"]),
        (2, vec!["phi[1]", "der(phi[1])", "phi[2]", "der(phi[2])"]),
        // The rotation matrices are recurrences through several arrays.
        (
            3,
            vec![
                "phi[1]",
                "der(phi[1])",
                "phi[2]",
                "der(phi[2])",
                "phi[3]",
                "der(phi[3])",
            ],
        ),
    ] {
        let set = format!("n={n}");
        let r = report(
            "seeds/OE_3_5_Chain.mo",
            &load(&[&set], None, Options::default()),
        );
        assert_eq!(r.states, states);
        // What stays unknown of the loop comes on top: its coefficients are elements of rotation matrices.
        assert_eq!((r.form.n - r.form.lambda, r.form.mu), (2 * n, 0));
    }
    let r = report("seeds/OE_3_5_Tree.mo", &tree());
    // Six angles with their derivatives, and the integral of the losses; what stays unknown of the loop comes on top.
    assert_eq!(r.form.n - r.form.lambda, 2 * 6 + 1);
    assert_eq!((r.form.fc, r.form.mu), (0, 0));
    for k in 1..=6 {
        assert!(r.states.contains(&format!("b{k}.phi")), "{:?}", r.states);
        assert!(r.states.contains(&format!("der(b{k}.phi)")));
    }
}

fn tree() -> Load {
    load(&[], Some("OE_3_5_Tree.Tree"), Options::default())
}

#[test]
fn tr_1_tree_of_six_bodies_against_joint_space() {
    let r = run("seeds/OE_3_5_Tree.mo", &tree());
    for (t, phi) in [
        (
            0.25,
            [
                0.6562794646,
                0.6379744084,
                0.3590013427,
                0.5832302544,
                0.6667078919,
                2.1676941350,
            ],
        ),
        (
            0.5,
            [
                1.2195012986,
                0.2764249185,
                -0.9033312232,
                -0.6287751027,
                -0.0479461898,
                1.7856981124,
            ],
        ),
        (
            1.0,
            [
                1.8777037114,
                -1.8959854772,
                0.0215827678,
                -2.0602436792,
                0.0992924737,
                -1.9064325782,
            ],
        ),
    ] {
        for (k, phi) in phi.into_iter().enumerate() {
            // Six digits of a turn by one radian; angles pass zero.
            near(at(&r, &format!("b{}.phi", k + 1), t), phi, 5e-7);
        }
    }
    // What the motion loses is what the damping takes.
    let (energy, loss) = (values(&r, "energy"), values(&r, "loss"));
    for k in 0..energy.len() {
        near(energy[k] + loss[k], energy[0], 3e-6);
    }
    assert!(energy[0] - energy[energy.len() - 1] > 0.1);
}

#[test]
fn tr_1_chains_against_joint_space() {
    for (n, half, end) in [
        (1, vec![1.6959079371], vec![0.8416677854]),
        (
            2,
            vec![1.4138676939, -0.5681845514],
            vec![1.7265578202, -1.0451272618],
        ),
        (
            3,
            vec![1.1214719031, -0.0411663859, -0.7425452735],
            vec![1.9291668876, -1.5170757012, 0.8803667613],
        ),
    ] {
        let set = format!("n={n}");
        let r = run(
            "seeds/OE_3_5_Chain.mo",
            &load(&[&set], None, Options::default()),
        );
        for (k, (half, end)) in half.into_iter().zip(end).enumerate() {
            let name = format!("phi[{}]", k + 1);
            near(at(&r, &name, 0.5), half, 5e-7);
            near(at(&r, &name, 1.0), end, 5e-7);
        }
    }
}

#[test]
fn tr_1_one_body_on_a_horizontal_axis_is_a_physical_pendulum() {
    // (J + m a^2) phi'' = -m g a sin(phi - phi_rest), with a = |(c_x, c_z)| the distance from the y-axis: the period
    // of small oscillations is 2 pi sqrt((J_y + m a^2)/(m g a)).
    let (a, m, jy) = (0.2f64.hypot(0.1), 1.1, 0.03);
    let w = (m * 9.81 * a / (jy + m * a * a)).sqrt();
    // The centre of mass hangs below the joint where sin and cos turn (0.2, -0.1) to (0, -a).
    let rest = 0.2f64.atan2(0.1);
    let start = rest + 0.01;
    let period = 2.0 * std::f64::consts::PI / w * (1.0 + 0.01f64 * 0.01 / 16.0);
    let path = crate::common::example_path("seeds/OE_3_5_Chain.mo");
    let text = std::fs::read_to_string(path)
        .unwrap()
        .replace("der(phi) = {0.5 - 0.2*i for i in 1:n};", "der(phi) = {0};");
    let set = ["n=1", "d=0", &format!("phi.start={{{start}}}")];
    let model = Model::from_text("Test.mo", &text, &load(&set, None, Options::default()))
        .unwrap_or_else(|f| panic!("{f}"));
    let mut settings = model.settings();
    settings.stop = period;
    settings.interval = period / 4.0;
    settings.tolerance = 1e-10;
    let r = model
        .simulate_in_memory(&settings)
        .unwrap_or_else(|f| panic!("{f}"));
    near(at(&r, "phi[1]", period), start, 1e-8);
    near(at(&r, "phi[1]", period / 2.0), rest - 0.01, 1e-8);
}
