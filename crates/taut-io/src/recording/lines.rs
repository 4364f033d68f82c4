//! Particles of a recording: frames have one point a particle, what is shown are curves along segments, in
//! which a particle occurs as often as curves pass through it.

use glam::Vec3;
use taut::mesh::lines::LineMesh;

/// Curves along the segments of particles.
#[derive(Clone, Debug)]
pub struct ShownLines {
    /// The particle of each point, curve after curve.
    pub particles: Vec<u32>,
    /// Number of points of each curve.
    pub counts: Vec<u32>,
    /// Number of particles.
    pub particle_count: usize,
}

impl ShownLines {
    /// Those of `mesh`. A particle without segments is a curve of two points at the same place.
    pub fn new(mesh: &LineMesh) -> Self {
        let mut alone = vec![true; mesh.positions.len()];
        mesh.segments.iter().flatten().for_each(|&v| alone[v as usize] = false);
        let mut strands = mesh.strands();
        strands.extend((0..).zip(alone).filter(|(_, alone)| *alone).map(|(v, _)| vec![v, v]));
        Self {
            counts: strands.iter().map(|strand| strand.len() as u32).collect(),
            particles: strands.into_iter().flatten().collect(),
            particle_count: mesh.positions.len(),
        }
    }

    /// The points of all curves, for vectors of the particles, such as positions.
    pub fn points(&self, vectors: &[Vec3]) -> Vec<Vec3> {
        self.particles.iter().map(|&v| vectors[v as usize]).collect()
    }
}
