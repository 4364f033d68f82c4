//! Pressure inside closed cloth (S5): what a caller says of it.

/// Pressure of the air around \[Pa\].
pub const AMBIENT: f64 = 101_325.0;

/// What [`Pressure::values`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressureLaw {
    /// Factor on the reference volume, at which the volume is kept: the constraint V = k V₀ of the lecture.
    /// Limits take precedence.
    Over,
    /// Pressure above that of the air around \[Pa\], whatever the volume.
    Pascal,
    /// Amount of an ideal gas of constant temperature: its pressure above that of the air around at the
    /// reference volume \[Pa\]. At other volumes p V is the same, with p the absolute pressure.
    Gas,
}

impl PressureLaw {
    /// Name in scene files, files of a run and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Over => "over",
            Self::Pascal => "pascal",
            Self::Gas => "gas",
        }
    }

    /// Values that are allowed, and how they are called.
    fn range(self) -> (std::ops::RangeInclusive<f32>, &'static str) {
        match self {
            Self::Over => {
                (0.001..=1000.0, "must lie between 0.001 and 1000 (a factor on the volume at rest)")
            }
            Self::Pascal => (-100_000.0..=1e6, "must lie between -100000 and 1000000 Pa"),
            Self::Gas => (-100_000.0..=1e6, "must lie between -100000 and 1000000 Pa at the volume at rest"),
        }
    }
}

/// Pressure inside a closed cloth, or inside several that seams close. Its gas has no mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Pressure {
    /// What the values are.
    pub law: PressureLaw,
    /// Times \[s\] and values, ascending, linear in between; the first and the last hold before and after.
    pub values: Vec<(f32, f32)>,
    /// Reference volume V₀ \[m³\]; `None` takes that of the rest shape, or of the start if the rest shape is
    /// not sewn together. Bags that start flat have none, and need one for [`PressureLaw::Over`] and
    /// [`PressureLaw::Gas`].
    pub volume: Option<f32>,
    /// Names of the other cloths that make up the bag with this one.
    pub with: Vec<String>,
}

impl Pressure {
    /// The same pressure at all times.
    pub fn new(law: PressureLaw, value: f32) -> Self {
        Self { law, values: vec![(0.0, value)], volume: None, with: Vec::new() }
    }

    /// The value at `time` \[s\].
    pub fn at(&self, time: f32) -> f32 {
        let after = self.values.partition_point(|(key, _)| *key <= time);
        let Some(&(to, end)) = self.values.get(after) else {
            return self.values.last().map_or(0.0, |(_, value)| *value);
        };
        let Some(&(from, start)) = after.checked_sub(1).and_then(|before| self.values.get(before)) else {
            return end;
        };
        start + (end - start) * ((time - from) / (to - from))
    }

    /// What is wrong with its numbers, if something is.
    pub fn problem(&self) -> Option<String> {
        let name = self.law.name();
        let (range, allowed) = self.law.range();
        if self.values.is_empty() {
            return Some(format!("pressure.{name} needs a value"));
        }
        if let Some((_, value)) = self.values.iter().find(|(_, value)| !range.contains(value)) {
            return Some(format!("pressure.{name} is {value}; it {allowed}"));
        }
        let is_fine = |time: &f32| (0.0..=1e6).contains(time);
        if !self.values.iter().all(|(time, _)| is_fine(time)) {
            return Some(format!("times of pressure.{name} must lie between 0 and 1000000 s"));
        }
        if !self.values.is_sorted_by(|a, b| a.0 < b.0) {
            return Some(format!("times of pressure.{name} must ascend"));
        }
        let volume = self.volume.unwrap_or(1.0);
        if !(1e-12..=1e9).contains(&volume) {
            return Some(format!("pressure.volume is {volume}; it must lie between 1e-12 and 1e9 m³"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_linear_between_keys_and_hold_outside() {
        let values = vec![(1.0, 10.0), (3.0, 30.0), (4.0, 0.0)];
        let pressure = Pressure { values, ..Pressure::new(PressureLaw::Pascal, 0.0) };
        let at = [0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 9.0].map(|time| pressure.at(time));
        assert_eq!(at, [10.0, 10.0, 20.0, 30.0, 15.0, 0.0, 0.0]);
        assert_eq!(pressure.problem(), None);
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let of = |law, value| Pressure::new(law, value).problem().unwrap_or_default();
        assert!(of(PressureLaw::Over, -1.0).contains("pressure.over is -1"));
        assert!(of(PressureLaw::Pascal, f32::NAN).contains("pressure.pascal is NaN"));
        assert!(of(PressureLaw::Gas, -2e5).contains("pressure.gas"));
        let values = vec![(1.0, 1.0), (1.0, 2.0)];
        let twice = Pressure { values, ..Pressure::new(PressureLaw::Over, 1.0) };
        assert!(twice.problem().unwrap().contains("ascend"));
        let volume = Pressure { volume: Some(f32::NAN), ..Pressure::new(PressureLaw::Gas, 1.0) };
        assert!(volume.problem().unwrap().contains("pressure.volume"));
    }
}
