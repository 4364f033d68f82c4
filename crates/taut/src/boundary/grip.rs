//! Grips: points of bodies that a pointer pulls while the simulation runs; limits take precedence (T5).
//!
//! A [pin](super::hold) moves a vertex exactly to its target, whatever that does to the cloth. A grip is
//! soft: in a step it adds ½ e |p − t|² to the minimised energy, with p the point, t its target and e the
//! weight of the grip; for a spring, e = k dt² with k its stiffness. A hard grip weighs many times the whole
//! body, so that the point follows the pointer and the body follows the point; but limits are met exactly,
//! and the quadratic only as well as possible. Written by vertex: with weights w of the corners, ½ e wᵢ |xᵢ −
//! tᵢ|², with tᵢ the corner's position had the triangle been translated. So a grip makes corners heavier and
//! gives each a target.
//!
//! The pull of a grip is not known in advance, since the pointer may be far out of reach: limits would
//! converge slowly against a weight of that size. So a grip yields while limits are not met, and recovers its
//! strength over the next steps.

use glam::Vec3;

use crate::{State, World, WorldError, kernel::lanes::Quad};

/// Weight of a hard grip, in masses of the whole body.
const HARD_WEIGHT_IN_BODY_MASSES: f32 = 10.0;

/// Factor on a grip's strength each time it yields, and its minimum.
const YIELD_FACTOR: f32 = 0.5;
const MIN_STRENGTH: f32 = 1.0 / 256.0;

/// Factor by which a grip that has yielded recovers in each step.
const RECOVERY_FACTOR: f32 = 2.0;

/// Maximum speed at which a point is pulled towards its target \[m/s\]: the rest of a jump is left to later
/// frames.
const MAX_PULL_SPEED: f32 = 6.0;

/// How a point is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grip {
    /// By a spring between the point and its target.
    Soft {
        /// \[N/m\]
        stiffness: f32,
    },
    /// As firmly as the limits allow.
    Hard,
}

/// Identifies a grip of a [`State`]; never reused after release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GripId(u64);

/// All grips of a state.
#[derive(Debug, Default)]
pub struct Grips {
    all: Vec<(GripId, Gripped)>,
    next: u64,
    /// Springs of pins with a stiffness, by the world's pin. They follow from the world and the frame, so
    /// that snapshots need nothing of them; what they yield is restored in the next step.
    springs: Vec<(u32, Gripped)>,
}

/// By hand, because frames are kept without allocation.
impl Clone for Grips {
    fn clone(&self) -> Self {
        Self { all: self.all.clone(), next: self.next, springs: self.springs.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.all.clone_from(&source.all);
        self.next = source.next;
        self.springs.clone_from(&source.springs);
    }
}

/// What pulls at a point.
#[derive(Clone, Copy, Debug)]
enum Pull {
    /// A pointer.
    Grip(Grip),
    /// A pin with a stiffness \[N/m\].
    Spring { stiffness: f32 },
}

/// A point that is held by a grip.
#[derive(Clone, Copy, Debug)]
pub struct Gripped {
    /// Its body.
    body: u32,
    /// Corners in the engine's order.
    pub(crate) vertices: [u32; 3],
    weights: [f32; 3],
    pull: Pull,
    target: Vec3,
    /// Fraction of its strength that is left after yielding.
    strength: f32,
    /// Weights of the corners at full strength, in masses of each; 0 for corners that are held otherwise.
    heavier: [f32; 3],
    /// Position of each corner without the grip, and its target \[m\].
    ways: [[Vec3; 2]; 3],
}

impl Grips {
    /// Whether there are no grips.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.springs.is_empty()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Gripped> {
        self.all.iter().map(|(_, gripped)| gripped).chain(self.springs.iter().map(|(_, gripped)| gripped))
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Gripped> {
        let springs = self.springs.iter_mut().map(|(_, gripped)| gripped);
        self.all.iter_mut().map(|(_, gripped)| gripped).chain(springs)
    }

    /// Room for `count` springs.
    pub(crate) fn with_springs(count: usize) -> Self {
        Self { springs: Vec::with_capacity(count), ..Self::default() }
    }

    /// Removes all springs of pins.
    pub(crate) fn clear_springs(&mut self) {
        self.springs.clear();
    }

    /// Adds the spring of the world's pin `pin` on engine vertex `vertex`.
    pub(crate) fn add_spring(&mut self, world: &World, pin: u32, vertex: u32, stiffness: f32) {
        let body = world.bodies.partition_point(|b| b.vertices.end <= vertex as usize);
        let gripped = Gripped {
            body: body as u32,
            vertices: [vertex; 3],
            weights: [1.0, 0.0, 0.0],
            pull: Pull::Spring { stiffness },
            target: Vec3::ZERO,
            strength: 1.0,
            heavier: [0.0; 3],
            ways: [[Vec3::ZERO; 2]; 3],
        };
        self.springs.push((pin, gripped));
    }

