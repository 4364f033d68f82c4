//! Pins: vertices that are held.
use std::ops::Range;

use super::motion::Motion;

/// How the vertices of a pin follow an obstacle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttachedShape {
    /// They keep the shape that they start with, and translate and rotate as a whole.
    #[default]
    Rigid,
    /// Each follows its own face.
    Skin,
}

/// Vertices that are held at their positions when the pin begins, or carried from there by a motion or a mesh
/// obstacle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pin {
    /// Vertex indices, in the mesh's order.
    pub vertices: Vec<u32>,
    /// Their motion. A pin that begins later follows only the changes of the motion from then on.
    pub motion: Motion,
    /// Start time \[s\]: the pin holds from the first frame that is not earlier. 0: from the start, exactly
    /// at the initial positions.
    pub from: f32,
    /// End time \[s\]: the pin holds until the first frame that is not earlier. `None`: to the end.
    pub until: Option<f32>,
    /// Index of the mesh obstacle in the description whose nearest faces the vertices follow from the start
    /// on, in place of a motion.
    pub attach: Option<usize>,
    /// How they follow that obstacle.
    pub shape: AttachedShape,
    /// Stiffness of a spring between each vertex and its target \[N/m\], to which limits take precedence;
    /// `None`: vertices are held exactly at their targets.
    pub stiffness: Option<f32>,
    /// Factors on the stiffness of each of `vertices`, and their weights in a rigid shape. Empty: 1 for all.
    pub weights: Vec<f32>,
    /// Times over which the stiffness grows from 0 after `from`, and falls to 0 before `until` \[s\].
    pub fade: [f32; 2],
}

/// A spring in place of a hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spring {
    /// \[N/m\]
    pub stiffness: f32,
    from: f32,
    until: Option<f32>,
    fade: [f32; 2],
}

impl Spring {
    /// Fraction of its stiffness at `time` \[s\]: grows and falls smoothly, with no kink at either end.
    pub fn strength(&self, time: f32) -> f32 {
        let smooth = |since: f32, whole: f32| {
            let part = if whole > 0.0 { (since / whole).clamp(0.0, 1.0) } else { 1.0 };
            part * part * (3.0 - 2.0 * part)
        };
        let fall = self.until.map_or(1.0, |until| smooth(until - time, self.fade[1]));
        smooth(time - self.from, self.fade[0]) * fall
    }
}

impl Pin {
    /// The spring of vertex number `k` of its vertices, if it does not hold exactly.
    pub(crate) fn spring(&self, k: usize) -> Option<Spring> {
        let stiffness = self.stiffness? * self.weights.get(k).copied().unwrap_or(1.0);
        Some(Spring { stiffness, from: self.from, until: self.until, fade: self.fade })
    }

    /// The frames at whose end it begins and ends, counted from the start (0): it holds from the first to the
    /// last.
    ///
    /// Pins switch between frames, not inside them, so that the position where a vertex was caught can be
    /// read from a frame.
    pub fn frames(&self, frame_time: f32) -> Range<u32> {
        self.frames_after(0.0, frame_time)
    }

    /// The same if frame 0 was at `origin` \[s\].
    pub(crate) fn frames_after(&self, origin: f64, frame_time: f32) -> Range<u32> {
        // Rounding may move a time that was meant to be a frame's.
        let frame =
            |time: f32| ((f64::from(time) - origin) / f64::from(frame_time) - 1e-3).ceil().max(0.0) as u32;
        frame(self.from)..self.until.map_or(u32::MAX, frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_frames_mean_the_next_and_rounding_means_the_nearest() {
        let pin = |from, until| Pin { from, until, ..Pin::default() };
        assert_eq!(pin(0.0, None).frames(1.0 / 30.0), 0..u32::MAX);
        assert_eq!(pin(0.3, Some(0.5)).frames(1.0 / 30.0), 9..15);
        assert_eq!(pin(0.301, Some(0.501)).frames(1.0 / 30.0), 10..16);
        assert_eq!(pin(1e-9, Some(1e30)).frames(0.01), 0..u32::MAX);
    }

    #[test]
    fn springs_fade_in_and_out() {
        let pin = Pin {
            from: 1.0,
            until: Some(4.0),
            stiffness: Some(8.0),
            weights: vec![0.5],
            fade: [1.0, 0.5],
            ..Pin::default()
        };
        let spring = pin.spring(0).unwrap();
        assert_eq!(spring.stiffness, 4.0);
        let strengths = [0.5, 1.0, 1.5, 2.0, 3.5, 3.75, 4.0].map(|time| spring.strength(time));
        assert_eq!(strengths, [0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0]);
        let sudden = Pin { fade: [0.0; 2], ..pin }.spring(1).unwrap();
        assert_eq!((sudden.stiffness, sudden.strength(1.0), sudden.strength(3.99)), (8.0, 1.0, 1.0));
        assert_eq!(Pin::default().spring(0), None);
    }
}
