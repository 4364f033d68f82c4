//! Playback of a finished run: frames are read from its folder when they are shown.

use glam::Vec3;
use taut::mesh::TriangleMesh;
use taut_io::{
    output::metrics::FrameLine,
    recording::{Connections, Geometry, Recording},
    scene::{self, Light},
};

use super::{
    Outcome,
    body::{ShownBody, Strains, cut_segments},
    changes, export,
    levels::ShownLevels,
    obstacle::{ShownObstacle, shown_obstacles},
    start::{bounds, change, colour_range, extent, meshes, parameters_of},
};
use crate::{
    hub::{Exported, Sheet, Stage},
    protocol::{BoundsMessage, Colouring, LightMessage, Parameters, Request, SceneMessage},
    wire::FrameContents,
};

/// A finished run.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    bodies: Vec<ShownBody>,
    obstacles: Vec<ShownObstacle>,
    levels: ShownLevels,
    parameters: Parameters,
    metrics: Vec<FrameLine>,
    lights: Vec<Light>,
    frame: u32,
}

impl Replay {
    /// Shows a recording from its start.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn new(recording: Recording) -> Result<Self, String> {
        let description = recording.description();
        let mut bodies = Vec::new();
        for k in 0..recording.bodies().len() {
            bodies.push(shown(&recording, k, &recording.bodies()[k].rest)?);
        }
        let obstacles = shown_obstacles(description, 4.0 * extent(description).max(1.0));
        let budget = description.solver.budget_ms.unwrap_or(0.0);
        let parameters = parameters_of(description, recording.frame_rate(), budget);
        let metrics = recording.metrics().map_err(|problem| problem.to_string())?;
        // It was read once before.
        let stored = scene::load(&recording.root().join("scene.toml").to_string_lossy(), &[]);
        let lights = stored.map(|scene| scene.lights()).unwrap_or_default();
        let levels = ShownLevels::default();
        Ok(Self { bodies, obstacles, levels, parameters, metrics, lights, frame: 0, recording })
    }

    /// Current parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The scene message for viewers.
    pub fn stage(&self, epoch: u32, playing: bool) -> Stage {
        let description = self.recording.description();
        let limited = |name: &str| {
            description.body(name).is_some_and(|body| body.strain_bounds() != taut::Limit::default())
        };
        let [min, max] = bounds(description);
        let named = self.bodies.iter().zip(self.recording.bodies());
        let scene = SceneMessage {
            epoch,
            name: self.recording.name(),
            description: "",
            fps: self.recording.frame_rate(),
            frames: Some(self.recording.last_frame()),
            bodies: named.map(|(shown, body)| shown.message(limited(&body.name))).collect(),
            obstacles: self.obstacles.iter().map(ShownObstacle::message).collect(),
            has_levels: ShownLevels::are_possible(description),
            materials: Vec::new(),
            parameters: &self.parameters,
            playing,
            bounds: BoundsMessage { min: min.to_array(), max: max.to_array() },
            lights: self.lights.iter().cloned().map(LightMessage::from).collect(),
            tolerance: description.solver.tolerance.past(),
        };
        let meshes = meshes(epoch, &self.bodies, &self.obstacles);
        let (levels, change) = (self.levels.messages(epoch), self.change());
        Stage { epoch, scene: serde_json::to_string(&scene).unwrap_or_default(), meshes, change, levels }
    }

    /// The newest change of connectivity: of what is shown, so that seeking back is one as well.
    pub fn change(&self) -> u32 {
        change(&self.bodies)
    }

    /// The meshes as they are shown.
    pub fn meshes(&self, epoch: u32) -> Vec<Sheet> {
        meshes(epoch, &self.bodies, &self.obstacles)
    }

    /// Coarser levels, if they have been asked for.
    pub fn levels(&self) -> &ShownLevels {
        &self.levels
    }

    /// Whether the last frame is shown.
    pub fn is_at_end(&self) -> bool {
        self.frame >= self.recording.last_frame()
    }

    /// Advances by one frame; false at the last one.
    pub fn advance(&mut self) -> bool {
        self.seek(self.frame.saturating_add(1));
        !self.is_at_end()
    }

    /// Seeks to a frame, at most the last one.
    pub fn seek(&mut self, frame: u32) {
        self.frame = frame.min(self.recording.last_frame());
    }

    /// Positions in the current frame, whose triangles are shown from now on.
    fn read(&mut self) -> Result<Vec<Vec<Vec3>>, String> {
        let read = |body| self.recording.read(body, self.frame).map_err(|problem| problem.to_string());
        let frames = (0..self.bodies.len()).map(read).collect::<Result<Vec<Geometry>, _>>()?;
        let next = self.change() + 1;
        for (k, frame) in frames.iter().enumerate() {
            let body = &self.recording.bodies()[k];
            let is_shown = match &*frame.connections {
                Connections::Triangles(triangles) => self.bodies[k].mesh.triangles == *triangles,
                Connections::Curves(counts) => self.bodies[k].strands == counts.len(),
            };
            if !is_shown && !body.changes.is_empty() {
                self.bodies[k] = shown(&self.recording, k, frame)?.with_change(next);
            }
        }
        Ok(frames.into_iter().map(|frame| frame.positions).collect())
    }

    /// The current frame.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn contents(&mut self) -> Result<FrameContents, String> {
        let bodies = self.read()?;
        let Parameters { colouring, colour_range, levels_shown, .. } = self.parameters;
        let mut colours = Vec::new();
        let mut strains = Strains::default();
        for (body, positions) in self.bodies.iter().zip(&bodies) {
            let (measured, painted) = body.measure(positions, colouring, colour_range);
            strains = strains.with(measured);
            colours.extend(painted);
        }
        let line = self.metrics.get(self.frame as usize);
        let report = line.and_then(|line| line.report).unwrap_or_default();
        let time = self.recording.time(self.frame);
        // The recorded values are used, also for bodies with only a surface here.
        let said = line.map(|line| line.certificate.bodies.iter().map(|body| &body.strain));
        if let Some(said) = said {
            for strain in said {
                strains.max = strains.max.max(strain.max_stretch as f32 - 1.0);
                strains.min = strains.min.min(strain.min_stretch as f32 - 1.0);
                strains.residual = strains.residual.max(strain.max_residual as f32);
                let sides = [strain.max_compression_residual, strain.max_stretch_residual];
                strains.sides = [0, 1].map(|side| strains.sides[side].max(sides[side] as f32));
            }
        }
        let deformed = self.obstacles.iter().zip(0..).filter_map(|(o, k)| Some((k, o.deformed(time)?)));
        let frame_ms = line.map_or(0.0, |line| line.frame_ms as f32);
        let fixed = self.recording.description().obstacles.len();
        Ok(FrameContents {
            number: self.frame,
            time: f64::from(time),
            echo: 0.0,
            milliseconds: [
                report.velocity_ms,
                report.contact_ms,
                report.limit_ms,
                report.position_ms,
                0.0,
                frame_ms,
            ],
            largest_residual: strains.residual,
            mean_residual: strains.mean_residual(),
            max_strain: strains.max,
            min_strain: strains.min,
            iterations: report.iterations,
            converged: report.converged || self.frame == 0,
            levels: (levels_shown && !bodies.is_empty())
                .then(|| self.levels.positions(&bodies[0], &self.bodies[0].mesh.triangles)),
            colours: (colouring != Colouring::None).then_some(colours),
            obstacles: self
                .obstacles
                .iter()
                .map(|o| o.matrix(time, |k| self.recording.pose(fixed + k, self.frame)))
                .collect(),
            pins: None,
            deformed: deformed.collect(),
            given_way: strains.given_way(report.given_way),
            bodies,
        })
    }

    /// Handles a request of the viewer in control.
    ///
    /// # Errors
    /// Why it is refused, and what is expected.
    pub fn obey(&mut self, request: &Request) -> Result<Outcome, String> {
        match request {
            Request::Seek { frame } => {
                self.seek(*frame);
                Ok(Outcome::Moved)
            }
            Request::Set { key, value } if matches!(key.as_str(), "colouring" | "levels_shown") => {
                let mut changed = self.parameters.clone();
                changes::set(&mut changed, key, value)?;
                if changed.levels_shown {
                    self.levels.build(self.recording.description())?;
                }
                self.parameters = changed;
                self.parameters.colour_range = colour_range(&self.parameters);
                Ok(Outcome::Changed)
            }
            // The page releases a grip that was refused.
            Request::Drag { .. } | Request::Release { .. } => Ok(Outcome::Done),
            _ => Err("a finished run is read-only: `taut view SCENE` runs a scene".into()),
        }
    }

    /// The current shape, as a file.
    ///
    /// # Errors
    /// If the format is unknown, or the frame cannot be read.
    pub fn export(&mut self, format: &str) -> Result<Exported, String> {
        let all = self.read()?;
        let name = self.recording.name();
        if format == "toml" {
            let path = self.recording.root().join("scene.toml");
            let bytes =
                std::fs::read(&path).map_err(|error| format!("scene.toml could not be read: {error}"))?;
            return Ok(Exported { name: format!("{name}.toml"), bytes });
        }
        let time = self.recording.time(self.frame);
        let fixed = self.recording.description().obstacles.len();
        let mut parts = Vec::new();
        for (body, positions) in self.bodies.iter().zip(all) {
            parts.push(export::Part {
                name: body.message(false).name.into(),
                positions,
                triangles: &body.mesh.triangles,
            });
        }
        for obstacle in &self.obstacles {
            let matrix = obstacle.matrix(time, |k| self.recording.pose(fixed + k, self.frame));
            parts.push(export::Part::obstacle(obstacle, time, &matrix));
        }
        export::export(name, self.frame, format, &parts)
    }
}

