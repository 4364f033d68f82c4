//! The volume that closed cloth encloses as one constraint of all its vertices (the lecture's
//! "Overpressure").
//!
//! C = V − k_p V₀ with V = Σ (p₁ × p₂)·p₃ / 6 over the triangles. Its gradient at a vertex is a third of the
//! area vectors of the triangles around it, which lanes sum up colour by colour; V is a third of Σ xᵢ·∇ᵢV.
//! Both sums over vertices are in double precision, one after the other.

use std::ops::Range;

use glam::DVec3;

use crate::{
    Pressure,
    element::iterate::nothing_beside,
    exec::{
        batch::xyz,
        colored::{Colored, Corners, Exec, Kernel},
    },
    kernel::{
        lanes::{Lanes, Quad},
        real::{V3, cross, scale, sub},
    },
};

/// A closed cloth whose volume is kept.
#[derive(Clone, Debug)]
pub struct Enclosed {
    /// Its vertices.
    vertices: Range<usize>,
    triangles: Colored<(), 3>,
    /// Volume at rest \[m³\].
    rest: f64,
    /// Factor on it over time: the lecture's k_p.
    over: Option<Pressure>,
    /// k'.
    part: f64,
    /// α̃ in the unit of inverse masses.
    compliance: f64,
}

/// Gives each corner a third of the area vector of its triangle.
struct AreaVectors;

impl Kernel<(), 3> for AreaVectors {
    type Beside = ();

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        (): &(),
        (): &mut (),
        _at: usize,
        corners: &Corners<L, 3>,
        _worst: &mut L,
    ) -> Option<[V3<L>; 3]> {
        let [a, b, c] = xyz(&corners.quads);
        Some([scale(cross(sub(b, a), sub(c, a)), L::splat(1.0 / 6.0)); 3])
    }
}

/// The volume that these triangles enclose \[m³\].
pub fn volume_of(triangles: &[[u32; 3]], at: impl Fn(u32) -> DVec3) -> f64 {
    let first = triangles.first().map_or(DVec3::ZERO, |t| at(t[0]));
    let sixfold = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| at(v) - first);
        a.cross(b).dot(c)
    };
    triangles.iter().map(sixfold).sum::<f64>() / 6.0
}

impl Enclosed {
    /// Cloth with these triangles of vertices `vertices`, all below `spare`, whose volume at rest is `rest`
    /// \[m³\], times `over` if that is given; k' and α̃ as in [`kernel::pbd`](crate::kernel::pbd).
    pub fn new(
        vertices: Range<usize>,
        spare: u32,
        triangles: &[[u32; 3]],
        (rest, over): (f64, Option<Pressure>),
        [part, compliance]: [f64; 2],
    ) -> Self {
        let triangles = Colored::new(spare as usize, spare, triangles, |_| ());
        Self { vertices, triangles, rest, over, part, compliance }
    }

    /// Projects the constraint once, as it is at `time` \[s\]; `gradient` is scratch of the length of `x`,
    /// and `multiplier` is λ.
    pub fn project(
        &self,
        exec: Exec,
        time: f32,
        x: &mut [Quad],
        gradient: &mut [Quad],
        multiplier: &mut f64,
    ) {
        gradient[self.vertices.clone()].fill([0.0; 4]);
        let mut beside = nothing_beside(self.triangles.batch_count());
        for color in 0..self.triangles.color_count() {
            self.triangles.accumulate_color(exec, color, (x, None), gradient, &mut beside, &AreaVectors);
        }
        let (x, gradient) = (&mut x[self.vertices.clone()], &gradient[self.vertices.clone()]);
        let Some(first) = x.first().map(vector) else { return };
        let (mut volume, mut weight) = (0.0, 0.0);
        for (x, g) in x.iter().zip(gradient) {
            let g = vector(g);
            volume += (vector(x) - first).dot(g) / 3.0;
            weight += f64::from(x[3]) * g.length_squared();
        }
        let factor = self.over.as_ref().map_or(1.0, |over| over.at(time).into());
        let error = volume - factor * self.rest + self.compliance * *multiplier;
        let step = -self.part * error / (weight + self.compliance);
        if weight <= 0.0 || !step.is_finite() {
            return;
        }
        *multiplier += step;
        for (x, g) in x.iter_mut().zip(gradient) {
            let by = (step * f64::from(x[3])) as f32;
            for k in 0..3 {
                x[k] += by * g[k];
            }
        }
    }
}

fn vector(quad: &Quad) -> DVec3 {
    DVec3::new(quad[0].into(), quad[1].into(), quad[2].into())
}
