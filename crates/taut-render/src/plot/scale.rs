//! Axes: their range and their ticks.
//!
//! Linear axes have ticks at 1, 2 or 5 times a power of ten; logarithmic ones at decades, or at 1, 2 and 5
//! inside them where there are few. A logarithmic axis with zeros gets a position for them below its lowest
//! decade, labelled 0: a residual of zero is worth showing.

/// Values beyond this count as infinite, so that differences stay finite, and those below its inverse as
/// zero.
const LARGEST: f64 = 1e300;

/// Range of an axis: maps values to 0 (its start) to 1 (its end).
#[derive(Clone, Debug)]
pub struct Scale {
    log: bool,
    /// First and last value, or their decimal logarithms.
    range: [f64; 2],
    /// Whether there is a position for zero, one decade below the first decade.
    zero: bool,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position, 0 to 1.
    pub at: f64,
    /// Label; empty for minor ticks.
    pub label: Label,
}

/// A formatted number: `text`, and the exponent of ten in superscript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// On the baseline.
    pub text: String,
    /// Superscript, or empty.
    pub exponent: String,
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self { text, exponent: String::new() }
    }
}

impl Scale {
    /// A scale that shows all finite `values`. With `margins` it begins and ends at ticks, and at zero where
    /// that is near.
    pub fn new(log: bool, values: impl Iterator<Item = f64> + Clone, margins: bool) -> Self {
        let usable =
            values.filter(|v| v.abs() <= LARGEST).map(|v| if v.abs() < 1.0 / LARGEST { 0.0 } else { v });
        if log {
            return Self::new_log(usable, margins);
        }
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (mut low, mut high) = if low > high { (0.0, 1.0) } else { (low, high) };
        if margins {
            if low > 0.0 && low < 0.5 * high {
                low = 0.0;
            }
            if high < 0.0 && high > 0.5 * low {
                high = 0.0;
            }
        }
        if high - low <= 1e-9 * low.abs().max(high.abs()) {
            let around = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            // A constant zero has nothing below it to show.
            (low, high) = if low == 0.0 { (0.0, around) } else { (low - around, high + around) };
        }
        if margins {
            let step = step(high - low, 5.0);
            // A small tolerance: 0.3 is the third multiple of 0.1 despite rounding.
            (low, high) = ((low / step + 1e-6).floor() * step, (high / step - 1e-6).ceil() * step);
        }
        Self { log, range: [low, high], zero: false }
    }

    fn new_log(values: impl Iterator<Item = f64> + Clone, margins: bool) -> Self {
        let positive = values.clone().filter(|v| *v >= 1.0 / LARGEST).map(f64::log10);
        let (low, high) = positive.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let zero = values.clone().any(is_zero);
        let (mut low, mut high) = if low > high { (-1.0, 0.0) } else { (low, high) };
        if margins || high - low < 1e-3 || zero {
            (low, high) = ((low + 1e-9).floor(), (high - 1e-9).ceil());
            if high <= low {
                high = low + 1.0;
            }
        }
        Self { log: true, range: [low, high], zero }
    }

    /// Position of `value`, 0 to 1 for those that the scale was made for; none if it cannot be shown.
    pub fn place(&self, value: f64) -> Option<f64> {
        if value.abs() > LARGEST || value.is_nan() {
            return None;
        }
        let [low, high] = self.range;
        // Of a decade, at most a tenth of the axis.
        let strip = if self.zero { (1.0 / (high - low + 1.0)).min(0.1) } else { 0.0 };
        let value = match (self.log, is_zero(value)) {
            (false, _) => value,
            (true, true) => return self.zero.then_some(0.0),
            (true, false) if value < 0.0 => return None,
            (true, false) => value.log10(),
        };
        Some(strip + (1.0 - strip) * (value - low) / (high - low))
    }

    /// The labelled ticks, about `wanted` of them.
    pub fn ticks(&self, wanted: f64) -> Vec<Tick> {
        if self.log { self.log_ticks(wanted) } else { self.linear_ticks(wanted) }
    }

