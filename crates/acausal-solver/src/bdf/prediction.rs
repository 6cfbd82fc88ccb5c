//! Predictions, and residuals that are evaluated on their way.
//!
//! The predicted y and y' are sums over the history. In large models nobody needs them but the residual: then they are computed piece by piece where the
//! model asks for them ([`LargeDae::predicted_residual`](crate::LargeDae::predicted_residual)) and never stored as a whole ([`Storage::Deferred`]). The first correction is evaluated in the same
//! way, from the prediction plus the correction. Whoever needs the whole vectors after all calls [`Bdf::complete`].
//!
//! Invariant: y and y' have the same bits whether they were stored or completed later. A completed point is `prediction + e`, which is how a first
//! correction is applied; later ones are applied to stored vectors only.

use super::corrector::{Progress, Stage, Storage};
use super::{Bdf, PredictPart, coefficients, kernels};
use crate::dae::{Dae, DaeError, Predicted, indicators_len, jacobian_needs_point, team_of};
use crate::parallel::in_parts;
use acausal_cpu::{Shared, Team};
use std::ops::Range;

impl Bdf {
    /// Predicts y and y' after rescaling the rows of the history from `first_scaled` on.
    fn predict(&mut self, team: Option<&mut Team>, first_scaled: usize) {
        self.predict_by(first_scaled, |pass, [y, yp, _]| pass.run(team, [y, yp]));
        self.corrector.storage = Storage::Stored;
    }

