//! Tearing (S6): where cloth and hair tear, and what cloth is once it has torn.

use std::{collections::BTreeSet, sync::Arc};

use glam::Vec3;

use super::{Cloth, Model};
use crate::mesh::{TriangleMesh, split};

/// Where a cloth tears, or hair ([`Hair::tear`](crate::Hair::tear)).
///
/// In every frame, what would be stretched further than its threshold is split, and the frame is computed
/// again from its start, until nothing is. So no frame shows cloth that is stretched past its threshold.
/// Cloth with an upper limit on its strain tears at the latest where that limit cannot be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Tear {
    /// Strain beyond which cloth tears: 0.2 is 20 %.
    pub stretch: f32,
    /// Factors on the threshold, one a vertex of the mesh; the least of its corners counts for a triangle.
    /// Empty: 1 everywhere.
    pub factors: Vec<f32>,
    /// Which strain counts.
    pub measure: TearMeasure,
}

impl Tear {
    /// Cloth that tears beyond the strain `stretch`, everywhere alike.
    pub fn at(stretch: f32) -> Self {
        Self { stretch, factors: Vec::new(), measure: TearMeasure::Triangles }
    }

    /// What is wrong with it for a body of `count` vertices, if anything is.
    pub(crate) fn problem(&self, count: usize) -> Option<String> {
        if !(self.stretch > 0.0 && self.stretch <= 1e6) {
            return Some("tear.stretch must be above 0, at most 1e6".into());
        }
        let factors = &self.factors;
        if !(factors.is_empty() || factors.len() == count) {
            let found = factors.len();
            return Some(format!(
                "tear has {found} factors; it needs one for each of {count} vertices, or none"
            ));
        }
        let vertex = factors.iter().position(|f| !(*f > 0.0 && *f <= 1e6))?;
        let factor = factors[vertex];
        Some(format!("tear factor {factor} of vertex {vertex} must be above 0, at most 1e6"))
    }

    /// The threshold at vertex `vertex`.
    pub(crate) fn threshold(&self, vertex: u32) -> f32 {
        self.stretch * self.factors.get(vertex as usize).copied().unwrap_or(1.0)
    }
}

/// The strain that is compared with a [`Tear`]'s threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TearMeasure {
    /// The larger principal strain of each triangle.
    #[default]
    Triangles,
    /// The strain of each edge, as in the lecture.
    Edges,
}

/// Fraction of the way to the middle of its triangles by which what was split off starts away from what it
/// was split from. Contact keeps primitives apart by at most half of the distance at which they start, so
/// that without it torn edges would have no gap.
const APART: f32 = 2e-3;

/// What a torn cloth was.
#[derive(Clone, Debug, PartialEq)]
pub struct Torn {
    /// Its mesh before it tore.
    pub whole: Arc<TriangleMesh>,
    /// Where its vertices started \[m\].
    pub start: Arc<[Vec3]>,
    /// Masses of its vertices \[kg\], if they were given.
    pub masses: Option<Arc<[f64]>>,
    /// The vertex of that mesh which each vertex was split from; itself for the first of them.
    pub origins: Vec<u32>,
}

impl Cloth {
    /// This cloth, torn to `triangles`: corner for corner the triangles that it has now, with vertices of
    /// their own, numbered from [`Cloth::mesh`]'s count on, where it was split. A vertex that was split off
    /// has what the vertex had that stood at its corner: rest position, threshold; it starts a little apart
    /// from it, and no pin holds it. Masses that were given are shared out by area. There is no pressure in
    /// what has a tear. All this follows from the whole cloth and `triangles`, whatever it has torn to
    /// between.
    ///
    /// `None` if these are not triangles of this cloth.
    pub fn torn(&self, triangles: &[[u32; 3]]) -> Option<Self> {
        let count = self.mesh.positions.len();
        let parents = split::origins(&self.mesh.triangles, triangles, count)?;
        if parents.len() == count {
            return Some(self.clone());
        }
        let copies = || parents[count..].iter().map(|&parent| parent as usize);
        let mut torn = self.clone();
        torn.mesh.triangles.copy_from_slice(triangles);
        torn.mesh.positions.extend(copies().map(|k| self.mesh.positions[k]));
        for group in torn.mesh.groups.values_mut() {
            let also = |k: usize| group.binary_search(&parents[k]).is_ok().then_some(k as u32);
            let more: Vec<u32> = (count..parents.len()).filter_map(also).collect();
            group.extend(more);
        }
        if let Some(tear) = torn.tear.as_mut().filter(|tear| !tear.factors.is_empty()) {
            let more: Vec<f32> = copies().map(|k| tear.factors[k]).collect();
            tear.factors.extend(more);
        }
        let before = self.torn.as_ref();
        let whole = before.map_or_else(|| Arc::new(self.mesh.clone()), |torn| torn.whole.clone());
        let start = before.map_or_else(|| self.start.clone().into(), |torn| torn.start.clone());
        let masses = match before {
            Some(torn) => torn.masses.clone(),
            None => self.masses.as_ref().map(|masses| masses.clone().into()),
        };
        let origin = |parent: u32| before.map_or(parent, |torn| torn.origins[parent as usize]);
        let origins: Vec<u32> = parents.iter().map(|&parent| origin(parent)).collect();
        if let Some(masses) = &masses {
            torn.masses = Some(shared_out(masses, &whole, &torn.mesh, &origins));
        }
        torn.start = apart(&start, &torn, &origins);
        torn.torn = Some(Torn { whole, start, masses, origins });
        // Limits of levels are those of a mesh in one piece.
        torn.coarse = None;
        torn.pressure = None;
        if let Model::Pbd(settings) = &mut torn.model {
            settings.volume = None;
        }
        Some(torn)
    }

