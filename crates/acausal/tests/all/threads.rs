//! Long arrays on one thread and on several: the same bits.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{run_text, values};
use acausal::Settings;

/// Pendulums with a common drive: the residuals have sines, long enough for threads.
#[test]
fn threads_give_the_trajectories_of_one() {
    let text = "model Swinging parameter Integer N = 60000; Real a[N](start = {k/N for k in 1:N}, each fixed = true);
           Real w[N](each start = 0, each fixed = true); Real first = a[1]; Real middle = a[30001]; Real last = w[N];
         equation for k in 1:N loop
           der(a[k]) = w[k]; der(w[k]) = -sin(a[k]) - 0.1*w[k]*exp(-a[k]^2) + 0.01*sin(3*time + k);
         end for; end Swinging;";
    let run = |threads: usize| {
        let settings = Settings {
            stop: 0.1,
            interval: 0.05,
            threads: Some(threads),
            ..Settings::default()
        };
        let result = run_text(text, &settings);
        let names = ["time", "first", "middle", "last"];
        let bits = |name| values(&result, name).iter().map(|v| v.to_bits()).collect();
        names.map(|name| -> Vec<u64> { bits(name) })
    };
    let one = run(1);
    assert!(one[2].len() >= 3 && one[2][0] != one[2][2]);
    for threads in 2..=4 {
        assert_eq!(one, run(threads), "{threads} threads");
    }
}

/// A line of components, long enough for residuals, Jacobian, elimination and vectors on several threads.
#[test]
fn large_models_have_the_trajectories_of_one_thread() {
    let text = "model Line parameter Integer N = 260000; Real v[N + 1]; Real i[N]; Real q[N]; parameter Real R[N] = {0.01 + 1e-8*k for k in 1:N};
           Real near = v[3]; Real far = i[N]; Real through = q[2];
         initial equation for k in 1:N loop v[k + 1] = 0; i[k] = 0; end for;
         equation v[1] = 1 - exp(-time);
           for k in 1:N loop q[k] = (v[k] - v[k + 1])*(1 + 0.1*v[k]^2); der(i[k]) = q[k] - R[k]*i[k]; end for;
           for k in 1:N - 1 loop der(v[k + 1]) = i[k] - i[k + 1]; end for;
           der(v[N + 1]) = i[N] - v[N + 1]; end Line;";
    let run = |threads: usize| {
        let settings = Settings {
            stop: 2.0,
            interval: 1.0,
            threads: Some(threads),
            ..Settings::default()
        };
        let result = run_text(text, &settings);
        let names = ["time", "near", "far", "through"];
        let bits = |name| values(&result, name).iter().map(|v| v.to_bits()).collect();
        names.map(|name| -> Vec<u64> { bits(name) })
    };
    let one = run(1);
    assert!(one[1].len() >= 3 && one[1][0] != one[1][2]);
    for threads in 2..=4 {
        assert_eq!(one, run(threads), "{threads} threads");
    }
}
