//! Checkpoints as text and back: see the module above for the format.

use std::fmt::Write;
use std::hash::Hasher;

use acausal_base::Fnv;

use super::Checkpoint;

/// First line of a file.
const MAGIC: &str = "acausal checkpoint 4";
/// Begins the last line.
const CHECKSUM: &str = "checksum ";

impl Checkpoint {
    /// As text, see [`Checkpoint`].
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, values: &[f64]| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{name} {}", values.len());
            for v in values {
                let _ = write!(text, " {v:?}");
            }
            text.push('\n');
        };
        line("time", &[self.t]);
        line("origin", &self.origin);
        line("y", &self.y);
        line("yp", &self.yp);
        line("mem", &self.mem);
        line("conditions", &self.conditions);
        line("samples", &self.samples);
        line("scales", &self.scales);
        line("sides", &self.sides);
        line("shifts", &self.shifts);
        for d in &self.delays {
            line("delay", d);
        }
        for s in &self.spatials {
            line("distribution", s);
        }
        line("end", &[]);
        let mut text = format!(
            "{MAGIC}\nmodel {}\nfingerprint {:016x}\n{text}",
            self.model, self.fingerprint
        );
        let sum = checksum(&text);
        text.push_str(&sum);
        text
    }

    /// Reads the text back; a sentence says what is wrong with it.
    pub fn from_text(text: &str) -> Result<Checkpoint, String> {
        if text.lines().next() != Some(MAGIC) {
            return Err("it is no checkpoint of this version of acausal".into());
        }
        let damaged = || "it is not complete".to_string();
        let end = text.rfind(CHECKSUM).ok_or_else(damaged)?;
        let (text, sum) = text.split_at(end);
        if sum != checksum(text) {
            return Err("it was changed after it was written, its checksum is wrong".into());
        }
        let mut lines = text.lines();
        lines.next();
        let mut word = |name: &str| -> Result<String, String> {
            let line = lines.next().ok_or_else(damaged)?;
            let value = line.strip_prefix(name).and_then(|l| l.strip_prefix(' '));
            value.map(str::to_string).ok_or_else(damaged)
        };
        let model = word("model")?;
        let fingerprint = u64::from_str_radix(&word("fingerprint")?, 16).map_err(|_| damaged())?;
        let mut sections: Vec<(&str, Vec<f64>)> = Vec::new();
        for line in lines {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let count: usize = words
                .next()
                .and_then(|w| w.parse().ok())
                .ok_or_else(damaged)?;
            let values: Option<Vec<f64>> = words.map(|w| w.parse().ok()).collect();
            let values = values.filter(|v| v.len() == count).ok_or_else(damaged)?;
            sections.push((name, values));
        }
        if sections.last().map(|s| s.0) != Some("end") {
            return Err(damaged());
        }
        let mut take = |name: &str| -> Result<Vec<f64>, String> {
            let k = sections.iter().position(|s| s.0 == name);
            k.map(|k| std::mem::take(&mut sections[k].1))
                .ok_or_else(damaged)
        };
        let time = take("time")?;
        let origin = take("origin")?;
        let (&[t], Ok(origin)) = (&time[..], origin.try_into()) else {
            return Err(damaged());
        };
        Ok(Checkpoint {
            model,
            fingerprint,
            t,
            origin,
            y: take("y")?,
            yp: take("yp")?,
            mem: take("mem")?,
            conditions: take("conditions")?,
            samples: take("samples")?,
            scales: take("scales")?,
            sides: take("sides")?,
            shifts: take("shifts")?,
            delays: all(&mut sections, "delay"),
            spatials: all(&mut sections, "distribution"),
        })
    }
}

/// All sections of a name, in order.
fn all(sections: &mut [(&str, Vec<f64>)], name: &str) -> Vec<Vec<f64>> {
    let named = sections.iter_mut().filter(|s| s.0 == name);
    named.map(|s| std::mem::take(&mut s.1)).collect()
}

/// The last line of a file that begins with this text.
fn checksum(text: &str) -> String {
    let mut hash = Fnv::default();
    hash.write(text.as_bytes());
    format!("{CHECKSUM}{:016x}\n", hash.finish())
}
