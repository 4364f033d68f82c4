//! What cloth and soft solids have in common, for those who go over all bodies of a description.

use glam::Vec3;

use super::{Cloth, Description, Hair, Limit, Particles, PbdModel, Scheme, Solid};
use crate::Pin;

/// A body of a [`Description`]: what has unknowns of its own.
///
/// ```
/// use taut::{Body, Cloth, Description, Material, mesh::generate};
///
/// let mesh = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Regular, 0);
/// let sheet = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
/// let description = Description { bodies: vec![sheet.into()], ..Description::default() };
/// match &description.bodies[0] {
///     Body::Cloth(cloth) => assert_eq!(cloth.mesh.triangles.len(), 8),
///     Body::Solid(_) | Body::Particles(_) | Body::Hair(_) => unreachable!(),
/// }
/// ```
#[derive(Clone, Debug)]
// A scene has few of them.
#[allow(clippy::large_enum_variant)]
pub enum Body {
    /// A piece of cloth.
    Cloth(Cloth),
    /// A soft solid.
    Solid(Solid),
    /// Point masses.
    Particles(Particles),
    /// Strands of hair. They come after all other bodies.
    Hair(Hair),
}

impl From<Cloth> for Body {
    fn from(cloth: Cloth) -> Self {
        Self::Cloth(cloth)
    }
}

impl From<Solid> for Body {
    fn from(solid: Solid) -> Self {
        Self::Solid(solid)
    }
}

impl From<Particles> for Body {
    fn from(particles: Particles) -> Self {
        Self::Particles(particles)
    }
}

impl From<Hair> for Body {
    fn from(hair: Hair) -> Self {
        Self::Hair(hair)
    }
}

impl Description {
    /// Those bodies that are cloth, in the order of [`Description::bodies`].
    pub fn cloths(&self) -> impl Iterator<Item = &Cloth> {
        self.bodies.iter().filter_map(Body::as_cloth)
    }

    /// The same, to change them.
    pub fn cloths_mut(&mut self) -> impl Iterator<Item = &mut Cloth> {
        self.bodies.iter_mut().filter_map(Body::as_cloth_mut)
    }

    /// Those bodies that are soft solids, in the order of [`Description::bodies`].
    pub fn solids(&self) -> impl Iterator<Item = &Solid> {
        self.bodies.iter().filter_map(Body::as_solid)
    }

    /// The same, to change them.
    pub fn solids_mut(&mut self) -> impl Iterator<Item = &mut Solid> {
        self.bodies.iter_mut().filter_map(Body::as_solid_mut)
    }

    /// The body called `name`, if there is one.
    pub fn body(&self, name: &str) -> Option<&Body> {
        self.bodies.iter().find(|body| body.name() == name)
    }
}

impl Description {
    /// Whether it is one of position-based dynamics.
    pub fn is_position_based(&self) -> bool {
        self.bodies.iter().any(|body| body.pbd().is_some())
    }

    /// Limits inside the projections of position-based dynamics are swept: there is nothing else for a scheme
    /// to do.
    pub(crate) fn settle_scheme(&mut self) {
        if self.is_position_based() {
            self.solver.scheme = Scheme::Sweep;
        }
    }
}

impl Body {
    /// The cloth, if it is one.
    pub fn as_cloth(&self) -> Option<&Cloth> {
        match self {
            Self::Cloth(cloth) => Some(cloth),
            Self::Solid(_) | Self::Particles(_) | Self::Hair(_) => None,
        }
    }

    /// The cloth, if it is one, to change it.
    pub fn as_cloth_mut(&mut self) -> Option<&mut Cloth> {
        match self {
            Self::Cloth(cloth) => Some(cloth),
            Self::Solid(_) | Self::Particles(_) | Self::Hair(_) => None,
        }
    }

    /// The point masses, if it is such.
    pub fn as_particles(&self) -> Option<&Particles> {
        match self {
            Self::Cloth(_) | Self::Solid(_) | Self::Hair(_) => None,
            Self::Particles(particles) => Some(particles),
        }
    }

