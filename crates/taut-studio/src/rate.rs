//! Rate limit of a viewer's messages: a token bucket.

use std::time::Instant;

/// Burst size \[messages\].
const BURST: f64 = 600.0;
/// Messages per second: twice the rate of a page that acknowledges 60 frames and drags with a pointer of 120
/// events per second.
const RATE: f64 = 360.0;
/// Excess messages that count as a flood.
const FLOOD: u32 = 2000;

/// Counts the messages of a viewer.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    left: f64,
    filled: Instant,
    dropped: u32,
}

/// Verdict on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Read,
    /// It is dropped, the first of a series.
    Dropped,
    /// It is dropped like the previous one.
    DroppedAgain,
    /// The viewer is disconnected.
    Flood,
}

impl Bucket {
    /// A full bucket.
    pub fn new(now: Instant) -> Self {
        Self { left: BURST, filled: now, dropped: 0 }
    }

    /// Counts a message.
    pub fn take(&mut self, now: Instant) -> Verdict {
        let elapsed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.left = (self.left + RATE * elapsed).min(BURST);
        self.filled = now;
        if self.left >= 1.0 {
            self.left -= 1.0;
            // Keeping to the rate until the bucket is full resets the count.
            if self.left > 0.5 * BURST {
                self.dropped = 0;
            }
            return Verdict::Read;
        }
        self.dropped += 1;
        match self.dropped {
            1 => Verdict::Dropped,
            FLOOD.. => Verdict::Flood,
            _ => Verdict::DroppedAgain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_steady_page_is_heard_and_a_flood_is_not() {
        let start = Instant::now();
        let mut bucket = Bucket::new(start);
        for k in 0..5000u32 {
            let now = start + Duration::from_secs_f64(f64::from(k) / 200.0);
            assert_eq!(bucket.take(now), Verdict::Read);
        }
        let mut bucket = Bucket::new(start);
        let verdicts: Vec<Verdict> = (0..3000).map(|_| bucket.take(start)).collect();
        assert!(verdicts[..600].iter().all(|v| *v == Verdict::Read));
        assert_eq!(verdicts[600], Verdict::Dropped);
        assert_eq!(verdicts[601], Verdict::DroppedAgain);
        assert_eq!(verdicts[2599], Verdict::Flood);
    }
}
