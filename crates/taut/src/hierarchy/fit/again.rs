//! Limits of elements that changed after their level was fitted: pins move vertices of a level onto them, or
//! are inserted ([`levels`](crate::limit::levels)).
//!
//! Elements of the scene's pins are fitted by the method of the level; both searches take place on the base
//! mesh here, since a finer level has changed too. Elements that change while it runs (a user grabs a point)
//! get the closed-form bounds, which look at the base below an element once: a search sweeps over that at
//! least 160 times for each of several starts, and a pin changes a dozen elements or more of every level,
//! which is too slow for a frame. What was searched once is known by where its corners are, so that pins of
//! the scene keep their limits while a user holds something elsewhere. Without bend limits, on flat cloth,
//! all methods agree.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

use glam::Vec3;

use super::{
    Method, bounds,
    patch::{Element, Fine, Scratch},
    search,
};
use crate::{
    Limit,
    hierarchy::{Site, Transfer},
    kernel::lanes::LaneKind,
    mesh::{TriangleMesh, adjacency::Adjacency},
};

/// Corners of an element, as bits.
type Key = Vec<[u32; 3]>;

/// A base mesh with its limits, on which elements of levels are fitted again. Copies share what they know.
#[derive(Clone, Debug)]
pub struct Refit(Arc<Base>);

#[derive(Debug)]
struct Base {
    mesh: TriangleMesh,
    strain: Limit,
    bend: Limit,
    method: Method,
    /// Made when they are first asked for.
    fine: OnceLock<Fine>,
    around: OnceLock<Around>,
    /// What was searched for, in ranges of stretches or angles \[rad\].
    known: Mutex<HashMap<Key, [f32; 2]>>,
}

/// What is around the vertices of the base.
#[derive(Debug)]
struct Around {
    /// Triangles around vertex v: `triangles[starts[v]..starts[v + 1]]`.
    starts: Vec<u32>,
    triangles: Vec<u32>,
    /// Vertices on a border, sorted.
    border: Vec<u32>,
}

impl Refit {
    /// For levels of a cloth with these rest `positions` \[m\] and `triangles`, limits on strain and on bend
    /// \[°/cm\], which were fitted by `method`.
    pub fn new(
        positions: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        [strain, bend]: [Limit; 2],
        method: Method,
    ) -> Self {
        Self(Arc::new(Base {
            mesh: TriangleMesh { positions, triangles, ..TriangleMesh::default() },
            strain,
            bend,
            method,
            fine: OnceLock::new(),
            around: OnceLock::new(),
            known: Mutex::new(HashMap::new()),
        }))
    }

    /// Whether bends are limited: angles of coarse hinges are too then.
    pub fn limits_bend(&self) -> bool {
        self.0.bend.is_some()
    }

    /// Whether vertex `v` of the base is on a border.
    pub fn is_on_border(&self, v: u32) -> bool {
        self.around().border.binary_search(&v).is_ok()
    }

    /// Limits of an element of a level: three corners, or a hinge with four. Its vertices are at `positions`
    /// \[m\], which lie at `sample` in the base. With `search` they are found by the level's method, else in
    /// closed form unless they are known.
    pub(crate) fn limits(
        &self,
        elements: &[Vec<u32>],
        positions: &[Vec3],
        sample: &Transfer,
        search: bool,
    ) -> Vec<[f32; 2]> {
        if elements.is_empty() {
            return Vec::new();
        }
        let fine = self.0.fine.get_or_init(|| Fine::new(&self.0.mesh, self.0.strain, self.0.bend));
        let mut scratch = (Scratch::new(fine), search::Memory::default());
        let mut known = self.0.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let limits = elements.iter().map(|vertices| {
            let corners = in_order(vertices, positions);
            let key: Key = corners.iter().map(|&v| bits(positions[v as usize])).collect();
            if let Some(&limits) = known.get(&key) {
                return limits;
            }
            let element = Element {
                points: vertices.iter().map(|&v| positions[v as usize].as_dvec3()).collect(),
                sites: vertices.iter().map(|&v| self.site(sample, v as usize)).collect(),
            };
            let (patch, memory) = (&mut scratch.0, &mut scratch.1);
            let closed = bounds::bounds(fine, patch.patch(fine, &element), &element);
            if !search || self.0.method == Method::Bounds {
                return closed;
            }
            let (patch, lanes) = (patch.patch(fine, &element), LaneKind::detect());
            let found = search::search(fine, patch, &element, closed, lanes, memory);
            known.insert(key, found);
            found
        });
        limits.collect()
    }

    /// Where vertex `v` of a level lies on the base.
    fn site(&self, sample: &Transfer, v: usize) -> Site {
        let (corners, weights) = (sample.corners[v], sample.weights[v]);
        let around = self.around();
        let [from, to] = [0, 1].map(|k| around.starts[corners[0] as usize + k] as usize);
        let own = |t: u32| self.0.mesh.triangles[t as usize];
        // A vertex that is one of the base has that three times for corners.
        let has_all = |t: &&u32| corners.iter().all(|c| own(**t).contains(c));
        let triangle = around.triangles[from..to].iter().find(has_all).copied().unwrap_or(0);
        let mut site = Site { triangle, weights: [0.0; 3] };
        for (corner, weight) in corners.iter().zip(weights) {
            if let Some(k) = own(triangle).iter().position(|v| v == corner) {
                site.weights[k] += weight;
            }
        }
        site
    }

