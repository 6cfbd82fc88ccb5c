//! A solution is followed while a parameter moves from 0 to 1.
//!
//! In: the guess for parameter 0 and a solver of the problem at any parameter. Out: the solution at parameter 1. The
//! parameter is moved in steps that double after a success and are quartered after a failure; the guess of the next
//! problem is extrapolated from the last two solutions (secant predictor; Allgower & Georg, "Numerical Continuation
//! Methods", 1990, sec. 2). The path must be a function of the parameter: a path that turns back is not followed, and the
//! error of the last problem is given.
//!
//! Worked example: `x^3 + x = 100 s` from x = 0: parameters 0, 0.25, 0.75, 1 with guesses 0, 0, 5.6, ...

/// First step of the parameter.
const FIRST_STEP: f64 = 0.25;
/// Smaller steps are no progress: the path ends or turns back.
const SMALLEST_STEP: f64 = 1e-4;
/// Bound on the number of problems.
const MOST_PROBLEMS: u32 = 500;

/// Follows the solution; `solve` improves the guess at a parameter. Gives the number of problems that were solved.
pub fn continuation<E>(
    x: &mut [f64],
    mut solve: impl FnMut(f64, &mut [f64]) -> Result<(), E>,
) -> Result<u32, E> {
    solve(0.0, x)?;
    let mut solved = 1;
    let mut last: Option<(f64, Vec<f64>)> = None;
    let (mut at, mut step) = (0.0, FIRST_STEP);
    while at < 1.0 {
        let next: f64 = if at + step > 1.0 - 1e-12 {
            1.0
        } else {
            at + step
        };
        let mut guess = x.to_vec();
        if let Some((before, y)) = &last {
            let factor = (next - at) / (at - before);
            for ((g, now), before) in guess.iter_mut().zip(x.iter()).zip(y) {
                *g = now + factor * (now - before);
            }
        }
        match solve(next, &mut guess) {
            Ok(()) => {
                solved += 1;
                last = Some((at, x.to_vec()));
                x.copy_from_slice(&guess);
                at = next;
                step *= 2.0;
            }
            Err(error) => {
                // An extrapolation may lead astray; the shorter step starts from the solution itself.
                last = None;
                step *= 0.25;
                if step < SMALLEST_STEP || solved > MOST_PROBLEMS {
                    return Err(error);
                }
            }
        }
    }
    Ok(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_followed_to_its_end() {
        let mut x = [0.0];
        continuation(&mut x, |s, x| {
            // Three plain Newton steps only: far guesses fail.
            for _ in 0..3 {
                let f = x[0].powi(3) + x[0] - 100.0 * s;
                x[0] -= f / (3.0 * x[0] * x[0] + 1.0);
            }
            let f = x[0].powi(3) + x[0] - 100.0 * s;
            if f.abs() < 1e-3 { Ok(()) } else { Err(f) }
        })
        .unwrap();
        assert!((x[0] - 4.5703).abs() < 1e-3, "{x:?}");
    }

    #[test]
    fn a_path_that_turns_back_ends_with_the_error_of_its_last_problem() {
        let mut x = [0.0];
        // x^2 = 1/4 - s has no solution beyond 1/4.
        let end = continuation(&mut x, |s, x| {
            let d = 0.25 - s;
            x[0] = d.max(0.0).sqrt();
            if d >= 0.0 { Ok(()) } else { Err("no solution") }
        });
        assert_eq!(end, Err("no solution"));
        assert!(x[0] < 0.1, "{x:?}");
    }
}
