//! Springs in position-based dynamics: compliant constraints with damping (XPBD; Macklin 2016, section 4.3).
//!
//! With C = |l| − l₀, K = k Δt² and D = c Δt, a spring has pulled by λ = −(K C + D Ċ Δt) at the end of a
//! step, Ċ Δt the way of its ends along it since the step began: the lecture's force, implicit. Each
//! projection adds Δλ = −(K C + D Ċ Δt + λ) / (1 + (K + D) w), w the inverse masses of both ends. Macklin
//! divides by K, so that his springs need a stiffness; these may have damping alone. Any stiffness is stable.
//!
//! Springs are few, and are joined to long chains: they are projected one after the other, forwards and
//! backwards in turns, in double precision.

use glam::DVec3;

use crate::{
    boundary::spring::{End, SpringTable},
    kernel::lanes::Quad,
};

/// A spring between vertices, or a vertex and a point.
#[derive(Clone, Debug)]
struct Spring {
    ends: [End; 2],
    /// Its number among all springs of the world.
    number: u32,
    /// l₀ \[m\].
    rest: f64,
    /// k Δt² \[kg\].
    stiffness: f64,
    /// c Δt \[kg\].
    damping: f64,
}

/// All springs of a world that join vertices.
#[derive(Clone, Debug, Default)]
pub struct Springs {
    springs: Vec<Spring>,
    /// Unit of inverse masses \[1/kg\].
    inverse_mass_unit: f64,
}

/// An end in this moment: where it is \[m\], how far it has come since the step began \[m\], and its inverse
/// mass \[1/kg\].
type Placed = (DVec3, DVec3, f64);

impl Springs {
    /// Those of `all` that pull at vertices, for steps of `dt` \[s\].
    pub fn new(all: &[SpringTable], dt: f64, inverse_mass_unit: f64) -> Self {
        let acts =
            |spring: &SpringTable| !spring.is_rigid() && (spring.stiffness > 0.0 || spring.damping > 0.0);
        let springs = (0..).zip(all).filter(|(_, spring)| acts(spring)).map(|(number, spring)| Spring {
            ends: spring.ends,
            number,
            rest: spring.rest,
            stiffness: spring.stiffness * dt * dt,
            damping: spring.damping * dt,
        });
        Self { springs: springs.collect(), inverse_mass_unit }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.springs.len()
    }

    /// Projects each that is not `broken` once. The step began at `old`; `multipliers` are the λ of all.
    pub fn project(
        &self,
        (old, x): (&[Quad], &mut [Quad]),
        broken: &[bool],
        multipliers: &mut [f64],
        is_backward: bool,
    ) {
        let count = self.springs.len();
        for k in 0..count {
            let k = if is_backward { count - 1 - k } else { k };
            let spring = &self.springs[k];
            if !broken.get(spring.number as usize).is_some_and(|broken| *broken) {
                self.project_one(spring, (old, x), &mut multipliers[k]);
            }
        }
    }

    fn project_one(&self, spring: &Spring, (old, x): (&[Quad], &mut [Quad]), multiplier: &mut f64) {
        let placed = |end: End| -> Placed {
            match end {
                End::Vertex(v) => {
                    let at = position(&x[v as usize]);
                    let weight = f64::from(x[v as usize][3]) * self.inverse_mass_unit;
                    (at, at - position(&old[v as usize]), weight)
                }
                End::Point(point) => (point, DVec3::ZERO, 0.0),
                End::Body { .. } => (DVec3::ZERO, DVec3::ZERO, 0.0),
            }
        };
        let [(a, way_a, w_a), (b, way_b, w_b)] = spring.ends.map(placed);
        let (along, length) = ((b - a).normalize_or_zero(), (b - a).length());
        let weight = w_a + w_b;
        if weight <= 0.0 || along == DVec3::ZERO {
            // What is held at both ends does not move; a collapsed spring has no direction.
            return;
        }
        let Spring { stiffness, damping, rest, .. } = *spring;
        let pulled = stiffness * (length - rest) + damping * (way_b - way_a).dot(along);
        let step = -(pulled + *multiplier) / (1.0 + (stiffness + damping) * weight);
        if !step.is_finite() {
            return;
        }
        *multiplier += step;
        for (end, way) in spring.ends.into_iter().zip([-w_a * step, w_b * step]) {
            if let End::Vertex(v) = end {
                let x = &mut x[v as usize];
                let moved = position(x) + way * along;
                x[..3].copy_from_slice(&moved.as_vec3().to_array());
            }
        }
    }
}

fn position(x: &Quad) -> DVec3 {
    DVec3::new(x[0].into(), x[1].into(), x[2].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(stiffness: f64, damping: f64) -> SpringTable {
        SpringTable {
            ends: [End::Vertex(0), End::Vertex(1)],
            rest: 1.0,
            stiffness,
            damping,
            breaking_force: f64::INFINITY,
            range: crate::Limit::default().range(),
            is_limited: false,
            length: 1.0,
        }
    }

    /// Two masses of 1 and 2 kg that are 1.5 m apart, the second of which has come 0.1 m.
    const OLD: [Quad; 2] = [[0.0, 0.0, 0.0, 1.0], [1.4, 0.0, 0.0, 0.5]];
    const NOW: [Quad; 2] = [[0.0, 0.0, 0.0, 1.0], [1.5, 0.0, 0.0, 0.5]];

    #[test]
    fn projections_end_at_the_implicit_step_and_keep_momentum() {
        for (stiffness, damping) in [(10.0, 0.0), (10.0, 3.0), (0.0, 3.0), (1e9, 0.0)] {
            let dt = 0.1;
            let springs = Springs::new(&[table(stiffness, damping)], dt, 1.0);
            let (mut x, mut multipliers) = (NOW, [0.0]);
            for k in 0..4 {
                springs.project((&OLD, &mut x), &[false], &mut multipliers, k % 2 == 1);
            }
            let length = f64::from(x[1][0] - x[0][0]);
            let way = length - 1.4;
            let pull = dt * dt * stiffness * (length - 1.0) + dt * damping * way;
            // x − prediction = w λ.
            let moved = [f64::from(x[0][0]), f64::from(x[1][0]) - 1.5];
            let off = (moved[0] - pull).abs().max((moved[1] + 0.5 * pull).abs());
            let rounding = 1e-6 * (1.0 + dt * dt * stiffness);
            assert!(off < rounding, "{stiffness} {damping}: {x:?}, pull {pull}");
            assert!((moved[0] + 2.0 * moved[1]).abs() < 1e-6, "{stiffness} {damping}: {x:?}");
        }
    }

    #[test]
    fn broken_springs_collapsed_ones_and_those_that_do_nothing_are_left_alone() {
        let springs = Springs::new(&[table(10.0, 0.0), table(0.0, 0.0)], 0.1, 1.0);
        assert_eq!(springs.count(), 1);
        let (mut x, mut multipliers) = (NOW, [0.0]);
        springs.project((&OLD, &mut x), &[true, false], &mut multipliers, false);
        assert_eq!(x, NOW);
        let mut together = [NOW[0]; 2];
        springs.project((&OLD, &mut together), &[], &mut multipliers, false);
        assert_eq!((together, multipliers), ([NOW[0]; 2], [0.0]));
    }
}
