//! Obstacles as a term (W6): each vertex near one has a dual.
//!
//! f = x + w, p = f pushed out with friction, pull e (2 (p − f) + w), w ← f − p. The weight e = 100 m grows
//! with the vertex's mass, so that it is independent of resolution, and not with κ; vertices that stay inside
//! get a larger one. Between looks at the shape itself, an obstacle is the plane that touches it.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use glam::Vec3;

use super::{Block, Scene, Stage, Stale, Step, Term};
use crate::{
    boundary::{obstacle::Obstacle, obstacle_contacts::ObstacleContacts, tangent_plane::TangentPlane},
    kernel::lanes::Quad,
    solve::nearest::{
        filter::Filter,
        tuning::{
            OBSTACLE_BOOST, OBSTACLE_NEAR, OBSTACLE_PLANE_LASTS, OBSTACLE_PLANE_REACHES, OBSTACLE_SHALLOW,
            OBSTACLE_WEIGHT_MOST, PUSHED_OUT_DEEPEST, VERTEX_GRAIN,
        },
    },
};

/// Obstacles, for a filter of so many vertices.
#[derive(Clone, Copy, Debug)]
pub struct Obstacles {
    /// Number of vertices of the filter.
    pub count: usize,
}

impl Block for Obstacles {
    fn name(&self) -> &'static str {
        "obstacles"
    }

    fn kept(&self) -> usize {
        3 * self.count
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        let touches = Vec::with_capacity(self.count);
        Box::new(ObstacleTerm { is_near: false, touches, begun: false })
    }
}

/// The vertices of a filter that may meet an obstacle in a step.
#[derive(Debug)]
struct ObstacleTerm {
    /// Whether any of them may touch one.
    is_near: bool,
    /// By vertex.
    touches: Vec<Touch>,
    /// Whether some have begun to touch since the matrix was chosen.
    begun: bool,
}

impl Term for ObstacleTerm {
    fn prepare(&mut self, scene: &Scene, filter: &Filter) {
        self.is_near = !own(scene.near_obstacles, &filter.vertices).is_empty();
    }

    fn touches(&self) -> bool {
        self.is_near
    }

    fn allows_finish(&self) -> bool {
        !self.is_near
    }

    fn enter(&mut self, step: &Step, x: &[Quad], kept: &[f32], _stage: &Stage) {
        let (vertices, near) = (&step.filter.vertices, OBSTACLE_NEAR * step.filter.edge_length);
        let near_obstacles = own(step.around.obstacle_contacts.candidates(), vertices);
        self.touches.clear();
        self.touches.extend(near_obstacles.iter().map(|&v| {
            let i = v as usize - vertices.start;
            let dual = [kept[3 * i], kept[3 * i + 1], kept[3 * i + 2]];
            Touch::begin(&step.around, i, &x[i], dual, near)
        }));
        self.begun = false;
    }

    fn mark_touched(&self, touched: &mut [bool]) {
        for touch in self.touches.iter().filter(|touch| touch.touches()) {
            touched[touch.vertex as usize] = true;
        }
    }

    fn weigh(&mut self, step: &Step, _stage: &Stage, diagonal: &mut [f32]) {
        let [weight, _] = step.filter.contact_weights();
        self.begun = false;
        for touch in &self.touches {
            let i = touch.vertex as usize;
            diagonal[i] += touch.boost * weight * step.filter.masses[i];
        }
    }

    fn stale(&self) -> Stale {
        // What has begun to touch weighs little against the rest of the matrix.
        if self.begun { Stale::Waits } else { Stale::No }
    }

    fn strengthen(&mut self, step: &Step, _stage: &Stage, diagonal: &[f32]) -> bool {
        let [weight, _] = step.filter.contact_weights();
        let (masses, shallow) = (&step.filter.masses, OBSTACLE_SHALLOW * step.filter.edge_length);
        let mut grown = false;
        for touch in self.touches.iter_mut().filter(|touch| masses[touch.vertex as usize] > 0.0) {
            let i = touch.vertex as usize;
            grown |= touch.strengthen(weight * masses[i], diagonal[i], shallow);
        }
        grown
    }

    fn pull(&mut self, step: &Step, x: &[Quad], _stage: &Stage, r: &mut [Quad]) {
        let [weight, _] = step.filter.contact_weights();
        let (masses, begun) = (&step.filter.masses, AtomicBool::new(false));
        let reach = OBSTACLE_PLANE_REACHES * step.filter.edge_length;
        step.settings.threads.each(&mut self.touches, VERTEX_GRAIN, |_, touches| {
            for touch in touches.iter_mut() {
                let i = touch.vertex as usize;
                if masses[i] > 0.0 {
                    let touched = touch.touches();
                    touch.pull = touch.iterate(&step.around, &x[i], weight * masses[i], reach);
                    if touch.touches() != touched {
                        begun.store(true, Ordering::Relaxed);
                    }
                }
            }
        });
        self.begun |= begun.into_inner();
        for touch in &self.touches {
            for k in 0..3 {
                r[touch.vertex as usize][k] += touch.pull[k];
            }
        }
    }

    fn is_settled(&self, step: &Step) -> bool {
        !self.touches.iter().any(|touch| touch.depth > step.shallow)
    }

