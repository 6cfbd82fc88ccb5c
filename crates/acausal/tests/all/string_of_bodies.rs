//! Chains of bodies, whose positions are recurrences through several arrays and whose forces run back along them: the
//! states are the angles, however long the chain is, and the motion is right.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{near, values};
use acausal::{InMemory, Load, Model, Settings};
use acausal_index1::Options;

/// `benches/models/Bodies.mo` with another model after it.
fn bodies(model: &str) -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/models/Bodies.mo"
    );
    std::fs::read_to_string(path).unwrap() + model
}

fn settings(stop: f64) -> Settings {
    Settings {
        stop,
        interval: stop / 20.0,
        tolerance: 1e-9,
        max_steps: 100_000,
        ..Settings::default()
    }
}

/// In the plane, a chain of slender rods is a classical system: Lagrange's equations in absolute angles.
#[test]
fn planar_string_follows_the_equations_of_lagrange() {
    const N: usize = 20;
    let string = bodies(&format!(
        "model Planar
          extends Bodies(N = {N}, mount(each angle = 0), shaker(amplitude = zeros(3)), spring(each c = 0),
            hinge(phi(each start = 0.1)));
        end Planar;"
    ));
    let string = crate::common::run_text(&string, &settings(0.3));
    assert_eq!(string.summary.states, 2 * N);
    let rods = crate::common::run_text(
        &format!(
            "model Lagrange
              constant Integer N = {N};
              parameter Real l = 0.5/N, m = 0.001/N, g = 9.81, d = 1e-5;
              Real theta[N](start = {{0.1*k for k in 1:N}}, each fixed = true);
              Real omega[N](each start = 0, each fixed = true);
              Real tau[N + 1] \"of the dampers\";
            equation
              tau[1] = -d*omega[1];
              for i in 2:N loop
                tau[i] = -d*(omega[i] - omega[i - 1]);
              end for;
              tau[N + 1] = 0;
              for i in 1:N loop
                der(theta[i]) = omega[i];
                m*l^2*sum((N - max(i, j) + (if i == j then 1/3 else 1/2))*(cos(theta[i] - theta[j])*der(omega[j])
                  + sin(theta[i] - theta[j])*omega[j]^2) for j in 1:N)
                  = tau[i] - tau[i + 1] - m*g*l*(N - i + 1/2)*sin(theta[i]);
              end for;
            end Lagrange;"
        ),
        &settings(0.3),
    );
    let mut theta = vec![0.0; values(&string, "time").len()];
    for k in 1..=N {
        for (sum, phi) in theta
            .iter_mut()
            .zip(values(&string, &format!("hinge[{k}].phi")))
        {
            *sum += phi;
        }
        let expected = values(&rods, &format!("theta[{k}]"));
        assert_eq!(theta.len(), expected.len());
        for (found, expected) in theta.iter().zip(expected) {
            near(*found, expected, 2e-6);
        }
    }
    let moved = values(&string, "hinge[1].phi");
    assert!((moved.last().unwrap() - moved[0]).abs() > 0.05, "{moved:?}");
}

/// Without damping, and with a support at rest, the energy of the links in space and of the springs stays.
#[test]
fn string_in_space_keeps_its_energy() {
    const N: usize = 12;
    let text = bodies(&format!(
        "model Free
          extends Bodies(N = {N}, shaker(amplitude = zeros(3)), spring(each c = 1e-4, each d = 0), hinge(phi(each start = 0.2)));
          Real energy = sum(link.body.kinetic) + sum(link.body.potential) + sum(spring[k].c*spring[k].phi^2/2 for k in 1:N);
          Real kinetic = sum(link.body.kinetic);
        end Free;"
    ));
    let run = crate::common::run_text(&text, &settings(0.5));
    assert_eq!(run.summary.states, 2 * N);
    let energy = values(&run, "energy");
    let largest = values(&run, "kinetic").into_iter().fold(0.0, f64::max);
    let sideways = values(&run, &format!("link[{N}].body.r[3]"));
    assert!(sideways.iter().any(|z| z.abs() > 0.01), "moves in space");
    for e in &energy {
        near(*e, energy[0], 1e-6 * largest);
    }
}

