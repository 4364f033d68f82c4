//! What points of several strands keep off, in lanes.

use glam::{Mat3, Vec3};

use super::{StrandContacts, Touch, nearest::OPPOSITE};
use crate::{
    World,
    kernel::{
        lanes::{BATCH, Lanes},
        real::{V3, add, dot, select3, sub},
    },
};

/// What points side by side keep off: the fields of [`Touch`] but for what is touched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touches<L: Lanes> {
    /// Lanes that something is near.
    pub is_near: L::Mask,
    /// Outward normals; 0 where nothing is near.
    pub normal: V3<L>,
    /// \[m\]
    pub offset: L,
    /// Where the touched point of the surface went in this step \[m\].
    pub drift: V3<L>,
    /// Coulomb friction coefficients.
    pub friction: L,
}

/// How near the two nearest things are.
#[derive(Clone, Copy)]
struct Gaps<L> {
    /// \[m\]
    nearest: L,
    second: L,
    /// Outward normal of the second.
    normal: V3<L>,
}

impl<L: Lanes> Gaps<L> {
    /// By how much the offset of the nearest, with this normal, gives way to the second, as
    /// [`squeezed`](super::nearest::squeezed).
    #[inline(always)]
    fn give_way(&self, normal: V3<L>) -> L {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let cosine = dot(normal, self.normal);
        let level = (self.second - cosine * self.nearest) / (one - cosine);
        L::select(cosine.lt(L::splat(OPPOSITE)), level.min(zero), zero)
    }
}

impl StrandContacts {
    /// What the points `vertices[at..]` of all vertices, at `p` \[m\], keep off: of what is nearer than
    /// `reach` \[m\] the nearest.
    #[inline(always)]
    pub fn touches<L: Lanes>(
        &self,
        world: &World,
        (vertices, at): (&[usize; BATCH], usize),
        (p, reach): (V3<L>, L),
    ) -> Touches<L> {
        let zero = L::splat(0.0);
        let mut nearest = Gaps { nearest: reach, second: reach, normal: [zero; 3] };
        let mut found = Touches {
            is_near: zero.lt(zero),
            normal: [zero; 3],
            offset: zero,
            drift: [zero; 3],
            friction: zero,
        };
        if self.has_faces() {
            let mut rows = [[0.0; BATCH]; 9];
            for lane in at..at + L::WIDTH {
                let touch = self.faces.get(vertices[lane] - world.strands.start);
                let Some(Touch { normal, offset, drift, friction, .. }) = touch.copied().flatten() else {
                    continue;
                };
                for c in 0..3 {
                    rows[c][lane] = normal[c];
                    rows[4 + c][lane] = drift[c];
                }
                (rows[3][lane], rows[7][lane], rows[8][lane]) = (offset, friction, 1.0);
            }
            let [n0, n1, n2, offset, d0, d1, d2, friction, is_face] = L::load_all(&rows, at);
            let gap = dot([n0, n1, n2], p) - offset;
            let touch = Touches {
                is_near: gap.lt(nearest.nearest) & zero.lt(is_face),
                normal: [n0, n1, n2],
                offset,
                drift: [d0, d1, d2],
                friction,
            };
            found.take(touch, gap, &mut nearest);
        }
        let description = &world.description;
        for (k, placed) in self.placed.iter().enumerate() {
            let [begin, end] = [splat3(placed.poses[0].position), splat3(placed.poses[1].position)];
            let arm = sub(p, end);
            let far = dot(arm, arm).sqrt() - L::splat(placed.radius);
            if !L::any(far.le(nearest.nearest.abs())) {
                continue;
            }
            let with_mass = || &description.rigid_bodies[k - description.obstacles.len()].obstacle;
            let obstacle = description.obstacles.get(k).unwrap_or_else(with_mass);
            let [before, after] = placed.turns;
            let local = times(&after.transpose(), arm);
            let (distance, normal) = obstacle.shape.distances(local);
            let gap = distance - L::splat(obstacle.margin);
            let normal = times(&after, normal);
            let touch = Touches {
                is_near: gap.lt(nearest.nearest),
                normal,
                offset: dot(normal, p) - gap,
                drift: sub(p, add(times(&before, local), begin)),
                friction: L::splat(obstacle.friction),
            };
            found.take(touch, gap, &mut nearest);
        }
        found.offset = found.offset + nearest.give_way(found.normal);
        found
    }
}

impl<L: Lanes> Touches<L> {
    /// Takes `other` where it is near, and its `gap` as that of the nearest; what was nearest is second.
    #[inline(always)]
    fn take(&mut self, other: Self, gap: L, gaps: &mut Gaps<L>) {
        let mask = other.is_near;
        let behind = L::select(mask, gaps.nearest, gap);
        let is_second = behind.lt(gaps.second);
        let normal = select3::<L>(mask, self.normal, other.normal);
        gaps.second = L::select(is_second, behind, gaps.second);
        gaps.normal = select3::<L>(is_second, normal, gaps.normal);
        gaps.nearest = L::select(mask, gap, gaps.nearest);
        self.is_near = self.is_near | mask;
        self.normal = select3::<L>(mask, other.normal, self.normal);
        self.offset = L::select(mask, other.offset, self.offset);
        self.drift = select3::<L>(mask, other.drift, self.drift);
        self.friction = L::select(mask, other.friction, self.friction);
    }
}

/// The same vector in every lane.
#[inline(always)]
fn splat3<L: Lanes>(v: Vec3) -> V3<L> {
    [L::splat(v.x), L::splat(v.y), L::splat(v.z)]
}

/// The same matrix times several vectors.
#[inline(always)]
fn times<L: Lanes>(matrix: &Mat3, v: V3<L>) -> V3<L> {
    let columns = matrix.to_cols_array_2d();
    let mut product = [L::splat(0.0); 3];
    for k in 0..3 {
        let [a, b, c] = [L::splat(columns[0][k]), L::splat(columns[1][k]), L::splat(columns[2][k])];
        product[k] = a * v[0] + b * v[1] + c * v[2];
    }
    product
}