    fn push_out(&self, step: &Step, x: &mut [Quad], moved: &mut Vec<(u32, Quad)>) -> bool {
        let Step { filter, shallow, .. } = *step;
        // Tetrahedra are not looked at again. Cloth without bend limits crumples where it touches itself, and
        // steps that end so early let its limits give way later: scene `bunny-d`.
        let is_smooth = !step.between_surfaces || filter.limits_bends();
        let is_checked = is_smooth && !filter.has_tetrahedra();
        let most = if is_checked { shallow.max(PUSHED_OUT_DEEPEST * filter.edge_length) } else { shallow };
        if self.touches.iter().any(|touch| touch.depth > most) {
            return false;
        }
        for touch in self.touches.iter().filter(|touch| touch.depth > 0.0) {
            let i = touch.vertex as usize;
            moved.push((touch.vertex, x[i]));
            let Surroundings { obstacles, obstacle_contacts, .. } = step.around;
            let out = obstacle_contacts.expelled(obstacles, touch.sunk, position(&x[i]));
            x[i][..3].copy_from_slice(&out.to_array());
        }
        true
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], _stage: &Stage, kept: &mut [f32]) {
        kept.fill(0.0);
        for touch in &self.touches {
            let dual = touch.w.map(|w| w * touch.boost);
            kept[3 * touch.vertex as usize..][..3].copy_from_slice(&dual);
        }
    }
}

/// Those of `candidates`, in ascending order, that are among `vertices`.
fn own<'a>(candidates: &'a [u32], vertices: &Range<usize>) -> &'a [u32] {
    let until = |end: usize| candidates.partition_point(|&v| (v as usize) < end);
    &candidates[until(vertices.start)..until(vertices.end)]
}

/// What one vertex has to do with obstacles.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    /// Of the filter.
    vertex: u32,
    /// What it pulls in this iteration.
    pull: [f32; 3],
    /// Dual \[m\].
    w: [f32; 3],
    /// Factor on the weight; 0 while it does not touch.
    boost: f32,
    /// How deep it may be inside at the end of the step \[m\].
    sunk: f32,
    /// Where it was when it was last looked at \[m\].
    seen: Vec3,
    /// How much deeper than it may be it was then \[m\].
    depth: f32,
    /// What stands for the obstacle that it presses on, and for how many iterations yet.
    plane: Option<TangentPlane>,
    lasts: u32,
}

/// Obstacles as the vertices of one body see them.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Obstacles.
    pub obstacles: &'a [Obstacle],
    /// Their poses in this step.
    pub obstacle_contacts: &'a ObstacleContacts,
    /// Where the body's vertices began the step \[m\].
    pub old: &'a [Quad],
}

impl Touch {
    /// Vertex `i` at the start of a step; `dual` is what it kept of the last, `near` \[m\] how close a
    /// surface must be to count as touched.
    fn begin(around: &Surroundings, i: usize, x: &Quad, dual: [f32; 3], near: f32) -> Self {
        let mut touch = Self { vertex: i as u32, depth: f32::NEG_INFINITY, ..Self::default() };
        touch.sunk = around.obstacle_contacts.sunk(around.obstacles, position(&around.old[i]));
        touch.look(around, x);
        if touch.depth > -near {
            touch.boost = 1.0;
            let sane = dual.iter().all(|w| w.is_finite());
            touch.w = if sane { dual } else { [0.0; 3] };
        }
        touch
    }

    /// More than `weight` if it is deeper inside than `shallow` \[m\]. Says whether that changed.
    fn strengthen(&mut self, weight: f32, diagonal: f32, shallow: f32) -> bool {
        if self.boost <= 0.0 || self.depth <= shallow {
            return false;
        }
        let most = OBSTACLE_WEIGHT_MOST * diagonal / weight;
        let boost = (self.boost * OBSTACLE_BOOST).min(most).max(self.boost);
        self.w = self.w.map(|w| w * (self.boost / boost));
        let grown = boost > self.boost;
        self.boost = boost;
        grown
    }

    /// One iteration of the vertex at `x`, with `weight` before any factor; gives its pull. It starts to
    /// touch where it is inside. Planes stand for obstacles up to `reach` \[m\] from where they touch.
    fn iterate(&mut self, around: &Surroundings, x: &Quad, weight: f32, reach: f32) -> [f32; 3] {
        if let Some(plane) = self.plane.as_ref().filter(|_| self.lasts > 0) {
            let (w, p) = (Vec3::from_array(self.w), position(x));
            let f = p + w;
            if plane.is_within(f, reach) {
                self.lasts -= 1;
                (self.seen, self.depth) = (p, plane.depth(p));
                let moved = plane.nearest_outside(f) - f;
                self.w = (-moved).to_array();
                return ((moved + moved + w) * (weight * self.boost)).to_array();
            }
        }
        // Most do not touch, or no longer press, and have not moved so far that they could.
        let is_free = self.w == [0.0; 3];
        if is_free && self.depth + 1.001 * (position(x) - self.seen).length() < 0.0 {
            return [0.0; 3];
        }
        self.look(around, x);
        if self.boost <= 0.0 {
            if self.depth <= 0.0 {
                return [0.0; 3];
            }
            self.boost = 1.0;
        }
        if is_free && self.depth <= 0.0 {
            return [0.0; 3];
        }
        let old = position(&around.old[self.vertex as usize]);
        let w = Vec3::from_array(self.w);
        let f = position(x) + w;
        let moved = around.obstacle_contacts.nearest_outside(around.obstacles, old, self.sunk, f) - f;
        self.w = (-moved).to_array();
        self.plane = around.obstacle_contacts.tangent_plane(around.obstacles, old, self.sunk, f, reach);
        self.lasts = OBSTACLE_PLANE_LASTS;
        ((moved + moved + w) * (weight * self.boost)).to_array()
    }

    /// Sees how deep it is inside at `x`.
    fn look(&mut self, around: &Surroundings, x: &Quad) {
        self.seen = position(x);
        self.depth = around.obstacle_contacts.depth(around.obstacles, self.seen) - self.sunk;
    }

    /// Whether it touches.
    fn touches(&self) -> bool {
        self.boost > 0.0
    }
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
