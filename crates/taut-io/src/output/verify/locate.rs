//! Finds the vertex of a frame that was changed after it was written.
//!
//! The certificate contains Σ x and Σ i x over the vertices i. If one vertex was moved by d, the first sum
//! changes by d and the second by i d: their ratio is the vertex, found without the original positions.

use glam::{DVec3, Vec3};
use taut::{Body, measure::fingerprint};

/// The sums are exact up to rounding, which grows with the summands.
const ROUNDING: f64 = 1e-12;

/// Result of comparing the sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Located {
    /// The positions are unchanged.
    Same,
    /// One vertex was moved, with its displacement \[m\].
    Vertex(usize, DVec3),
    /// More than one vertex was moved.
    Several,
}

/// Compares `positions` with the recorded sums `then`.
pub(super) fn locate(then: [[f64; 3]; 2], positions: &[Vec3]) -> Located {
    let [now0, now1] = fingerprint(positions).map(DVec3::from_array);
    let [then0, then1] = then.map(DVec3::from_array);
    let (moved, weighted) = (now0 - then0, now1 - then1);
    let mut scale = [DVec3::ZERO; 2];
    for (i, x) in positions.iter().enumerate() {
        let x = x.as_dvec3().abs();
        scale[0] += x;
        scale[1] += i as f64 * x;
    }
    let within = |d: DVec3, scale: DVec3| d.abs().cmple(scale * ROUNDING + DVec3::splat(ROUNDING)).all();
    if within(moved, scale[0]) && within(weighted, scale[1]) {
        return Located::Same;
    }
    let axis = moved.abs().max_position();
    let index = (weighted[axis] / moved[axis]).round();
    if !(index >= 0.0 && index < positions.len() as f64) {
        return Located::Several;
    }
    // One vertex explains the change if its index is the same on all three axes.
    let left = (weighted - index * moved).abs();
    let allowed = scale[1] * ROUNDING + DVec3::splat(0.25 * moved.abs().max_element());
    if left.cmple(allowed).all() { Located::Vertex(index as usize, moved) } else { Located::Several }
}

/// The changed element, if it is known, and a message.
pub(super) fn describe(found: Located, body: &Body) -> (Option<String>, String) {
    match found {
        Located::Same => (None, "its figures do not match its positions".into()),
        Located::Several => (None, "several vertices were moved after the run wrote them".into()),
        Located::Vertex(vertex, moved) => {
            let touching = body.elements_at(vertex as u32).map(|t| t.to_string()).collect::<Vec<_>>();
            let elements = match body.element_kind() {
                "triangle" => "triangles",
                "tetrahedron" => "tetrahedra",
                _ => "segments",
            };
            let [x, y, z] = (moved * 1e3).to_array();
            let what = format!(
                "vertex {vertex} (of {elements} {}) was moved by [{x:.3}, {y:.3}, {z:.3}] mm after the run wrote it",
                touching.join(", ")
            );
            (Some(format!("vertex {vertex}")), what)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(n: usize) -> Vec<Vec3> {
        (0..n).map(|i| Vec3::new((i as f32).sin(), (i as f32 * 0.7).cos() - 0.4, i as f32 * 1e-3)).collect()
    }

    #[test]
    fn names_any_single_vertex() {
        for n in [3, 1681, 200_000] {
            let original = positions(n);
            let then = fingerprint(&original);
            assert_eq!(locate(then, &original), Located::Same);
            for vertex in [0, 1, n / 2, n - 1] {
                for axis in 0..3 {
                    for by in [5e-3, -5e-3] {
                        let mut changed = original.clone();
                        changed[vertex][axis] += by;
                        let Located::Vertex(found, _) = locate(then, &changed) else {
                            panic!("vertex {vertex} of {n} was not found")
                        };
                        assert_eq!(found, vertex);
                    }
                }
            }
        }
    }

    #[test]
    fn does_not_blame_one_for_two() {
        let original = positions(1000);
        let mut changed = original.clone();
        changed[10].x += 5e-3;
        changed[500].y += 5e-3;
        assert_eq!(locate(fingerprint(&original), &changed), Located::Several);
    }
}
