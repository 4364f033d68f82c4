//! Vectors of a body in the caller's order, without a copy.

use glam::Vec3;

use crate::kernel::lanes::Quad;

/// One vector for each vertex of a body, in the order of its mesh: positions \[m\] or velocities \[m/s\].
/// Borrows them from the simulation; nothing is copied.
///
/// ```
/// use taut::{Cloth, Material, Simulation, mesh::generate};
///
/// let mesh = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Regular, 0);
/// let mut simulation = Simulation::builder().threads(1).build()?;
/// let sheet = simulation.insert(Cloth::new("sheet", mesh.clone(), Material::default()))?;
/// let positions = simulation.positions(sheet)?;
/// assert_eq!(positions.len(), 9);
/// assert!(positions.at(4).distance(mesh.positions[4]) < 1e-3);
/// assert_eq!(positions.iter().count(), 9);
/// let place = positions.places()[4] as usize;
/// assert_eq!(positions.in_memory()[place][..3], positions.at(4).to_array());
/// # Ok::<(), taut::SimulationError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    /// Of the body, in the engine's order.
    pub(super) quads: &'a [Quad],
    /// Where each vertex of the caller is among these.
    pub(super) places: &'a [u32],
}

impl<'a> Vectors<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.places.is_empty()
    }

    /// That of vertex `vertex`.
    ///
    /// # Panics
    /// If there is no such vertex, as a slice does; [`Vectors::get`] does not.
    pub fn at(self, vertex: usize) -> Vec3 {
        vector(&self.quads[self.places[vertex] as usize])
    }

    /// That of vertex `vertex`, if there is one.
    pub fn get(self, vertex: usize) -> Option<Vec3> {
        self.places.get(vertex).map(|&place| vector(&self.quads[place as usize]))
    }

    /// All of them, in the order of the mesh.
    pub fn iter(self) -> VectorIter<'a> {
        VectorIter { quads: self.quads, places: self.places.iter() }
    }

    /// All of them as the engine has them: in an order of its own, each with a fourth number that is not part
    /// of it. [`Vectors::places`] says where each is.
    pub fn in_memory(self) -> &'a [[f32; 4]] {
        self.quads
    }

    /// By vertex of the mesh: where among [`Vectors::in_memory`] it is.
    pub fn places(self) -> &'a [u32] {
        self.places
    }

    /// A copy of all of them.
    pub fn to_vec(self) -> Vec<Vec3> {
        self.iter().collect()
    }
}

impl<'a> IntoIterator for Vectors<'a> {
    type Item = Vec3;
    type IntoIter = VectorIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Goes over [`Vectors`].
#[derive(Clone, Debug)]
pub struct VectorIter<'a> {
    quads: &'a [Quad],
    places: std::slice::Iter<'a, u32>,
}

impl Iterator for VectorIter<'_> {
    type Item = Vec3;

    fn next(&mut self) -> Option<Vec3> {
        self.places.next().map(|&place| vector(&self.quads[place as usize]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl ExactSizeIterator for VectorIter<'_> {}

fn vector(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
