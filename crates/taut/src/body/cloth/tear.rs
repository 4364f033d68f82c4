//! Where cloth tears (S6): what is stretched past its threshold, and the vertices that are split for it.
//!
//! Overloaded triangles, each measured by its own threshold, fall into clusters that hang together. Of each
//! cluster one vertex is split, since that relieves the others: a corner of its most overloaded triangle, or
//! of one that is nearly as overloaded and has a corner at the tip of a notch or tear, or on a border, so
//! that tears grow from notches and from where they ended. Of the corners, one at a tip is split, else one
//! on a border, else the weakest, else the one with the largest load around it. A piece that is most
//! overloaded at a tip tears there alone.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DVec3, Vec3};

use crate::{
    Cloth, Tear, TearMeasure,
    kernel::svd2::{cauchy, deformation_gradient, principal, rest_inverse},
    mesh::{
        TriangleMesh,
        split::{Around, Splitter, Spot, pieces},
    },
};

/// Strain past an upper limit at which cloth with a higher threshold tears: the limit cannot be met there.
const PAST_LIMIT: f64 = 1e-3;

/// Fraction of the largest load of a cluster from which on a triangle with a corner at a tip or on a border
/// goes first.
const NEARLY: f64 = 0.7;

/// Triangles of the smallest piece that tears further: wind and impacts would grind smaller ones to dust.
const LEAST_PIECE: u32 = 12;

/// Triangles of the largest piece that counts as a scrap.
const LARGEST_SCRAP: u32 = 64;

/// By vertex of `order`: the number of the scrap that was torn off `cloth` which it belongs to, if any. Empty
/// if nothing was torn off.
pub(crate) fn scraps(cloth: &Cloth, order: &[u32]) -> Vec<Option<u32>> {
    if cloth.torn.is_none() {
        return Vec::new();
    }
    let (of, sizes) = sized_pieces(&cloth.mesh);
    let mut numbers = BTreeMap::new();
    let number = |&v: &u32| {
        let piece = of[v as usize];
        let next = numbers.len() as u32;
        (sizes[piece as usize] <= LARGEST_SCRAP).then(|| *numbers.entry(piece).or_insert(next))
    };
    order.iter().map(number).collect()
}

/// The piece of each vertex of `mesh`, and the triangles of each piece.
fn sized_pieces(mesh: &TriangleMesh) -> (Vec<u32>, Vec<u32>) {
    let of = pieces(mesh.positions.len(), &mesh.triangles);
    let mut sizes = vec![0; mesh.positions.len()];
    mesh.triangles.iter().for_each(|t| sizes[of[t[0] as usize] as usize] += 1);
    (of, sizes)
}

