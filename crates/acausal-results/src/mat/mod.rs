//! MATLAB level 4 files in the trajectory layout of Dymola, which OpenModelica and most Modelica tools read.
//!
//! A level 4 file is a sequence of matrices: a header of five 32-bit integers (type `MOPT`, rows, columns, imaginary flag,
//! length of the name with its NUL), the name, and the elements column by column. A trajectory file holds
//!
//! | matrix | content in the orientation `binTrans` |
//! |---|---|
//! | `Aclass` | four lines of text: `Atrajectory`, `1.1`, a comment, `binTrans` (or `binNormal`, where all others are transposed) |
//! | `name` | one signal name per column |
//! | `description` | likewise; the unit stands at the end in brackets, `Angle [rad]` |
//! | `dataInfo` | per signal: data matrix (0 for time), row in it counted from 1 and negative for a negated alias, 0 (interpolate linearly), -1 (undefined outside) |
//! | `data_1` | constants: one row each after a row of time, a column for the start and one for the end |
//! | `data_2` | varying columns: one row each after a row of time, a column per output time |
//!
//! `data_2` comes last and grows by a column per output time, so that only its header is patched at the end.

mod read;
mod write;

pub(crate) use read::read;
pub use write::MatWriter;

use crate::SignalKind;

/// `MOPT` codes of little-endian matrices: numbers of 64 bit, integers of 32 bit, text of 8 bit.
const DOUBLE: i32 = 0;
const INT32: i32 = 20;
const TEXT: i32 = 51;

/// Joins description, unit and kind the way Dymola does: `Angle [rad]`, `Switch [:#(type=Boolean)]`.
fn describe(description: &str, unit: &str, kind: SignalKind) -> String {
    let kind = match kind {
        SignalKind::Real => "",
        SignalKind::Integer => ":#(type=Integer)",
        SignalKind::Boolean => ":#(type=Boolean)",
        SignalKind::Enumeration => ":#(type=Enumeration)",
    };
    let gap = if description.is_empty() { "" } else { " " };
    match (unit, kind) {
        ("", "") => description.to_string(),
        _ => format!("{description}{gap}[{unit}{kind}]"),
    }
}

/// Takes a description apart again. A display unit, `[K|degC]`, is dropped: values are stored in the unit.
fn undescribe(text: &str) -> (String, String, SignalKind) {
    let text = text.trim_end();
    let Some((description, bracket)) = text.strip_suffix(']').and_then(|t| t.rsplit_once('['))
    else {
        return (text.to_string(), String::new(), SignalKind::Real);
    };
    let (units, attributes) = bracket.split_once(":#").unwrap_or((bracket, ""));
    let unit = units.split('|').next().unwrap_or("");
    let kind = match attributes {
        a if a.contains("type=Integer") => SignalKind::Integer,
        a if a.contains("type=Boolean") => SignalKind::Boolean,
        a if a.contains("type=Enumeration") => SignalKind::Enumeration,
        _ => SignalKind::Real,
    };
    (description.trim_end().to_string(), unit.to_string(), kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_round_trip() {
        for (d, u, k, text) in [
            ("Angle", "rad", SignalKind::Real, "Angle [rad]"),
            ("", "N.m", SignalKind::Real, "[N.m]"),
            (
                "Switch",
                "",
                SignalKind::Boolean,
                "Switch [:#(type=Boolean)]",
            ),
            ("plain", "", SignalKind::Real, "plain"),
        ] {
            assert_eq!(describe(d, u, k), text);
            assert_eq!(undescribe(text), (d.to_string(), u.to_string(), k));
        }
        assert_eq!(
            undescribe("Temperature [K|degC]  "),
            ("Temperature".into(), "K".into(), SignalKind::Real)
        );
    }
}
