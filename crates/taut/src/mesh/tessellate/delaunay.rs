//! Delaunay tetrahedra of points in space: incremental insertion (Bowyer 1981, Watson 1981) with exact
//! predicates.
//!
//! Points are inserted in random rounds that double, each along a space-filling curve (Amenta, Choi and Rote
//! 2003), so that the walk to the next point is short and cavities stay small.

use glam::DVec3;
use robust::{Coord3D, insphere, orient3d};

use crate::{kernel::random::Random, mesh::tetrahedra::FACES};

const NONE: u32 = u32::MAX;
/// Distance of the corners of the enclosing tetrahedron, in sizes of the point set: far enough that its
/// spheres are planes to the points.
const ENCLOSING: f64 = 100.0;

#[derive(Clone, Copy)]
struct Cell {
    /// Of positive volume.
    corners: [u32; 4],
    /// Across the face opposite each corner.
    neighbors: [u32; 4],
    /// The insertion during which its sphere contained the new point.
    conflict: u32,
    alive: bool,
}

struct Triangulation {
    points: Vec<Coord3D<f64>>,
    cells: Vec<Cell>,
    free: Vec<u32>,
    last: u32,
}

/// A face of the cavity, seen from within, and the cell behind it.
struct Wall {
    corners: [u32; 3],
    outside: u32,
}

/// Delaunay tetrahedra of `points` \[m\], each of positive volume; together they fill the convex hull but for
/// flat gaps at its sides. `None` if points coincide or are not finite.
pub(super) fn delaunay(points: &[DVec3]) -> Option<Vec<[u32; 4]>> {
    let count = points.len() as u32;
    let mut triangulation = Triangulation::new(points)?;
    for (stamp, &p) in (1..).zip(&order(points)) {
        triangulation.insert(p, stamp)?;
    }
    let cells = triangulation.cells.into_iter();
    Some(
        cells
            .filter(|cell| cell.alive && cell.corners.iter().all(|&v| v < count))
            .map(|c| c.corners)
            .collect(),
    )
}

impl Triangulation {
    fn new(points: &[DVec3]) -> Option<Self> {
        let [low, high] = extent(points)?;
        let (middle, size) = (0.5 * (low + high), (high - low).max_element());
        let far = [
            DVec3::ONE,
            DVec3::new(-1.0, -1.0, 1.0),
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, 1.0, -1.0),
        ];
        let enclosing = far.map(|way| middle + ENCLOSING * size * way);
        let all = points.iter().copied().chain(enclosing);
        let n = points.len() as u32;
        let mut corners = [n, n + 1, n + 2, n + 3];
        let mut triangulation = Self {
            points: all.map(|DVec3 { x, y, z }| Coord3D { x, y, z }).collect(),
            cells: Vec::with_capacity(8 * points.len()),
            free: Vec::new(),
            last: 0,
        };
        if !triangulation.is_positive(corners) {
            corners.swap(2, 3);
        }
        triangulation.cells.push(Cell { corners, neighbors: [NONE; 4], conflict: 0, alive: true });
        triangulation.is_positive(corners).then_some(triangulation)
    }

    fn is_positive(&self, corners: [u32; 4]) -> bool {
        let [a, b, c, d] = corners.map(|v| self.points[v as usize]);
        orient3d(a, b, c, d) < 0.0
    }

    /// Whether point `p` is inside the sphere of a cell.
    fn conflicts(&self, cell: u32, p: u32) -> bool {
        let [a, b, c, d] = self.cells[cell as usize].corners.map(|v| self.points[v as usize]);
        // Positive volumes are negative orientations.
        insphere(b, a, c, d, self.points[p as usize]) > 0.0
    }

    /// The cell that contains point `p`.
    fn locate(&self, p: u32) -> Option<u32> {
        let (mut at, mut before) = (self.last, NONE);
        for _ in 0..=self.cells.len() {
            let Cell { corners, neighbors, .. } = self.cells[at as usize];
            let beyond = |k: usize| {
                let [a, b, c] = FACES[k].map(|k| corners[k]);
                neighbors[k] != before && self.is_positive([a, b, c, p])
            };
            let Some(k) = (0..4).find(|&k| beyond(k)) else { return Some(at) };
            (before, at) = (at, neighbors[k]);
            if at == NONE {
                return None;
            }
        }
        None
    }

    /// Replaces the cells whose spheres contain point `p` by cells around it.
    fn insert(&mut self, p: u32, stamp: u32) -> Option<()> {
        let start = self.locate(p)?;
        self.cells[start as usize].conflict = stamp;
        let mut cavity = vec![start];
        let mut at = 0;
        while let Some(&cell) = cavity.get(at) {
            for n in self.cells[cell as usize].neighbors {
                if n != NONE && self.cells[n as usize].conflict != stamp && self.conflicts(n, p) {
                    self.cells[n as usize].conflict = stamp;
                    cavity.push(n);
                }
            }
            at += 1;
        }
        let walls = self.walls(p, stamp, &mut cavity)?;
        for &cell in &cavity {
            self.cells[cell as usize].alive = false;
        }
        self.free.extend(&cavity);
        self.fill(p, &walls);
        Some(())
    }

    /// The faces around the cavity, all of which see `p`. Cells behind faces that do not, because `p` is in
    /// their plane, are added to the cavity.
    fn walls(&mut self, p: u32, stamp: u32, cavity: &mut Vec<u32>) -> Option<Vec<Wall>> {
        'again: loop {
            let mut walls = Vec::with_capacity(2 * cavity.len() + 2);
            for &inside in &*cavity {
                let Cell { corners, neighbors, .. } = self.cells[inside as usize];
                for (face, outside) in FACES.iter().zip(neighbors) {
                    if outside != NONE && self.cells[outside as usize].conflict == stamp {
                        continue;
                    }
                    let [a, b, c] = face.map(|k| corners[k]);
                    if self.is_positive([a, c, b, p]) {
                        walls.push(Wall { corners: [a, c, b], outside });
                    } else if outside == NONE {
                        return None;
                    } else {
                        self.cells[outside as usize].conflict = stamp;
                        cavity.push(outside);
                        continue 'again;
                    }
                }
            }
            return Some(walls);
        }
    }

    /// Adds a cell between `p` and every wall, and links them.
    fn fill(&mut self, p: u32, walls: &[Wall]) {
        // By edge of the cavity: the two cells that meet there, each with the corner opposite.
        let mut sides: Vec<([u32; 2], u32, usize)> = Vec::with_capacity(3 * walls.len());
        for wall in walls {
            let [a, b, c] = wall.corners;
            let neighbors = [NONE, NONE, NONE, wall.outside];
            let cell = Cell { corners: [a, b, c, p], neighbors, conflict: 0, alive: true };
            let place = match self.free.pop() {
                Some(place) => {
                    self.cells[place as usize] = cell;
                    place
                }
                None => {
                    self.cells.push(cell);
                    self.cells.len() as u32 - 1
                }
            };
            let edges = [[b, c], [c, a], [a, b]].into_iter().enumerate();
            sides.extend(edges.map(|(k, [a, b])| ([a.min(b), a.max(b)], place, k)));
            self.relink(wall, place);
            self.last = place;
        }
        sides.sort_unstable();
        for pair in sides.chunks_exact(2) {
            let [(_, first, i), (_, second, j)] = [pair[0], pair[1]];
            self.cells[first as usize].neighbors[i] = second;
            self.cells[second as usize].neighbors[j] = first;
        }
    }

    /// The cell behind `wall` gets the new cell at `place` as its neighbour. The face tells which: the number
    /// of the cell that was there may be that of a new one by now.
    fn relink(&mut self, wall: &Wall, place: u32) {
        if wall.outside == NONE {
            return;
        }
        let cell = &mut self.cells[wall.outside as usize];
        if let Some(k) = (0..4).find(|&k| !wall.corners.contains(&cell.corners[k])) {
            cell.neighbors[k] = place;
        }
    }
}