/// What is known of the vertices of a cloth beside their positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    /// Held exactly, or sewn: split only where pieces would hang together there alone.
    pub is_fixed: &'a [bool],
    /// Stopped by contact: what is stretched there is not so by its load, and does not tear.
    pub is_held_up: &'a [bool],
    /// Around what was split in this frame before: triangles with none of these corners do not tear. `None`
    /// if nothing was.
    pub is_grown: Option<&'a [bool]>,
}

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
/// Cloth tears `at_limits` as well, where they are not met.
pub(crate) fn tear(cloth: &Cloth, x: &[Vec3], at_limits: bool, held: Held<'_>) -> Option<Vec<[u32; 3]>> {
    let tear = cloth.tear.as_ref()?;
    let mesh = &cloth.mesh;
    let mut overloaded: Vec<Overloaded> = Vec::new();
    let (pieces_of, sizes) = sized_pieces(mesh);
    let may_tear = |t: &[u32; 3]| {
        sizes[pieces_of[t[0] as usize] as usize] >= LEAST_PIECE
            && !t.iter().any(|&v| held.is_held_up[v as usize])
    };
    for t in (0..mesh.triangles.len()).filter(|&t| may_tear(&mesh.triangles[t])) {
        overloaded.extend(overload((cloth, tear, at_limits), x, t));
    }
    if overloaded.is_empty() {
        return None;
    }
    let mut load = vec![0.0; mesh.positions.len()];
    for over in &overloaded {
        mesh.triangles[over.triangle as usize].iter().for_each(|&v| load[v as usize] += over.load);
    }
    let around = Around::new(mesh.positions.len(), &mesh.triangles);
    let mut splitter = Splitter::new(&mesh.positions, &mesh.triangles, &around);
    let corners = |over: &Overloaded| mesh.triangles[over.triangle as usize];
    let candidates = |over: &Overloaded| -> Vec<u32> {
        let may = |k: &usize| over.corners[*k] && !held.is_fixed[corners(over)[*k] as usize];
        (0..3).filter(may).map(|k| corners(over)[k]).collect()
    };
    let clusters = pieces(mesh.positions.len(), &overloaded.iter().map(corners).collect::<Vec<_>>());
    // Where limits cannot be met nothing is past its threshold, and the load is the same far around: one
    // place of a piece at a time, the weakest.
    let cluster = |over: &Overloaded| {
        let corner = corners(over)[0] as usize;
        if over.load > 1.0 { [0, clusters[corner]] } else { [1, pieces_of[corner]] }
    };
    let mut most_of = BTreeMap::<[u32; 2], f64>::new();
    for over in &overloaded {
        let most = most_of.entry(cluster(over)).or_default();
        *most = most.max(over.load);
    }
    // Loads concentrate at tips where they are past thresholds, and nowhere at limits.
    let least = |over: &Overloaded| if over.load > 1.0 { Spot::Tip } else { Spot::Border };
    let spot = |over: &Overloaded| {
        let is_nearly = over.load >= NEARLY * most_of[&cluster(over)];
        let own = || candidates(over).into_iter().map(|v| splitter.spot(v).max(least(over))).min();
        own().filter(|_| is_nearly).unwrap_or(Spot::Inside)
    };
    let mut order: Vec<(Spot, Overloaded)> = overloaded.iter().map(|over| (spot(over), *over)).collect();
    order.sort_by(|(a_first, a), (b_first, b)| {
        a_first.cmp(b_first).then(b.load.total_cmp(&a.load)).then(a.triangle.cmp(&b.triangle))
    });
    // A frame that is begun again has the same load: more of it is where tears ended. What is overloaded far
    // from there is so because small pieces swing, until the next frame shows otherwise.
    let grows = |over: &Overloaded| {
        held.is_grown.is_none_or(|is_grown| corners(over).iter().any(|&v| is_grown[v as usize]))
    };
    // Where a piece is most overloaded at a tip, that is what it tears at: it relieves what is overloaded
    // inside, or at a clamp, which else would tear beside it.
    let piece = |over: &Overloaded| pieces_of[corners(over)[0] as usize];
    let mut at_tips = BTreeMap::<u32, f64>::new();
    for (_, over) in order.iter().filter(|(spot, _)| *spot == Spot::Tip) {
        let most = at_tips.entry(piece(over)).or_default();
        *most = most.max(most_of[&cluster(over)]);
    }
    let mut is_split = BTreeSet::new();
    for (spot, over) in &order {
        let at_tip = at_tips.get(&piece(over)).copied().unwrap_or(0.0);
        let waits = *spot != Spot::Tip && over.load > 1.0 && most_of[&cluster(over)] <= at_tip;
        if waits || is_split.contains(&cluster(over)) || !grows(over) {
            continue;
        }
        let rank = |v: u32| (splitter.spot(v).max(least(over)), tear.threshold(v), -load[v as usize]);
        let mut candidates = candidates(over);
        candidates.sort_by(|&a, &b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        if candidates.iter().any(|&v| splitter.split(v, over.direction)) {
            is_split.insert(cluster(over));
        }
    }
    splitter.separate_fans();
    (splitter.count() > mesh.positions.len()).then_some(splitter.triangles)
}

/// By how much triangle `t` is stretched past its threshold at positions `x`, if it is.
fn overload((cloth, tear, at_limits): (&Cloth, &Tear, bool), x: &[Vec3], t: usize) -> Option<Overloaded> {
    let corners = cloth.mesh.triangles[t];
    let threshold = corners.iter().map(|&v| tear.threshold(v)).fold(f32::INFINITY, f32::min);
    let threshold = f64::from(threshold);
    let rest = corners.map(|v| cloth.mesh.positions[v as usize].as_dvec3());
    let now = corners.map(|v| x[v as usize].as_dvec3());
    let limit = match tear.measure {
        TearMeasure::Triangles => cloth.strain_bounds().max,
        TearMeasure::Edges => cloth.edge.max,
    };
    let most =
        limit.filter(|_| at_limits).map_or(threshold, |limit| threshold.min(f64::from(limit) + PAST_LIMIT));
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
