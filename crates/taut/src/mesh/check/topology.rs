//! Topology: duplicate faces, edges of more than two faces, inverted faces, fans that touch in one vertex.

use rayon::prelude::*;

use super::{Kind, MeshProblem, list};
use crate::mesh::TriangleMesh;

/// Maximum number of faces of one edge that a message names.
const MAX_NAMED_FACES: usize = 4;

/// One side of a face. Sorting puts the sides of one edge next to each other, in the order of their faces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HalfEdge {
    /// The smaller vertex in the upper half, the larger in the lower: both ends whatever the direction.
    edge: u64,
    /// Index of the corner at which it starts: three times the face plus the corner's number.
    corner: u64,
}

impl HalfEdge {
    fn ends(self) -> [u32; 2] {
        [(self.edge >> 32) as u32, self.edge as u32]
    }

    fn face(self) -> usize {
        (self.corner / 3) as usize
    }

    /// Corner at which it ends.
    fn next_corner(self) -> u64 {
        if self.corner % 3 == 2 { self.corner - 2 } else { self.corner + 1 }
    }
}

/// Adds topological problems. `sound` marks the faces to test; duplicates are excluded as well, so that one
/// mistake is not reported once for each edge of the face.
pub(super) fn check(mesh: &TriangleMesh, mut sound: Vec<bool>, found: &mut Vec<MeshProblem>) {
    find_duplicates(mesh, &mut sound, found);
    let mut half_edges: Vec<HalfEdge> = mesh
        .triangles
        .par_iter()
        .enumerate()
        .filter(|&(face, _)| sound[face])
        .flat_map_iter(|(face, triangle)| {
            (0..3).map(move |i| {
                let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
                let edge = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
                HalfEdge { edge, corner: 3 * face as u64 + i as u64 }
            })
        })
        .collect();
    // All keys differ, so that the result does not depend on threads.
    half_edges.par_sort_unstable();
    let edges = || half_edges.chunk_by(|a, b| a.edge == b.edge);

    list(
        found,
        Kind::NonManifoldEdge,
        edges().filter(|sides| sides.len() > 2).map(|sides| MeshProblem::NonManifoldEdge {
            vertices: sides[0].ends(),
            faces: sides.iter().take(MAX_NAMED_FACES).map(|side| side.face()).collect(),
            count: sides.len(),
        }),
    );
    let start = |side: &HalfEdge| mesh.triangles[side.face()][(side.corner % 3) as usize];
    list(
        found,
        Kind::Orientation,
        edges().filter(|sides| sides.len() == 2 && start(&sides[0]) == start(&sides[1])).map(|sides| {
            MeshProblem::Orientation { faces: [sides[0].face(), sides[1].face()], vertices: sides[0].ends() }
        }),
    );
    find_fans(mesh, &sound, edges(), found);

    let mut used = vec![false; mesh.positions.len()];
    for &vertex in mesh.triangles.iter().flatten() {
        if let Some(slot) = used.get_mut(vertex as usize) {
            *slot = true;
        }
    }
    let unused = used.iter().enumerate().filter(|(_, used)| !**used);
    list(found, Kind::Unreferenced, unused.map(|(vertex, _)| MeshProblem::Unreferenced { vertex }));
}

/// Adds faces of the same three vertices, and marks all but the first as not sound.
fn find_duplicates(mesh: &TriangleMesh, sound: &mut [bool], found: &mut Vec<MeshProblem>) {
    let mut keys: Vec<([u32; 3], usize)> = mesh
        .triangles
        .par_iter()
        .enumerate()
        .filter(|&(face, _)| sound[face])
        .map(|(face, &triangle)| {
            let mut key = triangle;
            key.sort_unstable();
            (key, face)
        })
        .collect();
    keys.par_sort_unstable();
    let mut pairs: Vec<(usize, usize, [u32; 3])> = keys
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|same| same[1..].iter().map(|other| (same[0].1, other.1, other.0)))
        .collect();
    pairs.sort_unstable();
    for &(_, second, _) in &pairs {
        sound[second] = false;
    }
    list(
        found,
        Kind::DuplicateFace,
        pairs.into_iter().map(|(first, second, vertices)| MeshProblem::DuplicateFace {
            first,
            second,
            vertices,
        }),
    );
}

/// Adds vertices whose faces form several fans: corners at a vertex are joined across edges, and each
/// remaining set is a fan.
fn find_fans<'a>(
    mesh: &TriangleMesh,
    sound: &[bool],
    edges: impl Iterator<Item = &'a [HalfEdge]>,
    found: &mut Vec<MeshProblem>,
) {
    let mut fans = Fans { parent: (0..3 * mesh.triangles.len()).collect() };
    let corner_at = |side: &HalfEdge, vertex: u32| {
        let start = side.corner as usize;
        if mesh.triangles[side.face()][start % 3] == vertex { start } else { side.next_corner() as usize }
    };
    for sides in edges {
        for pair in sides.windows(2) {
            for vertex in pair[0].ends() {
                fans.join(corner_at(&pair[0], vertex), corner_at(&pair[1], vertex));
            }
        }
    }
    let mut count = vec![0usize; mesh.positions.len()];
    for (face, triangle) in mesh.triangles.iter().enumerate().filter(|&(face, _)| sound[face]) {
        for (i, &vertex) in triangle.iter().enumerate() {
            // One corner of each fan is its root.
            if fans.parent[3 * face + i] == 3 * face + i {
                count[vertex as usize] += 1;
            }
        }
    }
    let hinges = count.into_iter().enumerate().filter(|&(_, fans)| fans > 1);
    let problems = hinges.map(|(vertex, fans)| MeshProblem::NonManifoldVertex { vertex, fans });
    list(found, Kind::NonManifoldVertex, problems);
}

/// Disjoint sets of corners (union–find with path halving).
struct Fans {
    parent: Vec<usize>,
}

impl Fans {
    fn root(&mut self, mut corner: usize) -> usize {
        while self.parent[corner] != corner {
            self.parent[corner] = self.parent[self.parent[corner]];
            corner = self.parent[corner];
        }
        corner
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