    /// Removes the spring on engine vertex `vertex`, if there is one.
    pub(crate) fn remove_spring(&mut self, vertex: u32) {
        self.springs.retain(|(_, gripped)| gripped.vertices[0] != vertex);
    }

    /// Gives every spring its target \[m\] and its strength, by the world's pin, for the next step.
    pub(crate) fn aim_springs(&mut self, aim: impl Fn(u32) -> Option<(Vec3, f32)>) {
        for (pin, gripped) in &mut self.springs {
            (gripped.target, gripped.strength) = aim(*pin).unwrap_or((gripped.target, 0.0));
        }
    }

    /// Those with corners among `vertices` of the engine.
    pub(crate) fn of(&self, vertices: std::ops::Range<usize>) -> impl Iterator<Item = Gripped> {
        let inside = move |gripped: &&Gripped| vertices.contains(&(gripped.vertices[0] as usize));
        self.iter().filter(inside).copied()
    }

    /// The same, to change them.
    pub(crate) fn of_mut(&mut self, vertices: std::ops::Range<usize>) -> impl Iterator<Item = &mut Gripped> {
        self.iter_mut().filter(move |gripped| vertices.contains(&(gripped.vertices[0] as usize)))
    }

    /// The same grips in another world: `place` maps bodies and engine vertices to those of that world. Grips
    /// on bodies that do not exist there are released.
    pub(crate) fn carried(&self, place: impl Fn(u32, u32) -> Option<(u32, u32)>) -> Self {
        let carry = |gripped: &Gripped| {
            let mut carried = *gripped;
            for vertex in &mut carried.vertices {
                (carried.body, *vertex) = place(gripped.body, *vertex)?;
            }
            Some(carried)
        };
        let all = self.all.iter().filter_map(|(id, gripped)| Some((*id, carry(gripped)?)));
        let springs = Vec::with_capacity(self.springs.capacity());
        Self { all: all.collect(), next: self.next, springs }
    }

    /// Body and corners of each grip, in the engine's order.
    pub(crate) fn held(&self) -> impl Iterator<Item = (u32, [u32; 3])> {
        self.all.iter().map(|(_, gripped)| (gripped.body, gripped.vertices))
    }

    /// Gives grips other corners, where there are some: those of the same triangle of torn cloth.
    pub(crate) fn replace_corners(&mut self, corners: Vec<Option<[u32; 3]>>) {
        for ((_, gripped), corners) in self.all.iter_mut().zip(corners) {
            gripped.vertices = corners.unwrap_or(gripped.vertices);
        }
    }

    /// Whether this grip exists.
    pub(crate) fn contains(&self, id: GripId) -> bool {
        self.all.iter().any(|(own, _)| *own == id)
    }

    /// Weakens all grips, because limits are not met, and makes their corners in `x` lighter.
    pub(crate) fn give_way(&mut self, world: &World, x: &mut [Quad]) {
        self.iter_mut().for_each(|gripped| _ = gripped.give_way());
        self.end(world, x);
        for (v, heavier, _) in self.iter().flat_map(Gripped::corners) {
            x[v][3] /= 1.0 + heavier;
        }
    }

    /// Begins a step, with `left` steps left in the frame, this one included: moves the corners of all grips
    /// from `x`, their positions without grips, towards their targets, and adds the weight of the grips to
    /// them. A spring weighs its stiffness times `square` \[s²\].
    pub(crate) fn begin(
        &mut self,
        world: &World,
        old: &[Quad],
        x: &mut [Quad],
        (dt, square): (f32, f32),
        left: u32,
    ) {
        for (_, gripped) in &mut self.all {
            gripped.strength = (RECOVERY_FACTOR * gripped.strength).min(1.0);
        }
        for gripped in self.iter_mut() {
            gripped.begin(world, old, x, (dt, square), left);
        }
        for gripped in self.iter() {
            gripped.draw(x);
        }
    }

    /// Ends a step: restores the weights of corners.
    pub(crate) fn end(&self, world: &World, x: &mut [Quad]) {
        for gripped in self.iter() {
            for &v in &gripped.vertices {
                let inverse_mass = &mut x[v as usize][3];
                if *inverse_mass > 0.0 {
                    *inverse_mass = world.inverse_masses[v as usize];
                }
            }
        }
    }
}

impl Gripped {
    fn begin(&mut self, world: &World, old: &[Quad], x: &[Quad], (dt, square): (f32, f32), left: u32) {
        let from = self.point(old);
        let way = self.target - from;
        let to = from
            + match self.pull {
                Pull::Spring { .. } => way,
                // A spring pulls by its full length in every step.
                Pull::Grip(Grip::Soft { .. }) => {
                    way.clamp_length_max(MAX_PULL_SPEED * world.description.frame_time)
                }
                Pull::Grip(Grip::Hard) => (way / left.max(1) as f32).clamp_length_max(MAX_PULL_SPEED * dt),
            };
        let shift = to - self.point(x);
        let weight = match self.pull {
            Pull::Grip(Grip::Soft { stiffness }) | Pull::Spring { stiffness } => stiffness * square,
            Pull::Grip(Grip::Hard) => {
                HARD_WEIGHT_IN_BODY_MASSES
                    * world.bodies[self.body as usize].masses.iter().sum::<f64>() as f32
            }
        };
        for k in 0..3 {
            let quad = &x[self.vertices[k] as usize];
            self.heavier[k] = self.weights[k] * weight * quad[3] * world.inverse_mass_unit;
            let at = position(quad);
            self.ways[k] = [at, at + shift];
        }
    }

