//! Stencils: each tetrahedron of the lattice is kept, cut by the surface, or dropped.
//!
//! With one corner inside, a tetrahedron remains; with two or three, a pyramid or a prism, whose
//! quadrilateral faces are split so that neighbours agree: the diagonal ends at the cut that is further from
//! the corner outside. Both neighbours see the same cuts, and an order of cuts never splits the sides of a
//! prism cyclically. Angles are better than with fixed diagonals (9.3° to 160.5° for the worst cuts where the
//! long edge's cut always ends it).

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};

use super::lattice::{Lattice, Side};

/// Angles \[°\] that the paper publishes as bounds for its first pair of α.
pub(super) const ANGLES: [f64; 2] = [10.78, 164.74];

/// The two diagonals of the faces of a cube's side, as offsets from the centre of a long edge: corners around
/// it, in order.
const AROUND: [[i64; 2]; 4] = [[-1, -1], [1, -1], [1, 1], [-1, 1]];

/// Collects tetrahedra and their vertices.
pub(super) struct Filling<'a> {
    lattice: &'a Lattice,
    /// Indices of vertices, by the two points of their edge; the same twice for lattice points.
    numbers: HashMap<[u32; 2], u32>,
    pub positions: Vec<DVec3>,
    pub tetrahedra: Vec<[u32; 4]>,
}

impl<'a> Filling<'a> {
    /// All tetrahedra that are inside.
    pub fn new(lattice: &'a Lattice) -> Self {
        let mut filling =
            Self { lattice, numbers: HashMap::new(), positions: Vec::new(), tetrahedra: Vec::new() };
        let cells = lattice.grid().cells;
        for z in 0..cells.z {
            for y in 0..cells.y {
                for x in 0..cells.x {
                    let odd = 2 * I64Vec3::new(x, y, z) + I64Vec3::ONE;
                    (0..3).for_each(|axis| filling.around(odd, axis));
                }
            }
        }
        filling
    }

    /// The four tetrahedra around the long edge from `c` along `axis`; their other long edges join points
    /// with even coordinates.
    fn around(&mut self, c: I64Vec3, axis: usize) {
        let mut far = c;
        far[axis] += 2;
        let ring = AROUND.map(|[u, w]| {
            let mut corner = c;
            corner[axis] += 1;
            corner[(axis + 1) % 3] += u;
            corner[(axis + 2) % 3] += w;
            corner
        });
        let grid = self.lattice.grid();
        // Points at the ends of the grid are outside, and so is everything beyond them.
        if !grid.contains(far) || !ring.iter().all(|&corner| grid.contains(corner)) {
            return;
        }
        for k in 0..4 {
            self.tetrahedron([c, far, ring[k], ring[(k + 1) % 4]]);
        }
    }

    /// The remainder of one tetrahedron. A long edge joins its first two corners, and another its last two.
    fn tetrahedron(&mut self, corners: [I64Vec3; 4]) {
        let sides = corners.map(|c| self.lattice.side(self.lattice.grid().number(c)));
        let those = |side: Side| (0..4).filter(move |&k| sides[k] == side);
        let mut inside = [0; 4];
        let count = those(Side::Inside).zip(&mut inside).map(|(k, slot)| *slot = k).count();
        if count == 0 {
            return;
        }
        let inside = &inside[..count];
        let mut outside = those(Side::Outside);
        match (inside, outside.next(), outside.next()) {
            (_, None, _) => {
                let whole = corners.map(|c| self.point(c));
                self.add(whole);
            }
            (&[a], ..) => {
                let tip = std::array::from_fn(|k| match sides[k] {
                    Side::Outside => self.cut(corners[a], corners[k]),
                    _ => self.point(corners[k]),
                });
                self.add(tip);
            }
            (&[a, b], Some(m), None) => {
                let on = those(Side::On).next().expect("four corners: two inside, one outside");
                let apex = self.point(corners[on]);
                let [va, vb] = [a, b].map(|k| self.point(corners[k]));
                let [ca, cb] = [a, b].map(|k| self.cut(corners[k], corners[m]));
                if self.starts_at_first(&corners, [a, b], m) {
                    self.add([va, vb, cb, apex]);
                    self.add([va, cb, ca, apex]);
                } else {
                    self.add([va, vb, ca, apex]);
                    self.add([vb, cb, ca, apex]);
                }
            }
            (&[a, b], Some(m), Some(n)) => {
                let [top, bottom] = [a, b].map(|k| {
                    [
                        self.point(corners[k]),
                        self.cut(corners[k], corners[m]),
                        self.cut(corners[k], corners[n]),
                    ]
                });
                let [first, last] = [m, n].map(|k| self.starts_at_first(&corners, [a, b], k));
                // The side between the cuts is the surface: either diagonal is valid.
                self.prism(top, bottom, [Some(first), None, Some(!last)]);
            }
            (&[a, b, c], Some(m), _) => {
                let top = [a, b, c].map(|k| self.point(corners[k]));
                let bottom = [a, b, c].map(|k| self.cut(corners[k], corners[m]));
                let sides =
                    [[a, b], [b, c], [c, a]].map(|pair| Some(self.starts_at_first(&corners, pair, m)));
                self.prism(top, bottom, sides);
            }
            _ => unreachable!("four corners"),
        }
    }

