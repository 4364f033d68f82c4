//! Cuts along the edges of a triangle mesh: notches and slits.
//!
//! A cut runs from the vertex nearest to one point to the vertex nearest to another, along the edges that
//! stay nearest to the line between them. Triangles beside it keep their number and the order of their
//! corners; a vertex on it gets one copy for each further part that its triangles fall into, so that a cut
//! that ends inside the mesh keeps its end in one piece.

use std::{cmp::Reverse, collections::BinaryHeap};

use glam::{DVec3, Vec3};

use super::TriangleMesh;

/// How much longer an edge counts that is as far from the line as it is long.
const OFF_LINE: f64 = 4.0;

/// Why a mesh could not be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// Both ends are at the same vertex.
    #[error(
        "is shorter than an edge of the mesh: both ends are nearest to vertex {0}; move them further apart"
    )]
    TooShort(u32),
    /// No edges lead from one end to the other.
    #[error(
        "cannot be made: no edges lead from vertex {from} to vertex {to}; both must be of one piece of the mesh"
    )]
    Apart {
        /// Vertex nearest to the start.
        from: u32,
        /// Vertex nearest to the end.
        to: u32,
    },
    /// Nothing comes apart.
    #[error(
        "runs along the border of the mesh only, or along a single edge inside it: nothing would come apart"
    )]
    Nothing,
}

