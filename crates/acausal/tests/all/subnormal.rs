//! Where a wave has not been yet there are zeros, not numbers that are too small to be computed with at full speed.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use crate::common::{run_text, values};
use acausal::Settings;

#[test]
fn far_cells_are_zero_and_not_subnormal() {
    let text = "model Rod parameter Integer N = 3000; Real T[N](each start = 0, each fixed = true);
         equation der(T[1]) = 100*(1 - 2*T[1] + T[2]);
           for i in 2:N - 1 loop der(T[i]) = 100*(T[i - 1] - 2*T[i] + T[i + 1]); end for;
           der(T[N]) = 100*(T[N - 1] - T[N]); end Rod;";
    let settings = Settings {
        stop: 1.0,
        interval: 1.0,
        ..Settings::default()
    };
    let result = run_text(text, &settings);
    let last = |i: usize| *values(&result, &format!("T[{i}]")).last().unwrap();
    assert!(last(1) > 0.5);
    let all: Vec<f64> = (1..=3000).map(last).collect();
    let subnormal = all.iter().position(|v| v.is_subnormal());
    assert_eq!(subnormal, None);
    assert_eq!(all[2999], 0.0);
}
