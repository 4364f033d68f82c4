//! Seeded random numbers: SplitMix64. The same seed gives the same sequence on every machine.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed and a position in the run, so that no state must be kept between steps.
    pub fn new(seed: u64, step: u64) -> Self {
        let mut random = Self(seed ^ step.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.next_u64();
        random
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, not including, `bound` (at least 1).
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next_u64() >> 32) * u64::from(bound.max(1))) >> 32) as u32
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Shuffles in place (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_keeps_all_items_and_reaches_every_order() {
        let mut random = Random::new(1, 2);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let mut items = [0, 1, 2, 3];
            random.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 24);
    }

    #[test]
    fn unit_stays_below_one_and_averages_a_half() {
        let mut random = Random::new(7, 0);
        let mean = (0..100_000)
            .map(|_| {
                let u = random.unit();
                assert!((0.0..1.0).contains(&u));
                f64::from(u)
            })
            .sum::<f64>()
            / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
