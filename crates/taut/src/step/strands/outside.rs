//! What acts on strands from outside, in lanes: planes that points keep off, with friction, and other
//! strands.

use glam::Vec3;

use crate::{
    Hair, World,
    contact::strands::{StrandContacts, Touch},
    exec::strips::Strip,
    hair_pairs::NodeBlock,
    kernel::{
        lanes::{BATCH, Lanes, Quad},
        real::{V3, combine, dot, sub},
    },
    strand::{NodeForces, NodeStates},
    strand_springs::{OutsideForces, Site},
};

/// Stiffness of contact, in units of inertia: a point that lies on something is a thousandth of the way deep
/// that it would fall in a step.
pub(super) const STIFFNESS: f32 = 1000.0;

/// Numbers of a point that are kept between iterations: normal, offset, way of the surface, friction, the
/// stiffness of stiction, and whether something is near.
pub(super) const CONTACT: usize = 10;

/// Smallest slip that friction is divided by \[m\], and iterations after which its stiffness is frozen.
const SLIP: f32 = 1e-4;
const FROZEN: usize = 8;

/// Distance beyond its way at which something counts as near a point at first \[m\]: what is further does not
/// touch it in this step.
const NEAR: f32 = 0.02;

/// A [`NodeBlock`] and where its point was when that was evaluated \[m\], in fours that lanes can fetch: h,
/// then b, then the position.
pub(super) type PackedBlock = [Quad; 3];

/// Puts a block and the position of its point together.
pub(super) fn pack(block: &NodeBlock, x: &Quad) -> PackedBlock {
    let (h, b) = (&block.h, &block.b);
    [[h[0], h[1], h[2], h[3]], [h[4], h[5], b[0], b[1]], [b[2], x[0], x[1], x[2]]]
}

/// What acts on the strands of one hair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes<'a> {
    pub world: &'a World,
    pub contacts: &'a StrandContacts,
    /// The first vertex of the hair, of all vertices.
    pub first: usize,
    /// What other strands do to its points, and where these were when that was evaluated; empty if nothing.
    pub blocks: &'a [PackedBlock],
    /// \[s²\]
    pub c_dt2: f32,
}

/// Forces of [`Planes`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Outside<'a>(pub Planes<'a>);

/// Whether planes are looked for again before an iteration: surfaces are curved.
fn is_looked_for(iteration: usize) -> bool {
    iteration < 3 || iteration == 5 || iteration.is_multiple_of(8)
}

impl NodeForces for Outside<'_> {
    fn memory(&self) -> usize {
        CONTACT
    }

    fn acts_on(&self, _: &Strip) -> bool {
        let description = &self.0.world.description;
        let by_formula = !description.obstacles.is_empty() || !description.rigid_bodies.is_empty();
        by_formula || self.0.contacts.has_faces() || !self.0.blocks.is_empty()
    }

    #[inline(always)]
    fn add<L: Lanes>(&self, nodes: NodeStates<'_, L>) {
        let stiff = nodes.stiffness * L::splat(STIFFNESS);
        let looks = is_looked_for(nodes.iteration);
        for i in 0..nodes.pull.len() {
            let memory: &mut [L] = &mut nodes.memory[CONTACT * i..CONTACT * (i + 1)];
            let at = (nodes.x[i], nodes.old[i]);
            if looks && (nodes.iteration == 0 || L::any(L::splat(0.0).lt(memory[9]))) {
                self.look(nodes.strip, nodes.at, (i, nodes.iteration), at, memory);
            }
            if L::any(L::splat(0.0).lt(memory[9])) {
                press(at, stiff, nodes.iteration, memory, &mut nodes.pull[i]);
            }
            if !self.0.blocks.is_empty() {
                self.pair(nodes.strip, nodes.at, i, nodes.x[i], &mut nodes.pull[i]);
            }
        }
    }
}

impl Outside<'_> {
    /// Looks for what the points of some lanes keep off.
    #[inline(always)]
    fn look<L: Lanes>(
        &self,
        strip: &Strip,
        at: usize,
        (node, iteration): (usize, usize),
        (x, old): (V3<L>, V3<L>),
        memory: &mut [L],
    ) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let vertices: [usize; BATCH] = std::array::from_fn(|lane| self.0.first + strip.first(lane) + node);
        let way = sub(x, old);
        let reach = L::splat(NEAR) + dot(way, way).sqrt().min(one);
        let found = self.0.contacts.touches(self.0.world, (&vertices, at), (x, reach));
        let is_near = if iteration == 0 { found.is_near } else { found.is_near & zero.lt(memory[9]) };
        for c in 0..3 {
            memory[c] = L::select(is_near, found.normal[c], zero);
            memory[4 + c] = L::select(is_near, found.drift[c], zero);
        }
        // Stiction, between these, stays.
        memory[3] = L::select(is_near, found.offset, zero);
        memory[7] = L::select(is_near, found.friction, zero);
        memory[9] = L::select(is_near, one, zero);
    }

    /// Adds what other strands do.
    #[inline(always)]
    fn pair<L: Lanes>(&self, strip: &Strip, at: usize, node: usize, x: V3<L>, pull: &mut [L; 9]) {
        let mut places = [[0u32; BATCH]; 3];
        for lane in at..at + L::WIDTH {
            let first = 3 * (strip.first(lane) + node) as u32;
            (places[0][lane], places[1][lane], places[2][lane]) = (first, first + 1, first + 2);
        }
        let blocks = self.0.blocks.as_flattened();
        let [xx, xy, yy, xz] = L::fetch(blocks, &places[0], at);
        let [yz, zz, b0, b1] = L::fetch(blocks, &places[1], at);
        let [b2, r0, r1, r2] = L::fetch(blocks, &places[2], at);
        let scale = L::splat(1.0 / self.0.c_dt2);
        let d = sub(x, [r0, r1, r2]);
        pull[0] = pull[0] + scale * (b0 + xx * d[0] + xy * d[1] + xz * d[2]);
        pull[1] = pull[1] + scale * (b1 + xy * d[0] + yy * d[1] + yz * d[2]);
        pull[2] = pull[2] + scale * (b2 + xz * d[0] + yz * d[1] + zz * d[2]);
        let own = [xx, xy, yy, xz, yz, zz];
        for k in 0..6 {
            pull[3 + k] = pull[3 + k] + scale * own[k];
        }
    }
}