/// `mesh`, cut from `from` to `to` \[m\], and the vertex of it that each vertex of the result was.
///
/// # Errors
/// If there is nothing to cut.
pub fn cut(mesh: &TriangleMesh, from: Vec3, to: Vec3) -> Result<(TriangleMesh, Vec<u32>), CutError> {
    let nearest = |p: Vec3| {
        let distance = |v: &u32| mesh.positions[*v as usize].as_dvec3().distance_squared(p.as_dvec3());
        (0..mesh.positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let [first, last] = [from, to].map(nearest);
    if first == last {
        return Err(CutError::TooShort(first));
    }
    let path = path(mesh, [first, last]).ok_or(CutError::Apart { from: first, to: last })?;
    let mut cuts: Vec<[u32; 2]> = path.windows(2).map(|w| [w[0].min(w[1]), w[0].max(w[1])]).collect();
    cuts.sort_unstable();
    let mut made = mesh.clone();
    let mut origins: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for &v in &path {
        for part in parts(mesh, v, &cuts).iter().skip(1) {
            let copy = origins.len() as u32;
            for &t in part {
                let corner = mesh.triangles[t as usize].iter().position(|&c| c == v).unwrap_or(0);
                made.triangles[t as usize][corner] = copy;
            }
            origins.push(v);
        }
    }
    if origins.len() == mesh.positions.len() {
        return Err(CutError::Nothing);
    }
    let copies = &origins[mesh.positions.len()..];
    made.positions.extend(copies.iter().map(|&v| mesh.positions[v as usize]));
    for group in made.groups.values_mut() {
        let also = (mesh.positions.len() as u32..).zip(copies).filter(|(_, v)| group.contains(v));
        let also: Vec<u32> = also.map(|(copy, _)| copy).collect();
        group.extend(also);
    }
    Ok((made, origins))
}

/// Vertices from one to the other along edges, near the line between them.
fn path(mesh: &TriangleMesh, [first, last]: [u32; 2]) -> Option<Vec<u32>> {
    let at = |v: u32| mesh.positions[v as usize].as_dvec3();
    let mut neighbours = vec![Vec::new(); mesh.positions.len()];
    for t in &mesh.triangles {
        for k in 0..3 {
            let [a, b] = [t[k], t[(k + 1) % 3]];
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
    }
    let line = at(last) - at(first);
    let off_line = |p: DVec3| {
        let way = p - at(first);
        let along = (way.dot(line) / line.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        way.distance(along * line)
    };
    let cost = |a: u32, b: u32| at(a).distance(at(b)) + OFF_LINE * off_line(0.5 * (at(a) + at(b)));
    // Costs are not negative, so that their bits are ordered like them.
    let mut best = vec![f64::INFINITY; mesh.positions.len()];
    let mut before = vec![u32::MAX; mesh.positions.len()];
    let mut open = BinaryHeap::from([Reverse((0u64, first))]);
    best[first as usize] = 0.0;
    while let Some(Reverse((bits, v))) = open.pop() {
        let so_far = f64::from_bits(bits);
        if v == last {
            break;
        }
        if so_far > best[v as usize] {
            continue;
        }
        for &next in &neighbours[v as usize] {
            let total = so_far + cost(v, next);
            if total < best[next as usize] {
                (best[next as usize], before[next as usize]) = (total, v);
                open.push(Reverse((total.to_bits(), next)));
            }
        }
    }
    let mut path = vec![last];
    while let Some(&v) = path.last().filter(|&&v| v != first) {
        match before[v as usize] {
            u32::MAX => return None,
            back => path.push(back),
        }
    }
    path.reverse();
    Some(path)
}

/// The parts that the triangles around `v` fall into if the edges `cuts`, in ascending order, hold nothing
/// together; that of the first triangle first.
fn parts(mesh: &TriangleMesh, v: u32, cuts: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let around = (0u32..).zip(&mesh.triangles).filter(|(_, corners)| corners.contains(&v));
    let mut left: Vec<u32> = around.map(|(t, _)| t).collect();
    let is_joined = |s: u32, t: u32| {
        let [s, t] = [s, t].map(|t| mesh.triangles[t as usize]);
        let shared = s.iter().find(|c| **c != v && t.contains(c));
        shared.is_some_and(|&w| cuts.binary_search(&[v.min(w), v.max(w)]).is_err())
    };
    let mut parts: Vec<Vec<u32>> = Vec::new();
    while !left.is_empty() {
        let mut part = vec![left.remove(0)];
        let mut next = 0;
        while next < part.len() {
            let (joined, others): (Vec<u32>, Vec<u32>) =
                left.iter().partition(|&&t| is_joined(part[next], t));
            part.extend(joined);
            left = others;
            next += 1;
        }
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{adjacency::Adjacency, check, generate};

    fn grid() -> TriangleMesh {
        generate::grid([0.4, 0.1], [16, 4], generate::Diagonals::Jittered, 3)
    }

    #[test]
    fn a_notch_opens_from_the_border_and_keeps_its_tip() {
        let mesh = grid();
        let (notched, origins) = cut(&mesh, Vec3::new(0.2, 0.0, 0.0), Vec3::new(0.2, 0.0, 0.05)).unwrap();
        // Two edges: the vertex on the border and the one after it have copies, the tip has none.
        assert_eq!(origins[mesh.positions.len()..], [8, 17 + 8]);
        assert_eq!(notched.triangles.len(), mesh.triangles.len());
        assert!(check::check(&notched).iter().all(|problem| !problem.is_error()));
        let border = |mesh: &TriangleMesh| {
            let adjacency = Adjacency::new(&mesh.triangles);
            adjacency.edges.len() - adjacency.hinges.len()
        };
        assert_eq!(border(&notched), border(&mesh) + 4);
    }

    #[test]
    fn a_cut_from_border_to_border_makes_two_pieces() {
        let mesh = grid();
        let (two, origins) = cut(&mesh, Vec3::new(0.2, 0.0, 0.0), Vec3::new(0.2, 0.0, 0.1)).unwrap();
        assert_eq!(origins.len(), mesh.positions.len() + 5);
        let mut reached = vec![false; two.positions.len()];
        reached[0] = true;
        for _ in 0..two.triangles.len() {
            for t in &two.triangles {
                if t.iter().any(|&v| reached[v as usize]) {
                    t.iter().for_each(|&v| reached[v as usize] = true);
                }
            }
        }
        assert_eq!(reached.iter().filter(|reached| !**reached).count(), two.positions.len() - 9 * 5);
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        let mesh = grid();
        let at = |x: f32, z: f32| Vec3::new(x, 0.0, z);
        assert_eq!(cut(&mesh, at(0.2, 0.0), at(0.201, 0.0)).unwrap_err(), CutError::TooShort(8));
        assert_eq!(cut(&mesh, at(0.0, 0.0), at(0.4, 0.0)).unwrap_err(), CutError::Nothing);
        let (two, _) = cut(&mesh, at(0.2, 0.0), at(0.2, 0.1)).unwrap();
        assert!(matches!(cut(&two, at(0.0, 0.0), at(0.4, 0.1)), Err(CutError::Apart { .. })));
    }
}
