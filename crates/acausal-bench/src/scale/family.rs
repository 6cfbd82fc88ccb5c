//! The families of models that [`super::run`] measures.

use std::path::PathBuf;

use super::written;

/// Models of one kind, sized by one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// A short name.
    pub name: &'static str,
    /// What it is.
    pub text: &'static str,
    /// Where the models come from.
    pub source: ModelSource,
    /// Sizes, in ascending order.
    pub sizes: &'static [usize],
}

/// Where the models of a family come from.
#[derive(Clone, Copy, Debug)]
pub enum ModelSource {
    /// A file of `benches/models`, sized by its parameter `N`.
    File(&'static str),
    /// A text that is made for each size.
    Text(fn(usize) -> String),
}

const TO_MILLION: &[usize] = &[100, 1_000, 10_000, 100_000, 1_000_000];
const TO_100_000: &[usize] = &[10, 100, 1_000, 10_000, 100_000];

/// All families.
pub fn all() -> Vec<Family> {
    let file = |name, text, file, sizes| Family {
        name,
        text,
        source: ModelSource::File(file),
        sizes,
    };
    vec![
        file(
            "RCLadder",
            "RC ladder, N pairs of components connected in a for",
            "RCLadder.mo",
            TO_MILLION,
        ),
        Family {
            name: "RCLadderWritten",
            text: "the same ladder written out, N components",
            source: ModelSource::Text(written::ladder),
            sizes: TO_100_000,
        },
        Family {
            name: "SupplyWritten",
            text: "a network of lines, batteries, heaters and walls written out in no order, N components",
            source: ModelSource::Text(written::supply),
            sizes: TO_100_000,
        },
        file(
            "HeatEquations",
            "heat conduction in a rod of N cells as equations",
            "HeatEquations.mo",
            TO_MILLION,
        ),
        file(
            "HeatComponents",
            "heat conduction in a rod of N cells as connected components",
            "HeatComponents.mo",
            TO_MILLION,
        ),
        file(
            "Heat2D",
            "heat conduction in a plate of N by N cells",
            "Heat2D.mo",
            &[10, 32, 100, 316, 1000],
        ),
        file(
            "LineEquations",
            "transmission line of N cells as equations",
            "LineEquations.mo",
            TO_MILLION,
        ),
        file(
            "LineComponents",
            "transmission line of N cells as connected components",
            "LineComponents.mo",
            TO_100_000,
        ),
        file(
            "Cascade",
            "N first-order blocks in a row",
            "Cascade.mo",
            TO_MILLION,
        ),
        file(
            "Oscillators",
            "N coupled harmonic oscillators, two states each",
            "Oscillators.mo",
            TO_MILLION,
        ),
        file(
            "HeatExchanger",
            "counter-current heat exchanger of N cells",
            "HeatExchanger.mo",
            TO_MILLION,
        ),
        file(
            "DCGrid",
            "DC distribution grid of N by N components",
            "DCGrid.mo",
            &[4, 10, 40, 100, 316],
        ),
        file(
            "Bodies",
            "string of N rigid bodies in space",
            "Bodies.mo",
            &[2, 8, 64],
        ),
        file(
            "Pendulums",
            "N pendulums in Cartesian coordinates, index 3",
            "Pendulums.mo",
            TO_100_000,
        ),
        file(
            "Friction",
            "N masses with dry friction and events",
            "Friction.mo",
            &[1, 10, 100, 1_000],
        ),
        file(
            "PowerSystem",
            "N power plants in a row",
            "PowerSystem.mo",
            &[8, 64, 640, 6_400],
        ),
        file(
            "PowerSystemFull",
            "N power plants, each linked to each",
            "PowerSystemFull.mo",
            &[8, 16, 64],
        ),
    ]
}

/// The family of a name.
pub fn by_name(name: &str) -> Option<Family> {
    all().into_iter().find(|f| f.name == name)
}

/// A model of one size.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file; its parameter `N` is to be set.
    File(PathBuf),
    /// The text itself.
    Text(String),
}

impl Family {
    /// The model of size `n`.
    pub fn model(&self, n: usize) -> Input {
        match self.source {
            ModelSource::File(name) => Input::File(crate::root().join("benches/models").join(name)),
            ModelSource::Text(text) => Input::Text(text(n)),
        }
    }
}