    fn linear_ticks(&self, wanted: f64) -> Vec<Tick> {
        let [low, high] = self.range;
        let step = step(high - low, wanted);
        let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
        let largest = first.abs().max(last.abs()) * step;
        let count = (last - first).clamp(0.0, 100.0) as usize;
        let values = (0..=count).map(|i| (first + i as f64) * step);
        let label = |value| written(value, step, largest);
        values.filter_map(|value| Some(Tick { at: self.place(value)?, label: label(value) })).collect()
    }

    fn log_ticks(&self, wanted: f64) -> Vec<Tick> {
        let [low, high] = self.range;
        let (first, last) = ((low - 1e-6).ceil() as i32, (high + 1e-6).floor() as i32);
        let every = (f64::from(last - first + 1) / (wanted + 1.0)).ceil().max(1.0) as usize;
        let plain = first >= -4 && last <= 4;
        let mut ticks = Vec::new();
        if self.zero {
            ticks.push(Tick { at: 0.0, label: "0".to_owned().into() });
        }
        // Inside of decades too, where there are few.
        let inside: &[f64] = if last - first < 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        for exponent in
            (first - 1..=last).filter(|e| (e - first).rem_euclid(every as i32) == 0 || last - first < 2)
        {
            for &digit in inside {
                let value = digit.log10() + f64::from(exponent);
                if value < low - 1e-6 || value > high + 1e-6 {
                    continue;
                }
                let label = power(digit, exponent, plain);
                let Some(at) = self.place(digit * 10f64.powi(exponent)) else { continue };
                ticks.push(Tick { at, label });
            }
        }
        ticks
    }

    /// Positions of minor ticks without labels: the digits of decades, if there are at most `decades`.
    pub fn small_ticks(&self, decades: f64) -> Vec<f64> {
        let [low, high] = self.range;
        if !self.log || high - low > decades {
            return Vec::new();
        }
        let exponents = low.floor() as i32..=high.floor() as i32;
        let values = exponents.flat_map(|e| (2..10).map(move |digit| f64::from(digit) * 10f64.powi(e)));
        let inside = |value: &f64| (low - 1e-6..=high + 1e-6).contains(&value.log10());
        values.filter(inside).filter_map(|value| self.place(value)).collect()
    }
}

fn is_zero(value: f64) -> bool {
    (0.0..1.0 / LARGEST).contains(&value)
}

/// 1, 2 or 5 times a power of ten that fits into `length` about `wanted` times.
fn step(length: f64, wanted: f64) -> f64 {
    let rough = (length / wanted).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let digit = rough / power;
    power
        * if digit < 1.5 {
            1.0
        } else if digit < 3.5 {
            2.0
        } else if digit < 7.5 {
            5.0
        } else {
            10.0
        }
}

/// A multiple of `step` with the digits that distinguish it from its neighbours.
fn written(value: f64, step: f64, largest: f64) -> Label {
    if value == 0.0 || value.abs() < step / 2.0 {
        return "0".to_owned().into();
    }
    if largest < 1e5 && step >= 0.99e-4 {
        let digits = (-step.log10() - 1e-6).ceil().max(0.0) as usize;
        return minus(format!("{value:.digits$}")).into();
    }
    // The same exponent for the whole axis, so that labels can be compared.
    let exponent = (largest.log10() + 1e-9).floor();
    let digits = (exponent - step.log10() - 1e-6).ceil().clamp(0.0, 12.0) as usize;
    let mantissa = value / 10f64.powf(exponent);
    Label { text: minus(format!("{mantissa:.digits$}×10")), exponent: minus(format!("{exponent}")) }
}

/// `digit` times a power of ten.
fn power(digit: f64, exponent: i32, plain: bool) -> Label {
    if plain {
        let digits = usize::try_from(-exponent).unwrap_or(0);
        return format!("{:.digits$}", digit * 10f64.powi(exponent)).into();
    }
    let text = if digit == 1.0 { "10".into() } else { format!("{digit}×10") };
    Label { text, exponent: minus(exponent.to_string()) }
}