    /// A prism between two triangles. For each side: whether its diagonal runs from the top of its first
    /// corner to the bottom of its second, or the other way; free diagonals are chosen for the best angles.
    fn prism(&mut self, top: [u32; 3], bottom: [u32; 3], halved: [Option<bool>; 3]) {
        let mut best: (f64, [[u32; 4]; 3]) = (f64::NEG_INFINITY, [[0; 4]; 3]);
        for free in [false, true] {
            let down = halved.map(|side| side.unwrap_or(free));
            let Some(parts) = parts(top, bottom, down) else { continue };
            let quality = parts.iter().map(|part| self.quality(part)).fold(f64::INFINITY, f64::min);
            if quality > best.0 {
                best = (quality, parts);
            }
        }
        best.1.into_iter().for_each(|part| self.add(part));
    }

    /// At least 1 if all dihedral angles are within [`ANGLES`].
    fn quality(&self, part: &[u32; 4]) -> f64 {
        let angles = dihedral_angles(part.map(|v| self.positions[v as usize]));
        let worst = angles.map(|angle| (angle / ANGLES[0]).min((180.0 - angle) / (180.0 - ANGLES[1])));
        worst.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Whether the diagonal of the face with corners `pair` inside and `out` outside runs from the first of
    /// the pair to the cut of the second's edge: where that cut is further from the corner outside.
    fn starts_at_first(&self, corners: &[I64Vec3; 4], pair: [usize; 2], out: usize) -> bool {
        let [first, second] = pair.map(|k| {
            let cut = self.lattice.cut(corners[k], corners[out]);
            (cut.distance(self.lattice.place(corners[out])), self.lattice.grid().number(corners[k]))
        });
        first.0.total_cmp(&second.0).then(first.1.cmp(&second.1)).is_lt()
    }

    fn add(&mut self, mut part: [u32; 4]) {
        let [a, b, c, d] = part.map(|v| self.positions[v as usize]);
        if (b - a).cross(c - a).dot(d - a) < 0.0 {
            part.swap(0, 1);
        }
        self.tetrahedra.push(part);
    }

    fn point(&mut self, c: I64Vec3) -> u32 {
        let number = self.lattice.grid().number(c);
        let positions = &mut self.positions;
        *self.numbers.entry([number; 2]).or_insert_with(|| {
            positions.push(self.lattice.position(number));
            positions.len() as u32 - 1
        })
    }

    fn cut(&mut self, inside: I64Vec3, outside: I64Vec3) -> u32 {
        let [a, b] = [inside, outside].map(|c| self.lattice.grid().number(c));
        let positions = &mut self.positions;
        *self.numbers.entry([a, b]).or_insert_with(|| {
            positions.push(self.lattice.cut(inside, outside));
            positions.len() as u32 - 1
        })
    }
}

/// The three tetrahedra of a prism, or `None` if its sides are split cyclically, where there are none.
fn parts(top: [u32; 3], bottom: [u32; 3], down: [bool; 3]) -> Option<[[u32; 4]; 3]> {
    // The corner of the top or bottom where two diagonals meet sees the rest: the opposite side, and the
    // other end.
    for k in 0..3 {
        let (next, last) = ((k + 1) % 3, (k + 2) % 3);
        let apex = match (down[k], down[last]) {
            (true, false) => (top, bottom),
            (false, true) => (bottom, top),
            _ => continue,
        };
        let (near, far) = apex;
        let [p, q] = [next, last];
        // The side from `next` to `last`, split from the top of the first to the bottom of the second or the
        // other way.
        let halves = if down[next] {
            [[top[p], top[q], bottom[q]], [top[p], bottom[q], bottom[p]]]
        } else {
            [[top[p], top[q], bottom[p]], [top[q], bottom[q], bottom[p]]]
        };
        let with = |[a, b, c]: [u32; 3]| [a, b, c, near[k]];
        return Some([with(far), with(halves[0]), with(halves[1])]);
    }
    None
}

/// The six dihedral angles of a tetrahedron \[°\].
pub(super) fn dihedral_angles(x: [DVec3; 4]) -> [f64; 6] {
    let edges = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];
    edges.map(|[i, j, k, l]| {
        let edge = x[j] - x[i];
        let (m, n) = (edge.cross(x[k] - x[i]), edge.cross(x[l] - x[i]));
        m.cross(n).length().atan2(m.dot(n)).to_degrees()
    })
}
