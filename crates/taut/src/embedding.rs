//! From unknowns to points, and from forces on points back to unknowns.
//!
//! The solver moves *unknowns*; what is shown, collided, measured and written are *points*, in the caller's
//! order. Today's bodies have one unknown a point, in another order (neighbours close in memory). The surface
//! that is shown in place of a soft solid has points anywhere inside its tetrahedra; vertices of developable
//! cloth are sums of midpoints ([`Midpoints`](crate::mesh::midpoints::Midpoints)).
//!
//! An embedding is a linear map E: points are E x. Virtual work then says what a force on points is for the
//! unknowns: its transpose, ⟨E x, f⟩ = ⟨x, Eᵀ f⟩.

use std::collections::HashMap;

use glam::Vec3;

use crate::{
    kernel::lanes::Quad,
    mesh::{locate::locate, tetrahedra::TetrahedronMesh},
};

/// How points follow from unknowns.
#[derive(Clone, Debug, PartialEq)]
pub enum Embedding {
    /// Every unknown is a point, and the other way round.
    Identity {
        /// The point of each unknown.
        order: Vec<u32>,
    },
    /// Every point is an unknown; some unknowns are no points.
    Subset {
        /// The unknown of each point.
        unknowns: Vec<u32>,
        /// How many unknowns there are.
        count: usize,
    },
    /// Every point is a weighted mean of four unknowns.
    Barycentric {
        /// The unknowns of each point.
        corners: Vec<[u32; 4]>,
        /// Their weights, which sum to 1; some are negative for points outside.
        weights: Vec<[f32; 4]>,
        /// How many unknowns there are.
        count: usize,
    },
    /// Every point is a weighted sum of any unknowns.
    Sparse {
        /// Where the terms of each point begin; one more than points.
        starts: Vec<u32>,
        /// Unknowns and their weights, which sum to 1 for each point.
        terms: Vec<(u32, f32)>,
        /// How many unknowns there are.
        count: usize,
    },
}

impl Default for Embedding {
    fn default() -> Self {
        Self::Identity { order: Vec::new() }
    }
}

impl Embedding {
    /// Puts `points` \[m\] into the tetrahedra of `mesh`, whose vertices are the unknowns. A point inside a
    /// tetrahedron moves with it. One outside of all moves with the nearest, as if that went on beyond its
    /// faces: some of its weights are negative. So every point is where it was as long as nothing has moved,
    /// and a surface keeps its detail. A mesh without tetrahedra holds no points:
    /// [`point_count`](Self::point_count) is 0 then.
    pub fn barycentric(mesh: &TetrahedronMesh, points: &[Vec3]) -> Self {
        let located = locate(mesh, points);
        Self::Barycentric {
            corners: located.iter().map(|found| mesh.tetrahedra[found.tetrahedron as usize]).collect(),
            weights: located.iter().map(|found| found.weights.map(|w| w as f32)).collect(),
            count: mesh.positions.len(),
        }
    }

    /// The surface `shown` of a soft solid of these tetrahedra: made of their vertices, if all of its points
    /// are such, to the bit; embedded otherwise.
    pub fn of_surface(mesh: &TetrahedronMesh, shown: &[Vec3]) -> Self {
        let bits = |x: &Vec3| x.to_array().map(f32::to_bits);
        let places: HashMap<[u32; 3], u32> = mesh.positions.iter().map(bits).zip(0..).collect();
        match shown.iter().map(|x| places.get(&bits(x)).copied()).collect() {
            Some(unknowns) => Self::Subset { unknowns, count: mesh.positions.len() },
            None => Self::barycentric(mesh, shown),
        }
    }

