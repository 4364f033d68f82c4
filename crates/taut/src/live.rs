//! A simulation that is changed while it runs (T5): limits, stiffness, gravity, wind and time budget between
//! frames, points that are dragged, vertices that are pinned and let go.
//!
//! [`Live`] owns the [`World`], its [`State`] and its [`Stepper`]. What depends on a few numbers is changed
//! in place; for the rest the world is built again from the changed description, with the levels of its
//! meshes kept, and the state goes on in it.

mod all;

use std::time::Duration;

use glam::Vec3;

use crate::{
    Body, Budget, Cloth, Description, EdgeModel, FrameReport, Grip, GripId, Limit, Model, Solid, Solver,
    State, Stepper, World, WorldError,
    hierarchy::{Hierarchy, Options},
    mesh::TriangleMesh,
    world::{Known, Weave},
};

/// Limit on stretch of cloth that is to be limited but has none \[strain\].
const USUAL: f32 = 0.05;

/// Steps a frame, and most substeps of each, while cloth has no limits.
const STEPS_WITHOUT_LIMITS: u32 = 4;
const SUBSTEPS_WITHOUT_LIMITS: u32 = 24;

/// Most substeps a step for the sake of stiffness.
const MOST_SUBSTEPS: f32 = 96.0;

/// How the strain of a body is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Not at all.
    Off,
    /// Edge by edge (T1).
    Edge,
    /// The principal strains of every triangle or tetrahedron (W1, W2).
    Isotropic,
}

/// What can be changed of a body.
#[derive(Clone, Debug)]
struct Settings {
    limiter: Limiter,
    strain: Limit,
    bend: Limit,
    weave: Option<Weave>,
    /// Factor on the stiffness of its material.
    stiffness: f32,
    /// Stretching and bending, or Young's modulus, as they were.
    material: [f32; 2],
}

/// A running simulation that can be changed between frames.
///
/// ```
/// use glam::Vec3;
/// use taut::{Cloth, Description, Grip, Limit, Live, Material, mesh::generate};
///
/// let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
/// let mut sheet = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
/// sheet.strain.max = Some(0.05);
/// let mut live = Live::new(Description { bodies: vec![sheet.into()], ..Description::default() }, 1)?;
/// live.pin(0, 0)?;
/// let grip = live.grab(0, [80, 80, 80], [1.0, 0.0, 0.0], Grip::Hard)?;
/// live.drag(grip, Vec3::new(1.0, 0.1, 1.0));
/// live.advance();
/// assert!(live.grip_point(grip).unwrap().distance(Vec3::new(1.0, 0.1, 1.0)) < 0.01);
/// live.set_strain_limit(0, Limit { min: None, max: Some(0.01) })?;
/// live.release(grip);
/// live.advance();
/// # Ok::<(), taut::WorldError>(())
/// ```
#[derive(Debug)]
pub struct Live {
    world: World,
    state: State,
    stepper: Stepper,
    bodies: Vec<Settings>,
    /// As the solver was, and the most substeps that it came to.
    solver: Solver,
    substeps: u32,
    /// Levels of each cloth, made when they are first asked for.
    levels: Vec<Option<Hierarchy>>,
    known: Known,
}

impl Live {
    /// The start of a simulation of `description` with `threads` threads (0: one per core).
    ///
    /// # Errors
    /// If the description cannot be simulated, or threads cannot be started.
    pub fn new(description: Description, threads: usize) -> Result<Self, WorldError> {
        let (bodies, solver) = (settings(&description), description.solver);
        let known = Known::default();
        let world = World::knowing(description, &known)?;
        let stepper = Stepper::new(&world, threads)?;
        Ok(Self {
            state: State::new(&world),
            stepper,
            levels: vec![None; world.description().bodies.len()],
            substeps: world.max_substeps(),
            world,
            bodies,
            solver,
            known,
        })
    }

    /// What does not change in a frame.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Where everything is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The description as it has been changed. Pins and grips of the user are not part of it.
    pub fn description(&self) -> &Description {
        self.world.description()
    }

    /// Advances by one frame.
    pub fn advance(&mut self) -> FrameReport {
        let budget = self.description().solver.budget_ms.map_or_else(Budget::unlimited, Budget::millis);
        self.stepper.advance_within(&self.world, &mut self.state, &budget)
    }

    /// Goes back to the start. Settings stay as they are; what the user pinned, let go or gripped is
    /// forgotten.
    pub fn reset(&mut self) {
        self.state = State::new(&self.world);
    }

