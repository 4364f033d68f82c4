//! The body-centred cubic lattice: which of its points are inside, where its edges are cut, and which points
//! snap to the surface.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use super::field::Field;

/// Fraction of a long edge within which a cut snaps the point to the surface.
const ALPHA_LONG: f64 = 0.24999;
/// The same of a short edge.
const ALPHA_SHORT: f64 = 0.41189;

/// Offsets from a point to its neighbours in half spacings, the later ones first; the others are their
/// opposites.
pub(super) const STEPS: [[i64; 3]; 7] =
    [[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1]];
/// Offsets before this one are along long edges.
const LONG: usize = 3;

/// Classification of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Outside,
    Inside,
    /// Snapped to the surface.
    On,
}

/// Points of the lattice with their classification.
pub(super) struct Lattice {
    grid: Grid,
    sides: Vec<Side>,
    /// Positions of snapped points.
    moved: HashMap<u32, DVec3>,
    /// Cuts of edges, by the point where their offset begins and its index.
    cuts: HashMap<(u32, u8), DVec3>,
}

/// Positions and indices of points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    origin: DVec3,
    half: f64,
    /// Cubes along each axis.
    pub cells: I64Vec3,
}

impl Grid {
    /// A grid around the box, with room for the neighbours of all points in it.
    pub fn new(low: DVec3, high: DVec3, spacing: f64) -> Self {
        // Offset from the box by no simple fraction of a cell, so that faces of boxes do not lie on points.
        let origin = low - DVec3::splat(1.37 * spacing);
        let cells = ((high - origin) / spacing).ceil() + DVec3::splat(2.0);
        Self { origin, half: 0.5 * spacing, cells: cells.as_i64vec3() }
    }

    /// Number of points, if it can be represented.
    pub fn count(&self) -> Option<u64> {
        let [x, y, z] = self.cells.to_array().map(|n| u64::try_from(n).ok());
        x?.checked_mul(y?)?.checked_mul(z?)?.checked_mul(2)
    }

    /// The index of the point at `c`, in half spacings; its coordinates are all even or all odd.
    pub fn number(&self, c: I64Vec3) -> u32 {
        let cell = cell_of(c);
        (2 * ((cell.z * self.cells.y + cell.y) * self.cells.x + cell.x) + (c.x & 1)) as u32
    }

    fn at(&self, number: u32) -> I64Vec3 {
        let (odd, n) = (i64::from(number & 1), i64::from(number >> 1));
        let (x, rest) = (n % self.cells.x, n / self.cells.x);
        2 * I64Vec3::new(x, rest % self.cells.y, rest / self.cells.y) + I64Vec3::splat(odd)
    }

    pub fn contains(&self, c: I64Vec3) -> bool {
        c.min_element() >= 0 && cell_of(c).cmplt(self.cells).all()
    }

    fn place(&self, c: I64Vec3) -> DVec3 {
        self.origin + c.as_dvec3() * self.half
    }
}

/// The cube of a point.
fn cell_of(c: I64Vec3) -> I64Vec3 {
    I64Vec3::new(c.x >> 1, c.y >> 1, c.z >> 1)
}

impl Lattice {
    /// The lattice on `grid`, whose outermost points are outside of `field`.
    pub fn new(grid: Grid, field: &impl Field) -> Self {
        let sides = sides(&grid, field);
        let cuts = cuts(&grid, &sides, field);
        let mut lattice = Self { grid, sides, moved: HashMap::new(), cuts };
        lattice.warp();
        lattice
    }

    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    pub fn side(&self, number: u32) -> Side {
        self.sides[number as usize]
    }

    /// Position of the point.
    pub fn position(&self, number: u32) -> DVec3 {
        let lattice = || self.grid.place(self.grid.at(number));
        self.moved.get(&number).copied().unwrap_or_else(lattice)
    }

    /// Position of the point at `c`, in half spacings, before it snapped.
    pub fn place(&self, c: I64Vec3) -> DVec3 {
        self.grid.place(c)
    }

    /// Where the edge from `a` to `b` (in half spacings) is cut: one end is inside, the other outside.
    pub fn cut(&self, a: I64Vec3, b: I64Vec3) -> DVec3 {
        let (start, step) = step(a, b);
        self.cuts[&(self.grid.number(start), step)]
    }

