//! Where two solids touch, or may touch soon: points, a normal and the gap at each.
//!
//! Spheres and capsules are points and segments with a radius, whose distance from the other shape is exact.
//! Boxes, cylinders and triangles meet along the axis that separates them most (faces of either, or the cross
//! product of an edge of each), and the faces that look at each other are clipped, so that a box lies on four
//! points. Gaps may be positive: an impulse then only keeps the two from meeting within a substep.

use glam::DVec3;

use super::hull::{Hull, MAX_CORNERS, Solid};
use crate::{boundary::obstacle::Shape, contact::distance::vertex_triangle};

/// Most points of a pair.
pub(super) const MAX_POINTS: usize = 8;

/// What an edge axis must separate more than a face, in units of the reach: faces give steadier contacts.
const EDGE_HANDICAP: f64 = 0.05;

/// Slack within which corners are of one face, in thicknesses of the thinner hull: faces that lie on each
/// other are tilted by rounding, and a box that lands is tilted by more.
const FACE_SLACK: f64 = 0.02;

/// One point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    /// On the second solid \[m\].
    pub at: DVec3,
    /// Out of the second solid, towards the first.
    pub normal: DVec3,
    /// Distance of the two there, negative where they overlap \[m\].
    pub gap: f64,
}

/// The points of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manifold {
    points: [Point; MAX_POINTS],
    count: usize,
}

impl Manifold {
    pub fn points(&self) -> &[Point] {
        &self.points[..self.count]
    }

    /// Adds `point`; when full, in place of the shallowest if that is shallower.
    fn push(&mut self, point: Point) {
        if self.count < MAX_POINTS {
            self.points[self.count] = point;
            self.count += 1;
        } else if let Some(last) = self.points.iter_mut().max_by(|a, b| a.gap.total_cmp(&b.gap))
            && point.gap < last.gap
        {
            *last = point;
        }
    }

    /// The same seen from the other solid.
    fn flipped(mut self) -> Self {
        for point in &mut self.points[..self.count] {
            point.at += point.normal * point.gap;
            point.normal = -point.normal;
        }
        self
    }

    fn retain(&mut self, keep: impl Fn(&Point) -> bool) {
        let mut count = 0;
        for k in 0..self.count {
            if keep(&self.points[k]) {
                self.points[count] = self.points[k];
                count += 1;
            }
        }
        self.count = count;
    }
}

/// Two directions at right angles to the unit vector `n` and to each other.
pub(super) fn across(n: DVec3) -> [DVec3; 2] {
    let u = n.any_orthonormal_vector();
    [u, n.cross(u)]
}

/// Ends of the axis of a round shape \[m\], and its radius; `None` for others.
pub(super) fn round(solid: &Solid) -> Option<([DVec3; 2], f64)> {
    match *solid.shape {
        Shape::Sphere { radius } => Some(([solid.position; 2], radius.into())),
        Shape::Capsule { radius, length } => {
            let half = solid.rotation.y_axis * (0.5 * f64::from(length));
            Some(([solid.position + half, solid.position - half], radius.into()))
        }
        _ => None,
    }
}

/// Where `first`, a shape that can have a mass, is nearer to `second` than `reach` \[m\].
pub(super) fn touching(first: &Solid, second: &Solid, reach: f64) -> Manifold {
    let mut manifold = match (round(first), round(second), second.shape) {
        (Some((ends, radius)), _, _) => {
            let mut manifold = along(ends, radius, second);
            if let (Some((ends, radius)), Shape::Capsule { .. }) = (round(second), second.shape)
                && matches!(first.shape, Shape::Capsule { .. })
            {
                let other = along(ends, radius, first).flipped();
                other.points().iter().for_each(|point| manifold.push(*point));
            }
            manifold
        }
        (None, Some((ends, radius)), _) => along(ends, radius, first).flipped(),
        (None, None, Shape::Plane | Shape::Torus { .. }) => corners_in(first, second),
        (None, None, _) => {
            let between = second.position - first.position;
            match hulls([first, second], between).and_then(|[a, b]| axis(&a, &b, None)) {
                // Once more, with the edges of cylinders turned to where they touch.
                Some(normal) => hulls([first, second], -normal)
                    .map_or(Manifold::default(), |[a, b]| clip(&a, &b, reach, None)),
                None => Manifold::default(),
            }
        }
    };
    manifold.retain(|point| point.gap < reach);
    manifold
}

