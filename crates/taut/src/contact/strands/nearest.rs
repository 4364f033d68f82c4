//! The nearest of what a point touches, and what is on its other side.

use super::Touch;

/// Cosine of the angle between normals below which two things are on opposite sides of a point.
pub(super) const OPPOSITE: f32 = -0.5;

/// Distance at which something on the other side of a point is looked for \[m\]: more than margins are wide.
const OTHER_SIDE: f32 = 2e-3;

/// By how much the offset of the nearest thing changes for a point that has not both distances, so that it
/// goes to where it has the same from both: along the normal of the first, the gap of the second changes by
/// the `cosine` of the angle between normals. 0 where there is room, or where they are not opposite.
pub(super) fn squeezed([first, second]: [f32; 2], cosine: f32) -> f32 {
    if cosine >= OPPOSITE {
        return 0.0;
    }
    ((second - cosine * first) / (1.0 - cosine)).min(0.0)
}

/// The two nearest things so far.
#[derive(Debug)]
pub(super) struct Nearest {
    pub reach: f32,
    /// With their gaps \[m\].
    first: Option<(f32, Touch)>,
    second: Option<(f32, Touch)>,
}

impl Nearest {
    /// Of what is nearer than `reach` \[m\].
    pub fn within(reach: f32) -> Self {
        Self { reach, first: None, second: None }
    }

    /// Distance from which on something does not matter \[m\].
    pub fn far(&self) -> f32 {
        let nearest = self.first.map_or(self.reach, |(gap, _)| gap.abs());
        nearest.max(if self.first.is_some() { 0.0 } else { OTHER_SIDE })
    }

    /// Takes what a point touches, with its gap \[m\].
    pub fn take(&mut self, found: Option<(f32, Touch)>) {
        let Some((gap, _)) = found else { return };
        let is_nearer = |than: &Option<(f32, Touch)>| than.is_none_or(|(other, _)| gap < other);
        if is_nearer(&self.first) {
            self.second = std::mem::replace(&mut self.first, found);
        } else if is_nearer(&self.second) {
            self.second = found;
        }
    }

    /// The nearest, if it is within reach.
    pub fn touch(self) -> Option<Touch> {
        let (gap, mut touch) = self.first.filter(|(gap, _)| *gap < self.reach)?;
        if let Some((other, behind)) = self.second {
            touch.offset += squeezed([gap, other], touch.normal.dot(behind.normal));
        }
        Some(touch)
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::contact::strands::Thing;

    fn plane(normal: Vec3, offset: f32) -> Touch {
        Touch { normal, offset, drift: Vec3::ZERO, friction: 0.0, thing: Thing::Fixed }
    }

    #[test]
    fn a_point_between_two_things_goes_to_the_middle() {
        // Room of 1 mm between two planes that want 1 mm each: from y = 0 to y = 1 mm.
        let (floor, roof) = (plane(Vec3::Y, 1e-3), plane(Vec3::NEG_Y, 0.0));
        for y in [-2e-4f32, 2e-4, 5e-4, 7e-4, 1.1e-3] {
            let p = Vec3::Y * y;
            let mut nearest = Nearest::within(0.0);
            for touch in [floor, roof] {
                nearest.take(Some((touch.normal.dot(p) - touch.offset, touch)));
            }
            let touch = nearest.touch().unwrap();
            // It ends on the plane that it is given.
            let end = touch.normal.y * touch.offset;
            assert!((end - 5e-4).abs() < 1e-9, "from {y} to {end}");
        }
    }

    #[test]
    fn there_is_room_beside_corners_and_far_things() {
        assert_eq!(squeezed([-1e-3, -5e-4], 0.0), 0.0);
        assert_eq!(squeezed([-1e-3, 3e-3], -1.0), 0.0);
        assert!((squeezed([-1e-3, 5e-4], -1.0) + 2.5e-4).abs() < 1e-9);
    }
}
