//! What cloth and soft solids have in common, for those who go over all bodies of a description.

use glam::Vec3;

use super::{Cloth, Description, Limit, Solid};
use crate::Pin;

/// A body of a [`Description`].
#[derive(Clone, Copy, Debug)]
pub enum BodyRef<'a> {
    /// A piece of cloth.
    Cloth(&'a Cloth),
    /// A soft solid.
    Solid(&'a Solid),
}

impl Description {
    /// All bodies in the order in which they are counted: cloth first, then soft solids.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyRef<'_>> {
        let Self { cloths, solids, .. } = self;
        (0..cloths.len() + solids.len()).map(move |index| match index.checked_sub(cloths.len()) {
            None => BodyRef::Cloth(&cloths[index]),
            Some(solid) => BodyRef::Solid(&solids[solid]),
        })
    }

    /// The body called `name`, if there is one.
    pub fn body(&self, name: &str) -> Option<BodyRef<'_>> {
        self.bodies().find(|body| body.name() == name)
    }
}

impl<'a> BodyRef<'a> {
    /// Its name.
    pub fn name(self) -> &'a str {
        match self {
            Self::Cloth(cloth) => &cloth.name,
            Self::Solid(solid) => &solid.name,
        }
    }

    /// What it is, in a word: `cloth` or `solid`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Cloth(_) => "cloth",
            Self::Solid(_) => "solid",
        }
    }

    /// What its elements are, in a word: `triangle` or `tetrahedron`.
    pub fn element_kind(self) -> &'static str {
        match self {
            Self::Cloth(_) => "triangle",
            Self::Solid(_) => "tetrahedron",
        }
    }

    /// Positions of its vertices at rest \[m\].
    pub fn rest_positions(self) -> &'a [Vec3] {
        match self {
            Self::Cloth(cloth) => &cloth.mesh.positions,
            Self::Solid(solid) => &solid.mesh.positions,
        }
    }

    /// Where its vertices start \[m\].
    pub fn start(self) -> &'a [Vec3] {
        match self {
            Self::Cloth(cloth) => &cloth.start,
            Self::Solid(solid) => &solid.start,
        }
    }

    /// Number of triangles or tetrahedra.
    pub fn element_count(self) -> usize {
        match self {
            Self::Cloth(cloth) => cloth.mesh.triangles.len(),
            Self::Solid(solid) => solid.mesh.tetrahedra.len(),
        }
    }

    /// Vertices of triangle or tetrahedron `index`, if there is one.
    pub fn element(self, index: usize) -> Option<&'a [u32]> {
        match self {
            Self::Cloth(cloth) => cloth.mesh.triangles.get(index).map(|t| &t[..]),
            Self::Solid(solid) => solid.mesh.tetrahedra.get(index).map(|t| &t[..]),
        }
    }

    /// Velocity at the start \[m/s\].
    pub fn velocity(self) -> Vec3 {
        match self {
            Self::Cloth(cloth) => cloth.velocity,
            Self::Solid(solid) => solid.velocity,
        }
    }

    /// Limits on its principal strains; of cloth whose limits differ by direction, the loosest.
    pub fn strain_bounds(self) -> Limit {
        match self {
            Self::Cloth(cloth) => cloth.strain_bounds(),
            Self::Solid(solid) => solid.strain,
        }
    }

    /// Limits on the strain of its edges; solids have none.
    pub fn edge(self) -> Limit {
        match self {
            Self::Cloth(cloth) => cloth.edge,
            Self::Solid(_) => Limit::default(),
        }
    }

    /// Limits on the bend of its hinges \[°/cm\]; solids have none.
    pub fn bend(self) -> Limit {
        match self {
            Self::Cloth(cloth) => cloth.bend,
            Self::Solid(_) => Limit::default(),
        }
    }

    /// Vertices that are held.
    pub fn pins(self) -> &'a [Pin] {
        match self {
            Self::Cloth(cloth) => &cloth.pins,
            Self::Solid(solid) => &solid.pins,
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
    fn cloth_comes_first() {
        let sheet = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Regular, 0);
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let lump = TetrahedronMesh { positions, tetrahedra: vec![[0, 1, 2, 3]] };
        let description = Description {
            cloths: vec![Cloth::new("sheet", sheet, Material::named("denim").unwrap())],
            solids: vec![Solid::new("lump", lump, SolidMaterial::named("foam").unwrap())],
            ..Description::default()
        };
        let said: Vec<_> =
            description.bodies().map(|b| (b.name(), b.kind(), b.element_kind(), b.element_count())).collect();
        assert_eq!(said, [("sheet", "cloth", "triangle", 8), ("lump", "solid", "tetrahedron", 1)]);
        assert_eq!(description.body("lump").unwrap().element(0), Some(&[0, 1, 2, 3][..]));
        assert_eq!((description.bodies().len(), description.body("sheets").is_none()), (2, true));
    }
}