    /// Snaps points to the nearest cut of their edges where that is too near; this removes the cuts of their
    /// other edges.
    fn warp(&mut self) {
        let mut near: Vec<u32> = Vec::with_capacity(2 * self.cuts.len());
        for &(number, step) in self.cuts.keys() {
            let end = self.grid.at(number) + I64Vec3::from_array(STEPS[step as usize]);
            near.extend([number, self.grid.number(end)]);
        }
        near.sort_unstable();
        near.dedup();
        for number in near {
            let c = self.grid.at(number);
            let here = self.grid.place(c);
            let mut nearest = (f64::INFINITY, here);
            let keys = edges(&self.grid, c);
            for &(key, long) in keys.iter().flatten() {
                let Some(&cut) = self.cuts.get(&key) else { continue };
                let (alpha, length) = if long { (ALPHA_LONG, 2.0) } else { (ALPHA_SHORT, 3f64.sqrt()) };
                let distance = cut.distance(here);
                if distance < alpha * length * self.grid.half && distance < nearest.0 {
                    nearest = (distance, cut);
                }
            }
            if nearest.0.is_finite() {
                for (key, _) in keys.iter().flatten() {
                    self.cuts.remove(key);
                }
                self.moved.insert(number, nearest.1);
                self.sides[number as usize] = Side::On;
            }
        }
    }
}

/// The edge from `a` to `b` as the point where its offset begins, and the index of that offset.
fn step(a: I64Vec3, b: I64Vec3) -> (I64Vec3, u8) {
    let is = |way: I64Vec3| STEPS.iter().position(|&step| step == way.to_array());
    match (is(b - a), is(a - b)) {
        (Some(step), _) => (a, step as u8),
        (_, Some(step)) => (b, step as u8),
        _ => unreachable!("{a} and {b} are no neighbours"),
    }
}

/// The edges of a point, and whether they are long; `None` where they leave the grid.
fn edges(grid: &Grid, c: I64Vec3) -> [Option<((u32, u8), bool)>; 14] {
    std::array::from_fn(|k| {
        let (step, back) = (k / 2, k % 2 == 1);
        let way = I64Vec3::from_array(STEPS[step]);
        let (start, end) = if back { (c - way, c - way) } else { (c, c + way) };
        grid.contains(end).then(|| ((grid.number(start), step as u8), step < LONG))
    })
}

/// Which points are inside. Rows of points are independent of each other.
fn sides(grid: &Grid, field: &impl Field) -> Vec<Side> {
    let row = 2 * grid.cells.x as usize;
    let mut sides = vec![Side::Outside; row * (grid.cells.y * grid.cells.z) as usize];
    sides.par_chunks_mut(row).enumerate().for_each(|(r, sides)| {
        let (y, z) = (r as i64 % grid.cells.y, r as i64 / grid.cells.y);
        for odd in 0..2 {
            // The first point of a row is outside the box of the surface.
            let (mut last, mut side) =
                (grid.place(I64Vec3::new(odd, 2 * y + odd, 2 * z + odd)), Side::Outside);
            for x in 0..grid.cells.x {
                let p = grid.place(I64Vec3::new(2 * x, 2 * y, 2 * z) + I64Vec3::splat(odd));
                if !field.is_same_between(last, p) {
                    side = if field.is_inside(p) { Side::Inside } else { Side::Outside };
                }
                sides[(2 * x + odd) as usize] = side;
                last = p;
            }
        }
    });
    sides
}

