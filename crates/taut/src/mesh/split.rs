//! Splitting vertices of a triangle mesh along a tear (S6).
//!
//! A vertex is split by the plane through it that is normal to the direction of largest stretch: triangles on
//! one side keep it, those on the other take a copy. The lecture sorts triangles by the side that they are
//! on, which can leave more than two parts where triangles are large against the angle between plane and
//! edges. So here the edges are chosen that lie nearest to the plane, one where the vertex is on a border,
//! one in each half of the plane elsewhere: there are always two parts, and a tear goes on where it ended.
//!
//! All of this is in the rest shape, where no fold confuses sides. Triangles keep their number and the order
//! of their corners, so that connectivity alone tells what each vertex was split from ([`origins`]).

use glam::{DVec3, Vec3};

/// Least angle at a vertex that a cut on a border may leave on either side \[rad\]: less would only trim the
/// border.
const MIN_ANGLE: f64 = 0.35;

/// Angle of the mesh at a vertex on its border from which on it is the tip of a notch or tear \[rad\].
const TIP_ANGLE: f64 = 1.4 * std::f64::consts::PI;

/// Where a vertex lies, in the order in which cloth tears there under the same load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    /// At the tip of a notch or tear, where loads concentrate.
    Tip,
    /// Elsewhere on a border.
    Border,
    /// In the middle.
    Inside,
}

/// The vertex of the mesh `before` that each vertex of `after` was split from: what stood at its corner.
/// `count` is the number of vertices before. `None` if the triangles of `after` are not those of `before`
/// with some vertices split.
pub fn origins(before: &[[u32; 3]], after: &[[u32; 3]], count: usize) -> Option<Vec<u32>> {
    if before.len() != after.len() {
        return None;
    }
    let most = after.iter().flatten().map(|&v| v as usize + 1).max().unwrap_or(0).max(count);
    // Every new vertex takes a corner.
    if most > count + 3 * before.len() {
        return None;
    }
    let mut origins: Vec<u32> = (0..most as u32).collect();
    let mut known: Vec<bool> = (0..most).map(|v| v < count).collect();
    for (old, new) in before.iter().flatten().zip(after.iter().flatten()) {
        let place = *new as usize;
        if known[place] {
            if origins[place] != *old {
                return None;
            }
        } else {
            (origins[place], known[place]) = (*old, true);
        }
    }
    known.iter().all(|known| *known).then_some(origins)
}

/// The connected piece that each of `count` vertices belongs to: the least vertex of it.
pub(crate) fn pieces(count: usize, triangles: &[[u32; 3]]) -> Vec<u32> {
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    let mut parent: Vec<u32> = (0..count as u32).collect();
    for &[a, b, c] in triangles {
        for other in [b, c] {
            let [one, other] = [a, other].map(|v| root(&mut parent, v));
            parent[one.max(other) as usize] = one.min(other);
        }
    }
    (0..count as u32).map(|v| root(&mut parent, v)).collect()
}

/// From each of `count` vertices, which are `at` these places, the way to the middle of its triangles,
/// weighted by area \[m\]: where a vertex is split, each part moves away from the others along it.
pub fn into_own_triangles(count: usize, triangles: &[[u32; 3]], at: impl Fn(u32) -> Vec3) -> Vec<Vec3> {
    let mut sums = vec![(Vec3::ZERO, 0.0f32); count];
    for t in triangles {
        let [a, b, c] = t.map(&at);
        let area = (b - a).cross(c - a).length();
        for &v in t {
            let (sum, areas) = &mut sums[v as usize];
            *sum += area * ((a - at(v)) + (b - at(v)) + (c - at(v))) / 3.0;
            *areas += area;
        }
    }
    sums.iter().map(|&(sum, areas)| if areas > 0.0 { sum / areas } else { Vec3::ZERO }).collect()
}

/// The triangles around a vertex, one after the other, that share edges with the next.
#[derive(Clone, Debug, PartialEq)]
struct Fan {
    triangles: Vec<u32>,
    /// The vertex at the other end of the edge where each begins; of an open fan, also where the last ends.
    spokes: Vec<u32>,
    is_closed: bool,
}