/// The typographic minus sign.
fn minus(text: String) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        let join = |t: &Tick| format!("{}{}", t.label.text, t.label.exponent);
        scale.ticks(5.0).iter().map(join).collect()
    }

    #[test]
    fn ticks_are_round_numbers_that_cover_the_range() {
        let scale = Scale::new(false, [0.013, 0.087].into_iter(), true);
        assert_eq!(labels(&scale), ["0", "0.02", "0.04", "0.06", "0.08", "0.10"]);
        let scale = Scale::new(false, [-3.0, 7.0].into_iter(), true);
        assert_eq!(labels(&scale), ["−4", "−2", "0", "2", "4", "6", "8"]);
        let scale = Scale::new(false, [1234567.0, 2345678.0].into_iter(), true);
        assert!(labels(&scale).iter().all(|l| l.ends_with("×106")), "{:?}", labels(&scale));
        let scale = Scale::new(false, [0.0, 4.3].into_iter(), true);
        assert_eq!(labels(&scale), ["0", "1", "2", "3", "4", "5"]);
        let scale = Scale::new(false, [0.0; 3].into_iter(), true);
        assert_eq!(scale.place(0.0), Some(0.0));
        let scale = Scale::new(false, [5.0; 3].into_iter(), true);
        assert!((0.2..0.8).contains(&scale.place(5.0).unwrap()));
    }

    #[test]
    fn log_axes_mark_decades_and_have_a_place_for_zero() {
        let scale = Scale::new(true, [3e-5, 0.2].into_iter(), true);
        assert_eq!(labels(&scale), ["10−5", "10−4", "10−3", "10−2", "10−1", "100"]);
        assert_eq!(scale.place(0.0), None);
        let scale = Scale::new(true, [0.003, 0.2, 0.0].into_iter(), true);
        assert_eq!(labels(&scale), ["0", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(scale.place(0.0), Some(0.0));
        assert_eq!(scale.place(-1.0), None);
        assert!(scale.place(0.001).unwrap() > 0.05);
        let scale = Scale::new(true, [2.0, 7.0].into_iter(), true);
        assert_eq!(labels(&scale), ["1", "2", "5", "10"]);
        let scale = Scale::new(true, [0.0, 0.0].into_iter(), true);
        assert_eq!(scale.place(0.0), Some(0.0));
        let scale = Scale::new(true, [1e-17, 1e-2].into_iter(), true);
        assert!((3..9).contains(&scale.ticks(5.0).len()), "{:?}", labels(&scale));
        let scale = Scale::new(true, [3.0, 41.0].into_iter(), false);
        assert_eq!((scale.place(3.0), scale.place(41.0)), (Some(0.0), Some(1.0)));
    }

    #[test]
    fn any_values_give_a_scale_that_holds_them() {
        let mut random = 1u64;
        let mut next = move || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            f64::from_bits(random ^ random >> 17)
        };
        for round in 0..20_000 {
            let near = next();
            let values = [next(), if round % 3 == 0 { near } else { next() }, near, near * 1.000_000_1, 0.0];
            let values = &values[..1 + round % 5];
            for (log, margins) in [(false, false), (false, true), (true, false), (true, true)] {
                let scale = Scale::new(log, values.iter().copied(), margins);
                for &value in values {
                    if let Some(at) = scale.place(value) {
                        assert!((-1e-6..=1.0 + 1e-6).contains(&at), "{value} of {values:?} at {at}");
                    }
                }
                let ticks = scale.ticks(5.0);
                assert!(ticks.len() <= 20, "{values:?}: {ticks:?}");
                for tick in ticks {
                    assert!((-1e-3..=1.001).contains(&tick.at), "{values:?}: {tick:?}");
                    assert!(tick.label.text.len() < 30, "{values:?}: {tick:?}");
                }
            }
        }
    }
}