fn hulls([first, second]: [&Solid; 2], toward: DVec3) -> Option<[Hull; 2]> {
    Some([Hull::of(first, toward)?, Hull::of(second, -toward)?])
}

/// Where `first`, whose hull is given if it has one, is nearer to `triangle` than `reach` \[m\]; `side` is
/// the normal on the side that it is on.
pub(super) fn touching_triangle(
    first: &Solid,
    triangle: [DVec3; 3],
    (side, reach): (DVec3, f64),
) -> Manifold {
    let mut manifold = Manifold::default();
    if let Some((ends, radius)) = round(first) {
        let mut point = |p: DVec3| {
            let at = nearest_of_triangle(p, triangle);
            let away = p - at;
            // In the plane, or straight past it: out on the side that the solid is on.
            let (distance, normal) = match away.try_normalize() {
                Some(normal) if normal.dot(side) > -1.0 + 1e-6 => (away.length(), normal),
                _ => (away.dot(side), side),
            };
            manifold.push(Point { at, normal, gap: distance - radius });
        };
        point(ends[0]);
        if ends[0] != ends[1] {
            point(ends[1]);
            point(nearest_of_segment(ends, |p| p.distance(nearest_of_triangle(p, triangle))));
        }
    } else if let Some(face) = Hull::triangle(triangle) {
        let rough = Hull::of(first, -side).and_then(|hull| axis(&hull, &face, Some(side)));
        if let Some(hull) = rough.and_then(|normal| Hull::of(first, -normal)) {
            manifold = clip(&hull, &face, reach, Some(side));
        }
    }
    manifold.retain(|point| point.gap < reach);
    manifold
}

/// The weights of the corners of a triangle in its point that is nearest to `p`.
pub(super) fn weights(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let [_, a, b, c] = vertex_triangle(&[p, a, b, c]).weights;
    [-a, -b, -c]
}

fn nearest_of_triangle(p: DVec3, triangle: [DVec3; 3]) -> DVec3 {
    let weights = weights(p, triangle);
    (0..3).map(|k| triangle[k] * weights[k]).sum()
}

/// Points of a segment with a radius against a solid: its ends, and where it is nearest.
fn along(ends: [DVec3; 2], radius: f64, second: &Solid) -> Manifold {
    let mut manifold = Manifold::default();
    let mut point = |p: DVec3| {
        let (distance, normal) = second.distance(p);
        manifold.push(Point { at: p - normal * distance, normal, gap: distance - radius });
    };
    point(ends[0]);
    if ends[0] != ends[1] {
        point(ends[1]);
        point(nearest_of_segment(ends, |p| second.distance(p).0));
    }
    manifold
}

/// Where a segment is nearest to something convex, by golden section.
fn nearest_of_segment([a, b]: [DVec3; 2], distance: impl Fn(DVec3) -> f64) -> DVec3 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (0.0, 1.0);
    let mut places = [1.0 - RATIO, RATIO];
    let mut values = places.map(|t| distance(a.lerp(b, t)));
    for _ in 0..24 {
        if values[0] < values[1] {
            high = places[1];
            places = [high - RATIO * (high - low), places[0]];
            values = [distance(a.lerp(b, places[0])), values[0]];
        } else {
            low = places[0];
            places = [places[1], low + RATIO * (high - low)];
            values = [values[1], distance(a.lerp(b, places[1]))];
        }
    }
    a.lerp(b, 0.5 * (low + high))
}