/// Triangles around each vertex, in one array.
#[derive(Debug)]
pub(crate) struct Around {
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Around {
    pub fn new(count: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0u32; count + 1];
        triangles.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
        (0..count).for_each(|v| starts[v + 1] += starts[v]);
        let mut next = starts.clone();
        let mut all = vec![0; 3 * triangles.len()];
        for (t, corners) in (0..).zip(triangles) {
            for &v in corners {
                all[next[v as usize] as usize] = t;
                next[v as usize] += 1;
            }
        }
        Self { starts, triangles: all }
    }

    /// Triangles around `vertex`, ascending.
    pub fn of(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.triangles[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}

/// The fans around `vertex`, whose triangles are `around`; those that do not contain it are left out.
fn fans(vertex: u32, around: &[u32], triangles: &[[u32; 3]]) -> Vec<Fan> {
    // (triangle, spoke where it begins, spoke where it ends)
    let wedge = |&t: &u32| {
        let corners = triangles[t as usize];
        let k = corners.iter().position(|&v| v == vertex)?;
        Some((t, corners[(k + 1) % 3], corners[(k + 2) % 3]))
    };
    let mut left: Vec<(u32, u32, u32)> = around.iter().filter_map(wedge).collect();
    let mut fans = Vec::new();
    while !left.is_empty() {
        let begins = |&(_, from, _): &(u32, u32, u32)| !left.iter().any(|&(_, _, to)| to == from);
        let open = left.iter().position(begins);
        let (first, from, mut end) = left.swap_remove(open.unwrap_or(0));
        let mut fan = Fan { triangles: vec![first], spokes: vec![from], is_closed: false };
        while let Some(k) = left.iter().position(|&(_, from, _)| from == end) {
            let (t, from, to) = left.swap_remove(k);
            fan.triangles.push(t);
            fan.spokes.push(from);
            end = to;
        }
        fan.is_closed = end == fan.spokes[0];
        if !fan.is_closed {
            fan.spokes.push(end);
        }
        fans.push(fan);
    }
    fans
}

/// A mesh whose vertices are split, one round of a tear.
pub(crate) struct Splitter<'a> {
    /// Rest positions of its vertices at the start of the round \[m\].
    rest: &'a [Vec3],
    around: &'a Around,
    /// As they are so far.
    pub triangles: Vec<[u32; 3]>,
    count: usize,
    /// Vertices at which edges were cut.
    cut: Vec<u32>,
}

impl<'a> Splitter<'a> {
    pub fn new(rest: &'a [Vec3], triangles: &[[u32; 3]], around: &'a Around) -> Self {
        Self { rest, around, triangles: triangles.to_vec(), count: rest.len(), cut: Vec::new() }
    }

    /// Number of vertices so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where `vertex` lies, as the mesh is so far.
    pub fn spot(&self, vertex: u32) -> Spot {
        let fans = fans(vertex, self.around.of(vertex), &self.triangles);
        if fans.iter().all(|fan| fan.is_closed) {
            return Spot::Inside;
        }
        let turn = |fan: &Fan| self.angles(vertex, fan).iter().sum::<f64>();
        match &fans[..] {
            [fan] if turn(fan) > TIP_ANGLE => Spot::Tip,
            _ => Spot::Border,
        }
    }

    /// Angles of the triangles of a `fan` of `vertex`, one after the other \[rad\].
    fn angles(&self, vertex: u32, fan: &Fan) -> Vec<f64> {
        let arms = self.arms(vertex, fan);
        arms.windows(2).map(|w| w[0].angle_between(w[1])).collect()
    }

    /// Directions from `vertex` along the spokes of its `fan`.
    fn arms(&self, vertex: u32, fan: &Fan) -> Vec<DVec3> {
        let origin = self.place(vertex);
        fan.spokes.iter().map(|&v| (self.place(v) - origin).normalize_or_zero()).collect()
    }