    /// Changes the number of threads (0: one per core). What is simulated does not depend on it.
    ///
    /// # Errors
    /// If they cannot be started. Nothing has changed then.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), WorldError> {
        self.stepper.set_threads(threads)
    }

    /// Changes gravity \[m/s²\].
    ///
    /// # Errors
    /// If it is not finite.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), WorldError> {
        finite("gravity", gravity)?;
        self.world.description.gravity = gravity;
        Ok(())
    }

    /// Changes the wind to one that stays the same \[m/s\]; gusts are as strong as before.
    ///
    /// # Errors
    /// If it is not finite.
    pub fn set_wind(&mut self, wind: Vec3) -> Result<(), WorldError> {
        finite("wind", wind)?;
        let keys = &mut self.world.description.air.wind;
        keys.clear();
        keys.push((0.0, wind));
        Ok(())
    }

    /// Changes the time that a frame may take; `None`: as long as it needs. A step that has not met its
    /// limits takes 64 iterations in any case.
    ///
    /// # Errors
    /// If it is longer than 1e6 s.
    pub fn set_budget(&mut self, budget: Option<Duration>) -> Result<(), WorldError> {
        if budget.is_some_and(|budget| budget.as_secs_f64() > 1e6) {
            return refused("time budget".into(), "must be at most 1e6 s".into());
        }
        self.world.description.solver.budget_ms = budget.map(|budget| 1e3 * budget.as_secs_f32());
        Ok(())
    }

    /// Changes the length of a frame \[s\].
    ///
    /// # Errors
    /// If it is not positive.
    pub fn set_frame_time(&mut self, frame_time: f32) -> Result<(), WorldError> {
        let mut description = self.description().clone();
        description.frame_time = frame_time;
        self.rebuild(description)
    }

    /// Changes the limits on the strain of body `body`: of what its [limiter](Live::set_limiter) limits; if
    /// that is off, when it is on again. Takes the place of limits along warp and weft.
    ///
    /// # Errors
    /// If there is no such body, or the limits are out of range. Nothing has changed then.
    pub fn set_strain_limit(&mut self, body: usize, limit: Limit) -> Result<(), WorldError> {
        self.change(body, |settings| (settings.strain, settings.weave) = (limit, None))
    }

    /// Changes the limits on the bend of cloth `body` \[°/cm\]; they hold while its limiter is not off.
    ///
    /// # Errors
    /// If there is no such cloth, or the limits are out of range. Nothing has changed then.
    pub fn set_bend_limit(&mut self, body: usize, limit: Limit) -> Result<(), WorldError> {
        if let Some(Body::Solid(_)) = self.description().bodies.get(body) {
            return refused(self.name(body), "has no hinges to limit; only cloth has".into());
        }
        self.change(body, |settings| settings.bend = limit)
    }

    /// Changes the stiffness of body `body` to `factor` times that of its material at the start: stretching
    /// and bending of cloth, Young's modulus of solids.
    ///
    /// # Errors
    /// If there is no such body, or the factor is negative or not finite. Nothing has changed then.
    pub fn set_stiffness(&mut self, body: usize, factor: f32) -> Result<(), WorldError> {
        self.change(body, |settings| settings.stiffness = factor)
    }

    /// The factor on the stiffness of body `body`; 1 if there is none such.
    pub fn stiffness(&self, body: usize) -> f32 {
        self.bodies.get(body).map_or(1.0, |settings| settings.stiffness)
    }

    /// Changes how the strain of body `body` is limited. One that had no limit gets one of 5 % stretch.
    ///
    /// # Errors
    /// If there is no such body, or it has no edges to limit, as solids have none. Nothing has changed then.
    pub fn set_limiter(&mut self, body: usize, limiter: Limiter) -> Result<(), WorldError> {
        let described = self.description().bodies.get(body);
        if let (Limiter::Edge, Some(Body::Solid(_))) = (limiter, described) {
            return refused(
                self.name(body),
                "can be limited isotropically or not at all; edges are limited of cloth only".into(),
            );
        }
        self.change(body, |settings| {
            settings.limiter = limiter;
            if limiter != Limiter::Off && !settings.strain.is_some() {
                settings.strain.max = Some(USUAL);
            }
        })
    }

    /// How the strain of body `body` is limited; not at all if there is none such.
    pub fn limiter(&self, body: usize) -> Limiter {
        self.bodies.get(body).map_or(Limiter::Off, |settings| settings.limiter)
    }

    /// The limits on the strain of body `body`, be its limiter on or off.
    pub fn strain_limit(&self, body: usize) -> Limit {
        self.bodies.get(body).map_or_else(Limit::default, |settings| settings.strain)
    }

    /// The limits on the bend of body `body` likewise \[°/cm\].
    pub fn bend_limit(&self, body: usize) -> Limit {
        self.bodies.get(body).map_or_else(Limit::default, |settings| settings.bend)
    }

    /// Takes hold of a point of body `body`: see [`State::grip`].
    ///
    /// # Errors
    /// If there is no such body or vertex, if weights are negative or all 0, or if a stiffness is out of
    /// range.
    pub fn grab(
        &mut self,
        body: usize,
        corners: [u32; 3],
        weights: [f32; 3],
        grip: Grip,
    ) -> Result<GripId, WorldError> {
        self.state.grip(&self.world, body, corners, weights, grip)
    }

    /// Pulls a grip's point towards `target` \[m\]: see [`State::drag`].
    pub fn drag(&mut self, id: GripId, target: Vec3) {
        self.state.drag(id, target);
    }

    /// Lets go of a grip's point.
    pub fn release(&mut self, id: GripId) {
        self.state.let_go(id);
    }

    /// Where a grip's point is \[m\], unless it has been released.
    pub fn grip_point(&self, id: GripId) -> Option<Vec3> {
        self.state.grip_point(id)
    }

    /// Pins vertex `vertex` of body `body` where it is, on every level.
    ///
    /// # Errors
    /// If there is no such body or vertex.
    pub fn pin(&mut self, body: usize, vertex: u32) -> Result<(), WorldError> {
        let place = self.world.numbered(body, vertex)?.1;
        let [x, y, z, _] = self.state.x[place as usize];
        self.state.grab(&self.world, body, vertex, Vec3::new(x, y, z))
    }

    /// Lets vertex `vertex` of body `body` go, whoever pinned it.
    ///
    /// # Errors
    /// If there is no such body or vertex.
    pub fn unpin(&mut self, body: usize, vertex: u32) -> Result<(), WorldError> {
        self.state.release(&self.world, body, vertex)
    }

    /// Bodies and vertices that are pinned now, by the scene or by the user.
    pub fn pins(&self) -> impl Iterator<Item = (usize, u32)> {
        self.state.held(&self.world)
    }

    /// Coarser levels of cloth `body` at rest, the finest of them first; none of solids.
    pub fn level_meshes(&mut self, body: usize) -> Vec<TriangleMesh> {
        self.levels_of(body)
            .map(|levels| levels.levels.iter().map(|l| l.mesh.clone()).collect())
            .unwrap_or_default()
    }

    /// Where the vertices of level `level` of cloth `body` are now \[m\]; 0 is the cloth itself, 1 the first
    /// of [`Live::level_meshes`]. Empty if there is no such level.
    pub fn level_positions(&mut self, body: usize, level: usize) -> Vec<Vec3> {
        if body >= self.bodies.len() {
            return Vec::new();
        }
        let positions = self.state.positions(&self.world, body);
        let Some(coarse) = level.checked_sub(1) else { return positions };
        self.levels_of(body);
        let Some(Some(hierarchy)) = self.levels.get(body) else { return Vec::new() };
        let Some(level) = hierarchy.levels.get(coarse) else { return Vec::new() };
        let Some(cloth) = self.description().bodies[body].as_cloth() else { return Vec::new() };
        let triangles = &cloth.mesh.triangles;
        level
            .on_base
            .iter()
            .map(|site| {
                let corners = triangles[site.triangle as usize].iter().zip(site.weights);
                corners.map(|(&v, w)| w * positions[v as usize]).sum()
            })
            .collect()
    }

    fn levels_of(&mut self, body: usize) -> Option<&Hierarchy> {
        let cloth = self.world.description.bodies.get(body)?.as_cloth()?;
        let (usual, known) = (Options::default(), &self.known);
        Some(self.levels.get_mut(body)?.get_or_insert_with(|| match cloth.model.edge() {
            None => known.hierarchy(&cloth.mesh, &usual),
            Some(model) => {
                let mut hierarchy = known.hierarchy(&cloth.mesh, &EdgeModel::options());
                hierarchy.levels.truncate(model.levels as usize - 1);
                hierarchy
            }
        }))
    }

    /// Changes the settings of a body.
    fn change(&mut self, body: usize, change: impl FnOnce(&mut Settings)) -> Result<(), WorldError> {
        let Some(settings) = self.bodies.get(body) else {
            let problem = format!("there is none; the world has {}", self.bodies.len());
            return refused(format!("body {body}"), problem);
        };
        let mut changed = settings.clone();
        change(&mut changed);
        if !(0.0..=1e6).contains(&changed.stiffness) {
            return refused(self.name(body), "needs a factor on its stiffness between 0 and 1e6".into());
        }
        let mut description = self.description().clone();
        changed.apply(body, &mut description);
        let before = std::mem::replace(&mut self.bodies[body], changed);
        self.adapt_steps(&mut description.solver);
        let result = self.rebuild(description);
        if result.is_err() {
            self.bodies[body] = before;
        }
        result
    }

    /// Chooses steps and substeps for the bodies as they are set now, where the scene leaves that open.
    /// Without limits, forces alone hold cloth together, and need more of them. Stiffness that is softened to
    /// what substeps carry would not change with its factor if these did not.
    fn adapt_steps(&self, solver: &mut Solver) {
        let both = || self.bodies.iter().zip(&self.description().bodies);
        let cloths = || both().filter_map(|(settings, body)| Some((settings, body.as_cloth()?)));
        let off =
            cloths().any(|(settings, cloth)| cloth.model == Model::Fem && settings.limiter == Limiter::Off);
        if self.solver.steps_per_frame == 0 {
            solver.steps_per_frame = if off { STEPS_WITHOUT_LIMITS } else { 0 };
        }
        let stiffest = cloths().map(|(settings, _)| settings.stiffness).reduce(f32::max);
        if let (0, Some(factor)) = (self.solver.max_substeps, stiffest) {
            let usual = if off { SUBSTEPS_WITHOUT_LIMITS } else { self.substeps };
            let needed = (usual as f32 * factor.sqrt()).round().clamp(1.0, MOST_SUBSTEPS);
            solver.max_substeps = if factor == 1.0 { 0 } else { needed as u32 };
        }
    }

    /// Goes on with a changed description.
    fn rebuild(&mut self, description: Description) -> Result<(), WorldError> {
        let world = World::knowing(description, &self.known)?;
        self.stepper.adapt(&world);
        self.state = self.state.carried(&self.world, &world);
        self.world = world;
        Ok(())
    }

    fn name(&self, body: usize) -> String {
        let described = self.description().bodies.get(body);
        described.map_or_else(|| format!("body {body}"), |b| format!("{} \"{}\"", b.kind(), b.name()))
    }
}

