//! A running simulation: a scene, its changes, and its display.

use std::{collections::HashMap, path::PathBuf, time::Instant};

use glam::Vec3;
use rayon::prelude::*;
use taut::{
    Body, BodyHandle, Budget, FrameReport, GripHandle, Limit, Material, Simulation, SimulationError, Tear,
};

use super::{
    Outcome,
    body::{ShownBody, Strains},
    changes::{self, Changes},
    export,
    groom::{Brush, may_be_cut},
    levels::ShownLevels,
    obstacle::{ShownObstacle, shown_obstacles},
    start::{bounds, change, chosen_threads, colour_range, extent, meshes, parameters_of},
};
use crate::{
    folder::Chosen,
    hub::{Exported, Hub, Sheet, Stage},
    protocol::{Answer, BoundsMessage, Colouring, LightMessage, Limiter, Parameters, Request, SceneMessage},
    wire::FrameContents,
};

/// Fraction of the frame time that limiting may take.
const SHARE: f32 = 0.6;
/// Maximum unspent budgets of earlier frames that may be used.
const CREDIT: f32 = 2.0;
/// Default limit when a limiter is switched on in a scene without limits (strain).
const USUAL_LIMIT: f32 = 0.05;
/// Strain at which cloth of a scene without tears would tear.
const USUAL_TEAR: f32 = 0.2;
/// Strain above which the simulation counts as unstable.
const LOST: f32 = 1e3;

/// A running simulation.
#[derive(Debug)]
pub struct Live {
    pub(super) engine: Simulation,
    /// All bodies of the scene, in its order.
    pub(super) handles: Vec<BodyHandle>,
    chosen: Chosen,
    /// Whether overrides of the command line changed the scene.
    overridden: bool,
    /// Requested threads; 0: automatic.
    threads: usize,
    /// Whether they were chosen for a page that renders in software.
    painting: bool,
    bodies: Vec<ShownBody>,
    obstacles: Vec<ShownObstacle>,
    levels: ShownLevels,
    parameters: Parameters,
    /// Initial parameters.
    initial: Parameters,
    /// What each cloth of the scene is made of.
    scene_materials: Vec<Option<Material>>,
    /// Where each cloth and hair of the scene tears; everywhere alike if it does not.
    scene_tears: Vec<Option<Tear>>,
    /// Direction of gravity.
    down: Vec3,
    /// Initially pinned vertices.
    held: Vec<(usize, u32)>,
    /// Grips of the page, by its own numbers.
    pub(super) grips: HashMap<u32, GripHandle>,
    pub(super) echo: f64,
    report: FrameReport,
    frame_ms: f32,
    saved: Vec<PathBuf>,
    /// Whether the user chose a time budget.
    budgeted: bool,
    /// Unspent time of earlier frames \[ms\].
    credit: f32,
    /// The brush that combs hair in the next frame.
    pub(super) brush: Option<Brush>,
}

impl Live {
    /// Starts a scene.
    ///
    /// # Errors
    /// Why it cannot be simulated.
    pub fn new(chosen: Chosen, overridden: bool, threads: usize) -> Result<Self, String> {
        let mut description = chosen.scene.build().map_err(|problems| problems.to_string())?;
        let fps = if chosen.scene.frame_rate > 45.0 { 60.0 } else { 30.0 };
        description.frame_time = 1.0 / fps;
        let budget = description.solver.budget_ms.unwrap_or(SHARE * 1e3 / fps);
        description.solver.budget_ms = Some(budget);
        let parameters = parameters_of(&description, fps, budget);
        let count = if threads == 0 { chosen_threads(&description, false) } else { threads };
        let reach = 4.0 * extent(&description).max(1.0);
        let obstacles = shown_obstacles(&description, reach);
        let engine = Simulation::from_description(description, count).map_err(|error| error.to_string())?;
        let shown = engine.description().bodies.iter().enumerate();
        let shown = shown.map(|(k, body)| ShownBody::new(body, k, engine.world().surface_of(k)));
        let bodies = shown.collect::<Result<_, _>>()?;
        Ok(Self {
            scene_materials: engine.description().bodies.iter().map(material_of).collect(),
            scene_tears: engine.description().bodies.iter().map(tear_of).collect(),
            down: engine.description().gravity.try_normalize().unwrap_or(Vec3::NEG_Y),
            held: held(&engine),
            handles: engine.bodies().collect(),
            engine,
            chosen,
            overridden,
            threads,
            painting: false,
            bodies,
            obstacles,
            levels: ShownLevels::default(),
            initial: parameters.clone(),
            parameters,
            grips: HashMap::new(),
            echo: 0.0,
            report: FrameReport { converged: true, ..FrameReport::default() },
            frame_ms: 0.0,
            saved: Vec::new(),
            budgeted: false,
            credit: 0.0,
            brush: None,
        })
    }