/// The box of `points`, unless some are not finite.
fn extent(points: &[DVec3]) -> Option<[DVec3; 2]> {
    let box_of = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let [low, high] = points.iter().fold(box_of, |[low, high], &x| [low.min(x), high.max(x)]);
    let fine = points.iter().all(|x| x.is_finite()) && (high - low).max_element() > 0.0;
    fine.then_some([low, high])
}

/// The order of insertion.
fn order(points: &[DVec3]) -> Vec<u32> {
    let Some([low, high]) = extent(points) else { return Vec::new() };
    let cell = 1023.0 / (high - low).max_element();
    // Bits of a coordinate, with two zeros between.
    let spread = |x: f64| (0..10).fold(0u32, |all, bit| all | (x as u32 >> bit & 1) << (3 * bit));
    let along = |x: DVec3| {
        let at = cell * (x - low);
        spread(at.x) | spread(at.y) << 1 | spread(at.z) << 2
    };
    let mut random = Random::new(0, 0);
    let mut keyed: Vec<(u32, u32, u32)> =
        (0..).zip(points).map(|(v, &x)| (random.next_u64().leading_zeros().min(20), along(x), v)).collect();
    // Rounds with many leading zeros are few points, and come first.
    keyed.sort_unstable_by_key(|&(zeros, along, v)| (20 - zeros, along, v));
    keyed.into_iter().map(|(_, _, v)| v).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(points: &[DVec3], t: &[u32; 4]) -> f64 {
        let [a, b, c, d] = t.map(|v| points[v as usize]);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    #[test]
    fn no_sphere_contains_a_point_and_the_hull_is_filled() {
        let mut random = Random::new(5, 0);
        let mut unit = || f64::from(random.unit());
        let mut points: Vec<DVec3> = (0..300).map(|_| DVec3::new(unit(), unit(), unit())).collect();
        points.extend((0..8).map(|k: u32| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64)));
        let tetrahedra = delaunay(&points).unwrap();
        let mut sum = 0.0;
        for t in &tetrahedra {
            sum += volume(&points, t);
            assert!(volume(&points, t) > 0.0);
            let at = |x: DVec3| Coord3D { x: x.x, y: x.y, z: x.z };
            let [a, b, c, d] = t.map(|v| at(points[v as usize]));
            assert!(points.iter().all(|&p| insphere(b, a, c, d, at(p)) <= 0.0));
        }
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
        assert_eq!(tetrahedra, delaunay(&points).unwrap());
    }

    /// All on common spheres and planes.
    #[test]
    fn a_lattice_is_filled_and_bad_points_are_refused() {
        let points: Vec<DVec3> =
            (0..216).map(|k| DVec3::new((k % 6) as f64, (k / 6 % 6) as f64, (k / 36) as f64)).collect();
        let tetrahedra = delaunay(&points).unwrap();
        let volumes: Vec<f64> = tetrahedra.iter().map(|t| volume(&points, t)).collect();
        assert!(volumes.iter().all(|v| *v > 0.0));
        assert!((volumes.iter().sum::<f64>() - 125.0).abs() < 1e-9, "{}", volumes.iter().sum::<f64>());
        assert!(delaunay(&[]).is_none() && delaunay(&[DVec3::ZERO; 3]).is_none());
        assert!(delaunay(&[DVec3::ZERO, DVec3::ONE, DVec3::NAN]).is_none());
        assert_eq!(delaunay(&[DVec3::ZERO, DVec3::X, DVec3::Y]), Some(vec![]));
    }
}
