//! The frames of a recording as scenes: one camera, one light and one colour scale for all of them, so that
//! nothing flickers.

mod curves;
mod known;

use std::ops::RangeInclusive;

use glam::Vec3;
use taut::Shape;
use taut_io::{
    Problem,
    recording::{Connections, Geometry, Recording},
};

use self::{
    curves::Curves,
    known::{Known, know, soft_values},
};

use crate::{
    camera::{Camera, Extent, View},
    color::{self, Coloring, bar, measure::at_vertices, scale},
    light::Lights,
    picture::Picture,
    render::Renderer,
    scene::{Backdrop, Floor, Paint, Scene, Solid, Surface},
};

/// Frames sampled to place the camera and to find the range of values.
const LOOKED_AT: u32 = 24;

/// Maximum distance: cloth further away would make the rest invisible \[m\].
const FURTHEST: f32 = 1e9;

/// Camera placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// Frames the whole motion from a view direction, with a zoom factor.
    Framing(View, f32),
    /// Given by the user.
    Given(Camera),
}

/// Display options of a recording.
#[derive(Clone, Debug)]
pub struct Options {
    /// Width and height \[pixels\].
    pub size: [usize; 2],
    /// Colouring.
    pub coloring: Coloring,
    /// The level that [`Coloring::Level`] shows; `None`: the coarsest.
    pub level: Option<usize>,
    /// The level that cloth is drawn as; 0 is the finest.
    pub mesh_level: usize,
    /// Upper end of the colour scale; `None`: from the limits or the frames.
    pub range: Option<f32>,
    /// Camera placement.
    pub placement: Placement,
    /// Caption.
    pub caption: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            coloring: Coloring::Fabric,
            level: None,
            mesh_level: 0,
            range: None,
            placement: Placement::Framing(View::default(), 1.0),
            caption: None,
        }
    }
}

/// Why a recording cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// A frame cannot be read.
    #[error("{0}")]
    Frame(Problem),
    /// Invalid options.
    #[error("{message}")]
    Refused {
        /// The problem.
        message: String,
        /// What the user can do.
        hint: String,
    },
}

impl From<Problem> for FilmError {
    fn from(problem: Problem) -> Self {
        Self::Frame(problem)
    }
}

/// A recording, ready to be drawn frame by frame.
#[derive(Debug)]
pub struct Film<'a> {
    recording: &'a Recording,
    options: Options,
    camera: Camera,
    lights: Lights,
    known: Vec<Known>,
    range: f32,
    /// Title of the displayed level.
    title: Option<String>,
    extent: Extent,
}

/// The direction opposite to gravity, or y without gravity.
pub fn up(recording: &Recording) -> Vec3 {
    (-recording.description().gravity).normalize_or(Vec3::Y)
}

impl<'a> Film<'a> {
    /// Samples `frames` of `recording` to place camera, light and colour scale.
    ///
    /// # Errors
    /// If a frame cannot be read, or the camera sees no body in any of the frames.
    pub fn new(
        recording: &'a Recording,
        frames: RangeInclusive<u32>,
        options: Options,
    ) -> Result<Self, FilmError> {
        let (known, title) = know(recording, &options)?;
        let (first, last) = (*frames.start(), *frames.end());
        let count = (last - first).min(LOOKED_AT - 1);
        let at = |k: u32| first + (u64::from(last - first) * u64::from(k) / u64::from(count.max(1))) as u32;
        let looked_at: Vec<u32> = (0..=count).map(at).collect();

        let mut extent = Extent::default();
        let mut largest = 0f32;
        for &frame in &looked_at {
            for (k, known) in known.iter().enumerate() {
                let geometry = known.read(recording, k, frame)?;
                if known.soft.is_some() {
                    let values = soft_values(recording, known, k, frame, options.coloring)?;
                    largest = values.iter().map(|value| value.abs()).fold(largest, f32::max);
                } else if let Some((measured, _)) = known.measured(recording, (k, frame), &geometry) {
                    let values = measured.iter().map(|m| options.coloring.value(m).abs());
                    largest = values.fold(largest, f32::max);
                } else if let Some(gauge) = &known.curve {
                    let Connections::Curves(counts) = &*geometry.connections else { continue };
                    let values = gauge.measure(&geometry.positions, counts);
                    let values = values.iter().map(|m| options.coloring.value(m).abs());
                    largest = values.fold(largest, f32::max);
                }
                extent.add(geometry.positions);
            }
        }
        if extent.is_empty() {
            let message = format!("no body has a vertex in frames {first} to {last}");
            return Err(FilmError::Refused {
                message,
                hint: "choose others with --frame or --frames".into(),
            });
        }
        let bodies = extent.clone();
        for &frame in &looked_at {
            add_obstacles(recording, frame, &bodies, &mut extent);
        }
        let range = options.range.unwrap_or_else(|| range(recording, options.coloring, largest));
        let aspect = options.size[0] as f32 / options.size[1].max(1) as f32;
        let up = up(recording);
        let framing = |view| Camera::framing(&extent, view, up, aspect);
        let camera = match options.placement {
            Placement::Framing(view, zoom) => framing(view).zoomed(zoom).map_err(|message| {
                FilmError::Refused { message, hint: "choose another --zoom, or a place with --camera".into() }
            })?,
            Placement::Given(camera) => camera,
        };
        let lights = Lights::studio(&camera, up, extent.center(), 1.02 * extent.radius());
        let hint = framing(View::ThreeQuarter).to_words();
        let film = Self { recording, options, camera, lights, known, range, title, extent };
        if !film.sees(looked_at.into_iter(), aspect)? && !film.sees(frames, aspect)? {
            let message = format!("the camera {} sees no body in any of the frames", film.camera.to_words());
            let hint = format!("this one sees all of them: --camera {hint}");
            return Err(FilmError::Refused { message, hint });
        }
        Ok(film)
    }

