//! On which side of each other two intersecting surfaces are, and which of their vertices are on the wrong
//! side.
//!
//! Edges that pass through change sides, all others keep theirs (the flood fill of Baraff et al. 2003, on
//! vertices). So the vertices of a surface fall into two classes, and the smaller is taken to be wrong. Where
//! two surfaces cross at a small angle their classes are not independent: the wrong side of one lies over the
//! wrong side of the other. A cut that does not separate, such as one that a corner of other cloth makes in
//! the middle of a sheet, gives no information.

use glam::DVec3;

use super::{Crossing, Tables};
use crate::kernel::lanes::Quad;

/// Cosine of the angle between two surfaces above which their sides are coupled.
pub(super) const FLAT: f64 = 0.5;

/// Weight of a held vertex relative to a free one.
const HELD_VERTEX_WEIGHT: f64 = 1e6;

/// Two classes of connected vertices, as disjoint sets with a sign.
struct Signs {
    parent: Vec<u32>,
    /// Whether the sign differs from the parent's.
    differs: Vec<bool>,
}

impl Signs {
    fn of(&mut self, v: u32) -> (u32, bool) {
        let (mut root, mut sign) = (v, false);
        while self.parent[root as usize] != root {
            sign ^= self.differs[root as usize];
            root = self.parent[root as usize];
        }
        // Path compression: links directly to the root.
        let (mut at, mut left) = (v, sign);
        while self.parent[at as usize] != at {
            let (next, differs) = (self.parent[at as usize], self.differs[at as usize]);
            (self.parent[at as usize], self.differs[at as usize]) = (root, left);
            (at, left) = (next, left ^ differs);
        }
        (root, sign)
    }

    /// Records whether two vertices are of the same class, unless that is known already.
    fn join(&mut self, a: u32, b: u32, differ: bool) {
        let ((a, sign_a), (b, sign_b)) = (self.of(a), self.of(b));
        if a != b {
            let (low, high) = (a.min(b), a.max(b));
            self.parent[high as usize] = low;
            self.differs[high as usize] = sign_a ^ sign_b ^ differ;
        }
    }
}

/// By vertex: whether it is on the wrong side. Only for vertices of the two `pieces` that intersect at these
/// `crossings`.
pub(super) fn wrong(tables: &Tables, x: &[Quad], pieces: [u32; 2], crossings: &[Crossing]) -> Vec<bool> {
    let count = x.len();
    let mut signs = Signs { parent: (0..count as u32).collect(), differs: vec![false; count] };
    let mut cut: Vec<u32> = crossings.iter().filter(|c| c.odd).map(|c| c.place).collect();
    cut.sort_unstable();
    let mut members = pieces.to_vec();
    members.dedup();
    for &piece in &members {
        for &edge in &tables.edges[piece as usize] {
            if cut.binary_search(&edge).is_err() {
                let [a, b] = tables.ends[edge as usize];
                signs.join(a, b, false);
            }
        }
    }
    for crossing in crossings.iter().filter(|c| c.odd) {
        signs.join(crossing.edge[0], crossing.edge[1], true);
    }
    // Whether a component is cut in two.
    let mut apart = vec![false; tables.vertices.len()];
    for crossing in crossings.iter().filter(|c| c.odd) {
        let [a, b] = crossing.edge.map(|v| signs.of(v).1);
        apart[crossing.pieces[0] as usize] |= a != b;
    }
    let both = |c: &&Crossing| c.pieces.iter().all(|&piece| apart[piece as usize]);
    for crossing in crossings.iter().filter(|c| c.odd && !c.mixed).filter(both) {
        if let Some((vertex, along)) = beside(tables, x, crossing) {
            signs.join(crossing.edge[1], vertex, !along);
        }
    }
    let mut weights = vec![[0.0f64; 2]; count];
    for &v in members.iter().flat_map(|&piece| &tables.vertices[piece as usize]) {
        let (root, sign) = signs.of(v);
        weights[root as usize][usize::from(sign)] +=
            if x[v as usize][3] > 0.0 { 1.0 } else { HELD_VERTEX_WEIGHT };
    }
    let mut wrong = vec![false; count];
    for &v in members.iter().flat_map(|&piece| &tables.vertices[piece as usize]) {
        let (root, sign) = signs.of(v);
        let [same, other] = weights[root as usize];
        wrong[v as usize] = if same < other { !sign } else { sign };
    }
    wrong
}

/// Where two surfaces cross at a small angle: a corner of the triangle, and whether it lies on the same side
/// of their common line as the second end of the edge.
fn beside(tables: &Tables, x: &[Quad], crossing: &Crossing) -> Option<(u32, bool)> {
    let own = tables.normal_at(x, crossing.place)?;
    let cosine = own.dot(crossing.normal);
    if cosine.abs() < FLAT {
        return None;
    }
    let line = own.cross(crossing.normal).try_normalize()?;
    let across = line.cross(own + crossing.normal * cosine.signum());
    let reach = |v: u32| (super::point(&x[v as usize]) - crossing.point).dot(across);
    let corners = crossing.triangle.map(|v| (v, reach(v)));
    let (vertex, there) =
        corners.into_iter().fold(corners[0], |best, c| if c.1.abs() > best.1.abs() { c } else { best });
    let here: DVec3 = super::point(&x[crossing.edge[1] as usize]);
    let here = (here - crossing.point).dot(across);
    (here != 0.0 && there != 0.0).then_some((vertex, here > 0.0 && there > 0.0 || here < 0.0 && there < 0.0))
}
