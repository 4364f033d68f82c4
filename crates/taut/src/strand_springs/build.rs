//! Springs of chains, and chains in batches of lanes.
//!
//! Every particle i of a chain anchors three springs, to i+1, i+2 and i+3, and the altitude spring of the
//! tetrahedron of all four. Their stiffness comes from the rod that the chain stands for, with E and G its
//! moduli, A = πr², I = πr⁴/4, J = πr⁴/2:
//!
//! - Along the strand (edges, and where a strand is subdivided the springs between its own points): EA/l, so
//!   that the force is EA times the strain.
//! - What bends or twists the strand by a small rotation ω at a joint p changes the length of a spring from a
//!   to b, of direction n, by ω·s, s = (b − p) × n. With t the strand's tangent, s∥ = s·t is its part along
//!   t. A spring for bending has k |s − s∥t|² = EI/l̄, one for torsion k s∥² = GJ/l̄: the stiffness of the
//!   rod's joint, of which l̄ is half of both segments.
//! - In a curly chain these are (i, i+2), which closes as the strand bends at i+1, and (i, i+3), which
//!   changes as it twists about the segment between. In a subdivided chain it is the other way round: the
//!   spring between two extra particles changes first of all with twist, and those from a point to the extra
//!   particle behind the next point with bending, one in each direction.
//! - No such spring is stiffer than EA over its length: almost flat tetrahedra would ask for more.
//! - An altitude spring is as stiff as the stiffest of these in its tetrahedron, and acts only while the
//!   shortest altitude is below [`SLACK`] of what it is at rest.
//!
//! Differs from the lecture, which gives no stiffness, and whose altitude springs act at any length: the six
//! sides already determine a tetrahedron, so that a seventh spring would count EI and GJ twice.
//!
//! A spring of stiffness k between masses of reduced mass μ has damping 2ζ√(kμ), with the same ζ for all.

use glam::{DVec3, Vec3};

use super::{
    SpringModel, SpringSetup, StrandMaterial,
    chain::{Chain, Layout, chains},
    plan::Bounds,
};
use crate::{
    kernel::{lanes::BATCH, real::V3},
    mesh::groom::Groom,
};

/// Part of its altitude at rest that a tetrahedron loses before its altitude spring acts.
pub const SLACK: f64 = 0.5;

/// One number a lane: a strand each.
pub(super) type Row = [f32; BATCH];

/// Rows of a particle in the kept state: position, its low parts, velocity, its low parts.
pub(super) const PARTICLE_ROWS: usize = 12;

/// Particles of no mass that follow the last of a batch, so that every particle has three after it.
pub(super) const PADDING: usize = 3;

/// Springs of one kind, a strand in each lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpringRows {
    /// Stiffness \[N/m\]; 0 where there is no spring.
    pub stiffness: Row,
    /// Length at rest \[m\]. Of altitude springs: below which they act, with the sign of the volume at rest.
    pub length: Row,
    /// Damping \[N·s/m\].
    pub damping: Row,
}

/// What a particle anchors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Anchor {
    /// Springs to the first, second and third particle after it.
    pub sides: [SpringRows; 3],
    /// The altitude spring of the tetrahedron of all four.
    pub altitude: SpringRows,
}

/// Sixteen strands or fewer, of the same layout.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// Strand of each lane; `u32::MAX` for none.
    pub strands: [u32; BATCH],
    /// First point in the groom, and number of points, of each lane.
    pub points: [(u32, u32); BATCH],
    /// How points lie among particles.
    pub layout: Layout,
    /// Inverse mass of each particle \[1/kg\], and of padding; 0 where it is held.
    pub inverse_mass: Vec<Row>,
    /// Each particle at rest \[m\].
    pub rest: Vec<[Row; 3]>,
    /// Springs by their first particle.
    pub anchors: Vec<Anchor>,
}

impl Batch {
    /// Most particles of any lane.
    pub fn len(&self) -> usize {
        self.anchors.len()
    }

    /// Rows of its kept state: particles, which edges are whole, and where the third held particle is.
    pub fn row_count(&self) -> usize {
        (self.len() + PADDING) * (PARTICLE_ROWS + 1) + 3
    }
}

