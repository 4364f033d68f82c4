//! Where the solver aims inside the limits, so that what converges ends within them as they are given.

use crate::{Body, Description, Limit, Tolerance, Weave, body::elements::Elements, kernel::strain::Range};

/// Part of the tightest limit that the solver aims inside it.
///
/// Iterations of hanging sheets of 64×64 cells, over those with 0.01 past the limits: 1.24 times at 5 %, 2.05
/// times at 1 %.
const PART: f32 = 0.1;

/// The same where limits along warp, weft and bias differ: scene `weave`, with 1 % along the warp and 15 %
/// along the bias, misses them from frame 32 on with a tenth.
const PART_OF_WEAVE: f32 = 0.3;

/// The same where cloth has pressure inside: a balloon is at its limit everywhere, and as much too small.
const PART_OF_PRESSURE: f32 = 0.02;

/// The same where cloth is developable: half of its limits, which it meets in half of the iterations.
const PART_OF_DEVELOPABLE: f32 = 0.5;

/// The most by which it does.
const MOST: f32 = 0.005;

/// The least: single precision measures strains of fine meshes no better than by a few 1e-5.
const LEAST: f32 = 1e-4;

/// The largest part of a limit by which it does, so that there is room between lower and upper ones.
const MOST_OF_LIMIT: f32 = 0.5;

/// What the solver aims at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aim {
    /// How far inside the limits (strain).
    pub band: f32,
    /// How far from that a step may end (strain).
    pub tolerance: f32,
}

impl Aim {
    /// That of a world. One for all bodies, so that a residual has the same meaning everywhere.
    pub fn new(description: &Description) -> Self {
        let tightest = description.bodies.iter().flat_map(strain_limits).flat_map(|l| [l.min, l.max]);
        let tightest = tightest.flatten().map(f32::abs).fold(f32::INFINITY, f32::min);
        let inside = |wanted: f32| {
            let band = wanted.min(MOST_OF_LIMIT * tightest);
            // Nothing is inside a limit of 0.
            Self { band, tolerance: if band > 0.0 { band } else { wanted } }
        };
        match description.solver.tolerance {
            Tolerance::Past(tolerance) => Self { band: 0.0, tolerance },
            Tolerance::Inside(wanted) => inside(wanted),
            Tolerance::Chosen => {
                let differ = |weave: &Weave| weave.warp != weave.weft || weave.weft != weave.bias;
                let is_woven = description.cloths().any(|cloth| cloth.weave.as_ref().is_some_and(differ));
                let is_pressed = description.cloths().any(|cloth| cloth.pressure.is_some());
                let is_developable = description.cloths().any(|cloth| cloth.midpoints.is_some());
                let part = match (is_pressed, is_woven) {
                    _ if is_developable => PART_OF_DEVELOPABLE,
                    (true, _) => PART_OF_PRESSURE,
                    (false, true) => PART_OF_WEAVE,
                    (false, false) => PART,
                };
                inside((part * tightest).clamp(LEAST, MOST))
            }
        }
    }

    /// What is aimed at within `limits` on stretches.
    pub fn inside(&self, limits: Range<f32>) -> Range<f32> {
        // Where there is no lower limit it is 0; where there is no upper one it is out of reach.
        let min = if limits.min > 0.0 { limits.min + self.band } else { limits.min };
        Range { min, max: limits.max - self.band }
    }

    /// What is left of a `residual` past what is aimed at: how far it is past the limit itself.
    pub fn past_limit(&self, residual: f32) -> f32 {
        (residual - self.band).max(0.0)
    }

    /// The tolerance as lanes compare with it: they measure in single precision, and the certificate must
    /// find the limit kept in double precision.
    pub fn bound(&self) -> f32 {
        (self.tolerance - 2e-6).max(0.0)
    }

    /// Lets all `elements` aim inside their limits.
    pub(crate) fn narrow(&self, elements: &mut Elements) {
        for element in &mut elements.strain {
            element.range = self.inside(element.range);
            if let Some(weave) = &mut element.weave {
                for range in [&mut weave.warp, &mut weave.weft, &mut weave.bias] {
                    *range = self.inside(*range);
                }
            }
        }
        elements.tetrahedra.iter_mut().for_each(|element| element.range = self.inside(element.range));
        let edges = elements.edges.iter_mut().chain(&mut elements.model_edges);
        edges.for_each(|element| element.range = self.inside(element.range));
    }
}

/// All limits on strain of a body.
fn strain_limits(body: &Body) -> [Limit; 4] {
    match body {
        Body::Cloth(cloth) => match cloth.weave {
            Some(weave) => [weave.warp, weave.weft, weave.bias, cloth.edge],
            None => [cloth.strain, cloth.edge, Limit::default(), Limit::default()],
        },
        Body::Solid(solid) => [solid.strain, Limit::default(), Limit::default(), Limit::default()],
        Body::Particles(particles) => [particles.edge, Limit::default(), Limit::default(), Limit::default()],
        // Strands have aims of their own.
        Body::Hair(_) => [Limit::default(); 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cloth, mesh::TriangleMesh};

    fn aim(strain: Limit, tolerance: Tolerance) -> Aim {
        let mut description = Description::default();
        let cloth =
            Cloth { strain, ..Cloth::new("sheet", TriangleMesh::default(), crate::Material::default()) };
        description.bodies.push(Body::Cloth(cloth));
        description.solver.tolerance = tolerance;
        Aim::new(&description)
    }

    #[test]
    fn a_tenth_of_the_tightest_limit_inside_and_not_more_than_half_a_percent() {
        let both = |min, max| Limit { min: Some(min), max: Some(max) };
        let chosen = |min, max| aim(both(min, max), Tolerance::Chosen);
        assert_eq!(chosen(-0.05, 0.05), Aim { band: 0.005, tolerance: 0.005 });
        assert_eq!(chosen(-0.2, 0.01), Aim { band: 0.001, tolerance: 0.001 });
        assert_eq!(chosen(-0.5, 0.5), Aim { band: 0.005, tolerance: 0.005 });
        // Nothing is inside a limit of 0; half of a tiny one is.
        assert_eq!(chosen(-0.1, 0.0), Aim { band: 0.0, tolerance: 1e-4 });
        assert_eq!(chosen(-1e-4, 1e-4), Aim { band: 5e-5, tolerance: 5e-5 });
        assert_eq!(aim(both(-0.01, 0.01), Tolerance::Inside(0.2)), Aim { band: 0.005, tolerance: 0.005 });
        assert_eq!(aim(Limit::default(), Tolerance::Chosen), Aim { band: 0.005, tolerance: 0.005 });
    }

    #[test]
    fn the_papers_tolerance_is_past_the_limits() {
        let limit = Limit { min: None, max: Some(0.05) };
        let aim = aim(limit, Tolerance::Past(0.01));
        assert_eq!((aim.band, aim.tolerance), (0.0, 0.01));
        assert_eq!(aim.inside(limit.range()), limit.range());
        assert_eq!(aim.past_limit(0.003), 0.003);
    }

    #[test]
    fn what_converges_is_within_the_limit() {
        let limit = Limit { min: Some(-0.05), max: Some(0.05) };
        let aim = aim(limit, Tolerance::Chosen);
        let target = aim.inside(limit.range());
        assert!((target.min - 0.955).abs() < 1e-6 && (target.max - 1.045).abs() < 1e-6, "{target:?}");
        assert!(target.max + aim.bound() <= 1.05 && target.min - aim.bound() >= 0.95);
        assert_eq!(aim.past_limit(aim.tolerance), 0.0);
    }
}
