//! Delaunay triangulation of points in the plane (Bowyer 1981, Watson 1981), with exact predicates.

use glam::DVec2;
use robust::{Coord, incircle, orient2d};

const NONE: usize = usize::MAX;

/// Triangles so far: corners counter-clockwise, and the triangle across from each corner.
struct Work {
    points: Vec<DVec2>,
    corners: Vec<[usize; 3]>,
    across: Vec<[usize; 3]>,
    alive: Vec<bool>,
}

/// Triangles of distinct points, counter-clockwise. Fast if consecutive points are near each other.
pub fn triangulate(points: &[DVec2]) -> Vec<[u32; 3]> {
    let low = points.iter().fold(DVec2::MAX, |low, p| low.min(*p));
    let high = points.iter().fold(DVec2::MIN, |high, p| high.max(*p));
    let (middle, far) = ((low + high) / 2.0, 1e4 * (high - low).max_element().max(1e-9));
    let mut all = points.to_vec();
    let count = all.len();
    // A triangle around everything, removed in the end.
    all.extend(
        [DVec2::new(-2.0, -1.0), DVec2::new(2.0, -1.0), DVec2::new(0.0, 2.0)].map(|p| middle + far * p),
    );
    let mut work = Work {
        points: all,
        corners: vec![[count, count + 1, count + 2]],
        across: vec![[NONE; 3]],
        alive: vec![true],
    };
    let mut near = 0;
    for p in 0..count {
        near = work.insert(p, near);
    }
    let inner = |t: &usize| work.alive[*t] && work.corners[*t].iter().all(|&v| v < count);
    (0..work.corners.len()).filter(inner).map(|t| work.corners[t].map(|v| v as u32)).collect()
}

impl Work {
    fn at(&self, v: usize) -> Coord<f64> {
        Coord { x: self.points[v].x, y: self.points[v].y }
    }

    /// Inserts a point and returns a triangle at it; `near` is where the search begins.
    fn insert(&mut self, p: usize, near: usize) -> usize {
        let mut cavity = vec![self.locate(p, near)];
        self.alive[cavity[0]] = false;
        // Sides of the cavity: from, to, and the triangle beyond.
        let mut rim = Vec::new();
        let mut next = 0;
        while let Some(&t) = cavity.get(next) {
            next += 1;
            for k in 0..3 {
                let beyond = self.across[t][k];
                let side = (self.corners[t][(k + 1) % 3], self.corners[t][(k + 2) % 3], beyond);
                if beyond == NONE {
                    rim.push(side);
                } else if self.alive[beyond] {
                    let [a, b, c] = self.corners[beyond].map(|v| self.at(v));
                    if incircle(a, b, c, self.at(p)) > 0.0 {
                        self.alive[beyond] = false;
                        cavity.push(beyond);
                    } else {
                        rim.push(side);
                    }
                }
            }
        }
        // Triangles that joined the cavity after a side was found are not its boundary.
        rim.retain(|side| side.2 == NONE || self.alive[side.2]);
        let first = self.corners.len();
        for (k, &(from, to, beyond)) in rim.iter().enumerate() {
            let place = |wanted: &dyn Fn(&(usize, usize, usize)) -> bool| {
                rim.iter().position(wanted).map_or(NONE, |other| first + other)
            };
            self.corners.push([from, to, p]);
            self.across.push([place(&|side| side.0 == to), place(&|side| side.1 == from), beyond]);
            self.alive.push(true);
            if beyond != NONE {
                let corner = self.corners[beyond].iter().position(|&v| v != from && v != to).unwrap_or(0);
                self.across[beyond][corner] = first + k;
            }
        }
        first
    }

    /// The triangle that contains a point: a walk towards it.
    fn locate(&self, p: usize, near: usize) -> usize {
        let mut t = near;
        loop {
            let step = (0..3).find(|&k| {
                let (a, b) = (self.corners[t][(k + 1) % 3], self.corners[t][(k + 2) % 3]);
                self.across[t][k] != NONE && orient2d(self.at(a), self.at(b), self.at(p)) < 0.0
            });
            match step {
                Some(k) => t = self.across[t][k],
                None => return t,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    #[test]
    fn covers_the_hull_with_empty_circles() {
        let mut random = Random::new(3, 0);
        let mut points: Vec<DVec2> =
            (0..200).map(|_| DVec2::new(f64::from(random.unit()), f64::from(random.unit()))).collect();
        // A part of a square grid, whose circles contain four points each.
        points.extend((0..25).map(|k| DVec2::new(2.0 + f64::from(k % 5), f64::from(k / 5))));
        points.extend([
            DVec2::new(-1.0, -1.0),
            DVec2::new(9.0, -1.0),
            DVec2::new(9.0, 9.0),
            DVec2::new(-1.0, 9.0),
        ]);
        let triangles = triangulate(&points);
        assert_eq!(triangles.len(), 2 * (points.len() - 1) - 4, "Euler: all points, four on the hull");
        let at = |v: u32| Coord { x: points[v as usize].x, y: points[v as usize].y };
        let mut area = 0.0;
        for t in &triangles {
            let [a, b, c] = t.map(at);
            let twice = orient2d(a, b, c);
            assert!(twice > 0.0);
            area += twice / 2.0;
            assert!((0..points.len() as u32).all(|v| t.contains(&v) || incircle(a, b, c, at(v)) <= 0.0));
        }
        assert!((area - 100.0).abs() < 1e-9, "{area}");
    }
}