    /// Splits `vertex` by the plane normal to `direction` (rest shape). False, and nothing has changed, if it
    /// has a single triangle, or several fans.
    pub fn split(&mut self, vertex: u32, direction: DVec3) -> bool {
        let all = fans(vertex, self.around.of(vertex), &self.triangles);
        let [fan] = &all[..] else { return false };
        let Some(cuts) = self.cuts(vertex, fan, direction) else { return false };
        let [first, last] = cuts;
        // Of the two parts, that ahead in the direction keeps the vertex.
        let between = |k: usize| first <= k && k < last;
        let height = |k: usize| {
            let corners = self.triangles[fan.triangles[k] as usize];
            let origin = self.place(vertex);
            corners.iter().map(|&v| (self.place(v) - origin).dot(direction)).sum::<f64>()
        };
        let mean = |inside: bool| {
            let own: Vec<usize> = (0..fan.triangles.len()).filter(|&k| between(k) == inside).collect();
            own.iter().map(|&k| height(k)).sum::<f64>() / own.len() as f64
        };
        let inside_takes = mean(true) <= mean(false);
        for k in (0..fan.triangles.len()).filter(|&k| between(k) == inside_takes) {
            self.replace(fan.triangles[k], vertex, self.count as u32);
        }
        self.count += 1;
        self.cut.extend(cuts.iter().filter_map(|&k| fan.spokes.get(k % fan.spokes.len())));
        true
    }

    /// Gives every fan of the vertices at which edges were cut a vertex of its own.
    pub fn separate_fans(&mut self) {
        let mut cut = std::mem::take(&mut self.cut);
        cut.sort_unstable();
        cut.dedup();
        for vertex in cut {
            // The largest keeps the vertex, and its pin.
            let mut all = fans(vertex, self.around.of(vertex), &self.triangles);
            all.sort_by_key(|fan| std::cmp::Reverse(fan.triangles.len()));
            for fan in all.iter().skip(1) {
                let copy = self.count as u32;
                fan.triangles.iter().for_each(|&t| self.replace(t, vertex, copy));
                self.count += 1;
            }
        }
    }

    fn replace(&mut self, triangle: u32, old: u32, new: u32) {
        let corners = &mut self.triangles[triangle as usize];
        *corners = corners.map(|v| if v == old { new } else { v });
    }

    /// Rest position \[m\]; copies made in this round are beside their vertex, and are not asked for.
    fn place(&self, vertex: u32) -> DVec3 {
        self.rest.get(vertex as usize).map_or(DVec3::ZERO, |p| p.as_dvec3())
    }

    /// The spokes at which the fan of `vertex` is cut: triangles from the first to before the second are one
    /// part, the others the other.
    fn cuts(&self, vertex: u32, fan: &Fan, direction: DVec3) -> Option<[usize; 2]> {
        let count = fan.triangles.len();
        // Neighbours that were split in this round would have no place: these vertices wait for the next.
        if count < 2 || fan.spokes.iter().any(|&v| v as usize >= self.rest.len()) {
            return None;
        }
        let arms = self.arms(vertex, fan);
        let off_plane = |k: usize| arms[k].dot(direction).abs();
        let nearest = |candidates: &mut dyn Iterator<Item = usize>| {
            candidates.min_by(|&a, &b| off_plane(a).total_cmp(&off_plane(b)))
        };
        if fan.is_closed {
            let normal: DVec3 = (0..count).map(|k| arms[k].cross(arms[(k + 1) % count])).sum();
            let along = normal.cross(direction);
            let one = nearest(&mut (0..count).filter(|&k| arms[k].dot(along) >= 0.0))?;
            let other = nearest(&mut (0..count).filter(|&k| arms[k].dot(along) < 0.0))?;
            return Some([one.min(other), one.max(other)]);
        }
        let angles = self.angles(vertex, fan);
        let whole: f64 = angles.iter().sum();
        let before = |k: usize| angles[..k].iter().sum::<f64>();
        let is_wide = |&k: &usize| before(k) >= MIN_ANGLE && whole - before(k) >= MIN_ANGLE;
        let cut = nearest(&mut (1..count).filter(is_wide)).or_else(|| nearest(&mut (1..count)))?;
        Some([cut, count])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::random::Random,
        mesh::{TriangleMesh, check, generate},
    };

    fn apply(mesh: &TriangleMesh, splits: &[(u32, DVec3)]) -> TriangleMesh {
        let around = Around::new(mesh.positions.len(), &mesh.triangles);
        let mut splitter = Splitter::new(&mesh.positions, &mesh.triangles, &around);
        for &(vertex, direction) in splits {
            splitter.split(vertex, direction);
        }
        splitter.separate_fans();
        let parents = origins(&mesh.triangles, &splitter.triangles, mesh.positions.len()).unwrap();
        assert_eq!(parents.len(), splitter.count());
        TriangleMesh {
            positions: parents.iter().map(|&p| mesh.positions[p as usize]).collect(),
            triangles: splitter.triangles,
            ..TriangleMesh::default()
        }
    }

