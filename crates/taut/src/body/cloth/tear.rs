//! Where cloth tears (S6): what is stretched past its threshold, and the vertices that are split for it.
//!
//! Triangles are taken from the most overloaded on, each measured by its own threshold. One of its corners is
//! split: one on a border if there is one, so that tears grow from notches and from where they ended; else the
//! weakest, else the one with the largest load around it. Its neighbours wait for the next round, since the
//! split relieves them.

use glam::{DVec3, Vec3};

use crate::{
    Cloth, Tear, TearMeasure,
    kernel::svd2::{cauchy, deformation_gradient, principal, rest_inverse},
    mesh::split::{Around, Splitter},
};

/// Strain past an upper limit at which cloth with a higher threshold tears: the limit cannot be met there.
const PAST_LIMIT: f64 = 1e-3;

/// A triangle that is stretched too far.
#[derive(Clone, Copy, Debug)]
struct Overloaded {
    triangle: u32,
    /// Strain over threshold.
    load: f64,
    /// Direction of the largest stretch in the rest shape.
    direction: DVec3,
    /// Its corners that may be split.
    corners: [bool; 3],
}

/// The triangles of `cloth` after one round of tearing at positions `x` \[m\]; `None` if nothing tears.
/// Vertices for which `is_fixed` are split only where pieces would hang together at them alone.
pub(crate) fn tear(cloth: &Cloth, x: &[Vec3], is_fixed: impl Fn(u32) -> bool) -> Option<Vec<[u32; 3]>> {
    let tear = cloth.tear.as_ref()?;
    let mesh = &cloth.mesh;
    let mut overloaded: Vec<Overloaded> = Vec::new();
    for t in 0..mesh.triangles.len() {
        overloaded.extend(overload(cloth, tear, x, t));
    }
    if overloaded.is_empty() {
        return None;
    }
    overloaded.sort_by(|a, b| b.load.total_cmp(&a.load).then(a.triangle.cmp(&b.triangle)));
    let mut load = vec![0.0; mesh.positions.len()];
    for over in &overloaded {
        mesh.triangles[over.triangle as usize].iter().for_each(|&v| load[v as usize] += over.load);
    }
    let around = Around::new(mesh.positions.len(), &mesh.triangles);
    let mut splitter = Splitter::new(&mesh.positions, &mesh.triangles, &around);
    let mut waits = vec![false; mesh.positions.len()];
    for over in &overloaded {
        let corners = mesh.triangles[over.triangle as usize];
        let may = |k: &usize| over.corners[*k] && !waits[corners[*k] as usize] && !is_fixed(corners[*k]);
        let mut candidates: Vec<u32> = (0..3).filter(may).map(|k| corners[k]).collect();
        // A triangle beside a split of this round has been relieved.
        if candidates.is_empty() || corners.iter().any(|&v| waits[v as usize]) {
            continue;
        }
        let rank = |v: u32| (!splitter.is_on_border(v), tear.threshold(v), -load[v as usize]);
        candidates.sort_by(|&a, &b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        if let Some(&split) = candidates.iter().find(|&&v| splitter.split(v, over.direction)) {
            let ring = around.of(split).iter().flat_map(|&t| mesh.triangles[t as usize]);
            ring.for_each(|v| waits[v as usize] = true);
        }
    }
    splitter.separate_fans();
    (splitter.count() > mesh.positions.len()).then_some(splitter.triangles)
}

/// By how much triangle `t` is stretched past its threshold at positions `x`, if it is.
fn overload(cloth: &Cloth, tear: &Tear, x: &[Vec3], t: usize) -> Option<Overloaded> {
    let corners = cloth.mesh.triangles[t];
    let threshold = corners.iter().map(|&v| tear.threshold(v)).fold(f32::INFINITY, f32::min);
    let threshold = f64::from(threshold);
    let rest = corners.map(|v| cloth.mesh.positions[v as usize].as_dvec3());
    let now = corners.map(|v| x[v as usize].as_dvec3());
    let limit = match tear.measure {
        TearMeasure::Triangles => cloth.strain_bounds().max,
        TearMeasure::Edges => cloth.edge.max,
    };
    let most = limit.map_or(threshold, |limit| threshold.min(f64::from(limit) + PAST_LIMIT));
    let (strain, direction, corners) = match tear.measure {
        TearMeasure::Triangles => {
            let (inverse, _) = rest_inverse(rest.map(|p| p.to_array()))?;
            let f = deformation_gradient(&now.map(|p| p.to_array()), inverse);
            let squares = cauchy(&f);
            let strain = squares.larger.sqrt() - 1.0;
            if strain <= most {
                return None;
            }
            let [along, across] = principal(&f, &squares).v;
            let first = (rest[1] - rest[0]).normalize_or_zero();
            let normal = first.cross(rest[2] - rest[0]).normalize_or_zero();
            (strain, along * first + across * normal.cross(first), [true; 3])
        }
        TearMeasure::Edges => {
            let strain = |k: usize| {
                let [a, b] = [k, (k + 1) % 3];
                now[a].distance(now[b]) / rest[a].distance(rest[b]) - 1.0
            };
            let worst = (0..3).max_by(|&a, &b| strain(a).total_cmp(&strain(b)))?;
            let mut ends = [false; 3];
            (ends[worst], ends[(worst + 1) % 3]) = (true, true);
            (strain(worst), rest[(worst + 1) % 3] - rest[worst], ends)
        }
    };
    let is_over = strain > most && strain.is_finite();
    let load = strain / threshold.max(f64::MIN_POSITIVE);
    let direction = direction.normalize_or_zero();
    is_over.then_some(Overloaded { triangle: t as u32, load, direction, corners })
}
