//! All triangles of a scene in one list, with normals, for the rasteriser and the lights.

use glam::Vec3;
use taut::{Shape, low_level::Surface, mesh::normals::vertex_normals};

use crate::{
    scene::{Color, Paint, Scene},
    thread,
};

/// Source of a part's colours.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// Surface of this number in the scene.
    Surface(usize),
    /// One colour.
    Plain(Color),
    /// Colours of the rings of threads, from this one on in [`Assembly::ring_colors`].
    Ring(usize),
}

/// A surface, a body or all threads of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its colours.
    pub look: Look,
    /// Whether it is two-sided.
    pub thin: bool,
    /// Strength of shading.
    pub shading: f32,
    /// Its first vertex.
    pub first_vertex: u32,
}

/// All triangles of a scene. Reused from frame to frame to avoid allocation.
#[derive(Debug, Default)]
pub struct Assembly {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Unit normals, by vertex.
    pub normals: Vec<Vec3>,
    /// Triangles of all parts.
    pub triangles: Vec<[u32; 3]>,
    /// Part of each triangle.
    pub part_of: Vec<u32>,
    /// Number of each triangle in its part.
    pub number: Vec<u32>,
    /// Parts.
    pub parts: Vec<Part>,
    /// Colours of rings of vertices of threads.
    pub ring_colors: Vec<Color>,
    shapes: Vec<(Shape, f32, Surface)>,
}

impl Assembly {
    /// Collects `scene`. Triangles that cannot be drawn are skipped.
    pub fn gather(&mut self, scene: &Scene) {
        self.positions.clear();
        self.normals.clear();
        self.triangles.clear();
        self.part_of.clear();
        self.number.clear();
        self.parts.clear();
        self.ring_colors.clear();
        for (k, surface) in scene.surfaces.iter().enumerate() {
            let first = self.begin(Look::Surface(k), true, surface.shading);
            self.positions.extend_from_slice(&surface.positions);
            self.push_triangles(first, &surface.triangles, painted(&surface.paint));
            self.smooth_normals(first);
        }
        for threads in &scene.threads {
            let (surface, points) = thread::tessellate(threads);
            let look = if threads.colors.is_empty() {
                Look::Plain(threads.color)
            } else {
                Look::Ring(self.ring_colors.len())
            };
            let color = |&v: &u32| threads.colors.get(v as usize).copied().unwrap_or(threads.color);
            self.ring_colors.extend(points.iter().map(color));
            self.push_solid(&surface, (look, threads.shading), |p| p, |n| n);
        }
        for solid in &scene.solids {
            let key = |s: &(Shape, f32, Surface)| s.0 == solid.shape && s.1 == solid.extent;
            let at = self.shapes.iter().position(key).unwrap_or_else(|| {
                let made = solid.shape.surface(solid.extent);
                self.shapes.push((solid.shape, solid.extent, made));
                self.shapes.len() - 1
            });
            let shape = std::mem::take(&mut self.shapes[at].2);
            let look = (Look::Plain(solid.color), 1.0);
            self.push_solid(&shape, look, |p| solid.pose.to_world(p), |n| solid.pose.rotation * n);
            self.shapes[at].2 = shape;
        }
    }

    fn begin(&mut self, look: Look, thin: bool, shading: f32) -> u32 {
        let first_vertex = self.positions.len() as u32;
        self.parts.push(Part { look, thin, shading, first_vertex });
        first_vertex
    }

    fn push_solid(
        &mut self,
        surface: &Surface,
        (look, shading): (Look, f32),
        place: impl Fn(Vec3) -> Vec3,
        turn: impl Fn(Vec3) -> Vec3,
    ) {
        let first = self.begin(look, false, shading);
        self.positions.extend(surface.positions.iter().map(|&p| place(p)));
        self.normals.extend(surface.normals.iter().map(|&n| turn(n)));
        self.push_triangles(first, &surface.triangles, usize::MAX);
    }

    /// Adds triangles of the vertices from `first` on; `painted` of them have a colour.
    fn push_triangles(&mut self, first: u32, triangles: &[[u32; 3]], painted: usize) {
        let count = self.positions.len() as u32 - first;
        let part = self.parts.len() as u32 - 1;
        for (k, t) in triangles.iter().enumerate().take(painted) {
            let drawable = t.iter().all(|&v| v < count && self.positions[(first + v) as usize].is_finite());
            if drawable {
                self.triangles.push(t.map(|v| first + v));
                self.part_of.push(part);
                self.number.push(k as u32);
            }
        }
    }

    /// Normals of the last part, whose vertices are those from `first` on.
    fn smooth_normals(&mut self, first: u32) {
        let part = self.parts.len() as u32 - 1;
        let start = self.part_of.partition_point(|&p| p < part);
        let triangles = self.triangles[start..].iter().map(|t| t.map(|v| v - first));
        self.normals.extend(vertex_normals(&self.positions[first as usize..], triangles));
    }
}

/// Number of triangles with a colour; all of them if vertices or sides have one.
fn painted(paint: &Paint) -> usize {
    if let Paint::Triangles(colors) = paint { colors.len() } else { usize::MAX }
}
