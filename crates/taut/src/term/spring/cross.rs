//! Springs with an end on cloth or a soft solid: each has a dual.
//!
//! With d = x_b − x_a: f = d + u; p = f at the length that minimises spring, damping and ½ e |p − f|²; pull
//! e (2 (p − f) + u), u ← f − p. The weight e is each spring's own, √(k m) with k its stiffness in the step
//! and m the reduced mass of its ends, which is what converges fastest for one spring by itself, up to a few
//! times m: more would hold back what turns with a stiff spring.

use glam::Vec3;

use crate::{
    boundary::spring::{End, SpringTable},
    kernel::lanes::Quad,
    solve::nearest::tuning::SPRING_WEIGHT_MOST,
};

/// A spring with an end that is no particle.
#[derive(Clone, Copy, Debug)]
pub struct Cross {
    /// Vertices of the filter, or points.
    pub ends: [End; 2],
    /// Its number among those of the world.
    pub number: u32,
    /// What it is.
    pub spring: SpringTable,
}

/// Such a spring in this step, in units of the mean mass.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossState {
    /// Whether it is gone.
    pub is_broken: bool,
    /// What velocities grow by with a way \[1/s\].
    pub rate: f64,
    /// l of which the velocity at the end of the step is rate (l − past) \[m\].
    pub past: glam::DVec3,
    stiffness: f64,
    damping: f64,
    /// Dual \[m\].
    pub u: Vec3,
    /// e; 0 if it does not act.
    pub weight: f32,
}

impl Cross {
    /// Vertices of the filter that it pulls.
    pub fn vertices(&self) -> impl Iterator<Item = usize> + use<> {
        self.ends.into_iter().filter_map(|end| match end {
            End::Vertex(v) => Some(v as usize),
            End::Point(_) | End::Body { .. } => None,
        })
    }

    fn apart(&self, x: &[Quad]) -> Vec3 {
        let at = |end: End| match end {
            End::Vertex(v) => Vec3::from_slice(&x[v as usize]),
            End::Point(point) => point.as_vec3(),
            End::Body { .. } => Vec3::ZERO,
        };
        at(self.ends[1]) - at(self.ends[0])
    }
}

impl CrossState {
    /// Weights of the step: forces are multiplied by `unit`.
    pub fn enter(&mut self, own: &Cross, unit: f64, masses: &[f32], kept: &[f32]) {
        if self.is_broken {
            return;
        }
        self.stiffness = unit * own.spring.stiffness;
        self.damping = unit * own.spring.damping * self.rate;
        let inverse: f64 =
            own.vertices().map(|v| f64::from(masses[v])).filter(|m| *m > 0.0).map(|m| 1.0 / m).sum();
        let all = self.stiffness + self.damping;
        if inverse > 0.0 && all > 0.0 {
            let mass = 1.0 / inverse;
            self.weight = (all * mass).sqrt().min(f64::from(SPRING_WEIGHT_MOST) * mass) as f32;
        }
        let pull = Vec3::from_slice(kept);
        let is_usable = self.weight > 0.0 && pull.is_finite();
        self.u = if is_usable { pull / self.weight } else { Vec3::ZERO };
    }

    /// Adds its pulls to `r`. Gives how far it is from the length that it wants \[m\].
    pub fn pull(&mut self, own: &Cross, x: &[Quad], masses: &[f32], r: &mut [Quad]) -> f64 {
        if self.weight <= 0.0 {
            return 0.0;
        }
        let d = own.apart(x);
        let f = (d + self.u).as_dvec3();
        let length = f.length();
        let along = if length > 0.0 { f / length } else { glam::DVec3::ZERO };
        let weight = f64::from(self.weight);
        let wanted = self.stiffness * own.spring.rest + self.damping * self.past.dot(along) + weight * length;
        let p = (wanted / (self.stiffness + self.damping + weight)).max(0.0) * along;
        let moved = (p - f).as_vec3();
        let moved = if moved.is_finite() { moved } else { Vec3::ZERO };
        let pull = self.weight * (2.0 * moved + self.u);
        self.u = -moved;
        for (end, sign) in own.ends.into_iter().zip([-1.0, 1.0]) {
            if let End::Vertex(v) = end
                && masses[v as usize] > 0.0
            {
                (0..3).for_each(|k| r[v as usize][k] += sign * pull[k]);
            }
        }
        f64::from((d.as_dvec3() - p).length() as f32)
    }
}
