//! Triangulation of polygons.
//!
//! A quad is split along its shorter diagonal, unless only the other one lies inside. Larger polygons are
//! triangulated by ear clipping (Meisters 1975) in the plane of their mean normal (Newell). A
//! self-intersecting polygon has no valid triangulation; it still gives n − 2 triangles over its own corners,
//! never a hole in the index table.

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::fault::{Fault, fault};

/// Maximum corners of one polygon: ear clipping is quadratic.
pub(super) const MAX_CORNERS: usize = 4096;
/// Stands for a corner without texture coordinate.
pub(super) const NO_UV: u32 = u32::MAX;

/// Corner of a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corner {
    pub vertex: u32,
    /// Index into the table of texture coordinates, or [`NO_UV`].
    pub uv: u32,
}

/// Polygons one after the other.
#[derive(Default)]
pub(super) struct Polygons {
    pub corners: Vec<Corner>,
    /// End of each polygon in `corners`.
    pub ends: Vec<usize>,
}

impl Polygons {
    /// Closes the polygon whose corners were pushed since the last one.
    pub fn close(&mut self) -> Result<(), Fault> {
        let count = self.corners.len() - self.ends.last().copied().unwrap_or(0);
        if count < 3 {
            return Err(fault(format!("a face of {count} corners: at least 3 are required")));
        }
        if count > MAX_CORNERS {
            return Err(fault(format!(
                "a face of {count} corners: at most {MAX_CORNERS} are read; triangulate it"
            )));
        }
        self.ends.push(self.corners.len());
        Ok(())
    }

    /// The corners of each polygon.
    pub fn iter(&self) -> impl Iterator<Item = &[Corner]> {
        self.ends.iter().scan(0, |start, &end| {
            let polygon = &self.corners[*start..end];
            *start = end;
            Some(polygon)
        })
    }

    /// All polygons as triangles, and their texture coordinates if every corner has one. Indices must be in
    /// range.
    pub fn triangulate(&self, positions: &[Vec3], uvs: &[Vec2]) -> Triangulated {
        let has_uvs = !self.corners.is_empty() && self.corners.iter().all(|c| (c.uv as usize) < uvs.len());
        let mut triangles = Vec::with_capacity(self.corners.len() - 2 * self.ends.len());
        let mut triangle_uvs = Vec::new();
        let mut points = Vec::new();
        for polygon in self.iter() {
            points.clear();
            points.extend(polygon.iter().map(|corner| positions[corner.vertex as usize].as_dvec3()));
            cut(&points, |triangle| {
                triangles.push(triangle.map(|i| polygon[i].vertex));
                if has_uvs {
                    triangle_uvs.push(triangle.map(|i| uvs[polygon[i].uv as usize]));
                }
            });
        }
        (triangles, has_uvs.then_some(triangle_uvs))
    }
}

/// Triangles and the texture coordinates of their corners.
pub(super) type Triangulated = (Vec<[u32; 3]>, Option<Vec<[Vec2; 3]>>);

/// Cuts the polygon over `points` (at least 3) and emits triangles as indices of its corners.
fn cut(points: &[DVec3], mut emit: impl FnMut([usize; 3])) {
    match points.len() {
        0..3 => {}
        3 => emit([0, 1, 2]),
        4 => cut_quad(points, [0, 1, 2, 3], emit),
        _ => cut_ears(points, emit),
    }
}

fn cut_quad(points: &[DVec3], corners: [usize; 4], mut emit: impl FnMut([usize; 3])) {
    // A half below this part of the whole has its three corners on a line, up to rounding.
    const LEAST: f64 = 1e-6;
    let p = corners.map(|i| points[i]);
    // Twice the area vector; of a plane quad with an outer diagonal, one of the halves turns against it.
    let normal = (p[2] - p[0]).cross(p[3] - p[1]);
    let faces_front = |[a, b, c]: [usize; 3]| {
        (p[b] - p[a]).cross(p[c] - p[a]).dot(normal) > LEAST * normal.length_squared()
    };
    let halves = [[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]];
    let inside = halves.map(|pair| pair.into_iter().all(faces_front));
    let second_shorter = p[1].distance_squared(p[3]) < p[0].distance_squared(p[2]);
    let second = if inside[0] == inside[1] { second_shorter } else { inside[1] };
    halves[usize::from(second)].into_iter().for_each(|half| emit(half.map(|i| corners[i])));
}