    fn around(&self) -> &Around {
        let TriangleMesh { positions, triangles, .. } = &self.0.mesh;
        self.0.around.get_or_init(|| {
            let mut starts = vec![0u32; positions.len() + 1];
            triangles.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
            for v in 0..positions.len() {
                starts[v + 1] += starts[v];
            }
            let mut next = starts.clone();
            let mut own = vec![0; 3 * triangles.len()];
            for (t, corners) in triangles.iter().enumerate() {
                for &v in corners {
                    own[next[v as usize] as usize] = t as u32;
                    next[v as usize] += 1;
                }
            }
            Around { starts, triangles: own, border: Adjacency::new(triangles).boundary }
        })
    }
}

fn bits(p: Vec3) -> [u32; 3] {
    p.to_array().map(f32::to_bits)
}

/// Vertices of a triangle, or of a hinge, in the one of their orders that depends on where they are and not
/// on their numbers.
fn in_order(vertices: &[u32], positions: &[Vec3]) -> Vec<u32> {
    let key = |v: u32| bits(positions[v as usize]);
    match *vertices {
        [a, b, c, d] if key(b) < key(a) => vec![b, a, d, c],
        [a, b, c] => {
            let turns = [[a, b, c], [b, c, a], [c, a, b]];
            turns.into_iter().min_by_key(|t| t.map(key)).map_or_else(Vec::new, |t| t.to_vec())
        }
        _ => vertices.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hierarchy::{Hierarchy, Options, build},
        mesh::generate::{Diagonals, Generator, grid},
    };

    /// Limits of all triangles and hinges of the first level.
    fn of_level(mesh: &TriangleMesh, levels: &Hierarchy, refit: &Refit, search: bool) -> Vec<[f32; 2]> {
        let level = &levels.levels[0];
        let sample = Transfer {
            corners: level.on_base.iter().map(|site| mesh.triangles[site.triangle as usize]).collect(),
            weights: level.on_base.iter().map(|site| site.weights).collect(),
        };
        let hinges = Adjacency::new(&level.mesh.triangles).hinges;
        let triangles = level.mesh.triangles.iter().map(|t| t.to_vec());
        let elements: Vec<_> = triangles.chain(hinges.iter().map(|h| h.to_vec())).collect();
        refit.limits(&elements, &level.mesh.positions, &sample, search)
    }

    fn refit(mesh: &TriangleMesh, limits: [Limit; 2], method: Method) -> Refit {
        Refit::new(mesh.positions.clone(), mesh.triangles.clone(), limits, method)
    }

    const STRAIN: Limit = Limit { min: Some(-0.05), max: Some(0.05) };
    const BEND: Limit = Limit { min: Some(-5.0), max: Some(5.0) };

    #[test]
    fn elements_that_did_not_change_get_the_bounds_that_they_had() {
        let cylinder = Generator::Cylinder { radius: 0.1, height: 0.3, segments: [40, 20] };
        for mesh in [grid([0.4, 0.4], [20, 20], Diagonals::Jittered, 1), cylinder.generate().unwrap()] {
            for bend in [Limit::default(), BEND] {
                let levels = build(&mesh, &Options::default());
                let built = &super::super::bounds(&mesh, &levels, STRAIN, bend).levels[0];
                let again = of_level(&mesh, &levels, &refit(&mesh, [STRAIN, bend], Method::Bounds), true);
                let strain = built.strain.iter().map(|range| [range.min, range.max]);
                for (new, old) in again.iter().zip(strain.chain(built.bend.iter().copied())) {
                    assert!((0..2).all(|k| (new[k] - old[k]).abs() < 1e-4), "{new:?} {old:?}");
                }
            }
        }
    }

    #[test]
    fn searches_are_made_once_and_only_where_they_are_allowed() {
        let mesh = grid([0.2, 0.2], [12, 12], Diagonals::Alternating, 0);
        let levels = build(&mesh, &Options { coarsest: 20, ..Options::default() });
        let closed = of_level(&mesh, &levels, &refit(&mesh, [STRAIN, BEND], Method::Bounds), true);
        let searching = refit(&mesh, [STRAIN, BEND], Method::Direct);
        let started = std::time::Instant::now();
        assert_eq!(of_level(&mesh, &levels, &searching, false), closed, "in a frame");
        let in_closed_form = started.elapsed();
        let searched = of_level(&mesh, &levels, &searching, true);
        println!(
            "{} elements: bounds {in_closed_form:?}, then searched {:?}",
            closed.len(),
            started.elapsed()
        );
        let count = levels.levels[0].mesh.triangles.len();
        assert!(
            searched[..count].iter().zip(&closed).any(|(s, c)| s[0] > c[0] + 1e-3),
            "tighter than bounds"
        );
        assert!(searched.iter().zip(&closed).all(|(s, c)| s[0] >= c[0] && s[1] <= c[1]));
        assert_eq!(of_level(&mesh, &levels, &searching, false), searched, "known by then");
    }
}
