//! What seams add to the tables of a world: twins as one vertex of the filter, hinges across closed seams.

use std::{collections::BTreeMap, ops::Range};

use glam::{DVec3, Vec3};

use crate::{
    Cloth, Description, WorldError,
    body::{BodyTables, cloth::validate::invalid, cloths, in_order},
    boundary::seam::Sewing,
    hierarchy::{self, Transfer},
    kernel::{dihedral::dihedral, lanes::Quad},
    mesh::{TriangleMesh, adjacency::Adjacency},
    term::{bending::FoldElement, seam::Link},
    velocity::bending::{HingeElement, hinge_frequency},
};

/// Distance of twins in the rest shape, in lengths of an edge, up to which it is taken to be sewn together.
const TOGETHER: f32 = 1e-3;

/// Sweeps that spread how far twins have to move over their panels, for the root of the number of vertices.
const SWEEPS: f64 = 4.0;

/// The seams of `description`, in the engine's order of vertices.
pub(crate) fn sewing(
    description: &Description,
    bodies: &[BodyTables],
    edge: f32,
) -> Result<Sewing, WorldError> {
    let count = bodies.last().map_or(0, |body| body.vertices.end);
    if description.seams.is_empty() {
        return Ok(Sewing::default());
    }
    let places: Vec<Vec<u32>> = bodies.iter().map(places).collect();
    let place = |body: usize, v: u32| {
        description.bodies.get(body)?.as_cloth()?;
        places[body].get(v as usize).copied()
    };
    let sewing = Sewing::new(&description.seams, count, (edge, description.sewing > 0.0), place)?;
    for (body, places) in description.bodies.iter().zip(&places) {
        let Some(cloth) = body.as_cloth() else { continue };
        for (number, triangle) in cloth.mesh.triangles.iter().enumerate() {
            let [a, b, c] = sewing.welded(triangle.map(|v| places[v as usize]));
            if a == b || b == c || c == a {
                let problem = format!(
                    "seams sew two corners of its face {number} together, which would leave it no area"
                );
                return Err(invalid(cloth, problem));
            }
        }
    }
    Ok(sewing)
}

/// The engine's vertex of each of a body's, in the caller's order.
fn places(body: &BodyTables) -> Vec<u32> {
    in_order(body.order(), body.vertices.start)
}