/// The polygon seen along its mean normal, counter-clockwise.
fn flatten(points: &[DVec3]) -> Vec<DVec2> {
    let next = |i: usize| points[(i + 1) % points.len()];
    let normal: DVec3 = (0..points.len()).map(|i| (points[i] - points[0]).cross(next(i) - points[0])).sum();
    // Without its largest component the projection keeps the most area; the order of the rest keeps
    // orientation.
    let size = normal.abs();
    if size.x >= size.y && size.x >= size.z {
        points.iter().map(|p| DVec2::new(p.y * normal.x.signum(), p.z)).collect()
    } else if size.y >= size.z {
        points.iter().map(|p| DVec2::new(p.z * normal.y.signum(), p.x)).collect()
    } else {
        points.iter().map(|p| DVec2::new(p.x * normal.z.signum(), p.y)).collect()
    }
}

fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Area over squared length of the longest edge, signed: how well-shaped a triangle is.
fn quality(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    turn(a, b, c) / longest
}

/// What is left of a polygon, as a ring.
struct Ring {
    points: Vec<DVec2>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Corners that turn inwards. Only these can lie in an ear, and cutting never makes more of them.
    reflex: Vec<usize>,
}

impl Ring {
    fn new(points: Vec<DVec2>) -> Self {
        let n = points.len();
        let next = (0..n).map(|i| (i + 1) % n).collect();
        let previous = (0..n).map(|i| (i + n - 1) % n).collect();
        let mut ring = Self { points, next, previous, reflex: Vec::new() };
        ring.reflex = (0..n).filter(|&i| !ring.is_convex(i)).collect();
        ring
    }

    fn corner(&self, at: usize) -> [usize; 3] {
        [self.previous[at], at, self.next[at]]
    }

    fn is_convex(&self, at: usize) -> bool {
        let [a, b, c] = self.corner(at).map(|i| self.points[i]);
        turn(a, b, c) > 0.0
    }

    /// How well-shaped the ear at a corner is, if it is one.
    fn ear(&self, at: usize) -> Option<f64> {
        let corner = self.corner(at);
        let [a, b, c] = corner.map(|i| self.points[i]);
        let blocks = |&r: &usize| {
            let q = self.points[r];
            // A corner at the very place of one of the ear's is a bridge to a hole, and no obstacle.
            let apart = !corner.contains(&r) && q != a && q != b && q != c;
            apart && turn(a, b, q) >= 0.0 && turn(b, c, q) >= 0.0 && turn(c, a, q) >= 0.0
        };
        (turn(a, b, c) > 0.0 && !self.reflex.iter().any(blocks)).then(|| quality(a, b, c))
    }

    fn remove(&mut self, at: usize) {
        let [before, _, after] = self.corner(at);
        self.next[before] = after;
        self.previous[after] = before;
        let mut reflex = std::mem::take(&mut self.reflex);
        reflex.retain(|&r| r != at && !self.is_convex(r));
        self.reflex = reflex;
    }
}

