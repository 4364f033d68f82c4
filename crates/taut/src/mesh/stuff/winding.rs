//! Winding number of a surface at a point, and intersections of a line with it.
//!
//! The generalised winding number (Jacobson et al. 2013) is the sum of the solid angles of all triangles over
//! 4π: 1 inside a closed surface, 0 outside, and in between near a hole, so that 0.5 closes it smoothly.
//! Where a surface intersects itself it is 2 in regions that are inside twice. Far triangles are approximated
//! by one dipole per node of the tree (Barill et al. 2018), which is accurate to a few percent, so that a
//! point takes microseconds.

use std::f64::consts::PI;

use glam::DVec3;

/// Maximum number of triangles in a leaf.
const MAX_LEAF_SIZE: usize = 8;
/// A node is far if it is this many radii away. With 3, winding numbers are within 0.06.
const FAR_IN_RADII: f64 = 3.0;

/// A tree of triangle boxes, each with its far-field approximation.
#[derive(Clone, Debug, Default)]
pub(in crate::mesh) struct WindingTree {
    nodes: Vec<Node>,
    /// Corners \[m\], in the order of the leaves.
    triangles: Vec<[DVec3; 3]>,
}

/// Nodes in depth-first order.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    /// Area-weighted centre of its triangles.
    centre: DVec3,
    /// Sum of their normals, weighted by area.
    dipole: DVec3,
    /// Largest distance of a corner from the centre.
    radius: f64,
    /// Its triangles.
    first: u32,
    count: u32,
    /// The next node if this one is skipped.
    skip: u32,
    leaf: bool,
}

impl WindingTree {
    pub fn new(mut triangles: Vec<[DVec3; 3]>) -> Self {
        let mut nodes = Vec::with_capacity(triangles.len() / 2);
        let count = triangles.len();
        if count > 0 {
            build(&mut nodes, &mut triangles, 0, count);
        }
        Self { nodes, triangles }
    }

    /// The winding number at `p` \[m\].
    pub fn winding(&self, p: DVec3) -> f64 {
        let (mut sum, mut at) = (0.0, 0);
        while let Some(node) = self.nodes.get(at) {
            let way = node.centre - p;
            let squared = way.length_squared();
            if squared > (FAR_IN_RADII * node.radius).powi(2) {
                sum += way.dot(node.dipole) / (squared * squared.sqrt());
                at = node.skip as usize;
                continue;
            }
            if node.leaf {
                sum += self.of(node).iter().map(|triangle| solid_angle(triangle, p)).sum::<f64>();
            }
            at += 1;
        }
        sum / (4.0 * PI)
    }

    /// Whether the box of any triangle overlaps the box from `low` to `high` \[m\].
    pub fn touches(&self, low: DVec3, high: DVec3) -> bool {
        let mut found = false;
        self.visit(low, high, |triangle| {
            let [a, b, c] = triangle;
            found |= a.min(*b).min(*c).cmple(high).all() && a.max(*b).max(*c).cmpge(low).all();
            found
        });
        found
    }

    /// Adds the intersections of the line from `p` to `q` with triangles: the fraction of the line, and
    /// whether it passes from their back to their front, that is outwards. In order.
    pub fn crossings(&self, p: DVec3, q: DVec3, found: &mut Vec<(f64, bool)>) {
        found.clear();
        self.visit(p.min(q), p.max(q), |triangle| {
            found.extend(crossing(triangle, p, q));
            false
        });
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// Calls `look` with the triangles of leaves that overlap the box, until it returns that it is done.
    fn visit(&self, low: DVec3, high: DVec3, mut look: impl FnMut(&[DVec3; 3]) -> bool) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !(node.low.cmple(high).all() && node.high.cmpge(low).all()) {
                at = node.skip as usize;
                continue;
            }
            if node.leaf && self.of(node).iter().any(&mut look) {
                return;
            }
            at += 1;
        }
    }

    fn of(&self, node: &Node) -> &[[DVec3; 3]] {
        &self.triangles[node.first as usize..(node.first + node.count) as usize]
    }
}