/// Which bodies are to be filtered together because seams join them: ranges of bodies, in order.
pub(crate) fn joined(sewing: &Sewing, bodies: &[BodyTables]) -> Vec<Range<usize>> {
    let body_of = |v: u32| bodies.partition_point(|body| body.vertices.end <= v as usize);
    let mut last: Vec<usize> = (0..bodies.len()).collect();
    for stitch in &sewing.stitches {
        let [a, b] = stitch.vertices.map(body_of);
        last[a] = last[a].max(b);
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (first, last) in last.into_iter().enumerate() {
        match ranges.last_mut() {
            Some(range) if first < range.end => range.end = range.end.max(last + 1),
            _ => ranges.push(first..last + 1),
        }
    }
    ranges
}

/// Which vertices of a filter turn as one while seams are closed: its `bodies`, those that `welds` join as
/// one range.
pub(crate) fn pieces(bodies: &[Range<usize>], welds: &[u32]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for body in bodies {
        // Twins stand behind lower ones.
        let joined = body.clone().map(|k| welds[k] as usize).min().unwrap_or(body.start).min(body.start);
        let mut piece = body.clone();
        while let Some(last) = pieces.pop_if(|last| joined < last.end) {
            piece.start = last.start;
        }
        pieces.push(piece);
    }
    pieces
}

/// The links of the filter with these vertices of the world; `areas` are those around its vertices \[m²\],
/// `edge` the mean length of an edge \[m\].
pub(crate) fn links(sewing: &Sewing, vertices: &Range<usize>, areas: &[f64], edge: f32) -> Vec<Link> {
    let own =
        sewing.stitches.iter().enumerate().filter(|(_, s)| vertices.contains(&(s.vertices[0] as usize)));
    own.map(|(number, stitch)| {
        let vertices = stitch.vertices.map(|v| v - vertices.start as u32);
        let area: f64 = vertices.iter().map(|&v| 0.5 * areas[v as usize]).sum();
        Link { vertices, weight: (area / f64::from(edge).powi(2)) as f32, stitch: number as u32 }
    })
    .collect()
}

/// Levels of `mesh`, whose vertices are those of a filter in the `order` given, with twins as one: `welds`
/// says which vertex stands for each. `start` is where they start.
pub(crate) fn welded_transfers(
    mesh: &TriangleMesh,
    order: &[u32],
    welds: &[u32],
    start: &[Quad],
) -> Vec<Transfer> {
    let mut place = vec![0u32; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = k as u32;
    }
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|v| place[v as usize])).collect();
    let rest: Vec<Vec3> = order.iter().map(|&v| mesh.positions[v as usize]).collect();
    let edges = Adjacency::new(&triangles).edges;
    let length = |x: &[Vec3]| {
        edges.iter().map(|&[a, b]| x[a as usize].distance(x[b as usize])).sum::<f32>()
            / edges.len().max(1) as f32
    };
    let apart = |x: &[Vec3]| {
        welds.iter().enumerate().map(|(k, &v)| x[k].distance(x[v as usize])).fold(0.0f32, f32::max)
    };
    // Where the rest shape is not sewn together, as that of flat panels is not, the start is at least nearer
    // to it.
    let mut x = rest;
    if apart(&x) > TOGETHER * length(&x) {
        x = start.iter().map(|q| Vec3::new(q[0], q[1], q[2])).collect();
    }
    if apart(&x) > 0.0 {
        draw_together(&mut x, welds, &edges);
    }
    let mut compact = vec![0u32; welds.len()];
    let mut positions = Vec::new();
    for k in (0..welds.len()).filter(|&k| welds[k] as usize == k) {
        compact[k] = positions.len() as u32;
        positions.push(x[k]);
    }
    let welded = TriangleMesh {
        triangles: triangles.iter().map(|t| t.map(|v| compact[welds[v as usize] as usize])).collect(),
        positions,
        ..TriangleMesh::default()
    };
    let as_it_is: Vec<u32> = (0..welded.positions.len() as u32).collect();
    let levels = hierarchy::build(&welded, &hierarchy::Options::default()).reordered(&as_it_is).levels;
    let mut transfers: Vec<Transfer> = levels.into_iter().map(|level| level.transfer).collect();
    if let Some(first) = transfers.first_mut() {
        let own = |k: usize| welds[k] as usize == k;
        first.corners = (0..welds.len())
            .map(|k| if own(k) { first.corners[compact[k] as usize] } else { [0; 3] })
            .collect();
        first.weights = (0..welds.len())
            .map(|k| if own(k) { first.weights[compact[k] as usize] } else { [0.0; 3] })
            .collect();
    }
    transfers
}

/// Moves twins to their middle, and what is around them along.
fn draw_together(x: &mut [Vec3], welds: &[u32], edges: &[[u32; 2]]) {
    let mut sums = vec![(Vec3::ZERO, 0.0f32); x.len()];
    for (k, &v) in welds.iter().enumerate() {
        sums[v as usize].0 += x[k];
        sums[v as usize].1 += 1.0;
    }
    let mut moves = vec![Vec3::ZERO; x.len()];
    let mut sewn = vec![false; x.len()];
    for (k, &v) in welds.iter().enumerate() {
        let (sum, count) = sums[v as usize];
        sewn[k] = count > 1.0;
        if sewn[k] {
            moves[k] = sum / count - x[k];
        }
    }
    let neighbours = crate::mesh::adjacency::Neighbors::new(x.len(), edges);
    let sweeps = (SWEEPS * (x.len() as f64).sqrt()) as usize;
    for sweep in 0..sweeps {
        for i in 0..x.len() {
            let k = if sweep % 2 == 0 { i } else { x.len() - 1 - i };
            let around = neighbours.of(k as u32);
            if !sewn[k] && !around.is_empty() {
                let sum: Vec3 = around.iter().map(|&v| moves[v as usize]).sum();
                moves[k] = sum / around.len() as f32;
            }
        }
    }
    for (k, (x, moved)) in x.iter_mut().zip(moves).enumerate() {
        let place = sums[welds[k] as usize];
        *x = if sewn[k] { place.0 / place.1 } else { *x + moved };
    }
}

/// One side of a border edge.
struct Side<'a> {
    /// Its vertices in the engine's order, as the triangle runs along it.
    edge: [u32; 2],
    wing: u32,
    /// The same in the caller's.
    corners: [u32; 3],
    cloth: &'a Cloth,
    area: f64,
}