/// A spring while it is built.
#[derive(Clone, Copy, Debug, Default)]
struct Spring {
    stiffness: f64,
    length: f64,
    damping: f64,
}

/// Springs of one chain, and bounds on its frequencies.
fn springs(chain: &Chain, material: &StrandMaterial, ratio: f64) -> (Vec<[Spring; 4]>, Bounds) {
    let (x, n) = (&chain.rest, chain.rest.len());
    let free_mass = |p: usize| if p < chain.held { f64::INFINITY } else { chain.mass[p] };
    let mut all = vec![[Spring::default(); 4]; n];
    let mut sums = vec![[[0.0f64; 2]; 2]; n];
    let mut put = |i: usize, kind: usize, ends: &[usize], stiffness: f64, length: f64| {
        let lightest = ends.iter().map(|&p| free_mass(p)).fold(f64::INFINITY, f64::min);
        let reduced = match ends {
            &[a, b] => 1.0 / (1.0 / free_mass(a) + 1.0 / free_mass(b)),
            _ => 0.5 * lightest,
        };
        // Between held particles a spring does nothing.
        if !(reduced.is_finite() && stiffness > 0.0 && stiffness.is_finite()) {
            return;
        }
        let damping = 2.0 * ratio * (stiffness * reduced).sqrt();
        all[i][kind] = Spring { stiffness, length, damping };
        let group = usize::from(!is_stretch(chain.layout, i, kind));
        for &p in ends {
            sums[p][0][group] += 2.0 * stiffness / free_mass(p);
            sums[p][1][group] += 2.0 * damping / free_mass(p);
        }
    };
    for i in 0..n {
        let mut stiffest = 0.0f64;
        for kind in 0..3 {
            let b = i + kind + 1;
            let length = if b < n { x[i].distance(x[b]) } else { 0.0 };
            if length > 0.0 {
                let stiffness = stiffness(chain, material, i, kind, length);
                put(i, kind, &[i, b], stiffness, length);
                if !is_stretch(chain.layout, i, kind) {
                    stiffest = stiffest.max(stiffness);
                }
            }
        }
        if i + 3 < n {
            let ends = [i, i + 1, i + 2, i + 3];
            let [u, v, w]: [V3<f64>; 3] = [1, 2, 3].map(|k| (x[i + k] - x[i]).to_array());
            put(i, 3, &ends, stiffest, SLACK * super::altitude::shortest(u, v, w).height);
        }
    }
    let bounds = sums.iter().map(|&[squares, rates]| Bounds { squares, rates });
    (all, bounds.fold(Bounds::default(), Bounds::with))
}

/// Whether the spring of this kind at particle `i` resists stretch, and not bending or twist.
pub(super) fn is_stretch(layout: Layout, i: usize, kind: usize) -> bool {
    kind == 0 || (kind == 1 && layout.stride == 2 && i.is_multiple_of(2))
}

/// Stiffness of the spring of this kind from particle `i`, of this length at rest \[N/m\].
fn stiffness(chain: &Chain, material: &StrandMaterial, i: usize, kind: usize, length: f64) -> f64 {
    let (x, b) = (&chain.rest, i + kind + 1);
    let square = |p: usize| chain.radius[p] * chain.radius[p];
    let stretch = material.young * std::f64::consts::PI * 0.5 * (square(i) + square(b)) / length;
    if is_stretch(chain.layout, i, kind) {
        return stretch;
    }
    // The joint is the particle between; of two, the one that is a point of the strand.
    let is_subdivided = chain.layout.stride == 2;
    let joint = if is_subdivided && i.is_multiple_of(2) { i + 2 } else { i + 1 };
    let stride = chain.layout.stride;
    let before = x[joint] - x[joint.saturating_sub(stride)];
    let after = x[(joint + stride).min(x.len() - 1)] - x[joint];
    let spacing = 0.5 * (before.length() + after.length());
    let is_torsion = is_subdivided == (kind == 1);
    // A curl twists about the segment between joints, a subdivided strand about the tangent of a joint.
    let (tangent, spacing) = if is_torsion && !is_subdivided {
        (after.normalize_or_zero(), after.length())
    } else {
        ((before.normalize_or_zero() + after.normalize_or_zero()).normalize_or_zero(), spacing)
    };
    let moved: DVec3 = (x[b] - x[joint]).cross(x[b] - x[i]) / length;
    let along = moved.dot(tangent);
    let fourth = square(joint) * square(joint) * std::f64::consts::PI;
    let wanted = if is_torsion {
        0.5 * material.shear * fourth / (spacing * along * along)
    } else {
        0.25 * material.young * fourth / (spacing * (moved - along * tangent).length_squared())
    };
    if wanted < stretch { wanted } else { stretch }
}

