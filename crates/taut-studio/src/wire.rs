//! Meshes and frames as bytes, little endian, see PROTOCOL.md.

use bytes::Bytes;
use glam::{Vec2, Vec3};

/// The first four bytes of each: "TUT1".
pub const MAGIC: u32 = 0x5455_5431;

/// Kind of object that a mesh belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshOf {
    /// A body.
    Body = 0,
    /// An obstacle.
    Obstacle = 1,
    /// A coarser level of the first cloth.
    Level = 2,
}

/// Flags of a frame.
pub mod flag {
    /// Every step converged.
    pub const CONVERGED: u32 = 1;
    /// Colours follow.
    pub const COLOURS: u32 = 2;
    /// Levels follow.
    pub const LEVELS: u32 = 4;
    /// Pins follow.
    pub const PINS: u32 = 8;
    /// Positions of deforming obstacles follow.
    pub const DEFORMED: u32 = 16;
    /// How far limits gave way follows.
    pub const GIVEN_WAY: u32 = 32;
}

/// A displayed mesh.
pub fn mesh(
    epoch: u32,
    of: MeshOf,
    index: usize,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    uvs: Option<&[Vec2]>,
) -> Bytes {
    let mut out = Writer::new(1, epoch, 64 + 20 * positions.len() + 12 * triangles.len());
    out.u32(of as u32);
    out.count(index);
    out.count(positions.len());
    out.count(triangles.len());
    out.vectors(positions);
    triangles.iter().flatten().for_each(|&v| out.u32(v));
    out.u32(u32::from(uvs.is_some()));
    uvs.into_iter().flatten().for_each(|uv| uv.to_array().into_iter().for_each(|x| out.f32(x)));
    out.done()
}

/// Contents of a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameContents {
    /// Its number.
    pub number: u32,
    /// Time since the start \[s\].
    pub time: f64,
    /// Newest stamp of a drag that it includes; 0 if none.
    pub echo: f64,
    /// Times: velocity, contact, limit, finish, certificate, total \[ms\].
    pub milliseconds: [f32; 6],
    /// Largest residual past the limits.
    pub largest_residual: f32,
    /// Mean residual.
    pub mean_residual: f32,
    /// Largest principal strain.
    pub max_strain: f32,
    /// Smallest principal strain.
    pub min_strain: f32,
    /// Iterations of the limiter.
    pub iterations: u32,
    /// Whether every step converged.
    pub converged: bool,
    /// Positions of each body \[m\].
    pub bodies: Vec<Vec<Vec3>>,
    /// Colours of the vertices of each body, if they are shown.
    pub colours: Option<Vec<Vec<[u8; 4]>>>,
    /// Pose of each obstacle: rows of a 3×4 matrix.
    pub obstacles: Vec<[f32; 12]>,
    /// Displayed levels: number and positions \[m\].
    pub levels: Option<Vec<(u32, Vec<Vec3>)>>,
    /// Pinned vertices: body and vertex.
    pub pins: Option<Vec<[u32; 2]>>,
    /// Deforming obstacles: number and positions \[m\].
    pub deformed: Vec<(u32, Vec<Vec3>)>,
    /// Limits that could not be met, if any.
    pub given_way: Option<GivenWay>,
}

/// Limits that gave way, because they could not be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenWay {
    /// Elements whose limits did.
    pub elements: u32,
    /// Residual past lower limits: mean over the elements past a limit, and the largest.
    pub lower: [f32; 2],
    /// The same past upper limits.
    pub upper: [f32; 2],
}

/// A frame.
pub fn frame(epoch: u32, frame: &FrameContents) -> Bytes {
    let vertices: usize = frame.bodies.iter().map(Vec::len).sum();
    let mut out = Writer::new(2, epoch, 256 + 16 * vertices + 48 * frame.obstacles.len());
    out.u32(frame.number);
    out.f64(frame.time);
    out.f64(frame.echo);
    frame.milliseconds.into_iter().for_each(|ms| out.f32(ms));
    for value in [frame.largest_residual, frame.mean_residual, frame.max_strain, frame.min_strain] {
        out.f32(value);
    }
    out.u32(frame.iterations);
    let flags = [
        (frame.converged, flag::CONVERGED),
        (frame.colours.is_some(), flag::COLOURS),
        (frame.levels.is_some(), flag::LEVELS),
        (frame.pins.is_some(), flag::PINS),
        (!frame.deformed.is_empty(), flag::DEFORMED),
        (frame.given_way.is_some(), flag::GIVEN_WAY),
    ];
    out.u32(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum());
    out.count(frame.bodies.len());
    for positions in &frame.bodies {
        out.count(positions.len());
        out.vectors(positions);
    }
    frame.colours.iter().flatten().flatten().for_each(|colour| out.bytes.extend_from_slice(colour));
    out.count(frame.obstacles.len());
    frame.obstacles.iter().flatten().for_each(|&x| out.f32(x));
    if let Some(levels) = &frame.levels {
        out.numbered(levels);
    }
    if let Some(pins) = &frame.pins {
        out.count(pins.len());
        pins.iter().flatten().for_each(|&x| out.u32(x));
    }
    if !frame.deformed.is_empty() {
        out.numbered(&frame.deformed);
    }
    if let Some(given_way) = &frame.given_way {
        out.u32(given_way.elements);
        given_way.lower.into_iter().chain(given_way.upper).for_each(|x| out.f32(x));
    }
    out.done()
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn new(kind: u32, epoch: u32, capacity: usize) -> Self {
        let mut out = Self { bytes: Vec::with_capacity(capacity) };
        out.u32(MAGIC);
        out.u32(kind);
        out.u32(epoch);
        out
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn count(&mut self, value: usize) {
        self.u32(value as u32);
    }

    fn f32(&mut self, value: f32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn vectors(&mut self, vectors: &[Vec3]) {
        for vector in vectors {
            vector.to_array().into_iter().for_each(|x| self.f32(x));
        }
    }

    fn numbered(&mut self, meshes: &[(u32, Vec<Vec3>)]) {
        self.count(meshes.len());
        for (number, positions) in meshes {
            self.u32(*number);
            self.count(positions.len());
            self.vectors(positions);
        }
    }

    fn done(self) -> Bytes {
        self.bytes.into()
    }
}
