//! Faces that are too small or too thin to be measured in single precision.

use rayon::prelude::*;

use super::{Kind, MeshProblem, list};
use crate::mesh::TriangleMesh;

/// Smallest height of a face over its longest edge.
///
/// The strain across a face is measured over its smallest height. Positions are rounded to 6e-8 of their
/// size, so that at a height of 1e-4 of the face, rounding alone changes the strain by 0.1 %: a tenth of the
/// default tolerance. In thinner faces limits would be lost in rounding error.
pub const MIN_RELATIVE_HEIGHT: f64 = 1e-4;
/// Minimum edge length \[m\]: at a micrometre, coordinates in a mesh of a metre differ by only 16 units in
/// the last place.
pub const MIN_EDGE: f64 = 1e-6;

/// A problem with the shape of one face.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Sound,
    /// Smallest height over longest edge.
    Degenerate(f64),
    /// The corner at which the edge starts, and its length \[m\].
    Short(usize, f64),
}

/// Adds faces without area and edges without length. Returns for each face whether its adjacency is
/// meaningful: its vertices exist and are distinct.
pub(super) fn check(mesh: &TriangleMesh, found: &mut Vec<MeshProblem>) -> Vec<bool> {
    let shapes: Vec<Shape> = mesh.triangles.par_iter().map(|&triangle| measure(mesh, triangle)).collect();
    let faces = || shapes.iter().copied().zip(&mesh.triangles).enumerate();
    list(
        found,
        Kind::Degenerate,
        faces().filter_map(|(face, (shape, &vertices))| match shape {
            Shape::Degenerate(relative_height) => {
                Some(MeshProblem::Degenerate { face, vertices, relative_height })
            }
            _ => None,
        }),
    );
    list(
        found,
        Kind::ShortEdge,
        faces().filter_map(|(face, (shape, vertices))| match shape {
            Shape::Short(corner, length) => {
                let vertices = [vertices[corner], vertices[(corner + 1) % 3]];
                Some(MeshProblem::ShortEdge { face, vertices, length })
            }
            _ => None,
        }),
    );
    mesh.triangles
        .iter()
        .map(|&[a, b, c]| {
            let exist = [a, b, c].iter().all(|&v| (v as usize) < mesh.positions.len());
            exist && a != b && b != c && c != a
        })
        .collect()
}

/// Measures one face in double precision. A face with a missing vertex or a non-finite position counts as
/// sound: that is reported already.
fn measure(mesh: &TriangleMesh, triangle: [u32; 3]) -> Shape {
    let [Some(a), Some(b), Some(c)] = triangle.map(|v| mesh.positions.get(v as usize)) else {
        return Shape::Sound;
    };
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return Shape::Sound;
    }
    let [a, b, c] = [a, b, c].map(|p| p.as_dvec3());
    let lengths = [(b - a).length(), (c - b).length(), (a - c).length()];
    let longest = lengths.into_iter().fold(0.0, f64::max);
    let double_area = (b - a).cross(c - a).length();
    let relative_height = if longest > 0.0 { double_area / (longest * longest) } else { 0.0 };
    if relative_height < MIN_RELATIVE_HEIGHT {
        return Shape::Degenerate(relative_height);
    }
    match (0..3).find(|&i| lengths[i] < MIN_EDGE) {
        Some(corner) => Shape::Short(corner, lengths[corner]),
        None => Shape::Sound,
    }
}
