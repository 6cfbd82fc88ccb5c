//! The Fourier transform of a real signal under the name `ModelicaFFT_kiss_fftr`.
//!
//! In: samples `u[0..n]`, `n` even. Out: `info` (0, or 1 for odd `n`), then amplitudes and phases at the `n/2 + 1` frequencies from zero
//! on: `|c|/(n/2 + 1)` and `atan2(im c, re c)` with `c_k = Σ u_j e^(-2πi jk/n)`.
//!
//! Mixed radix (Cooley and Tukey 1965): a transform of length `n = p*m` is `p` transforms of length `m`, put together with twiddle
//! factors; cost `O(n*Σp)` over the prime factors of `n`. Recursion is as deep as the number of prime factors.

use crate::Builtin;
use crate::run_function::Number;

type Complex<T> = (T, T);

/// `info`, amplitudes and phases.
pub(super) fn real_transform<T: Number>(u: &[T]) -> Vec<T> {
    let n = u.len();
    let frequencies = n / 2 + 1;
    if !n.is_multiple_of(2) || n == 0 {
        let mut out = vec![T::constant(1.0)];
        out.resize(1 + 2 * frequencies, T::constant(0.0));
        return out;
    }
    let signal: Vec<Complex<T>> = u.iter().map(|&v| (v, T::constant(0.0))).collect();
    let c = transform(&signal);
    let mut out = vec![T::constant(0.0)];
    let scale = T::constant(1.0 / frequencies as f64);
    for &(re, im) in &c[..frequencies] {
        let square = re * re + im * im;
        // The square root has no slope at zero; an amplitude of zero is a constant.
        let size = match square.value() == 0.0 {
            true => Some(T::constant(0.0)),
            false => square.unary(Builtin::Sqrt),
        };
        out.push(size.unwrap_or(square) * scale);
    }
    out.extend(c[..frequencies].iter().map(|&(re, im)| im.atan2(re)));
    out
}

fn transform<T: Number>(u: &[Complex<T>]) -> Vec<Complex<T>> {
    let n = u.len();
    let Some(p) = (2..=n).find(|p| n.is_multiple_of(*p)) else {
        return u.to_vec();
    };
    let m = n / p;
    let parts: Vec<Vec<Complex<T>>> = (0..p)
        .map(|r| {
            let part: Vec<Complex<T>> = u.iter().skip(r).step_by(p).copied().collect();
            transform(&part)
        })
        .collect();
    (0..n)
        .map(|k| {
            let mut sum = (T::constant(0.0), T::constant(0.0));
            for (r, part) in parts.iter().enumerate() {
                let angle = -2.0 * std::f64::consts::PI * ((r * k) % n) as f64 / n as f64;
                let (s, c) = (T::constant(angle.sin()), T::constant(angle.cos()));
                let (re, im) = part[k % m];
                sum = (sum.0 + re * c - im * s, sum.1 + re * s + im * c);
            }
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_sum() {
        let n = 30;
        let u: Vec<f64> = (0..n)
            .map(|j| (0.3 * j as f64).sin() + 0.1 * (j * j % 7) as f64)
            .collect();
        let found = real_transform(&u);
        let f = n / 2 + 1;
        assert_eq!((found[0], found.len()), (0.0, 1 + 2 * f));
        for k in 0..f {
            let part = |g: fn(f64) -> f64| -> f64 {
                let angle = |j: usize| 2.0 * std::f64::consts::PI * (j * k) as f64 / n as f64;
                (0..n).map(|j| u[j] * g(angle(j))).sum()
            };
            let (re, im) = (part(f64::cos), -part(f64::sin));
            assert!((found[1 + k] - re.hypot(im) / f as f64).abs() < 1e-12);
            // A phase of pi and one of -pi are the same.
            let turn = (found[1 + f + k] - im.atan2(re)).sin_cos();
            assert!(turn.0.abs() < 1e-9 && turn.1 > 0.0);
        }
        assert_eq!(real_transform(&[1.0, 2.0, 3.0])[0], 1.0);
    }
}