    /// Moves the corners in `x` to where the grip alone would have them, and makes them heavier.
    fn draw(&self, x: &mut [Quad]) {
        for (k, &v) in self.vertices.iter().enumerate() {
            let quad = &mut x[v as usize];
            let heavier = self.strength * self.heavier[k];
            let shift = (self.ways[k][1] - self.ways[k][0]) * (heavier / (1.0 + heavier));
            if shift.is_finite() {
                for c in 0..3 {
                    quad[c] += shift[c];
                }
                quad[3] /= 1.0 + heavier;
            }
        }
    }

    /// The position of the point with vertices at `x` \[m\].
    fn point(&self, x: &[Quad]) -> Vec3 {
        let corners = self.vertices.iter().zip(&self.weights);
        corners.map(|(&v, w)| *w * position(&x[v as usize])).sum()
    }

    /// By corner: the vertex, its added weight in units of its mass, its position without the grip, and its
    /// target.
    pub(crate) fn corners(&self) -> impl Iterator<Item = (usize, f32, [Vec3; 2])> {
        (0..3).map(|k| (self.vertices[k] as usize, self.strength * self.heavier[k], self.ways[k]))
    }

    /// The corner with the largest weight.
    pub(crate) fn main_vertex(&self) -> usize {
        let most = (0..3).max_by(|&a, &b| self.weights[a].total_cmp(&self.weights[b]).then(b.cmp(&a)));
        self.vertices[most.unwrap_or(0)] as usize
    }

    /// Weakens the grip, because limits are not met. Returns whether it could.
    pub(crate) fn give_way(&mut self) -> bool {
        let weaker = (YIELD_FACTOR * self.strength).max(MIN_STRENGTH.min(self.strength));
        std::mem::replace(&mut self.strength, weaker) > weaker
    }
}

impl State {
    /// Grips a point of body `body`: the point of its corners `corners` (in the caller's order) with
    /// barycentric weights `weights`. It stays at its position until it is [moved](State::move_grip).
    ///
    /// # Errors
    /// If there is no such body or vertex, if weights are negative or all 0, or if the stiffness is not
    /// positive.
    pub fn grip(
        &mut self,
        world: &World,
        body: usize,
        corners: [u32; 3],
        weights: [f32; 3],
        grip: Grip,
    ) -> Result<GripId, WorldError> {
        let invalid = |problem: &str| {
            Err(WorldError::Invalid { what: format!("grip on body {body}"), problem: problem.into() })
        };
        let mut vertices = [0; 3];
        for (place, &corner) in vertices.iter_mut().zip(&corners) {
            *place = world.numbered(body, corner)?.1;
        }
        let sum: f32 = weights.iter().sum();
        if !(weights.iter().all(|w| (0.0..=1e6).contains(w)) && sum > 1e-6) {
            return invalid("its weights must be at least 0, and not all 0");
        }
        if let Grip::Soft { stiffness } = grip
            && !(0.0..=1e9).contains(&stiffness)
        {
            return invalid("its stiffness must lie between 0 and 1e9 N/m");
        }
        let mut gripped = Gripped {
            body: body as u32,
            vertices,
            weights: weights.map(|w| w / sum),
            pull: Pull::Grip(grip),
            target: Vec3::ZERO,
            strength: 1.0,
            heavier: [0.0; 3],
            ways: [[Vec3::ZERO; 2]; 3],
        };
        gripped.target = gripped.point(&self.x);
        let id = GripId(self.grips.next);
        self.grips.next += 1;
        self.grips.all.push((id, gripped));
        Ok(id)
    }

    /// Pulls a grip's point towards `target` \[m\] from the next frame on. Ignored if the grip has been
    /// released, or if the target is not finite and within 1e6 m.
    pub fn move_grip(&mut self, id: GripId, target: Vec3) {
        let found = self.grips.all.iter_mut().find(|(own, _)| *own == id);
        if let Some((_, gripped)) = found.filter(|_| target.is_finite() && target.abs().max_element() <= 1e6)
        {
            gripped.target = target;
        }
    }

    /// Releases a grip's point, which keeps its velocity.
    pub fn release(&mut self, id: GripId) {
        self.grips.all.retain(|(own, _)| *own != id);
    }

    /// The position of a grip's point \[m\], unless it has been released.
    pub fn grip_point(&self, id: GripId) -> Option<Vec3> {
        self.grips.all.iter().find(|(own, _)| *own == id).map(|(_, gripped)| gripped.point(&self.x))
    }
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