    /// Current parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The scene message for viewers.
    pub fn stage(&self, epoch: u32, playing: bool) -> Stage {
        let description = self.engine.description();
        let limited =
            |body: &Body| body.strain_bounds() != Limit::default() || body.edge() != Limit::default();
        let bodies =
            self.bodies.iter().zip(description.bodies.iter()).map(|(shown, b)| shown.message(limited(b)));
        let [min, max] = bounds(description);
        let scene = SceneMessage {
            epoch,
            name: &self.chosen.scene.name,
            description: self.chosen.scene.description(),
            fps: self.parameters.fps,
            frames: None,
            bodies: bodies.collect(),
            obstacles: self.obstacles.iter().map(ShownObstacle::message).collect(),
            has_levels: ShownLevels::are_possible(description),
            materials: self
                .scene_materials
                .iter()
                .flatten()
                .take(1)
                .flat_map(|_| Material::names())
                .collect(),
            parameters: &self.parameters,
            playing,
            bounds: BoundsMessage { min: min.to_array(), max: max.to_array() },
            lights: self.chosen.scene.lights().into_iter().map(LightMessage::from).collect(),
            tolerance: description.solver.tolerance.past(),
        };
        let meshes = meshes(epoch, &self.bodies, &self.obstacles);
        let (levels, change) = (self.levels.messages(epoch), self.change());
        Stage { epoch, scene: serde_json::to_string(&scene).unwrap_or_default(), meshes, change, levels }
    }

    /// The newest change of connectivity.
    pub fn change(&self) -> u32 {
        change(&self.bodies)
    }

    /// The meshes as they are now.
    pub fn meshes(&self, epoch: u32) -> Vec<Sheet> {
        meshes(epoch, &self.bodies, &self.obstacles)
    }

    /// Coarser levels, if they have been asked for.
    pub fn levels(&self) -> &ShownLevels {
        &self.levels
    }

    /// Advances by one frame. `painting`: whether a page renders in software.
    pub fn advance(&mut self, painting: bool) {
        if self.threads == 0 && painting != self.painting {
            // If new threads cannot be started, the present ones are kept.
            let _ = self.engine.set_threads(chosen_threads(self.engine.description(), painting));
            self.painting = painting;
        }
        // The clock also counts time in which the system suspends the thread. A scene that mostly needs far
        // less than its budget covers that with its unspent time, instead of being cut short; one that needs
        // all of it has nothing saved.
        self.brush_hair();
        let budget = self.parameters.budget_ms;
        let allowed = Budget::millis(budget + self.credit);
        let begun = Instant::now();
        match self.engine.step(self.engine.description().frame_time, allowed) {
            Ok(report) => self.report = report,
            Err(error) => debug_assert!(false, "the length of a frame does not change here: {error}"),
        }
        self.follow_tears();
        self.frame_ms = 1e3 * begun.elapsed().as_secs_f32();
        self.credit = (self.credit + budget - self.frame_ms).clamp(0.0, CREDIT * budget);
    }

    /// Resets to the initial state.
    pub fn reset(&mut self) {
        self.engine.reset();
        self.follow_tears();
        self.grips.clear();
        self.brush = None;
        self.echo = 0.0;
        self.report = FrameReport { converged: true, ..FrameReport::default() };
    }

    /// Shows the triangles of bodies that have torn, or are whole again.
    pub(super) fn follow_tears(&mut self) {
        let next = self.change() + 1;
        let described = self.engine.description().bodies.iter().enumerate();
        for (shown, (k, body)) in self.bodies.iter_mut().zip(described) {
            let is_shown = match body {
                Body::Cloth(cloth) => cloth.mesh.positions.len() == shown.mesh.positions.len(),
                Body::Hair(hair) => hair.groom.counts.len() == shown.strands,
                Body::Solid(_) | Body::Particles(_) => true,
            };
            if is_shown {
                continue;
            }
            // What was shown whole can be shown torn.
            if let Ok(torn) = ShownBody::new(body, k, &[]) {
                *shown = torn.with_change(next);
            }
        }
    }

