//! Which way each triangle faces in a step, so that a crushed one opens the way it came.
//!
//! A lower limit leaves two ways to open a triangle that is flat on itself: back, or through itself to the
//! other side. Left to the gradient of the moment, the duals push one way and, once they have grown past the
//! limit, the other: their pulls cancel, and on crushed shells single triangles stay collapsed for ever. So
//! the smaller stretch gets a sign, that of the normal against the one at the start of the step, where the
//! triangle was within its limits, and the clamp always pushes to the same side.
//!
//! A triangle that was far outside its limits there (cloth may start anyhow) faces nowhere: either way will
//! do. (Turning triangles that are still far outside after many iterations to where their neighbours face,
//! with new duals, mends some shells and sets off others: sheets at ±1 % tore apart.)
//!
//! In one step a triangle can therefore turn by no more than 90 degrees, beyond the turn of the body as a
//! whole, which is taken out. (Smaller neighbourhoods than the body do not do instead: where a shell is
//! crushed, whole neighbourhoods are predicted inside out.)

use super::{
    super::Step,
    StrainTerm,
    local::{BatchState, LimitSource, NearestBatch},
};
use crate::{
    element::woven::WeaveLanes,
    exec::batch::Over,
    kernel::{
        lanes::{BATCH, Lanes, Quad, Work, run},
        real::{Real, V3, add, cross, dot, scale, select3},
        svd2::{cauchy, deformation_gradient},
        weave::Limits,
    },
    solve::nearest::tuning::BATCH_GRAIN,
};

/// Factor on a limit beyond which a stretch is far outside.
const FAR: f32 = 0.5;

/// Iterations that find the body's turn; it takes a few unless the turn is near 180 degrees.
const ITERATIONS: usize = 20;

/// Chooses the normals that the triangles of some batches have to face.
pub struct Face<'a> {
    /// Triangles, at the start of the step, turned with their bodies since.
    pub batches: Over<'a, NearestBatch, 3>,
    /// Their limits along warp, weft and bias, if they have such.
    pub weaves: Option<&'a [WeaveLanes]>,
    /// Where the normals go.
    pub states: &'a mut [BatchState],
}

impl Work for Face<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        match self.weaves {
            None => {
                let batches = self.batches;
                self.face::<L, _>(batches);
            }
            Some(weaves) => self.face::<L, _>(weaves),
        }
    }
}

impl Face<'_> {
    #[inline(always)]
    fn face<L: Lanes, S: LimitSource>(self, source: S) {
        for (b, (batch, state)) in self.batches.iter().zip(self.states).enumerate() {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x = batch.corners(at);
                let (rest, limits) = (batch.rest::<L>(at), source.limits::<L>(b, at));
                let n = normal(&deformation_gradient(&x, rest), limits);
                for k in 0..3 {
                    n[k].store(&mut state.facing[k], at);
                }
            }
        }
    }
}

impl StrainTerm {
    /// Which way triangles have to face, from where they were at the start of the step and where `x` predicts
    /// them \[m\].
    pub(super) fn face(&mut self, step: &Step, x: &[Quad]) {
        let Self { tables, states, turned, .. } = self;
        let old = step.around.old;
        for body in &step.filter.bodies {
            let [a, b, c] = turn(&old[body.clone()], &x[body.clone()]);
            for (turned, old) in turned[body.clone()].iter_mut().zip(&old[body.clone()]) {
                for k in 0..3 {
                    turned[k] = a[k] * old[0] + b[k] * old[1] + c[k] * old[2];
                }
            }
        }
        let (triangles, settings) = (tables.batches.over(turned), step.settings);
        settings.threads.each(states, BATCH_GRAIN, |first, states| {
            let batches = triangles.part(first..first + states.len());
            let weaves = tables.weaves(first, states.len());
            run(settings.lanes, Face { batches, weaves, states });
        });
    }
}

/// The unit normal of a triangle of which f is the gradient; zero if it is far outside its limits.
#[inline(always)]
fn normal<R: Real, M: Limits<R>>(f: &[V3<R>; 2], limits: M) -> V3<R> {
    let (c, zero) = (cauchy(f), R::splat(0.0));
    let [larger, smaller] = limits.ranges(&c);
    let (least, most) = (smaller.min * R::splat(FAR), larger.max * R::splat(1.0 / FAR));
    let near = c.larger.le(most * most) & (least * least).lt(c.smaller);
    let n = cross(f[0], f[1]);
    let unit = scale(n, R::splat(1.0) / dot(n, n).sqrt().max(R::splat(1e-30)));
    select3::<R>(near, unit, [zero; 3])
}

/// Columns of the rotation that takes `old` nearest to `x` about their centres: of all, the one that the sum
/// of squares likes best, found by turning towards it (Müller et al. 2016).
pub fn turn(old: &[Quad], x: &[Quad]) -> [V3<f32>; 3] {
    let count = old.len().max(1) as f64;
    let mut centers = [[0.0f64; 3]; 2];
    for (old, x) in old.iter().zip(x) {
        for k in 0..3 {
            centers[0][k] += f64::from(old[k]);
            centers[1][k] += f64::from(x[k]);
        }
    }
    let [a, b] = centers.map(|c| scale(c, 1.0 / count));
    // products[i]: the sum of x times component i of old.
    let mut products = [[0.0f64; 3]; 3];
    for (old, x) in old.iter().zip(x) {
        for i in 0..3 {
            for k in 0..3 {
                products[i][k] += (f64::from(old[i]) - a[i]) * (f64::from(x[k]) - b[k]);
            }
        }
    }
    let size = products.iter().map(|p| dot(*p, *p)).sum::<f64>().sqrt();
    let mut turn = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..ITERATIONS {
        let (mut torque, mut along) = ([0.0; 3], 0.0);
        for i in 0..3 {
            torque = add(torque, cross(turn[i], products[i]));
            along += dot(turn[i], products[i]);
        }
        let step = scale(torque, 1.0 / (along.abs() + 1e-9 * size + f64::MIN_POSITIVE));
        // The step in Cayley's form, which is a rotation by any length.
        let half = scale(step, 0.5);
        let factor = 2.0 / (1.0 + dot(half, half));
        for column in &mut turn {
            let around = cross(half, *column);
            *column = add(*column, scale(add(around, cross(half, around)), factor));
        }
    }
    turn.map(|column| column.map(|v| v as f32))
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    #[test]
    fn finds_the_turn_of_solids_sheets_and_nothing() {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.3, 1.0, 0.0], [0.9, 0.8, 0.0], [0.4, 0.4, 0.7]];
        for angle in [0.0f64, 0.3, 1.5, 2.8] {
            let rotation = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), angle);
            for count in [4, 5] {
                let old: Vec<Quad> = points[..count].iter().map(|p| [p[0], p[1], p[2], 1.0]).collect();
                let move_one = |p: &Quad| {
                    let moved = rotation * DVec3::new(p[0].into(), p[1].into(), p[2].into()) + DVec3::ONE;
                    [moved.x as f32, moved.y as f32, moved.z as f32, 1.0]
                };
                let x: Vec<Quad> = old.iter().map(move_one).collect();
                let found = turn(&old, &x);
                for (column, axis) in found.iter().zip([DVec3::X, DVec3::Y, DVec3::Z]) {
                    let expected = rotation * axis;
                    let error = DVec3::from_array(column.map(f64::from)).distance(expected);
                    assert!(error < 1e-3, "{count} points by {angle}: {found:?}");
                }
            }
        }
        let point = [[0.5f32, 0.5, 0.5, 1.0]; 3];
        assert_eq!(turn(&point, &point), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    }
}