/// Number `k` of the bodies of a recording, in the connectivity of `frame`. The scene's data of a cloth
/// apply as long as its triangles are its own, or torn from them.
fn shown(recording: &Recording, k: usize, frame: &Geometry) -> Result<ShownBody, String> {
    let body = &recording.bodies()[k];
    let kind = if body.soft.is_some() { "solid" } else { "cloth" };
    if let Some(cloth) = recording.described(body).and_then(taut::Body::as_cloth) {
        let triangles = frame.connections.triangles();
        let torn = body.origins(frame).and_then(|_| cloth.torn(triangles));
        if let Some(torn) = torn {
            return ShownBody::new(&torn.into(), k, &[]);
        }
    }
    if let [Connections::Curves(whole), Connections::Curves(counts)] =
        [&*body.rest.connections, &*frame.connections]
    {
        let described = recording.described(body);
        let limit = described.map(taut::Body::edge).unwrap_or_default();
        let lines = (body.rest.positions.clone(), cut_segments(whole, counts));
        let kind = described.map_or("hair", taut::Body::kind);
        let mut shown = ShownBody::curves(&body.name, kind, k, lines, limit);
        shown.strands = counts.len();
        return Ok(shown);
    }
    let other = || TriangleMesh {
        positions: frame.positions.clone(),
        triangles: frame.connections.triangles().to_vec(),
        ..TriangleMesh::default()
    };
    Ok(ShownBody::plain(&body.name, kind, k, body.rest_of(frame).unwrap_or_else(other)))
}
