//! What each kind of body becomes, one folder a kind: `validate` refuses what cannot be simulated, `measure`
//! makes the rest tables that measure it, `assemble` the elements that the solver works on, `levels` those of
//! coarser meshes.
//!
//! A body's rest tables need nothing of the solver, so that a finished run can be measured without it
//! ([`Ruler`](crate::measure::Ruler)).

pub mod cloth;
pub(crate) mod elements;
pub(crate) mod hair;
pub(crate) mod levels;
pub mod particles;
mod pins;
pub mod solid;

use std::ops::Range;

use glam::Vec3;

use crate::{
    Body, Cloth, Description, Solid, WorldError,
    embedding::Embedding,
    measure::{BendMeasure, BodyCertificate, StrainMeasure},
    world::HierarchyCache,
};

use cloth::measure::{RestCloth, measure_bends};
use elements::Elements;
use hair::measure::RestHair;
use particles::measure::RestSegments;
use solid::measure::RestTetrahedra;

pub(crate) use pins::{PinnedVertex, add_pins, check_pins};

/// One body's place in the arrays of the engine, and its rest shape.
#[derive(Clone, Debug)]
pub(crate) struct BodyTables {
    /// Its unknowns, of all unknowns of the world.
    pub vertices: Range<usize>,
    /// How its points, in the caller's order, follow from its unknowns.
    pub embedding: Embedding,
    /// Masses in the caller's order \[kg\].
    pub masses: Vec<f64>,
    /// Triangles by which it touches, in the caller's order: of a solid those of its boundary.
    pub surface: Vec<[u32; 3]>,
    /// What it is measured by, in the caller's order.
    pub rest: Rest,
    /// Rate at which motion dies away \[1/s\].
    pub damping: f32,
    /// By unknown: the number of the small piece that was torn off which it belongs to, if any. Empty for
    /// what has not torn.
    pub scraps: Vec<Option<u32>>,
}

/// Rest tables of a body.
#[derive(Clone, Debug)]
pub(crate) enum Rest {
    /// Of cloth.
    Cloth(RestCloth),
    /// Of a soft solid.
    Solid(RestTetrahedra),
    /// Of point masses.
    Particles(RestSegments),
    /// Of hair.
    Hair(RestHair),
}

impl BodyTables {
    /// Tables of `body`, whose unknowns begin at `first`; its elements are added to `elements`. `is_elastic`:
    /// it stretches and bends inside the filter.
    pub fn new(
        body: &Body,
        first: usize,
        is_elastic: bool,
        elements: &mut Elements,
        cache: &HierarchyCache,
    ) -> Result<Self, WorldError> {
        let before = elements.counts();
        let tables = match body {
            Body::Cloth(cloth) => cloth::assemble::add(cloth, first, is_elastic, elements, cache)?,
            Body::Solid(solid) => solid::assemble::add(solid, first, is_elastic, elements)?,
            Body::Particles(particles) => particles::assemble::add(particles, first, elements),
            Body::Hair(hair) => hair::assemble::add(hair, first, elements),
        };
        elements.ranges.push(elements.since(before));
        Ok(tables)
    }

    /// The caller's index (within the body) of each of its vertices, in the engine's order.
    pub fn order(&self) -> &[u32] {
        self.embedding.order()
    }

    /// About how large it is: the root of its area, or the cubic root of its volume \[m\].
    pub fn size(&self) -> f64 {
        match &self.rest {
            Rest::Cloth(rest) => rest.shape.size(),
            Rest::Solid(rest) => rest.size(),
            Rest::Particles(rest) => rest.size(),
            Rest::Hair(rest) => rest.size(),
        }
    }

    /// Whether its rest shape is bent somewhere.
    pub fn is_curved(&self) -> bool {
        match &self.rest {
            Rest::Cloth(rest) => rest.is_curved(),
            Rest::Solid(_) | Rest::Particles(_) | Rest::Hair(_) => false,
        }
    }