impl SpringModel {
    /// Springs of the strands of `groom`, which are at rest as they are there.
    pub fn new(groom: &Groom, setup: &SpringSetup) -> Self {
        let material = &setup.material;
        let mut chains = chains(groom, material, setup.is_rooted, setup.seed);
        chains.sort_by_key(|chain| (chain.layout, std::cmp::Reverse(chain.rest.len())));
        let ranges: Vec<_> = groom.strands().collect();
        let mut model = Self {
            batches: Vec::new(),
            parts: Vec::new(),
            places: vec![u32::MAX; groom.positions.len()],
            first_segments: first_segments(groom),
            strand_count: groom.counts.len(),
            is_rooted: setup.is_rooted,
            bounds: Bounds::default(),
        };
        let mut floats = [0, 0];
        for same in chains.chunk_by(|a, b| a.layout == b.layout) {
            for group in same.chunks(BATCH) {
                let mut batch = empty(group);
                for (lane, chain) in group.iter().enumerate() {
                    let own = &ranges[chain.strand as usize];
                    batch.strands[lane] = chain.strand;
                    batch.points[lane] = (own.start as u32, own.len() as u32);
                    let (springs, bounds) = springs(chain, material, setup.damping_ratio);
                    model.bounds = model.bounds.with(bounds);
                    fill(&mut batch, lane, chain, &springs);
                    for (k, point) in own.clone().enumerate() {
                        let particle = batch.layout.first + k * batch.layout.stride;
                        model.places[point] = (floats[0] + particle * PARTICLE_ROWS * BATCH + lane) as u32;
                    }
                }
                let lengths = [batch.row_count() * BATCH; 2];
                model.parts.push([0, 1].map(|k| floats[k]..floats[k] + lengths[k]));
                floats = [0, 1].map(|k| floats[k] + lengths[k]);
                model.batches.push(batch);
            }
        }
        model
    }
}

/// Number of the first segment of each strand.
fn first_segments(groom: &Groom) -> Vec<u32> {
    let segments = groom.counts.iter().scan(0, |first, &count| {
        let own = *first;
        *first += count.saturating_sub(1);
        Some(own)
    });
    segments.collect()
}

/// A batch with room for these chains.
fn empty(group: &[Chain]) -> Batch {
    let length = group.iter().map(|chain| chain.rest.len()).max().unwrap_or(0);
    Batch {
        strands: [u32::MAX; BATCH],
        points: [(0, 0); BATCH],
        layout: group[0].layout,
        inverse_mass: vec![[0.0; BATCH]; length + PADDING],
        rest: vec![[[0.0; BATCH]; 3]; length + PADDING],
        anchors: vec![Anchor::default(); length],
    }
}

/// Puts a chain into a lane.
fn fill(batch: &mut Batch, lane: usize, chain: &Chain, springs: &[[Spring; 4]]) {
    for (i, own) in springs.iter().enumerate() {
        let anchor = &mut batch.anchors[i];
        let [first, second, third] = &mut anchor.sides;
        for (rows, spring) in [first, second, third, &mut anchor.altitude].into_iter().zip(own) {
            rows.stiffness[lane] = spring.stiffness as f32;
            rows.length[lane] = spring.length as f32;
            rows.damping[lane] = spring.damping as f32;
        }
        let place: Vec3 = chain.rest[i].as_vec3();
        for c in 0..3 {
            batch.rest[i][c][lane] = place[c];
        }
        if i >= chain.held && chain.mass[i] > 0.0 {
            batch.inverse_mass[i][lane] = (1.0 / chain.mass[i]) as f32;
        }
    }
}