    /// Points that are these sums of `count` unknowns.
    pub(crate) fn sparse(rows: &[Vec<(u32, f64)>], count: usize) -> Self {
        let (mut starts, mut terms) = (vec![0], Vec::new());
        for row in rows {
            terms.extend(row.iter().map(|&(unknown, weight)| (unknown, weight as f32)));
            starts.push(terms.len() as u32);
        }
        Self::Sparse { starts, terms, count }
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        match self {
            Self::Identity { order } => order.len(),
            Self::Subset { unknowns, .. } => unknowns.len(),
            Self::Barycentric { corners, .. } => corners.len(),
            Self::Sparse { starts, .. } => starts.len() - 1,
        }
    }

    /// Number of unknowns.
    pub fn unknown_count(&self) -> usize {
        match self {
            Self::Identity { order } => order.len(),
            Self::Subset { count, .. } | Self::Barycentric { count, .. } | Self::Sparse { count, .. } => {
                *count
            }
        }
    }

    /// The point of each unknown, where every unknown is one; empty otherwise.
    pub(crate) fn order(&self) -> &[u32] {
        match self {
            Self::Identity { order } => order,
            Self::Subset { .. } | Self::Barycentric { .. } | Self::Sparse { .. } => &[],
        }
    }

    /// The unknown that point `point` is, if it is one.
    pub fn unknown_of(&self, point: u32) -> Option<u32> {
        match self {
            Self::Identity { order } => order.iter().position(|&v| v == point).map(|k| k as u32),
            Self::Subset { unknowns, .. } => unknowns.get(point as usize).copied(),
            Self::Barycentric { .. } => None,
            Self::Sparse { starts, terms, .. } => {
                let [from, to] = [0, 1].map(|k| starts.get(point as usize + k).copied());
                match terms.get(from? as usize..to? as usize)? {
                    [(unknown, 1.0)] => Some(*unknown),
                    _ => None,
                }
            }
        }
    }

    /// E x: the points in the caller's order, for unknowns whose vectors (positions, velocities) `unknown`
    /// gives.
    fn map(&self, unknown: impl Fn(usize) -> Vec3) -> Vec<Vec3> {
        match self {
            Self::Identity { order } => {
                let mut points = vec![Vec3::ZERO; order.len()];
                for (k, &v) in order.iter().enumerate() {
                    points[v as usize] = unknown(k);
                }
                points
            }
            Self::Subset { unknowns, .. } => unknowns.iter().map(|&v| unknown(v as usize)).collect(),
            Self::Barycentric { corners, weights, .. } => {
                let point = |(corners, w): (&[u32; 4], &[f32; 4])| {
                    let [a, b, c, d] = corners.map(|v| unknown(v as usize));
                    // Relative to one corner, so that rounding is relative to the tetrahedron and not to the
                    // distance from the origin.
                    a + (w[1] * (b - a) + w[2] * (c - a) + w[3] * (d - a))
                };
                corners.iter().zip(weights).map(point).collect()
            }
            Self::Sparse { starts, terms, .. } => {
                let point = |row: &[u32]| {
                    let terms = &terms[row[0] as usize..row[1] as usize];
                    let Some(&(first, _)) = terms.first() else { return Vec3::ZERO };
                    let origin = unknown(first as usize);
                    let others = terms[1..].iter();
                    origin + others.map(|&(v, w)| w * (unknown(v as usize) - origin)).sum::<Vec3>()
                };
                starts.windows(2).map(point).collect()
            }
        }
    }

    /// Points for unknowns with these vectors, such as positions \[m\] or velocities \[m/s\].
    ///
    /// # Panics
    /// If there are fewer vectors than unknowns.
    pub fn points(&self, unknowns: &[Vec3]) -> Vec<Vec3> {
        self.map(|k| unknowns[k])
    }

    /// The same from the engine's own arrays.
    pub(crate) fn points_of(&self, unknowns: &[Quad]) -> Vec<Vec3> {
        self.map(|k| Vec3::new(unknowns[k][0], unknowns[k][1], unknowns[k][2]))
    }