    /// Where its vertices start, in the caller's order \[m\]: `edge` is its mean length of an edge \[m\],
    /// `number` its own number.
    pub fn start(body: &Body, edge: f64, number: usize, description: &Description) -> Vec<Vec3> {
        match body {
            Body::Cloth(cloth) => cloth::imperfection::start(cloth, edge as f32, number as u64, description),
            Body::Solid(solid) => solid.start.clone(),
            Body::Particles(particles) => particles.start.clone(),
            Body::Hair(hair) => hair.start.clone(),
        }
    }

    /// Strains and bends of `positions`, in the caller's order \[m\].
    pub fn measure_limits(&self, body: &Body, positions: &[Vec3]) -> (StrainMeasure, BendMeasure) {
        match (body, &self.rest) {
            (Body::Cloth(cloth), Rest::Cloth(rest)) => (
                rest.shape.measure(positions, cloth.strain, cloth.edge),
                measure_bends(&rest.bends, positions, cloth.bend),
            ),
            (Body::Solid(solid), Rest::Solid(rest)) => {
                (rest.measure(positions, solid.strain), BendMeasure::default())
            }
            (Body::Particles(particles), Rest::Particles(rest)) => {
                (rest.measure(positions, particles.edge), BendMeasure::default())
            }
            (Body::Hair(hair), Rest::Hair(rest)) => {
                (rest.measure(positions, hair.stretch), rest.measure_bends(positions, hair.bend))
            }
            // Tables are made from the body that they belong to.
            (Body::Cloth(_) | Body::Solid(_) | Body::Particles(_) | Body::Hair(_), _) => unreachable!(),
        }
    }

    /// Strains, bends and stored energies of `positions`, in the caller's order \[m\].
    pub fn measure(&self, body: &Body, positions: &[Vec3]) -> BodyCertificate {
        match (body, &self.rest) {
            (Body::Cloth(cloth), Rest::Cloth(rest)) => rest.certify(cloth, positions),
            (Body::Solid(solid), Rest::Solid(rest)) => rest.certify(solid, positions),
            (Body::Particles(particles), Rest::Particles(rest)) => rest.certify(particles, positions),
            (Body::Hair(hair), Rest::Hair(rest)) => rest.certify(hair, positions),
            // Tables are made from the body that they belong to.
            (Body::Cloth(_) | Body::Solid(_) | Body::Particles(_) | Body::Hair(_), _) => unreachable!(),
        }
    }
}

/// Refuses a body that cannot be simulated.
pub(crate) fn validate(body: &Body, description: &Description) -> Result<(), WorldError> {
    match body {
        Body::Cloth(cloth) => cloth::validate::check(cloth, description),
        Body::Solid(solid) => solid::validate::check(solid, description.solver.scheme),
        Body::Particles(particles) => particles::validate::check(particles, description),
        Body::Hair(hair) => hair::validate::check(hair, description),
    }
}

/// Where each vertex of a body is in the engine's order, whose first is `first`.
pub(crate) fn in_order(order: &[u32], first: usize) -> Vec<u32> {
    let mut place = vec![0u32; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = (first + k) as u32;
    }
    place
}

/// Those of `bodies` that are cloth, with what `description` says of them.
pub(crate) fn cloths<'a>(
    description: &'a Description,
    bodies: &'a [BodyTables],
) -> impl Iterator<Item = (&'a Cloth, &'a BodyTables)> {
    description.bodies.iter().zip(bodies).filter_map(|(body, tables)| Some((body.as_cloth()?, tables)))
}

/// Those of `bodies` that are soft solids likewise.
pub(crate) fn solids<'a>(
    description: &'a Description,
    bodies: &'a [BodyTables],
) -> impl Iterator<Item = (&'a Solid, &'a BodyTables)> {
    description.bodies.iter().zip(bodies).filter_map(|(body, tables)| Some((body.as_solid()?, tables)))
}