    /// Releases all grips.
    pub fn let_go(&mut self) {
        for (_, grip) in self.grips.drain() {
            release(&mut self.engine, grip);
        }
        self.echo = 0.0;
    }

    /// The current frame.
    pub fn contents(&mut self) -> FrameContents {
        let begun = Instant::now();
        let (world, state) = (self.engine.world(), self.engine.state());
        let Parameters { colouring, colour_range, levels_shown, .. } = self.parameters;
        // Bodies are measured in parallel: serially, ten curtains would take a sixth of a frame.
        let measure = |(k, body): (usize, &ShownBody)| {
            let all = state.positions(world, k);
            let (strains, painted) = body.measure(&all, colouring, colour_range);
            let levels = (k == 0 && levels_shown).then(|| self.levels.positions(&all, &body.mesh.triangles));
            (body.positions(all), strains, painted, levels)
        };
        let measured: Vec<_> = self.bodies.par_iter().enumerate().map(measure).collect();
        let mut strains = Strains::default();
        let (mut bodies, mut colours, mut levels) = (Vec::new(), Vec::new(), None);
        for (positions, of_body, painted, of_levels) in measured {
            strains = strains.with(of_body);
            bodies.push(positions);
            colours.extend(painted);
            levels = levels.or(of_levels);
        }
        let time = world.time_of_frame(state.frame());
        let shown = |(body, vertex): (usize, u32)| Some([body as u32, self.bodies[body].shown(vertex)?]);
        let deformed = self.obstacles.iter().zip(0..).filter_map(|(o, k)| Some((k, o.deformed(time)?)));
        let FrameReport { velocity_ms, contact_ms, limit_ms, position_ms, .. } = self.report;
        let measuring_ms = 1e3 * begun.elapsed().as_secs_f32();
        FrameContents {
            number: state.frame(),
            time: f64::from(time),
            echo: self.echo,
            milliseconds: [
                velocity_ms,
                contact_ms,
                limit_ms,
                position_ms,
                measuring_ms,
                self.frame_ms + measuring_ms,
            ],
            largest_residual: strains.residual,
            mean_residual: strains.mean_residual(),
            max_strain: strains.max,
            min_strain: strains.min,
            iterations: self.report.iterations,
            converged: self.report.converged,
            bodies,
            colours: (colouring != Colouring::None).then_some(colours),
            obstacles: self
                .obstacles
                .iter()
                .map(|o| o.matrix(time, |k| state.rigid_bodies()[k].pose))
                .collect(),
            levels,
            pins: Some(held(&self.engine).into_iter().filter_map(shown).collect()),
            deformed: deformed.collect(),
            given_way: strains.given_way(self.report.given_way),
        }
    }

    /// Whether `frame` is unstable, because of too small a time budget or too large forces.
    pub fn is_lost(frame: &FrameContents) -> bool {
        let fine = |strain: f32| (-LOST..LOST).contains(&strain);
        !fine(frame.max_strain) || !fine(frame.min_strain)
    }

    /// Handles a request of the viewer in control.
    ///
    /// # Errors
    /// Why it is refused, and what is expected.
    pub fn obey(&mut self, request: Request, hub: &Hub) -> Result<Outcome, String> {
        match request {
            Request::Seek { .. } => {
                return Err("a running scene cannot seek: `reset` restarts it".into());
            }
            Request::Scene { name } => return self.change_scene(&name, hub),
            Request::Set { key, value } => {
                self.set(&key, &value)?;
                return Ok(Outcome::Changed);
            }
            Request::Grab { body, triangle, weights, point, hard, id } => {
                self.grab(body, triangle, weights, hard, id)?;
                self.drag(id, point, 0.0)?;
            }
            Request::Drag { id, point, stamp } => self.drag(id, point, stamp)?,
            Request::Release { id } => {
                if let Some(grip) = self.grips.remove(&id) {
                    release(&mut self.engine, grip);
                }
            }
            Request::Comb { from, to, radius } => self.comb(from, to, radius)?,
            Request::Cut { eye, from, to } => {
                self.cut([eye, from, to])?;
                return Ok(Outcome::Moved);
            }
            Request::Pin { body, vertex } => {
                let (body, vertex) = self.vertex(body, vertex)?;
                self.engine.pin(self.handles[body], vertex).map_err(|error| error.to_string())?;
                return Ok(Outcome::Moved);
            }
            Request::Unpin { body, vertex } => {
                let (body, vertex) = self.vertex(body, vertex)?;
                self.engine.unpin(self.handles[body], vertex).map_err(|error| error.to_string())?;
                return Ok(Outcome::Moved);
            }
            Request::Save { name } => return self.save(&name, hub),
            // The session does these itself.
            _ => {}
        }
        Ok(Outcome::Done)
    }