/// Point masses on rods without mass: positions along the chain, forces back.
fn pendulum_chain(n: usize, far_end: bool) -> String {
    // Seen from the support: first body, last body, the bodies after the first, the one before body i, the rod after body i.
    let (first, last, rest, before, after) = match far_end {
        false => ("1", "N", "2:N", "i - 1", "i + 1"),
        true => ("N", "1", "1:N - 1", "i + 1", "i - 1"),
    };
    let inner = match far_end {
        false => "1:N - 1",
        true => "2:N",
    };
    format!(
        "model Chain
          constant Integer N = {n};
          parameter Real l = 1/N, m = 1/N, g = 9.81;
          Real phi[N](each start = 0.1, each fixed = true, each stateSelect = StateSelect.always) \"angle to the rod before\";
          Real w[N](each start = 0, each fixed = true, each stateSelect = StateSelect.always);
          Real theta[N], ax[N], ay[N], bx[N], by[N], vx[N], vy[N], fx[N], fy[N], gx[N], gy[N];
        equation
          w = der(phi);
          theta[{first}] = phi[{first}];
          ax[{first}] = 0;
          ay[{first}] = 0.02*sin(5*time);
          for i in {rest} loop
            theta[i] = theta[{before}] + phi[i];
            ax[i] = bx[{before}];
            ay[i] = by[{before}];
          end for;
          for i in 1:N loop
            bx[i] = ax[i] + l*cos(theta[i]);
            by[i] = ay[i] + l*sin(theta[i]);
            vx[i] = der(bx[i]);
            vy[i] = der(by[i]);
            m*der(vx[i]) = fx[i] - gx[i] + m*g;
            m*der(vy[i]) = fy[i] - gy[i];
            fx[i]*sin(theta[i]) - fy[i]*cos(theta[i]) = 1e-3*w[i];
          end for;
          for i in {inner} loop
            gx[i] = fx[{after}];
            gy[i] = fy[{after}];
          end for;
          gx[{last}] = 0;
          gy[{last}] = 0;
        end Chain;"
    )
}

/// The same with the orientations as one array of matrices, which is a recurrence by itself.
fn matrix_chain(n: usize) -> String {
    format!(
        "model Chain
          constant Integer N = {n};
          parameter Real l = 1/N, m = 1/N, g = 9.81;
          Real phi[N](each start = 0.1, each fixed = true, each stateSelect = StateSelect.always);
          Real w[N](each start = 0, each fixed = true, each stateSelect = StateSelect.always);
          Real T[N, 2, 2], R[N, 2, 2], p[N, 2], v[N, 2], f[N, 2];
        equation
          w = der(phi);
          for i in 1:N loop
            R[i, :, :] = [cos(phi[i]), sin(phi[i]); -sin(phi[i]), cos(phi[i])];
            T[i, 2, :]*f[i, :] = -1e-3*w[i];
          end for;
          T[1, :, :] = R[1, :, :];
          p[1, :] = l*T[1, 1, :];
          for i in 2:N loop
            T[i, :, :] = R[i, :, :]*T[i - 1, :, :];
            p[i, :] = p[i - 1, :] + l*T[i, 1, :];
          end for;
          v = der(p);
          for i in 1:N - 1 loop
            m*der(v[i, :]) = f[i, :] - f[i + 1, :] + {{m*g, 0}};
          end for;
          m*der(v[N, :]) = f[N, :] + {{m*g, 0}};
        end Chain;"
    )
}

#[test]
fn chain_of_matrices_has_its_angles_as_states() {
    for n in [4, 24] {
        let text = matrix_chain(n);
        let [a, b] = [false, true].map(|scalarise| run(&text, scalarise));
        assert_eq!((a.summary.states, b.summary.states), (2 * n, 2 * n));
        for name in ["phi[1]", "p[3,2]", "T[4,1,2]", "f[2,1]"] {
            let (x, y) = (values(&a, name), values(&b, name));
            let scale = x.iter().fold(1e-2f64, |m, v| m.max(v.abs()));
            for (x, y) in x.iter().zip(&y) {
                near(*x, *y, 1e-5 * scale);
            }
        }
    }
}

fn run(text: &str, scalarise: bool) -> InMemory {
    let load = Load {
        structure: Options {
            scalarise,
            ..Options::default()
        },
        ..Load::default()
    };
    let model = Model::from_text("Chain.mo", text, &load).unwrap_or_else(|f| panic!("{f}"));
    let done = model.simulate_in_memory(&settings(0.3));
    done.unwrap_or_else(|f| panic!("{f}"))
}

#[test]
fn chains_counted_from_either_end_have_their_angles_as_states() {
    for n in [3, 24] {
        for far_end in [false, true] {
            let text = pendulum_chain(n, far_end);
            let [a, b] = [false, true].map(|scalarise| run(&text, scalarise));
            let what = format!("{n} bodies, from the far end: {far_end}");
            assert_eq!(
                (a.summary.states, b.summary.states),
                (2 * n, 2 * n),
                "{what}"
            );
            for k in 1..=n {
                for array in ["phi", "bx", "by", "fx"] {
                    let name = format!("{array}[{k}]");
                    let (x, y) = (values(&a, &name), values(&b, &name));
                    let scale = x.iter().fold(1e-2f64, |m, v| m.max(v.abs()));
                    for (x, y) in x.iter().zip(&y) {
                        near(*x, *y, 1e-5 * scale);
                    }
                }
            }
        }
    }
}
