//! Grooming: a brush that combs hair, and strokes that cut it.

use glam::Vec3;
use taut::{Hair, HairModel};

use super::Live;

/// Maximum coordinate of a brush or a stroke \[m\].
const FURTHEST: f32 = 1e4;

/// Where a brush went since the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Brush {
    /// Where it was then, and where it is now \[m\].
    way: [Vec3; 2],
    /// \[m\]
    radius: f32,
}

/// Whether strands of `hair` may be cut.
pub(super) fn may_be_cut(hair: &Hair) -> bool {
    hair.model == HairModel::Rod && hair.full.is_none()
}

fn point(given: [f32; 3]) -> Result<Vec3, String> {
    let point = Vec3::from_array(given);
    if point.is_finite() && point.abs().max_element() <= FURTHEST {
        return Ok(point);
    }
    Err(format!("points must be within {FURTHEST} m"))
}

impl Live {
    /// The brush goes on to `to`; frames that come take hair along.
    pub(super) fn comb(&mut self, from: [f32; 3], to: [f32; 3], radius: f32) -> Result<(), String> {
        let (from, to) = (point(from)?, point(to)?);
        if !(radius > 0.0 && radius <= FURTHEST) {
            return Err(format!("the radius of a brush must be above 0, at most {FURTHEST} m"));
        }
        let from = self.brush.map_or(from, |brush| brush.way[0]);
        self.brush = Some(Brush { way: [from, to], radius });
        Ok(())
    }

    /// Combs for the frame that comes; the brush stays where it is until the next request.
    pub(super) fn brush_hair(&mut self) {
        let Some(brush) = self.brush.take() else { return };
        // What was checked when it came is in range.
        let combed = self.engine.comb(brush.way, brush.radius);
        debug_assert!(combed.is_ok());
    }

    /// Cuts the strands that cross the triangle between the eye and both ends of a stroke.
    pub(super) fn cut(&mut self, corners: [[f32; 3]; 3]) -> Result<(), String> {
        let [eye, from, to] = corners.map(point);
        let corners = [eye?, from?, to?];
        for k in 0..self.handles.len() {
            let hair = self.engine.description().bodies[k].as_hair();
            let Some(hair) = hair.filter(|hair| may_be_cut(hair)) else { continue };
            let x = self.engine.state().positions(self.engine.world(), k);
            let points = crossed(hair, &x, corners);
            if !points.is_empty() {
                self.engine.cut_hair(self.handles[k], &points).map_err(|error| error.to_string())?;
            }
        }
        self.follow_tears();
        Ok(())
    }
}

/// The points before which a strand crosses the triangle `corners`, with hair at `x` \[m\].
fn crossed(hair: &Hair, x: &[Vec3], [a, b, c]: [Vec3; 3]) -> Vec<u32> {
    let (u, v) = (b - a, c - a);
    let normal = u.cross(v);
    let crosses = |[p, q]: [Vec3; 2]| {
        let (above, below) = ((p - a).dot(normal), (q - a).dot(normal));
        if above * below > 0.0 || above == below {
            return false;
        }
        let at = p + (q - p) * (above / (above - below)) - a;
        // Weights of b and c, times the square of the normal.
        let (s, t) = (at.cross(v).dot(normal), u.cross(at).dot(normal));
        s >= 0.0 && t >= 0.0 && s + t <= normal.length_squared()
    };
    let segments = hair.groom.segments().filter(|s| crosses(s.map(|v| x[v as usize])));
    segments.map(|[_, end]| end).collect()
}

#[cfg(test)]
mod tests {
    use taut::{HairMaterial, mesh::groom::Groom};

    use super::*;

    #[test]
    fn a_stroke_crosses_what_lies_behind_it() {
        let x: Vec<Vec3> = (0..5).map(|k| Vec3::NEG_Y * k as f32).collect();
        let groom = Groom { positions: x.clone(), counts: vec![5], radii: Vec::new() };
        let hair = Hair::new("hair", groom, HairMaterial::named("european").unwrap());
        let stroke = |height: f32, from: f32, to: f32, depth: f32| {
            [Vec3::new(0.0, height, 3.0), Vec3::new(from, height, depth), Vec3::new(to, height, depth)]
        };
        assert_eq!(crossed(&hair, &x, stroke(-2.5, -1.0, 1.0, -3.0)), [3]);
        assert!(crossed(&hair, &x, stroke(-2.5, 0.5, 1.0, -3.0)).is_empty(), "beside it");
        assert!(crossed(&hair, &x, stroke(-2.5, -1.0, 1.0, 1.0)).is_empty(), "before it");
        assert!(crossed(&hair, &x, stroke(0.5, -1.0, 1.0, -3.0)).is_empty(), "above it");
        // A stroke of no length, and one across everything slantwise.
        assert!(crossed(&hair, &x, stroke(-2.5, 0.0, 0.0, -3.0)).is_empty());
        let slant = [Vec3::new(0.0, -1.2, 3.0), Vec3::new(-1.0, -1.2, -3.0), Vec3::new(1.0, -1.4, -3.0)];
        assert_eq!(crossed(&hair, &x, slant).len(), 1);
    }
}