    /// Number of vertices before it tore.
    pub(crate) fn whole_count(&self) -> usize {
        self.torn.as_ref().map_or(self.mesh.positions.len(), |torn| torn.whole.positions.len())
    }
}

/// Where the vertices of `torn` start, which are copies of those that started at `start`: what has copies
/// moves into its own triangles, unless a pin holds it.
fn apart(start: &[Vec3], torn: &Cloth, origins: &[u32]) -> Vec<Vec3> {
    let mut copies = vec![0u32; start.len()];
    origins.iter().for_each(|&origin| copies[origin as usize] += 1);
    let at = |v: u32| start[origins[v as usize] as usize];
    let moves = split::into_own_triangles(origins.len(), &torn.mesh.triangles, at);
    let pinned: BTreeSet<u32> = torn.pins.iter().flat_map(|pin| pin.vertices.iter().copied()).collect();
    let place = |(v, way): (u32, Vec3)| {
        if copies[origins[v as usize] as usize] == 1 || pinned.contains(&v) {
            at(v)
        } else {
            at(v) + APART * way
        }
    };
    (0..).zip(moves).map(place).collect()
}

/// Masses by vertex of `before`, shared out between what its vertices were split into, by area.
fn shared_out(masses: &[f64], before: &TriangleMesh, after: &TriangleMesh, origins: &[u32]) -> Vec<f64> {
    let around = |mesh: &TriangleMesh| {
        let mut areas = vec![0.0; mesh.positions.len()];
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3());
            let area = (b - a).cross(c - a).length();
            t.iter().for_each(|&v| areas[v as usize] += area);
        }
        areas
    };
    let [old, new] = [around(before), around(after)];
    let share = |(k, &origin): (usize, &u32)| {
        let origin = origin as usize;
        if new[k] == old[origin] { masses[origin] } else { masses[origin] * new[k] / old[origin] }
    };
    origins.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Material, Pin, mesh::generate};

    #[test]
    fn what_is_split_off_has_what_its_vertex_had() {
        let mesh = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Regular, 0);
        let mut cloth = Cloth::new("sheet", mesh, Material::default());
        cloth.pins = vec![Pin { vertices: vec![0, 4], weights: vec![0.5, 0.25], ..Pin::default() }];
        cloth.masses = Some(vec![1.0; 9]);
        cloth.tear = Some(Tear { factors: (0..9).map(|k| 1.0 + k as f32).collect(), ..Tear::at(0.1) });
        // Vertex 4 is the centre: its first triangle takes a copy.
        let mut triangles = cloth.mesh.triangles.clone();
        let t = triangles.iter().position(|t| t.contains(&4)).unwrap();
        triangles[t] = triangles[t].map(|v| if v == 4 { 9 } else { v });
        let torn = cloth.torn(&triangles).unwrap();
        assert_eq!(torn.mesh.positions[9], cloth.mesh.positions[4]);
        assert_eq!((&torn.pins[0].vertices[..], &torn.pins[0].weights[..]), (&[0, 4][..], &[0.5, 0.25][..]));
        // The pinned vertex starts where it is pinned, its copy beside it.
        assert_eq!(torn.start[4], cloth.start[4]);
        assert!(torn.start[9] != torn.start[4] && torn.start[9].distance(torn.start[4]) < 2e-3);
        assert_eq!(torn.tear.as_ref().unwrap().threshold(9), 0.5);
        let total: f64 = torn.masses.as_ref().unwrap().iter().sum();
        assert!((total - 9.0).abs() < 1e-12, "{total}");
        assert_eq!(torn.torn.as_ref().unwrap().origins, [0, 1, 2, 3, 4, 5, 6, 7, 8, 4]);

        // Torn again, of the copy: it is still a copy of the vertex of the whole.
        let other = torn.mesh.triangles.iter().position(|t| t.contains(&4)).unwrap();
        triangles[other] = triangles[other].map(|v| if v == 4 { 10 } else { v });
        let again = torn.torn(&triangles).unwrap();
        assert_eq!(again.torn.as_ref().unwrap().origins[9..], [4, 4]);
        let at_once = cloth.torn(&triangles).unwrap();
        assert_eq!(again.torn, at_once.torn);
        assert_eq!((&again.start, &again.masses), (&at_once.start, &at_once.masses));
        triangles[0][0] = 77;
        assert!(cloth.torn(&triangles).is_none());
    }
}