fn cut_ears(points: &[DVec3], mut emit: impl FnMut([usize; 3])) {
    // Up to this size the best ear of all is cut; beyond it, the best of as many in a row.
    const COMPARED: usize = 64;
    let mut ring = Ring::new(flatten(points));
    let (mut at, mut left) = (0, points.len());
    while left > 4 {
        let mut best: Option<(f64, usize)> = None;
        let mut candidate = at;
        // On round the whole ring only as long as no ear is found.
        for tried in 0..left {
            if tried >= COMPARED && best.is_some() {
                break;
            }
            if let Some(quality) = ring.ear(candidate)
                && best.is_none_or(|(known, _)| quality > known)
            {
                best = Some((quality, candidate));
            }
            candidate = ring.next[candidate];
        }
        // No ear at all: the polygon crosses itself or has no area. Any cut ends the search.
        let ear = best.map_or(at, |(_, ear)| ear);
        emit(ring.corner(ear));
        at = ring.next[ear];
        ring.remove(ear);
        left -= 1;
    }
    let [before, _, after] = ring.corner(at);
    cut_quad(points, [before, at, after, ring.next[after]], emit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(points: &[DVec3], triangle: [usize; 3]) -> DVec3 {
        let [a, b, c] = triangle.map(|i| points[i]);
        (b - a).cross(c - a) / 2.0
    }

    /// Cuts, and checks that all triangles face the polygon's front and cover its area.
    fn cut_soundly(points: &[DVec3]) -> Vec<[usize; 3]> {
        let mut triangles = Vec::new();
        cut(points, |t| triangles.push(t));
        assert_eq!(triangles.len(), points.len() - 2);
        let whole: DVec3 = (1..points.len() - 1)
            .map(|i| (points[i] - points[0]).cross(points[i + 1] - points[0]) / 2.0)
            .sum();
        let sum: f64 = triangles.iter().map(|&t| area(points, t).dot(whole.normalize())).sum();
        assert!((sum - whole.length()).abs() < 1e-9 * whole.length());
        for &t in &triangles {
            assert!(area(points, t).dot(whole) > 0.0, "{t:?} of {points:?}");
        }
        triangles
    }

    fn flat(points: &[[f64; 2]]) -> Vec<DVec3> {
        points.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect()
    }

    #[test]
    fn a_quad_is_cut_along_its_shorter_diagonal() {
        let mut quad = flat(&[[0., 0.], [3., 0.], [4., 1.], [1., 1.]]);
        assert!(cut_soundly(&quad).contains(&[0, 1, 3]), "the diagonal from 1 to 3 is shorter");
        quad.rotate_left(1);
        assert!(cut_soundly(&quad).contains(&[0, 1, 2]));
        let square = flat(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]]);
        assert_eq!(cut_soundly(&square), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_quad_with_a_dent_is_cut_inside() {
        // The shorter diagonal lies outside.
        let mut dent = flat(&[[0., 0.], [10., -1.], [9., 0.], [10., 1.]]);
        for _ in 0..4 {
            cut_soundly(&dent);
            dent.rotate_left(1);
        }
    }

    #[test]
    fn polygons_of_any_shape_and_direction() {
        let comb = [
            [0., 0.],
            [7., 0.],
            [7., 3.],
            [6., 1.],
            [5., 3.],
            [4., 1.],
            [3., 3.],
            [2., 1.],
            [1., 3.],
            [0., 3.],
        ];
        let arrow = [[0., 0.], [4., 4.], [0., 2.], [-4., 4.], [-1., 1.]]; // the last three are on a line
        let collinear = [[0., 0.], [1., 0.], [2., 0.], [2., 2.], [0., 2.], [0., 1.]];
        for shape in [&comb[..], &arrow, &collinear] {
            let points = flat(shape);
            for k in 0..24 {
                let rotation =
                    glam::DQuat::from_euler(glam::EulerRot::XYZ, k as f64, 0.7 * k as f64, 1.3 * k as f64);
                let mut turned: Vec<DVec3> =
                    points.iter().map(|&p| rotation * p + DVec3::splat(5.0)).collect();
                turned.rotate_left(k % points.len());
                // Turned points are collinear up to rounding only.
                if shape.len() == collinear.len() && k > 0 {
                    continue;
                }
                cut_soundly(&turned);
                turned.reverse();
                cut_soundly(&turned);
            }
        }
    }

    #[test]
    fn a_large_star_is_cut() {
        let n = 1000;
        let star: Vec<DVec3> = (0..n)
            .map(|i| {
                let (sin, cos) = (std::f64::consts::TAU * i as f64 / n as f64).sin_cos();
                DVec3::new(cos, sin, 0.0) * if i % 2 == 0 { 1.0 } else { 0.3 }
            })
            .collect();
        cut_soundly(&star);
    }

    #[test]
    fn crossing_flat_and_undefined_polygons_give_their_number_of_triangles() {
        let bow = flat(&[[0., 0.], [1., 1.], [1., 0.], [0., 1.], [-1., 0.5]]);
        let line = flat(&[[0., 0.], [1., 0.], [2., 0.], [3., 0.], [4., 0.]]);
        let point = vec![DVec3::ONE; 7];
        let undefined = vec![DVec3::NAN; 9];
        for polygon in [bow, line, point, undefined] {
            let mut triangles = Vec::new();
            cut(&polygon, |t| triangles.push(t));
            assert_eq!(triangles.len(), polygon.len() - 2);
            assert!(triangles.iter().all(|&[a, b, c]| a != b && b != c && c != a));
        }
    }
}