    #[test]
    fn a_slit_in_the_middle_and_then_across() {
        let mesh = generate::grid([1.0, 1.0], [4, 4], generate::Diagonals::Regular, 0);
        let split = apply(&mesh, &[(12, DVec3::Z)]);
        assert_eq!(split.positions.len(), 26);
        // Both copies of the vertex lie between the same two: the ends of the slit.
        let neighbours = |v: u32| {
            let mut all: Vec<u32> =
                split.triangles.iter().filter(|t| t.contains(&v)).flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let ends: Vec<u32> = neighbours(12).into_iter().filter(|v| neighbours(25).contains(v)).collect();
        assert_eq!(ends, [11, 13]);
        // On to both borders: two pieces.
        let mut mesh = split;
        // The vertices on the borders, where pieces would hang together at a point, come apart with them.
        for (v, expected) in [(11, 28), (13, 30)] {
            mesh = apply(&mesh, &[(v, DVec3::Z)]);
            assert_eq!(mesh.positions.len(), expected, "at {v}");
        }
        let upper = |t: &[u32; 3]| t.iter().map(|&v| mesh.positions[v as usize].z).sum::<f32>() > 1.5;
        let of = |side: bool| {
            mesh.triangles
                .iter()
                .filter(|t| upper(t) == side)
                .flatten()
                .copied()
                .collect::<std::collections::BTreeSet<_>>()
        };
        assert!(of(true).is_disjoint(&of(false)));
    }

    #[test]
    fn the_end_of_a_cut_is_a_tip_and_its_sides_are_not() {
        let mesh = generate::grid([1.0, 1.0], [4, 4], generate::Diagonals::Regular, 0);
        // From the border at vertex 10 to the middle at 12.
        let cut = apply(&apply(&mesh, &[(10, DVec3::Z)]), &[(11, DVec3::Z)]);
        let around = Around::new(cut.positions.len(), &cut.triangles);
        let splitter = Splitter::new(&cut.positions, &cut.triangles, &around);
        let found = [12, 11, 25, 26, 2, 13].map(|v| splitter.spot(v));
        let [tip, border, inside] = [Spot::Tip, Spot::Border, Spot::Inside];
        assert_eq!(found, [tip, border, border, border, border, inside]);
    }

    #[test]
    fn a_single_triangle_is_not_split() {
        let mesh = generate::grid([1.0, 1.0], [1, 1], generate::Diagonals::Regular, 0);
        let corner = (0..4).find(|v| mesh.triangles.iter().filter(|t| t.contains(v)).count() == 1).unwrap();
        assert_eq!(apply(&mesh, &[(corner, DVec3::X)]).positions.len(), 4);
    }

    #[test]
    fn any_tears_leave_manifold_pieces_of_the_same_area() {
        for seed in 0..40 {
            let mut mesh = generate::grid([1.0, 1.0], [7, 7], generate::Diagonals::Jittered, seed);
            let mut random = Random::new(seed, 0);
            let area = |mesh: &TriangleMesh| -> f64 {
                let corner = |v: u32| mesh.positions[v as usize].as_dvec3();
                mesh.triangles
                    .iter()
                    .map(|&[a, b, c]| (corner(b) - corner(a)).cross(corner(c) - corner(a)).length())
                    .sum()
            };
            let whole = area(&mesh);
            for _ in 0..60 {
                let count = mesh.positions.len();
                let number = |random: &mut Random| (random.unit() * count as f32) as u32 % count as u32;
                let splits: Vec<(u32, DVec3)> = (0..3)
                    .map(|_| {
                        let angle = f64::from(random.unit()) * std::f64::consts::TAU;
                        (number(&mut random), DVec3::new(angle.cos(), 0.0, angle.sin()))
                    })
                    .collect();
                mesh = apply(&mesh, &splits);
                for v in 0..mesh.positions.len() as u32 {
                    let around = Around::new(mesh.positions.len(), &mesh.triangles);
                    assert_eq!(fans(v, around.of(v), &mesh.triangles).len(), 1, "seed {seed}, vertex {v}");
                }
            }
            assert!((area(&mesh) - whole).abs() < 1e-9);
            assert!(check::check(&mesh).iter().all(|problem| !problem.to_string().contains("more than two")));
        }
    }
}