    fn change_scene(&mut self, name: &str, hub: &Hub) -> Result<Outcome, String> {
        let folder = hub.folder.as_ref().ok_or("no scene folder")?;
        hub.say(&Answer::Notice { text: &format!("opening {name}") });
        let chosen = folder.choose(name)?;
        let mut new = Self::new(chosen, false, self.threads)?;
        new.parameters.colouring = self.parameters.colouring;
        // Not every scene has levels.
        new.parameters.levels_shown =
            self.parameters.levels_shown && new.levels.build(new.engine.description()).is_ok();
        new.parameters.colour_range = colour_range(&new.parameters);
        new.saved = std::mem::take(&mut self.saved);
        *self = new;
        Ok(Outcome::NewScene)
    }

    pub(super) fn shown_body(&self, body: u32) -> Result<&ShownBody, String> {
        let count = self.bodies.len();
        self.bodies
            .get(body as usize)
            .ok_or_else(|| format!("body {body} does not exist: {count} bodies, counted from 0"))
    }

    /// The engine's body and vertex for a displayed vertex.
    pub(super) fn vertex(&self, body: u32, vertex: u32) -> Result<(usize, u32), String> {
        let own = self.shown_body(body)?.vertex(vertex);
        let own = own.ok_or_else(|| format!("body {body} has no displayed vertex {vertex}"))?;
        Ok((body as usize, own))
    }

    fn set(&mut self, key: &str, value: &serde_json::Value) -> Result<(), String> {
        let mut new = self.parameters.clone();
        changes::set(&mut new, key, value)?;
        if new.levels_shown {
            self.levels.build(self.engine.description())?;
        }
        let usual = || Some(USUAL_LIMIT);
        if new.limiter != Limiter::Off && self.parameters.limiter == Limiter::Off && new.stretch_min.is_none()
        {
            new.stretch_max = new.stretch_max.or_else(usual);
        }
        new.budget_ms = if key == "fps" { new.budget_ms.min(SHARE * 1e3 / new.fps) } else { new.budget_ms };
        new.colour_range = colour_range(&new);
        self.apply(&new).map_err(|error| error.to_string())?;
        self.parameters = new;
        self.budgeted |= key == "budget_ms";
        for (shown, body) in self.bodies.iter_mut().zip(self.engine.description().bodies.iter()) {
            shown.update(body);
        }
        Ok(())
    }

    fn apply(&mut self, new: &Parameters) -> Result<(), SimulationError> {
        let (old, engine) = (&self.parameters, &mut self.engine);
        if new.gravity != old.gravity {
            engine.set_gravity(self.down * new.gravity)?;
        }
        if new.wind != old.wind {
            engine.set_wind(Vec3::from_array(new.wind))?;
        }
        if new.fps != old.fps {
            engine.set_time_step(1.0 / new.fps)?;
        }
        if new.material != old.material {
            let named = new.material.as_deref().and_then(Material::named);
            let of = |(own, &body): (&Option<Material>, &BodyHandle)| {
                Some((body, named.clone().or_else(|| own.clone()).filter(|_| own.is_some())?))
            };
            engine.set_materials(self.scene_materials.iter().zip(&self.handles).filter_map(of))?;
        }
        if new.stiffness != old.stiffness {
            engine.stiffen_all(new.stiffness)?;
        }
        let limits = |p: &Parameters| (p.limiter, p.stretch_max, p.stretch_min);
        if limits(new) != limits(old) {
            let limiter = match new.limiter {
                Limiter::Off => taut::Limiter::Off,
                Limiter::Edge => taut::Limiter::Edge,
                Limiter::Isotropic => taut::Limiter::Isotropic,
            };
            engine.limit_all(limiter, Limit { min: new.stretch_min, max: new.stretch_max })?;
        }
        if new.bend_max != old.bend_max {
            engine.limit_all_bends(Limit { min: new.bend_max.map(|max| -max), max: new.bend_max })?;
        }
        if new.tear != old.tear {
            for (scene, &body) in self.scene_tears.iter().zip(&self.handles) {
                let Some(scene) = scene else { continue };
                let index = engine.index_of(body)?;
                // Weak places stay where they are, also in what was split off.
                let cloth = engine.description().bodies[index].as_cloth();
                let origins = cloth.and_then(|cloth| Some(cloth.torn.as_ref()?.origins.clone()));
                let of = |v: u32| scene.factors[v as usize];
                let factors = match origins {
                    Some(origins) if !scene.factors.is_empty() => origins.into_iter().map(of).collect(),
                    _ => scene.factors.clone(),
                };
                let tear = new.tear.map(|stretch| Tear { stretch, factors, measure: scene.measure });
                engine.set_tear(body, tear)?;
            }
        }
        Ok(())
    }