    /// Predicts for a new attempt. Where nobody is likely to need y and y' but the residual, that is evaluated on the way, if the model does so.
    pub(super) fn predict_and_evaluate<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
    ) -> Option<Result<(), DaeError>> {
        let first_scaled = self.history.c.steps_constant;
        let for_matrix = self.needs_new_matrix() && jacobian_needs_point(dae);
        if indicators_len(dae) > 0 || for_matrix {
            self.predict(team_of(dae), first_scaled);
            return None;
        }
        let evaluated = self.predict_by(first_scaled, |pass, [y, yp, r]| {
            let predict = pass.part;
            let point = Predicted { y, yp, r, predict };
            let evaluated = dae.large().and_then(|d| d.predicted_residual(t, point));
            if evaluated.is_none() {
                pass.run(team_of(dae), [y, yp]);
            }
            evaluated
        });
        self.corrector.storage = match evaluated {
            Some(_) => Storage::Deferred,
            None => Storage::Stored,
        };
        evaluated
    }

    /// Evaluates the residual with the first correction applied, on the way of a prediction once more, where the first residual was evaluated so. Nothing, and
    /// nothing done, where it was not.
    pub(super) fn evaluate_corrected<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
    ) -> Option<Result<(), DaeError>> {
        let (Progress::Held(factor), Storage::Deferred) =
            (self.corrector.progress, self.corrector.storage)
        else {
            return None;
        };
        let how = self.last_prediction();
        let c = &mut self.corrector;
        let [y, yp, d, e] = [&mut c.y, &mut c.yp, &mut c.d, &mut c.e].map(|v| Shared::new(v));
        let cj = self.history.c.cj;
        let evaluated = kernels::predict(&mut self.history.phi, how, |pass| {
            let predict = |range: Range<usize>, [y, yp]: [&mut [f64]; 2]| {
                (pass.part)(range.clone(), [&mut *y, &mut *yp]);
                // SAFETY: each unknown is predicted once, before the residual takes the place of its correction.
                let (d, e) = unsafe { (d.part(range.clone()), e.part(range)) };
                kernels::correct_part(true, -factor, cj, d, e, y, yp);
            };
            let predict: &PredictPart<'_> = &predict;
            let r = d;
            let point = Predicted { y, yp, r, predict };
            dae.large()?.predicted_residual(t, point)
        });
        if evaluated.is_some() {
            self.corrector.progress = Progress::Applied;
        }
        evaluated
    }

    /// Makes up for y and y' of a point that was computed for its residual only, from the history that is still the one of that prediction.
    pub(super) fn complete(&mut self, mut team: Option<&mut Team>) {
        if self.corrector.storage == Storage::Stored {
            return;
        }
        let how = self.last_prediction();
        let n = self.len();
        let c = &mut self.corrector;
        c.storage = Storage::Stored;
        let [y, yp] = [&mut c.y, &mut c.yp].map(|v| Shared::new(v));
        kernels::predict(&mut self.history.phi, how, |pass| {
            pass.run(team.as_deref_mut(), [y, yp]);
        });
        if c.progress.is_applied() {
            let (cj, e) = (self.history.c.cj, &c.e);
            in_parts(team, (n, 5), |range| {
                // SAFETY: ranges are apart.
                let (y, yp) = unsafe { (y.part(range.clone()), yp.part(range.clone())) };
                for ((y, yp), e) in y.iter_mut().zip(yp).zip(&e[range]) {
                    *y += e;
                    *yp += cj * e;
                }
            });
        }
    }

    /// The prediction of this step, or of the last one if it was accepted, without rescaling the history.
    fn last_prediction(&self) -> kernels::Prediction {
        kernels::Prediction {
            k: match self.corrector.stage {
                Stage::Accepted => self.stepper.k_used,
                _ => self.stepper.k,
            },
            first_scaled: usize::MAX,
            scale: [1.0; coefficients::LEN],
            gamma: self.history.c.gamma,
        }
    }

    /// Applies the correction that was held back to y and y'.
    pub(super) fn apply_held(&mut self, mut team: Option<&mut Team>) {
        self.complete(team.as_deref_mut());
        let c = &mut self.corrector;
        if let Some(factor) = c.progress.held() {
            let first = !c.progress.is_applied();
            let corrected: [&mut [f64]; 3] = [&mut c.e, &mut c.y, &mut c.yp];
            kernels::correct(team, first, (-factor, self.history.c.cj), &c.d, corrected);
            c.progress = Progress::Applied;
        }
    }

    /// A prediction whose pass is made by `then`, which gets y, y' and the residual as well. The correction of the last step is taken
    /// into the history in the same pass if that is still to be done.
    fn predict_by<R>(
        &mut self,
        first_scaled: usize,
        then: impl FnOnce(kernels::Pass<'_>, [Shared<'_>; 3]) -> R,
    ) -> R {
        let (k_used, max_order) = (self.stepper.k_used, self.options.max_order);
        let how = kernels::Prediction {
            k: self.stepper.k,
            first_scaled,
            scale: self.history.c.beta,
            gamma: self.history.c.gamma,
        };
        let phi = &mut self.history.phi;
        let c = &mut self.corrector;
        let (y, yp) = (Shared::new(&mut c.y), Shared::new(&mut c.yp));
        let update = |earlier, scale| kernels::Update {
            k: k_used,
            earlier,
            scale,
            keep: k_used < max_order,
        };
        let done = match (c.stage, c.progress.held()) {
            (Stage::Accepted, Some(factor)) => {
                let update = update(c.progress.is_applied().then_some(&c.e[..]), -factor);
                // The residual may take the place of the correction.
                let with_last = |pass: kernels::Pass<'_>, r: Shared<'_>| then(pass, [y, yp, r]);
                kernels::update_and_predict(phi, &mut c.d, update, how, with_last)
            }
            (Stage::Accepted, None) => {
                let (last, r) = (&mut c.e, Shared::new(&mut c.d));
                let with_other = |pass: kernels::Pass<'_>, _: Shared<'_>| then(pass, [y, yp, r]);
                kernels::update_and_predict(phi, last, update(None, 1.0), how, with_other)
            }
            _ => {
                let r = Shared::new(&mut c.d);
                kernels::predict(phi, how, |pass| then(pass, [y, yp, r]))
            }
        };
        c.stage = Stage::Attempt;
        c.progress = Progress::Predicted;
        done
    }

    /// Predicts without rescaling the history once more.
    pub(super) fn predict_again(&mut self, team: Option<&mut Team>) {
        self.predict(team, self.stepper.k + 1);
    }
}