    /// The hair, if it is such.
    pub fn as_hair(&self) -> Option<&Hair> {
        match self {
            Self::Cloth(_) | Self::Solid(_) | Self::Particles(_) => None,
            Self::Hair(hair) => Some(hair),
        }
    }

    /// The soft solid, if it is one.
    pub fn as_solid(&self) -> Option<&Solid> {
        match self {
            Self::Cloth(_) | Self::Particles(_) | Self::Hair(_) => None,
            Self::Solid(solid) => Some(solid),
        }
    }

    /// The soft solid, if it is one, to change it.
    pub fn as_solid_mut(&mut self) -> Option<&mut Solid> {
        match self {
            Self::Cloth(_) | Self::Particles(_) | Self::Hair(_) => None,
            Self::Solid(solid) => Some(solid),
        }
    }

    /// Its settings of position-based dynamics, if it is of that model.
    pub fn pbd(&self) -> Option<PbdModel> {
        match self {
            Self::Cloth(cloth) => cloth.model.pbd(),
            Self::Solid(solid) => solid.model.pbd(),
            Self::Particles(particles) => particles.model.pbd(),
            Self::Hair(_) => None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Cloth(cloth) => &cloth.name,
            Self::Solid(solid) => &solid.name,
            Self::Particles(particles) => &particles.name,
            Self::Hair(hair) => &hair.name,
        }
    }