    fn sees(&self, mut frames: impl Iterator<Item = u32>, aspect: f32) -> Result<bool, FilmError> {
        for frame in frames.by_ref() {
            for (k, known) in self.known.iter().enumerate() {
                let Geometry { positions, connections } = known.read(self.recording, k, frame)?;
                let seen = match &*connections {
                    Connections::Triangles(triangles) => self.camera.sees(&positions, triangles, aspect),
                    Connections::Curves(_) => {
                        let points: Vec<[u32; 3]> = (0..positions.len() as u32).map(|v| [v; 3]).collect();
                        self.camera.sees(&positions, &points, aspect)
                    }
                };
                if seen {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The camera, which is the same in all frames.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// Upper end of the colour scale.
    pub fn range(&self) -> f32 {
        self.range
    }

    /// Frame `frame` as a scene.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn scene(&self, frame: u32) -> Result<Scene, Problem> {
        let (mut surfaces, mut threads, mut strands) = (Vec::new(), Vec::new(), Vec::new());
        for (k, known) in self.known.iter().enumerate() {
            let geometry = known.read(self.recording, k, frame)?;
            match &*geometry.connections {
                Connections::Triangles(triangles) => {
                    let paint = self.paint(k, known, &geometry, frame)?;
                    let shading = self.options.coloring.shading();
                    let positions = geometry.positions;
                    surfaces.push(Surface { positions, triangles: triangles.clone(), paint, shading });
                }
                Connections::Curves(counts) => match self.curves(k, known, geometry.positions, counts) {
                    Curves::Threads(body) => threads.push(body),
                    Curves::Strands(body) => strands.push(body),
                },
            }
        }
        for obstacle in &self.recording.description().mesh_obstacles {
            let positions = obstacle.positions_at(self.recording.time(frame));
            surfaces.push(Surface::plain(positions, obstacle.triangles.clone(), color::obstacle()));
        }
        let (floor, solids) = self.obstacles(frame);
        let (camera, lights) = (self.camera, self.lights);
        Ok(Scene {
            surfaces,
            threads,
            strands,
            solids,
            floor: Some(floor),
            camera,
            lights,
            backdrop: Backdrop::default(),
        })
    }

    /// Draws frame `frame` to `picture`, with its colour bar and caption.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn draw(&self, renderer: &mut Renderer, frame: u32, picture: &mut Picture) -> Result<(), Problem> {
        renderer.draw(&self.scene(frame)?, picture);
        let scale = self.options.coloring.scale(self.range);
        if let Some(scale) = &scale {
            bar::scale(picture, scale);
        }
        if self.options.coloring == Coloring::Hsv {
            bar::directions(picture);
        }
        // The colour bar takes the place of the title.
        match (&self.options.caption, &self.title) {
            (None, None) => {}
            (Some(caption), Some(title)) if scale.is_some() => {
                bar::caption(picture, &format!("{caption}: {title}"));
            }
            (None, Some(title)) if scale.is_some() => bar::caption(picture, title),
            (caption, title) => {
                title.iter().for_each(|title| bar::title(picture, title));
                caption.iter().for_each(|caption| bar::caption(picture, caption));
            }
        }
        Ok(())
    }

    fn paint(&self, body: usize, known: &Known, geometry: &Geometry, frame: u32) -> Result<Paint, Problem> {
        let coloring = self.options.coloring;
        match coloring.scale(self.range) {
            Some(scale) if known.soft.is_some() => {
                let values = soft_values(self.recording, known, body, frame, coloring)?;
                Ok(Paint::Vertices(values.iter().map(|&value| scale.color(value)).collect()))
            }
            _ => Ok(self.paint_surface((body, frame), known, geometry)),
        }
    }

    fn paint_surface(&self, (body, frame): (usize, u32), known: &Known, geometry: &Geometry) -> Paint {
        let front = color::fabric(body);
        let plain = Paint::Plain { front, back: crate::scene::back_of(front) };
        let coloring = self.options.coloring;
        if coloring == Coloring::Fabric {
            return plain;
        }
        let unknown = Paint::Plain { front: color::NEUTRAL, back: color::NEUTRAL };
        if coloring == Coloring::Level {
            // Colours of triangles, which torn cloth keeps.
            let same = geometry.connections.triangles().len() == known.rest.triangles.len();
            return known.levels.clone().filter(|_| same).unwrap_or(unknown);
        }
        let Some((measured, rest)) = known.measured(self.recording, (body, frame), geometry) else {
            return unknown;
        };
        if matches!(coloring, Coloring::Residual | Coloring::Hsv) {
            return Paint::Triangles(measured.iter().map(|m| coloring.color(m, self.range)).collect());
        }
        let values: Vec<f32> = measured.iter().map(|m| coloring.value(m)).collect();
        let Some(scale) = coloring.scale(self.range) else { return unknown };
        Paint::Vertices(at_vertices(&values, &rest).iter().map(|&v| scale.color(v)).collect())
    }

    /// The floor and the obstacles.
    fn obstacles(&self, frame: u32) -> (Floor, Vec<Solid>) {
        let up = self.lights.up;
        let mut floor = None;
        let mut solids = Vec::new();
        for (index, obstacle) in self.recording.obstacles().enumerate() {
            let pose = self.recording.pose(index, frame);
            let normal = pose.rotation * Vec3::Y;
            if obstacle.shape == Shape::Plane && normal.dot(up) > 0.97 && floor.is_none() {
                floor = Some(Floor { normal, height: normal.dot(pose.position) });
                continue;
            }
            let extent = 2.0 * self.extent.radius();
            solids.push(Solid { shape: obstacle.shape, pose, color: color::obstacle(), extent });
        }
        let lowest = self.extent.points().map(|p| p.dot(up)).fold(f32::INFINITY, f32::min);
        let below = Floor { normal: up, height: lowest - 0.02 * self.extent.radius() };
        (floor.unwrap_or(below), solids)
    }
}

/// Adds the obstacles that are near the `bodies` and not much larger.
fn add_obstacles(recording: &Recording, frame: u32, bodies: &Extent, extent: &mut Extent) {
    let (center, radius) = (bodies.center(), bodies.radius());
    let description = recording.description();
    let solids = recording.obstacles().enumerate().filter(|(_, o)| o.shape != Shape::Plane).map(
        |(index, obstacle)| {
            let pose = recording.pose(index, frame);
            let mut own = Extent::default();
            own.add(obstacle.shape.surface(1.0).positions.into_iter().map(|p| pose.to_world(p)));
            own
        },
    );
    let meshes = description.mesh_obstacles.iter().map(|obstacle| {
        let mut own = Extent::default();
        own.add(obstacle.positions_at(recording.time(frame)));
        own
    });
    for own in solids.chain(meshes) {
        if own.radius() < 2.5 * radius && own.center().distance(center) < 2.0 * radius + own.radius() {
            extent.add(own.points());
        }
    }
}

/// A readable range of values: from the limits, or from the `largest` value if there are none.
fn range(recording: &Recording, coloring: Coloring, largest: f32) -> f32 {
    let bounds = recording.description().bodies.iter().map(taut::Body::strain_bounds);
    let limit = match coloring {
        Coloring::Strain => bounds.filter_map(|b| b.max.or(b.min.map(|m| -m))).fold(0.0, f32::max),
        Coloring::Overstretch => bounds.filter_map(|b| b.max).fold(0.0, f32::max),
        _ => 0.0,
    };
    if limit > 0.0 { scale::round_up(1.2 * limit) } else { scale::round_up(largest.max(1e-4)) }
}