/// Adds the node of `count` triangles from `first` on, and its descendants.
fn build(nodes: &mut Vec<Node>, all: &mut [[DVec3; 3]], first: usize, count: usize) {
    let at = nodes.len();
    nodes.push(summary(&all[first..first + count], first));
    if count > MAX_LEAF_SIZE {
        let extent = nodes[at].high - nodes[at].low;
        let axis = if extent.x >= extent.y.max(extent.z) { 0 } else { 1 + usize::from(extent.z > extent.y) };
        let along = |t: &[DVec3; 3]| t[0][axis] + t[1][axis] + t[2][axis];
        let half = count / 2;
        all[first..first + count].select_nth_unstable_by(half, |a, b| {
            let key = |t: &[DVec3; 3]| t.map(|corner| corner.to_array());
            // Ties are broken by all coordinates, so that the tree depends on the triangles alone.
            along(a).total_cmp(&along(b)).then_with(|| {
                let (a, b) = (key(a), key(b));
                let pairs = a.as_flattened().iter().zip(b.as_flattened());
                pairs
                    .map(|(a, b)| a.total_cmp(b))
                    .find(|order| order.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
        });
        nodes[at].leaf = false;
        build(nodes, all, first, half);
        build(nodes, all, first + half, count - half);
    }
    nodes[at].skip = nodes.len() as u32;
}

fn summary(triangles: &[[DVec3; 3]], first: usize) -> Node {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut dipole, mut weighted, mut area) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for [a, b, c] in triangles {
        low = low.min(*a).min(*b).min(*c);
        high = high.max(*a).max(*b).max(*c);
        let normal = 0.5 * (b - a).cross(c - a);
        dipole += normal;
        weighted += (a + b + c) / 3.0 * normal.length();
        area += normal.length();
    }
    let centre = if area > 0.0 { weighted / area } else { 0.5 * (low + high) };
    let radius = triangles.iter().flatten().map(|x| x.distance(centre)).fold(0.0, f64::max);
    let count = triangles.len() as u32;
    Node { low, high, centre, dipole, radius, first: first as u32, count, skip: 0, leaf: true }
}

/// The solid angle of a triangle seen from `p`, positive from behind (van Oosterom and Strackee 1983).
fn solid_angle(triangle: &[DVec3; 3], p: DVec3) -> f64 {
    let [a, b, c] = [triangle[0] - p, triangle[1] - p, triangle[2] - p];
    let [x, y, z] = [a.length(), b.length(), c.length()];
    let below = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
    2.0 * a.dot(b.cross(c)).atan2(below)
}

/// Where the line from `p` to `q` intersects the triangle.
fn crossing(triangle: &[DVec3; 3], p: DVec3, q: DVec3) -> Option<(f64, bool)> {
    let [a, b, c] = *triangle;
    let way = q - p;
    let normal = (b - a).cross(c - a);
    let speed = normal.dot(way);
    if speed == 0.0 {
        return None;
    }
    let t = normal.dot(a - p) / speed;
    if !(0.0..=1.0).contains(&t) {
        return None;
    }
    // On which side of each edge the line passes.
    let [a, b, c] = [a - p, b - p, c - p];
    let sides = [way.dot(a.cross(b)), way.dot(b.cross(c)), way.dot(c.cross(a))];
    let within = sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0);
    within.then_some((t, speed > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kernel::random::Random, mesh::generate::Generator};

    #[test]
    fn winding_numbers_are_those_of_all_triangles() {
        let mesh = Generator::Torus { major: 0.5, minor: 0.2, segments: [40, 20] }.generate().unwrap();
        let triangle = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize].as_dvec3());
        let mut all: Vec<_> = mesh.triangles.iter().map(triangle).collect();
        let mut random = Random::new(5, 0);
        for hole in [false, true] {
            all.truncate(all.len() - if hole { 200 } else { 0 });
            let tree = WindingTree::new(all.clone());
            let mut inside = 0;
            for _ in 0..2000 {
                let p = DVec3::from_array([(); 3].map(|()| f64::from(1.6 * random.unit() - 0.8)));
                let exact = all.iter().map(|t| solid_angle(t, p)).sum::<f64>() / (4.0 * PI);
                assert!((tree.winding(p) - exact).abs() < 0.06, "{p} {exact} {}", tree.winding(p));
                inside += usize::from(exact > 0.5);
            }
            assert!(inside > 50, "{inside}");
        }
    }

    #[test]
    fn lines_cross_a_closed_surface_as_often_as_winding_numbers_change() {
        let mesh = Generator::Sphere { radius: 0.5, frequency: 9 }.generate().unwrap();
        let tree = WindingTree::new(
            mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize].as_dvec3())).collect(),
        );
        let (mut random, mut found) = (Random::new(6, 0), Vec::new());
        let mut crossed = 0;
        for _ in 0..2000 {
            let mut point = || DVec3::from_array([(); 3].map(|()| f64::from(1.4 * random.unit() - 0.7)));
            let (p, q) = (point(), point());
            tree.crossings(p, q, &mut found);
            let out: i32 = found.iter().map(|&(_, out)| if out { 1 } else { -1 }).sum();
            assert_eq!(out, tree.winding(p).round() as i32 - tree.winding(q).round() as i32);
            if !found.is_empty() {
                crossed += 1;
                assert!(tree.touches(p.min(q), p.max(q)));
            }
        }
        assert!(crossed > 300, "{crossed}");
    }
}