/// Where edges from inside to outside cross the surface.
fn cuts(grid: &Grid, sides: &[Side], field: &impl Field) -> HashMap<(u32, u8), DVec3> {
    let changing: Vec<(u32, u8)> = (0..sides.len() as u32)
        .into_par_iter()
        .flat_map_iter(|number| {
            let c = grid.at(number);
            let side = sides[number as usize];
            STEPS.iter().enumerate().filter_map(move |(step, &way)| {
                let end = c + I64Vec3::from_array(way);
                let changes = grid.contains(end) && sides[grid.number(end) as usize] != side;
                changes.then_some((number, step as u8))
            })
        })
        .collect();
    let cut = |&(number, step): &(u32, u8)| {
        let c = grid.at(number);
        let ends = [grid.place(c), grid.place(c + I64Vec3::from_array(STEPS[step as usize]))];
        let [inside, outside] =
            if sides[number as usize] == Side::Inside { ends } else { [ends[1], ends[0]] };
        ((number, step), inside.lerp(outside, field.leaving(inside, outside)))
    };
    changing.par_iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::random::Random,
        mesh::stuff::{
            mend::volume,
            stencil::{Filling, dihedral_angles},
        },
    };

    /// A lattice with random classification, in larger clumps or smaller ones, and random cuts.
    fn random_lattice(seed: u64) -> Lattice {
        let grid = Grid::new(DVec3::ZERO, DVec3::splat(7.0), 1.0);
        let mut random = Random::new(seed, 0);
        let dense = 0.3 + 0.68 * random.unit();
        let count = grid.count().unwrap() as u32;
        let inner = |c: I64Vec3| c.min_element() > 2 && c.cmplt(2 * grid.cells - 3).all();
        let side = |number| {
            if inner(grid.at(number)) && random.unit() < dense { Side::Inside } else { Side::Outside }
        };
        let sides: Vec<Side> = (0..count).map(side).collect();
        let mut cuts = HashMap::new();
        // Cuts at both ends of the valid range, in between, and where points snap.
        let extreme = random.below(2) == 0;
        for number in 0..count {
            for (step, &way) in STEPS.iter().enumerate() {
                let c = grid.at(number);
                let end = c + I64Vec3::from_array(way);
                if grid.contains(end) && sides[grid.number(end) as usize] != sides[number as usize] {
                    let alpha = if step < LONG { ALPHA_LONG } else { ALPHA_SHORT };
                    let t = match random.below(4) {
                        0 if extreme => alpha + 1e-9,
                        1 if extreme => 1.0 - alpha - 1e-9,
                        2 if extreme && random.below(10) == 0 => alpha - 1e-9,
                        // Mostly without snapped points, for a lattice of snapped points has no inside.
                        _ if random.below(10) > 0 => alpha + (1.0 - 2.0 * alpha) * f64::from(random.unit()),
                        _ => f64::from(random.unit()),
                    };
                    cuts.insert((number, step as u8), grid.place(c).lerp(grid.place(end), t));
                }
            }
        }
        let mut lattice = Lattice { grid, sides, moved: HashMap::new(), cuts };
        lattice.warp();
        lattice
    }

    #[test]
    fn angles_stay_good_whatever_the_sides_and_cuts() {
        let (mut least, mut most, mut count) = (180.0f64, 0.0f64, 0);
        for seed in 0..60 {
            let lattice = random_lattice(seed);
            let filling = Filling::new(&lattice);
            count += filling.tetrahedra.len();
            for corners in &filling.tetrahedra {
                assert!(volume(corners, &filling.positions) > 1e-4);
                for angle in dihedral_angles(corners.map(|v| filling.positions[v as usize])) {
                    (least, most) = (least.min(angle), most.max(angle));
                }
            }
            // Neighbours agree on the diagonals of faces: no face has three tetrahedra, and unshared faces
            // bound the solid. A face that two tetrahedra split differently would be unshared twice, so that
            // edges would have an odd number of faces.
            let mut faces: HashMap<[u32; 3], u32> = HashMap::new();
            for corners in &filling.tetrahedra {
                for skip in 0..4 {
                    let mut face: Vec<u32> = (0..4).filter(|&k| k != skip).map(|k| corners[k]).collect();
                    face.sort_unstable();
                    *faces.entry([face[0], face[1], face[2]]).or_default() += 1;
                }
            }
            assert!(faces.values().all(|&n| n <= 2));
            let on_surface = |v: u32| {
                let x = filling.positions[v as usize];
                // Lattice points that did not snap have coordinates in halves.
                let c = (x - lattice.grid.origin) / lattice.grid.half;
                (c - c.round()).abs().max_element() > 1e-7 || lattice.moved.values().any(|m| *m == x)
            };
            for (face, _) in faces.iter().filter(|&(_, &n)| n == 1) {
                assert!(face.iter().all(|&v| on_surface(v)), "a face inside is not shared");
            }
        }
        assert!(count > 20_000, "{count}");
        // Independent cuts at the ends of the valid range are worse than any surface: a corner whose long
        // edge is cut as near as possible, between two points snapped as far as possible, has 10.205°.
        assert!(least >= 10.2 && most <= 151.1, "{least} {most}");
        // The cuts are extreme enough to find it.
        assert!(least < 11.0 && most > 150.0, "{least} {most}");
    }
}