    /// What it is, in a word: `cloth`, `solid`, `particles` or `hair`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Cloth(_) => "cloth",
            Self::Solid(_) => "solid",
            Self::Particles(_) => "particles",
            Self::Hair(_) => "hair",
        }
    }

    /// What its elements are, in a word: `triangle`, `tetrahedron` or `segment`.
    pub fn element_kind(&self) -> &'static str {
        match self {
            Self::Cloth(_) => "triangle",
            Self::Solid(_) => "tetrahedron",
            Self::Particles(_) | Self::Hair(_) => "segment",
        }
    }

    /// Positions of its vertices at rest \[m\].
    pub fn rest_positions(&self) -> &[Vec3] {
        match self {
            Self::Cloth(cloth) => &cloth.mesh.positions,
            Self::Solid(solid) => &solid.mesh.positions,
            Self::Particles(particles) => &particles.mesh.positions,
            Self::Hair(hair) => &hair.groom.positions,
        }
    }

    /// Where its vertices start \[m\].
    pub fn start(&self) -> &[Vec3] {
        match self {
            Self::Cloth(cloth) => &cloth.start,
            Self::Solid(solid) => &solid.start,
            Self::Particles(particles) => &particles.start,
            Self::Hair(hair) => &hair.start,
        }
    }

    /// Number of triangles, tetrahedra or segments.
    pub fn element_count(&self) -> usize {
        match self {
            Self::Cloth(cloth) => cloth.elements().len(),
            Self::Solid(solid) => solid.mesh.tetrahedra.len(),
            Self::Particles(particles) => particles.mesh.segments.len(),
            Self::Hair(hair) => hair.groom.segment_count(),
        }
    }

    /// Vertices of triangle, tetrahedron or segment `index`, if there is one.
    pub fn element(&self, index: usize) -> Option<Vec<u32>> {
        match self {
            Self::Cloth(cloth) => cloth.elements().get(index).map(|t| t.to_vec()),
            Self::Solid(solid) => solid.mesh.tetrahedra.get(index).map(|t| t.to_vec()),
            Self::Particles(particles) => particles.mesh.segments.get(index).map(|s| s.to_vec()),
            Self::Hair(hair) => hair.groom.segments().nth(index).map(|s| s.to_vec()),
        }
    }

    /// The triangles, tetrahedra or segments that `vertex` belongs to.
    pub fn elements_at(&self, vertex: u32) -> Box<dyn Iterator<Item = usize> + '_> {
        fn at<'a, const K: usize>(
            elements: impl Iterator<Item = [u32; K]> + 'a,
            vertex: u32,
        ) -> Box<dyn Iterator<Item = usize> + 'a> {
            Box::new(elements.enumerate().filter(move |(_, e)| e.contains(&vertex)).map(|(k, _)| k))
        }
        match self {
            Self::Cloth(cloth) => at(cloth.elements().iter().copied(), vertex),
            Self::Solid(solid) => at(solid.mesh.tetrahedra.iter().copied(), vertex),
            Self::Particles(particles) => at(particles.mesh.segments.iter().copied(), vertex),
            Self::Hair(hair) => at(hair.groom.segments(), vertex),
        }
    }

    /// Whether it tears somewhere.
    pub(crate) fn may_tear(&self) -> bool {
        match self {
            Self::Cloth(cloth) => cloth.tear.is_some(),
            Self::Hair(hair) => hair.tear.is_some(),
            Self::Solid(_) | Self::Particles(_) => false,
        }
    }

    /// Velocity at the start \[m/s\].
    pub fn velocity(&self) -> Vec3 {
        match self {
            Self::Cloth(cloth) => cloth.velocity,
            Self::Solid(solid) => solid.velocity,
            Self::Particles(particles) => particles.velocity,
            Self::Hair(hair) => hair.velocity,
        }
    }

    /// Limits on its principal strains; of cloth whose limits differ by direction, the loosest.
    pub fn strain_bounds(&self) -> Limit {
        match self {
            Self::Cloth(cloth) => cloth.strain_bounds(),
            Self::Solid(solid) => solid.strain,
            Self::Particles(_) | Self::Hair(_) => Limit::default(),
        }
    }

    /// Limits on the strain of its edges; solids have none.
    pub fn edge(&self) -> Limit {
        match self {
            Self::Cloth(cloth) => cloth.edge,
            Self::Solid(_) => Limit::default(),
            Self::Particles(particles) => particles.edge,
            Self::Hair(hair) => hair.stretch,
        }
    }

    /// Limits on the bend of its hinges, or of hair \[°/cm\]; solids have none.
    pub fn bend(&self) -> Limit {
        match self {
            Self::Cloth(cloth) => cloth.bend,
            Self::Solid(_) | Self::Particles(_) => Limit::default(),
            Self::Hair(hair) => Limit { min: hair.bend.map(|most| -most), max: hair.bend },
        }
    }

    /// Vertices that are held, to change them.
    pub(crate) fn pins_mut(&mut self) -> &mut [Pin] {
        match self {
            Self::Cloth(cloth) => &mut cloth.pins,
            Self::Solid(solid) => &mut solid.pins,
            Self::Particles(particles) => &mut particles.pins,
            Self::Hair(hair) => &mut hair.pins,
        }
    }

    /// Vertices that are held.
    pub fn pins(&self) -> &[Pin] {
        match self {
            Self::Cloth(cloth) => &cloth.pins,
            Self::Solid(solid) => &solid.pins,
            Self::Particles(particles) => &particles.pins,
            Self::Hair(hair) => &hair.pins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Material, SolidMaterial,
        mesh::{generate, tetrahedra::TetrahedronMesh},
    };

    #[test]
    fn bodies_are_counted_in_the_order_of_the_list() {
        let sheet = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Regular, 0);
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let lump = TetrahedronMesh { positions, tetrahedra: vec![[0, 1, 2, 3]] };
        let description = Description {
            bodies: vec![
                Solid::new("lump", lump, SolidMaterial::named("foam").unwrap()).into(),
                Cloth::new("sheet", sheet, Material::named("denim").unwrap()).into(),
            ],
            ..Description::default()
        };
        let said: Vec<_> = description
            .bodies
            .iter()
            .map(|b| (b.name(), b.kind(), b.element_kind(), b.element_count()))
            .collect();
        assert_eq!(said, [("lump", "solid", "tetrahedron", 1), ("sheet", "cloth", "triangle", 8)]);
        assert_eq!((description.cloths().count(), description.solids().count()), (1, 1));
        assert_eq!(description.body("lump").unwrap().element(0), Some(vec![0, 1, 2, 3]));
        assert_eq!((description.bodies.len(), description.body("sheets").is_none()), (2, true));
    }
}