    /// Eᵀ f: what forces on points \[N\] are for the unknowns.
    ///
    /// # Panics
    /// If there are fewer forces than points.
    pub fn transpose(&self, forces: &[Vec3]) -> Vec<Vec3> {
        let mut unknowns = vec![Vec3::ZERO; self.unknown_count()];
        match self {
            Self::Identity { order } => {
                for (to, &v) in unknowns.iter_mut().zip(order) {
                    *to = forces[v as usize];
                }
            }
            Self::Subset { unknowns: places, .. } => {
                for (&v, &force) in places.iter().zip(forces) {
                    unknowns[v as usize] += force;
                }
            }
            Self::Barycentric { corners, weights, .. } => {
                for ((corners, weights), &force) in corners.iter().zip(weights).zip(forces) {
                    // The weight of the first corner is what the others leave, as in E.
                    let first = 1.0 - weights[1] - weights[2] - weights[3];
                    let weights = [first, weights[1], weights[2], weights[3]];
                    for (&v, weight) in corners.iter().zip(weights) {
                        unknowns[v as usize] += weight * force;
                    }
                }
            }
            Self::Sparse { starts, terms, .. } => {
                for (row, &force) in starts.windows(2).zip(forces) {
                    for &(v, weight) in &terms[row[0] as usize..row[1] as usize] {
                        unknowns[v as usize] += weight * force;
                    }
                }
            }
        }
        unknowns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kernel::random::Random, mesh::generate};

    /// ⟨a, b⟩ in double precision.
    fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum()
    }

    #[test]
    fn forces_on_points_do_the_same_work_on_unknowns() {
        let bar = generate::bar(Vec3::new(0.4, 0.1, 0.1), [8, 2, 2]).unwrap();
        let count = bar.positions.len();
        let mut random = Random::new(7, 0);
        let mut vectors = |n: usize| -> Vec<Vec3> {
            (0..n).map(|_| Vec3::from_array([(); 3].map(|()| 2.0 * random.unit() - 1.0))).collect()
        };
        // Some outside of the bar.
        let anywhere: Vec<Vec3> = vectors(50).iter().map(|p| Vec3::new(0.3, 0.1, 0.1) * *p).collect();
        let surface = bar.surface().positions;
        let order: Vec<u32> = (0..count as u32).rev().collect();
        let embeddings = [
            Embedding::Identity { order },
            Embedding::of_surface(&bar, &surface),
            Embedding::of_surface(&bar, &anywhere),
        ];
        assert!(matches!(&embeddings[1], Embedding::Subset { .. }));
        assert!(matches!(&embeddings[2], Embedding::Barycentric { .. }));
        let rows: Vec<Vec<(u32, f64)>> =
            (0..30).map(|v| vec![(v, 1.5), (v + 1, -1.0), (v + 20, 0.5)]).chain([vec![(7, 1.0)]]).collect();
        let sparse = Embedding::sparse(&rows, count);
        assert_eq!(
            (sparse.unknown_of(30), sparse.unknown_of(0), sparse.unknown_of(31)),
            (Some(7), None, None)
        );
        for embedding in embeddings.into_iter().chain([sparse]) {
            assert_eq!(embedding.unknown_count(), count);
            let (x, f) = (vectors(count), vectors(embedding.point_count()));
            let (points, back) = (embedding.points(&x), embedding.transpose(&f));
            let (one, other) = (dot(&points, &f), dot(&x, &back));
            assert!((one - other).abs() <= 1e-4 * one.abs().max(1.0), "{one} and {other}");
        }
    }

    #[test]
    fn points_at_rest_stay_where_they_are() {
        let bar = generate::bar(Vec3::new(0.4, 0.1, 0.1), [8, 2, 2]).unwrap();
        let shown = [Vec3::new(0.11, 0.05, 0.02), Vec3::new(0.5, 0.2, -0.1)];
        let points = Embedding::of_surface(&bar, &shown).points(&bar.positions);
        for (point, shown) in points.iter().zip(shown) {
            assert!(point.distance(shown) < 1e-6, "{point} and {shown}");
        }
    }
}
