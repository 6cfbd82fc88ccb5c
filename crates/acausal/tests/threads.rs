//! Equations with costly functions over long arrays, on one thread and on two: the same bits.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use acausal::Settings;
use common::{run_text, values};

/// Pendulums with a common drive: the residuals have sines, long enough for a second thread.
#[test]
fn two_threads_give_the_trajectories_of_one() {
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
    assert_eq!(one, run(2));
}
