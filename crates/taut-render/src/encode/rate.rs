//! Frame rates as fractions, as files store them.

/// Frames per second as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Frames …
    pub frames: u32,
    /// … in this many seconds.
    pub seconds: u32,
}

impl Rate {
    /// The fraction that `frame_rate` approximates: 30, 25/2, 30000/1001 for 29.97. None unless it is 0.01 to
    /// 1000.
    pub fn nearest(frame_rate: f32) -> Option<Self> {
        if !(0.01..=1000.0).contains(&frame_rate) {
            return None;
        }
        let wanted = f64::from(frame_rate);
        let error = |rate: Self| (f64::from(rate.frames) / f64::from(rate.seconds) / wanted - 1.0).abs();
        // Television's rates are written with two or three digits: 23.976, 29.97, 59.94.
        let television = Self { frames: (wanted * 1.001).round() as u32 * 1000, seconds: 1001 };
        let of = |seconds: u32| Self { frames: (wanted * f64::from(seconds)).round() as u32, seconds };
        let simple = (1..=8).map(of).find(|&rate| rate.frames > 0 && error(rate) < 1e-6);
        let near = || (television.frames > 0 && error(television) < 3e-5).then_some(television);
        let close =
            || (1..=1000).map(of).filter(|r| r.frames > 0).min_by(|a, b| error(*a).total_cmp(&error(*b)));
        simple.or_else(near).or_else(close)
    }

    /// Start time of frame `frame`, with `units` units per second, rounded.
    pub fn start(self, frame: u64, units: u64) -> u64 {
        let (frames, seconds) = (u64::from(self.frames), u64::from(self.seconds));
        (frame * seconds * units + frames / 2) / frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_rates_are_exact() {
        let cases = [
            (30.0, 30, 1),
            (24.0, 24, 1),
            (12.5, 25, 2),
            (29.97, 30_000, 1001),
            (23.976, 24_000, 1001),
            (59.94, 60_000, 1001),
            (1.0, 1, 1),
            (0.5, 1, 2),
            (1000.0, 1000, 1),
            (1.0 / (1.0 / 30.0), 30, 1),
        ];
        for (rate, frames, seconds) in cases {
            assert_eq!(Rate::nearest(rate), Some(Rate { frames, seconds }), "{rate}");
        }
    }

    #[test]
    fn odd_rates_are_close_and_senseless_ones_refused() {
        for rate in [0.01f32, 7.3, 15.015, 33.333, 47.11, 119.88, 999.9] {
            let near = Rate::nearest(rate).unwrap();
            let error = f64::from(near.frames) / f64::from(near.seconds) / f64::from(rate) - 1.0;
            assert!(error.abs() < 1e-4, "{rate}: {near:?}");
        }
        for rate in [0.0, -30.0, f32::NAN, f32::INFINITY, 1e-3, 1001.0] {
            assert_eq!(Rate::nearest(rate), None, "{rate}");
        }
    }

    #[test]
    fn times_do_not_drift() {
        let rate = Rate { frames: 30, seconds: 1 };
        let starts: Vec<u64> = (0..7).map(|frame| rate.start(frame, 100)).collect();
        assert_eq!(starts, [0, 3, 7, 10, 13, 17, 20]);
        assert_eq!(rate.start(30_000, 100), 100_000);
    }
}