/// Adds the pressure of planes on points, and friction.
#[inline(always)]
fn press<L: Lanes>(
    (x, old): (V3<L>, V3<L>),
    stiff: L,
    iteration: usize,
    memory: &mut [L],
    pull: &mut [L; 9],
) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let n = [memory[0], memory[1], memory[2]];
    let depth = (memory[3] - dot(n, x)).max(zero);
    // Lanes with nothing near have no normal.
    let is_near = zero.lt(memory[9]) & zero.lt(depth);
    let force = L::select(is_near, stiff * depth, zero);
    let on = L::select(is_near, stiff, zero);
    let slip = sub(sub(x, old), [memory[4], memory[5], memory[6]]);
    let slip = combine(slip, one, n, -dot(slip, n));
    if iteration < FROZEN {
        let size = dot(slip, slip).sqrt().max(L::splat(SLIP));
        memory[8] = (memory[7] * force / size).min(stiff);
    }
    let hold = memory[8];
    let gradient = combine(slip, hold, n, -force);
    let q = on - hold;
    for c in 0..3 {
        pull[c] = pull[c] + gradient[c];
    }
    let mut k = 3;
    for r in 0..3 {
        for c in 0..=r {
            let v = q * n[r] * n[c];
            pull[k] = pull[k] + if r == c { v + hold } else { v };
            k += 1;
        }
    }
}

/// Contact of the lecture's springs: a stiff push out of the planes that points touch when the step begins.
#[derive(Clone, Debug)]
pub(super) struct Pushes {
    /// By point of the hair.
    planes: Vec<Option<Touch>>,
    /// By strand: its first point.
    firsts: Vec<u32>,
    /// Length of the step \[s\].
    dt: f32,
}

/// Rate at which points are pushed out, as the frequency of a spring \[1/s\], and what damps that.
const PUSH_RATE: f32 = 2000.0;
const PUSH_DAMPING: f32 = 1000.0;

/// Distance from points at which planes are looked for \[m\].
const PUSH_REACH: f32 = 0.02;

impl Pushes {
    /// Of `hair`, whose vertices begin at `first`, in a step of `dt` \[s\].
    pub fn new(
        world: &World,
        contacts: &StrandContacts,
        hair: &Hair,
        first: usize,
        old: &[Quad],
        dt: f32,
    ) -> Self {
        let firsts = hair.groom.strands().map(|own| own.start as u32).collect();
        let planes = (first..first + hair.groom.positions.len())
            .map(|v| contacts.touch(world, v, Vec3::from_slice(&old[v][..3]), PUSH_REACH))
            .collect();
        Self { planes, firsts, dt }
    }
}

impl OutsideForces for Pushes {
    #[inline(always)]
    fn acceleration<L: Lanes>(&self, site: Site, x: V3<L>, v: V3<L>, _: L) -> V3<L> {
        let (zero, part) = (L::splat(0.0), site.time / self.dt);
        let Some(point) = site.point else { return [zero; 3] };
        let mut rows = [[0.0f32; BATCH]; 8];
        let mut any = false;
        for lane in site.at..site.at + L::WIDTH {
            let strand = site.strands[lane];
            if strand == u32::MAX {
                continue;
            }
            let k = self.firsts[strand as usize] as usize + point;
            let Some(touch) = self.planes.get(k).copied().flatten() else { continue };
            any = true;
            // The plane goes with its surface.
            let left = touch.drift * (1.0 - part);
            for c in 0..3 {
                rows[c][lane] = touch.normal[c];
                rows[4 + c][lane] = touch.drift[c] / self.dt;
            }
            rows[3][lane] = touch.offset - touch.normal.dot(left);
            rows[7][lane] = touch.friction;
        }
        if !any {
            return [zero; 3];
        }
        let [n0, n1, n2, offset, u0, u1, u2, friction] = L::load_all(&rows, site.at);
        let n = [n0, n1, n2];
        let depth = offset - dot(n, x);
        let is_in = zero.lt(depth);
        let relative = sub(v, [u0, u1, u2]);
        let speed = dot(relative, n);
        let push = L::splat(PUSH_RATE * PUSH_RATE) * depth - L::splat(PUSH_DAMPING) * speed;
        let push = L::select(is_in, push.max(zero), zero);
        let slip = combine(relative, L::splat(1.0), n, -speed);
        let size = dot(slip, slip).sqrt().max(L::splat(1e-3));
        combine(n, push, slip, -(friction * push / size))
    }
}