    /// The current scene, as TOML.
    fn to_toml(&self) -> Result<String, String> {
        let written_out;
        let text = if self.overridden {
            written_out = self.chosen.scene.to_toml();
            &written_out
        } else {
            &self.chosen.text
        };
        let held = held(&self.engine);
        // Values chosen by the studio itself are not changes of the scene.
        let budget_ms = if self.budgeted { self.initial.budget_ms } else { self.parameters.budget_ms };
        let initial = Parameters { budget_ms, ..self.initial.clone() };
        let changes = Changes {
            from: &initial,
            to: &self.parameters,
            description: self.engine.description(),
            held_before: &self.held,
            held_now: &held,
        };
        changes.apply(text)
    }

    fn save(&mut self, name: &str, hub: &Hub) -> Result<Outcome, String> {
        let folder = hub.folder.as_ref().ok_or("no scene folder")?;
        let text = self.to_toml()?;
        taut_io::scene::parse(&text, name, folder.root(), &[])
            .map_err(|problems| format!("the changed scene is not valid: {problems}"))?;
        let own = self.chosen.file.as_deref().and_then(|file| std::fs::canonicalize(file).ok());
        let path = folder.save(name, &text, |path| {
            own.as_deref() == Some(path) || self.saved.iter().any(|saved| saved == path)
        })?;
        self.saved.push(path.clone());
        Ok(Outcome::Saved(path.display().to_string()))
    }

    /// The current shape, as a file.
    ///
    /// # Errors
    /// If the format is unknown.
    pub fn export(&self, format: &str) -> Result<Exported, String> {
        let name = &self.chosen.scene.name;
        if format == "toml" {
            return Ok(Exported { name: format!("{name}.toml"), bytes: self.to_toml()?.into_bytes() });
        }
        let (world, state) = (self.engine.world(), self.engine.state());
        let time = world.time_of_frame(state.frame());
        let mut parts: Vec<export::Part> = Vec::new();
        for (k, body) in self.bodies.iter().enumerate() {
            let positions = body.positions(state.positions(world, k));
            parts.push(export::Part {
                name: body.message(false).name.into(),
                positions,
                triangles: &body.mesh.triangles,
            });
        }
        for obstacle in &self.obstacles {
            let matrix = obstacle.matrix(time, |k| state.rigid_bodies()[k].pose);
            parts.push(export::Part::obstacle(obstacle, time, &matrix));
        }
        export::export(name, state.frame(), format, &parts)
    }
}

/// What a body is made of, if it is cloth.
fn material_of(body: &Body) -> Option<Material> {
    body.as_cloth().map(|cloth| cloth.material.clone())
}

/// Where a body tears, if it is something that may.
fn tear_of(body: &Body) -> Option<Tear> {
    let tear = match body {
        Body::Cloth(cloth) => &cloth.tear,
        Body::Hair(hair) if may_be_cut(hair) => &hair.tear,
        Body::Hair(_) | Body::Solid(_) | Body::Particles(_) => return None,
    };
    Some(tear.clone().unwrap_or_else(|| Tear::at(USUAL_TEAR)))
}

/// Currently pinned bodies and vertices.
fn held(engine: &Simulation) -> Vec<(usize, u32)> {
    engine.pins().filter_map(|(body, vertex)| Some((engine.index_of(body).ok()?, vertex))).collect()
}

/// Releases a grip, if it still exists.
pub(super) fn release(engine: &mut Simulation, grip: GripHandle) {
    let released = engine.release(grip);
    debug_assert!(released.is_ok(), "grips are released once");
}