/// Hinges across seams, where two border edges are sewn to each other along all of their length and face the
/// same side, with the mean bending stiffness of the two; and a bound on ω² of theirs \[1/s²\]. Flat at rest,
/// unless the rest shape is sewn together already. They are to act only while seams are closed.
pub(crate) fn hinges(
    description: &Description,
    bodies: &[BodyTables],
    sewing: &Sewing,
) -> (Vec<FoldElement>, f64) {
    if sewing.is_empty() {
        return (Vec::new(), 0.0);
    }
    let mut sides: BTreeMap<[u32; 2], Vec<Side>> = BTreeMap::new();
    for (cloth, body) in cloths(description, bodies) {
        let place = places(body);
        let mut borders: BTreeMap<[u32; 2], Vec<[u32; 3]>> = BTreeMap::new();
        for &[a, b, c] in &cloth.mesh.triangles {
            for [p, q, wing] in [[a, b, c], [b, c, a], [c, a, b]] {
                borders.entry([p.min(q), p.max(q)]).or_default().push([p, q, wing]);
            }
        }
        for side in borders.into_values().filter(|sides| sides.len() == 1).flatten() {
            let [p, q, wing] = side.map(|v| place[v as usize]);
            let [i, j] = sewing.welded([p, q]);
            let x = side.map(|v| cloth.mesh.positions[v as usize].as_dvec3());
            let area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length();
            sides.entry([i.min(j), i.max(j)]).or_default().push(Side {
                edge: [p, q],
                wing,
                corners: side,
                cloth,
                area,
            });
        }
    }
    let (mut hinges, mut frequency) = (Vec::new(), 0.0f64);
    for pair in sides.values() {
        let [first, second] = &pair[..] else { continue };
        let [[a, b], [c, d]] = [first, second].map(|side| sewing.welded(side.edge));
        // Edges that run the same way belong to sides that face opposite ways: what is flat there would be a
        // fold.
        if first.edge != second.edge && (a, b) == (d, c) {
            hinges.extend(hinge([first, second], &mut frequency));
        }
    }
    (hinges, frequency)
}

fn hinge(sides: [&Side; 2], frequency: &mut f64) -> Option<FoldElement> {
    let corners = |side: &Side| side.corners.map(|v| side.cloth.mesh.positions[v as usize].as_dvec3());
    let [[a, b, wing], [c, d, other]] = sides.map(corners);
    let materials = sides.map(|side| &side.cloth.material);
    let bend = 0.5 * materials.iter().map(|m| f64::from(m.bend.mean())).sum::<f64>();
    let areas = sides.map(|side| side.area);
    let length = 0.5 * (a.distance(b) + c.distance(d));
    let stiffness = bend * length * length / (areas[0] + areas[1]);
    if stiffness.is_nan() || stiffness <= 0.0 {
        return None;
    }
    let sewn = std::ptr::eq(sides[0].cloth, sides[1].cloth)
        && a.distance(d).max(b.distance(c)) <= f64::from(TOGETHER) * length;
    let x = if sewn {
        [a, b, wing, other]
    } else {
        let flat = |[p, q, wing]: [DVec3; 3], area: f64, side: f64| {
            let along = (q - p).normalize_or_zero().dot(wing - p);
            DVec3::new(along, side * 2.0 * area / length, 0.0)
        };
        let wings = [flat([a, b, wing], areas[0], 1.0), flat([d, c, other], areas[1], -1.0)];
        [DVec3::ZERO, DVec3::new(length, 0.0, 0.0), wings[0], wings[1]]
    };
    let foot = |wing: DVec3| ((wing - x[0]).dot(x[1] - x[0]) / (x[1] - x[0]).length_squared()) as f32;
    let feet = [foot(x[2]), foot(x[3])];
    let x = x.map(|p| p.to_array());
    let d = dihedral(&x);
    let masses = [0, 1].map(|k| f64::from(materials[k].density) * areas[k] / 9.0);
    let both = masses[0] + masses[1];
    *frequency = frequency.max(hinge_frequency(&x, stiffness, [both, both, masses[0], masses[1]]));
    let hinge = HingeElement {
        vertices: [sides[0].edge[0], sides[0].edge[1], sides[0].wing, sides[1].wing],
        stiffness: stiffness as f32,
        rest_sin_half: d.sin_half as f32,
        is_by_angle: false,
        heights: d.heights.map(|h| h as f32),
    };
    Some(FoldElement { hinge, feet })
}
