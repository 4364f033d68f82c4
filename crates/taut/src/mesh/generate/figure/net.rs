//! A closed surface as a mesh of even triangles: surface nets (Gibson 1998), then vertices are moved along
//! the surface and edges flipped until triangles are nearly equilateral.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;

use super::body::Body;
use crate::hierarchy::{HalfEdges, NONE, flip, prev};

/// Side of a grid cell in edge lengths: gives the requested mean edge length.
const CELL: f64 = 1.1;
/// Rounds of moving and flipping.
const ROUNDS: usize = 16;
/// Moves of every vertex in each.
const MOVES: usize = 6;

/// The surface of a body within `low` to `high` \[m\], with edges of about `edge` \[m\].
pub(super) fn mesh(body: &Body, low: DVec3, high: DVec3, edge: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut points, triangles) = surface_net(body, low, high, edge * CELL);
    let (mut half, _) = HalfEdges::new(points.len(), &triangles);
    let mut around = Vec::new();
    for _ in 0..ROUNDS {
        for _ in 0..MOVES {
            let before = points.clone();
            let mut room = vec![0.0; points.len()];
            for corners in (0..triangles.len() as u32).map(|t| half.corners(t)) {
                let [a, b, c] = corners.map(|v| points[v as usize]);
                let area = (b - a).cross(c - a).length();
                corners.iter().for_each(|&v| room[v as usize] += area);
            }
            for v in 0..points.len() {
                half.neighbors(v as u32, &mut around);
                // Towards neighbours with large areas, so that areas become equal.
                let weight: f64 = around.iter().map(|&w| room[w as usize]).sum();
                let sum: DVec3 = around.iter().map(|&w| before[w as usize] * room[w as usize]).sum();
                let step = sum / weight - before[v];
                let normal = body.sample(before[v]).1.normalize_or_zero();
                points[v] = body.project(before[v] + 0.6 * (step - normal * normal.dot(step)), 1);
            }
        }
        make_even(&mut half, &points);
    }
    points.iter_mut().for_each(|p| *p = body.project(*p, 4));
    (points, (0..triangles.len() as u32).map(|t| half.corners(t)).collect())
}

/// One vertex in every cell that the surface crosses, one quad across every edge of the grid that it cuts.
fn surface_net(body: &Body, low: DVec3, high: DVec3, cell: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let count = ((high - low) / cell).ceil().to_array().map(|n| n as usize + 1);
    let corner = |at: [usize; 3]| low + cell * DVec3::new(at[0] as f64, at[1] as f64, at[2] as f64);
    let index = |at: [usize; 3]| (at[2] * count[1] + at[1]) * count[0] + at[0];
    let places = || {
        (0..count[2])
            .flat_map(move |z| (0..count[1]).flat_map(move |y| (0..count[0]).map(move |x| [x, y, z])))
    };
    let mut values: Vec<f64> = places().map(|at| body.sample(corner(at)).0).collect();
    join_diagonals(&mut values, count);
    let mut points = Vec::new();
    let mut vertices: BTreeMap<usize, u32> = BTreeMap::new();
    for at in places().filter(|at| (0..3).all(|axis| at[axis] + 1 < count[axis])) {
        let corners: [[usize; 3]; 8] =
            std::array::from_fn(|k| [at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)]);
        let (mut sum, mut crossings) = (DVec3::ZERO, 0.0);
        for a in 0..8usize {
            for b in [a | 1, a | 2, a | 4].into_iter().filter(|&b| b != a) {
                let [fa, fb] = [a, b].map(|k| values[index(corners[k])]);
                if (fa < 0.0) != (fb < 0.0) {
                    sum += corner(corners[a]).lerp(corner(corners[b]), fa / (fa - fb));
                    crossings += 1.0;
                }
            }
        }
        if crossings > 0.0 {
            vertices.insert(index(at), points.len() as u32);
            points.push(body.project(sum / crossings, 2));
        }
    }
    let mut triangles = Vec::new();
    let mut diagonals = BTreeSet::new();
    for at in places() {
        for axis in 0..3 {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut end = at;
            end[axis] += 1;
            if end[axis] >= count[axis] || at[b] == 0 || at[c] == 0 {
                continue;
            }
            let inside = values[index(at)] < 0.0;
            if inside == (values[index(end)] < 0.0) {
                continue;
            }
            // The four cells around the edge, counter-clockwise seen from its end.
            let cells = [[1, 1], [0, 1], [0, 0], [1, 0]].map(|[back_b, back_c]| {
                let mut cell = at;
                cell[b] -= back_b;
                cell[c] -= back_c;
                vertices.get(&index(cell)).copied()
            });
            let [Some(p), Some(q), Some(r), Some(s)] = cells else { continue };
            let quad = if inside { [p, q, r, s] } else { [s, r, q, p] };
            let length = |a: u32, b: u32| (points[a as usize] - points[b as usize]).length();
            let [p, q, r, s] = quad;
            // Two quads may share opposite corners, but never a diagonal.
            let other_taken = diagonals.contains(&[q.min(s), q.max(s)]);
            let first = length(p, r) <= length(q, s) || other_taken;
            if first && !diagonals.contains(&[p.min(r), p.max(r)]) {
                diagonals.insert([p.min(r), p.max(r)]);
                triangles.extend([[p, q, r], [p, r, s]]);
            } else {
                diagonals.insert([q.min(s), q.max(s)]);
                triangles.extend([[p, q, s], [q, r, s]]);
            }
        }
    }
    (points, triangles)
}