/// Corners of a box or cylinder against a plane or torus; of a torus also the middles of edges and faces.
fn corners_in(first: &Solid, second: &Solid) -> Manifold {
    let mut manifold = Manifold::default();
    let (_, out) = second.distance(first.position);
    let Some(hull) = Hull::of(first, -out) else { return manifold };
    let mut point = |p: DVec3| {
        let (gap, normal) = second.distance(p);
        manifold.push(Point { at: p - normal * gap, normal, gap });
    };
    if matches!((first.shape, second.shape), (Shape::Cylinder { .. }, Shape::Plane)) {
        // The other edges of its prism are not on its surface when they have turned down.
        let (lowest, count) = hull.feature(-out, FACE_SLACK * hull.thickness);
        spread(&lowest[..count], |at| Point { at, ..Point::default() })
            .iter()
            .flatten()
            .for_each(|p| point(p.at));
        return manifold;
    }
    hull.corners().iter().for_each(|p| point(*p));
    if matches!(second.shape, Shape::Torus { .. }) {
        let corners = hull.corners();
        for (k, a) in corners.iter().enumerate() {
            corners[..k].iter().for_each(|b| point(0.5 * (*a + *b)));
        }
    }
    manifold
}

/// The unit axis, from `b` to `a`, along which the two are farthest apart or overlap least; on the `side` of
/// a triangle only.
fn axis(a: &Hull, b: &Hull, side: Option<DVec3>) -> Option<DVec3> {
    let is_allowed = |n: DVec3| side.is_none_or(|side| n.dot(side) > -1e-9);
    let gap = |n: DVec3| a.span(n)[0] - b.span(n)[1];
    let mut best: Option<(f64, DVec3)> = None;
    let mut offer = |n: DVec3, handicap: f64| {
        if is_allowed(n) {
            let value = gap(n) - handicap;
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, n));
            }
        }
    };
    b.faces().iter().for_each(|n| offer(*n, 0.0));
    a.faces().iter().for_each(|n| offer(-*n, 0.0));
    let handicap = EDGE_HANDICAP * FACE_SLACK * a.thickness.min(b.thickness);
    for u in a.edges() {
        for w in b.edges() {
            let n = u.cross(*w);
            if n.length_squared() > 1e-8 {
                let n = n.normalize();
                offer(n, handicap);
                offer(-n, handicap);
            }
        }
    }
    best.map(|(_, n)| n)
}

/// Points of two polyhedra along their [`axis`]: the faces, edges or corners that look at each other, clipped
/// by each other.
fn clip(a: &Hull, b: &Hull, reach: f64, side: Option<DVec3>) -> Manifold {
    let mut manifold = Manifold::default();
    let Some(normal) = axis(a, b, side) else { return manifold };
    let gap = a.span(normal)[0] - b.span(normal)[1];
    if gap > reach {
        return manifold;
    }
    let slack = FACE_SLACK * a.thickness.min(b.thickness);
    let (of_a, count_a) = a.feature(-normal, slack);
    let (of_b, count_b) = b.feature(normal, slack);
    let [u, w] = across(normal);
    let flat = |p: DVec3| [p.dot(u), p.dot(w)];
    // The side with an area cuts the other; of an edge on an edge, where they cross.
    if count_a.min(count_b) >= 2 && count_a.max(count_b) == 2 {
        cross(&mut manifold, [of_a[0], of_a[1]], [of_b[0], of_b[1]], normal);
    } else if count_b >= 3 {
        let (kept, count) = cut(&of_a[..count_a], &of_b[..count_b], flat);
        let plane = Plane::of(&of_b[..count_b], normal);
        spread(&kept[..count], |p| {
            let gap = plane.height(p, normal);
            Point { at: p - normal * gap, normal, gap }
        })
        .iter()
        .flatten()
        .for_each(|point| manifold.push(*point));
    } else if count_a >= 3 {
        let (kept, count) = cut(&of_b[..count_b], &of_a[..count_a], flat);
        let plane = Plane::of(&of_a[..count_a], -normal);
        spread(&kept[..count], |p| Point { at: p, normal, gap: plane.height(p, -normal) })
            .iter()
            .flatten()
            .for_each(|point| manifold.push(*point));
    }
    if manifold.count == 0 {
        // A corner, or features that look past each other.
        let lowest = |(points, count): (&[DVec3; MAX_CORNERS], usize)| {
            points[..count].iter().sum::<DVec3>() / count.max(1) as f64
        };
        let (p, q) = (lowest((&of_a, count_a)), lowest((&of_b, count_b)));
        let middle = if count_a <= count_b { p } else { q };
        let at = middle - normal * (middle.dot(normal) - b.span(normal)[1]);
        manifold.push(Point { at, normal, gap });
    }
    manifold
}