impl Settings {
    /// Makes `description` what these settings say of body `body`.
    fn apply(&self, body: usize, description: &mut Description) {
        let limit = |limiter: Limiter| if self.limiter == limiter { self.strain } else { Limit::default() };
        match description.bodies.get_mut(body) {
            Some(Body::Cloth(cloth)) => {
                let isotropic = self.limiter == Limiter::Isotropic;
                let bend = if self.limiter == Limiter::Off { Limit::default() } else { self.bend };
                let strain = limit(Limiter::Isotropic);
                if (cloth.strain, cloth.bend) != (strain, bend) {
                    // What was fitted was for other limits.
                    cloth.coarse = None;
                }
                (cloth.strain, cloth.edge, cloth.bend) = (strain, limit(Limiter::Edge), bend);
                cloth.weave = self.weave.filter(|_| isotropic);
                let [stretch, bend] = self.material.map(|m| m * self.stiffness);
                (cloth.material.stretch, cloth.material.bend) = (stretch, bend);
            }
            Some(Body::Solid(solid)) => {
                solid.strain = limit(Limiter::Isotropic);
                solid.material.young = self.material[0] * self.stiffness;
            }
            None => {}
        }
    }
}

/// What a description says of its bodies.
fn settings(description: &Description) -> Vec<Settings> {
    let of_cloth = |cloth: &Cloth| {
        let woven = cloth.strain_bounds();
        let limiter = match (woven.is_some(), cloth.edge.is_some()) {
            (true, _) => Limiter::Isotropic,
            (false, true) => Limiter::Edge,
            (false, false) if cloth.bend.is_some() => Limiter::Isotropic,
            (false, false) => Limiter::Off,
        };
        Settings {
            limiter,
            strain: if limiter == Limiter::Edge { cloth.edge } else { woven },
            bend: cloth.bend,
            weave: cloth.weave,
            stiffness: 1.0,
            material: [cloth.material.stretch, cloth.material.bend],
        }
    };
    let of_solid = |solid: &Solid| Settings {
        limiter: if solid.strain.is_some() { Limiter::Isotropic } else { Limiter::Off },
        strain: solid.strain,
        bend: Limit::default(),
        weave: None,
        stiffness: 1.0,
        material: [solid.material.young, 0.0],
    };
    let of_body = |body: &Body| match body {
        Body::Cloth(cloth) => of_cloth(cloth),
        Body::Solid(solid) => of_solid(solid),
    };
    description.bodies.iter().map(of_body).collect()
}

fn refused<T>(what: String, problem: String) -> Result<T, WorldError> {
    Err(WorldError::Invalid { what, problem })
}

fn finite(what: &str, value: Vec3) -> Result<(), WorldError> {
    if value.is_finite() && value.abs().max_element() <= 1e6 {
        return Ok(());
    }
    refused(what.into(), format!("is {value}, must be finite and at most 1e6"))
}