/// Where two opposite corners of a face are inside and the other two outside, the surface would touch itself:
/// the outside corner that is nearer to the surface is counted as inside.
fn join_diagonals(values: &mut [f64], count: [usize; 3]) {
    let strides = [1, count[0], count[0] * count[1]];
    let mut changed = true;
    while changed {
        changed = false;
        for at in 0..values.len() {
            let place = [at % count[0], at / count[0] % count[1], at / strides[2]];
            for axis in 0..3 {
                let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
                if place[b] + 1 >= count[b] || place[c] + 1 >= count[c] {
                    continue;
                }
                let corners = [at, at + strides[b], at + strides[b] + strides[c], at + strides[c]];
                let inside = corners.map(|k| values[k] < 0.0);
                if inside[0] == inside[2] && inside[1] == inside[3] && inside[0] != inside[1] {
                    let outside = if inside[0] { [corners[1], corners[3]] } else { [corners[0], corners[2]] };
                    let nearer =
                        if values[outside[0]] <= values[outside[1]] { outside[0] } else { outside[1] };
                    values[nearer] = -1e-9;
                    changed = true;
                }
            }
        }
    }
}

/// Flips edges if that brings vertex degrees nearer to six, or if their opposite angles add up to more than
/// 180 degrees.
fn make_even(half: &mut HalfEdges, points: &[DVec3]) {
    let excess = |half: &HalfEdges, v: u32, change: i64| {
        let off = half.triangles_around(v) as i64 + change - 6;
        off * off
    };
    for valences in [true, false] {
        for h in 0..half.tail.len() as u32 {
            let twin = half.twin[h as usize];
            if twin == NONE || h > twin {
                continue;
            }
            let [x, y] = [h, twin].map(|side| half.tail[side as usize]);
            let [c, d] = [h, twin].map(|side| half.tail[prev(side) as usize]);
            let [px, py, pc, pd] = [x, y, c, d].map(|v| points[v as usize]);
            let cotangent = |p: DVec3| (px - p).dot(py - p) / (px - p).cross(py - p).length();
            let wanted = if valences {
                let change =
                    excess(half, x, -1) + excess(half, y, -1) + excess(half, c, 1) + excess(half, d, 1);
                let now = excess(half, x, 0) + excess(half, y, 0) + excess(half, c, 0) + excess(half, d, 0);
                change < now
            } else {
                cotangent(pc) + cotangent(pd) < -0.05
            };
            // Neither of the new triangles may be flat, or face away from the old ones.
            let normal = ((py - px).cross(pc - px) + (pd - px).cross(py - px)).normalize_or_zero();
            let fine = [[px, pd, pc], [py, pc, pd]].iter().all(|&[a, b, c]| {
                let area = (b - a).cross(c - a);
                area.dot(normal) > 0.8 * area.length()
                    && area.length() > 0.3 * (b - a).length_squared().max((c - a).length_squared())
            });
            let kept = [x, y].iter().all(|&v| half.triangles_around(v) > 4);
            if wanted && fine && kept && half.find(c, d).is_none() {
                flip(half, h);
            }
        }
    }
}