/// The points of a clipped face: all of few, else some around it.
fn spread(points: &[DVec3], point: impl Fn(DVec3) -> Point) -> [Option<Point>; MAX_POINTS] {
    let count = points.len().min(MAX_POINTS);
    std::array::from_fn(|k| (k < count).then(|| point(points[k * points.len() / count])))
}

/// The plane of a face, whose corners lie around it.
struct Plane {
    middle: DVec3,
    normal: DVec3,
}

impl Plane {
    fn of(face: &[DVec3], like: DVec3) -> Self {
        let middle = face.iter().sum::<DVec3>() / face.len() as f64;
        let area: DVec3 =
            (0..face.len()).map(|k| (face[k] - middle).cross(face[(k + 1) % face.len()] - middle)).sum();
        let normal = area.try_normalize().unwrap_or(like);
        Self { middle, normal: if normal.dot(like) < 0.0 { -normal } else { normal } }
    }

    /// Distance of `p` from it along `axis`.
    fn height(&self, p: DVec3, axis: DVec3) -> f64 {
        (p - self.middle).dot(self.normal) / self.normal.dot(axis).max(0.1)
    }
}

/// The points where two edges pass each other.
fn cross(manifold: &mut Manifold, [a, b]: [DVec3; 2], [c, d]: [DVec3; 2], normal: DVec3) {
    let (u, w, r) = (b - a, d - c, a - c);
    let (uu, ww, uw) = (u.dot(u), w.dot(w), u.dot(w));
    let area = uu * ww - uw * uw;
    if area > 1e-6 * uu * ww {
        let s = ((uw * w.dot(r) - ww * u.dot(r)) / area).clamp(0.0, 1.0);
        let t = ((uw * s + w.dot(r)) / ww).clamp(0.0, 1.0);
        let (p, q) = (a + u * s, c + w * t);
        manifold.push(Point { at: q, normal, gap: (p - q).dot(normal) });
    } else if ww > 0.0 {
        // Side by side: the ends of what they share.
        for p in [a, b] {
            let t = ((p - c).dot(w) / ww).clamp(0.0, 1.0);
            let q = c + w * t;
            let s = ((q - a).dot(u) / uu).clamp(0.0, 1.0);
            manifold.push(Point { at: q, normal, gap: (a + u * s - q).dot(normal) });
        }
    }
}

/// The part of the polygon, edge or point `subject` inside the convex polygon `window`, both seen as `flat`.
fn cut(
    subject: &[DVec3],
    window: &[DVec3],
    flat: impl Fn(DVec3) -> [f64; 2],
) -> ([DVec3; 2 * MAX_CORNERS], usize) {
    let mut kept = [DVec3::ZERO; 2 * MAX_CORNERS];
    kept[..subject.len()].copy_from_slice(subject);
    let mut count = subject.len();
    let turn: f64 = (0..window.len())
        .map(|k| {
            let ([ax, ay], [bx, by]) = (flat(window[k]), flat(window[(k + 1) % window.len()]));
            ax * by - ay * bx
        })
        .sum();
    let turn = turn.signum();
    for k in 0..window.len() {
        let ([ax, ay], [bx, by]) = (flat(window[k]), flat(window[(k + 1) % window.len()]));
        let length = (bx - ax).hypot(by - ay);
        if length <= 0.0 {
            continue;
        }
        let inside = |p: DVec3| {
            let [x, y] = flat(p);
            turn * ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length + 1e-9
        };
        let before = kept;
        let last = count;
        count = 0;
        for j in 0..last {
            let (p, q) = (before[j], before[(j + 1) % last]);
            let (at_p, at_q) = (inside(p), inside(q));
            let mut keep = |p: DVec3| {
                if count < kept.len() {
                    kept[count] = p;
                    count += 1;
                }
            };
            if at_p >= 0.0 {
                keep(p);
            }
            // The closing edge of two points is the edge itself, once more.
            if (at_p < 0.0) != (at_q < 0.0) && !(last == 2 && j == 1) {
                keep(p.lerp(q, at_p / (at_p - at_q)));
            }
        }
        if last == 2 && count == 2 && kept[0] == kept[1] {
            count = 1;
        }
    }
    (kept, count)
}
