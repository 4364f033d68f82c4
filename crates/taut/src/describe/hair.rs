//! Hair: what a caller says of it.

use std::sync::Arc;

use glam::Vec3;
use serde::Serialize;

use super::{Limit, Tear};
use crate::{
    Pin,
    mesh::groom::{Groom, strands_of},
};

/// Mechanical properties of strands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HairMaterial {
    /// Name, or `custom`.
    pub name: String,
    /// Mass per volume \[kg/m³\].
    pub density: f32,
    /// Radius of strands whose groom says none \[m\].
    pub radius: f32,
    /// Young's modulus \[Pa\].
    pub young: f32,
    /// Shear modulus \[Pa\].
    pub shear: f32,
    /// Rate at which motion dies away \[1/s\].
    pub damping: f32,
    /// Where the numbers come from.
    pub source: String,
}

/// The shape in which strands have no stress.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum HairRest {
    /// That of the groom.
    #[default]
    Groom,
    /// Straight.
    Straight,
    /// The one that gravity bends into the groom: strands hang as they were styled from the first frame on.
    SagFree {
        /// Strands that would not stay as they are styled are made stiffer, by this factor at most; 1 leaves
        /// their stiffness.
        stiffen: f32,
    },
}

/// How roots move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Strands are free.
    Free,
    /// They stay where they are, with their direction.
    #[default]
    Fixed,
    /// With the obstacle of this index in the description.
    Obstacle(usize),
    /// With the nearest faces of the mesh obstacle of this index.
    MeshObstacle(usize),
    /// With the rigid body of this index.
    RigidBody(usize),
}

/// Contact of strands with each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HairContact {
    /// Distance that segments of different strands keep, where they do \[m\]; 0 lets them pass through each
    /// other.
    pub thickness: f32,
    /// Coulomb friction coefficient of hair on hair.
    pub friction: f32,
    /// Force that holds strands together which touch, over their length \[N/m\]: wet hair.
    pub cohesion: f32,
}

impl Default for HairContact {
    fn default() -> Self {
        Self { thickness: 0.0, friction: 0.3, cohesion: 0.0 }
    }
}

/// How strands are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HairModel {
    /// As elastic rods whose length limits hold: Newton's method, strand by strand.
    #[default]
    Rod,
    /// As the lecture's springs of edges, bending, torsion and altitude, by explicit steps: for reference.
    Springs,
}

/// Strands of hair.
#[derive(Clone, Debug)]
pub struct Hair {
    /// Its name in files and messages.
    pub name: String,
    /// Strands as they are styled; their lengths are those at rest.
    pub groom: Groom,
    /// Strands that follow those of `groom`, their guides, and are shown and exported in their place
    /// ([`Interpolation`](crate::mesh::groom::Interpolation)); none if `groom` has all.
    pub full: Option<Groom>,
    /// Where its points start \[m\]; as many as `groom.positions`.
    pub start: Vec<Vec3>,
    /// Velocity at the start \[m/s\].
    pub velocity: Vec3,
    /// What it is made of.
    pub material: HairMaterial,
    /// In which shape it has no stress.
    pub rest: HairRest,
    /// How it is simulated.
    pub model: HairModel,
    /// How its roots move.
    pub roots: Roots,
    /// Limits on the strain of its segments.
    pub stretch: Limit,
    /// Largest bend past the rest shape \[°/cm\].
    pub bend: Option<f32>,
    /// Largest twist past the rest shape \[°/cm\].
    pub twist: Option<f32>,
    /// Contact with itself and with other hair.
    pub contact: HairContact,
    /// Fraction of the air drag of a single strand that it feels: strands of a head shield each other.
    pub air_drag: f32,
    /// Points that are held, beside roots.
    pub pins: Vec<Pin>,
    /// Where its strands tear. A segment counts as stretched by its strain, or by the strain that its tension
    /// would cause if its length were not limited, whichever is more; the lesser factor of its ends counts.
    /// [`Tear::measure`] has no meaning here. `None`: nowhere.
    pub tear: Option<Tear>,
    /// Numbers of points of its strands before any of them was cut ([`Hair::cut`]); then `groom` has the
    /// pieces. `None`: it is whole.
    pub whole: Option<Arc<[u32]>>,
}

impl Hair {
    /// Largest strain of segments, either way, unless said otherwise.
    pub const STRETCH: f32 = 0.01;

    /// Fraction of the air drag of a single strand, unless said otherwise. A single human hair falls with
    /// half a metre per second; a ponytail does not.
    pub const AIR_DRAG: f32 = 0.1;

    /// Hair at rest as it is styled, with its roots fixed.
    pub fn new(name: impl Into<String>, groom: Groom, material: HairMaterial) -> Self {
        Self {
            name: name.into(),
            start: groom.positions.clone(),
            groom,
            full: None,
            velocity: Vec3::ZERO,
            material,
            rest: HairRest::default(),
            model: HairModel::default(),
            roots: Roots::default(),
            stretch: Limit { min: Some(-Self::STRETCH), max: Some(Self::STRETCH) },
            bend: None,
            twist: None,
            contact: HairContact::default(),
            air_drag: Self::AIR_DRAG,
            pins: Vec::new(),
            tear: None,
            whole: None,
        }
    }

    /// Mass of each point \[kg\]: half of each segment at it, which is a truncated cone. Cuts take no mass.
    pub fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.groom.positions.len()];
        let density = f64::from(self.material.density);
        let strands = strands_of(self.whole_counts());
        let segments = strands.flat_map(|own| (own.start + 1..own.end).map(|v| [v as u32 - 1, v as u32]));
        for segment in segments {
            let [a, b] = segment.map(|v| f64::from(self.radius(v as usize)));
            let section = std::f64::consts::PI * (a * a + a * b + b * b) / 3.0;
            let half = 0.5 * density * section * self.groom.length(segment);
            segment.iter().for_each(|&v| masses[v as usize] += half);
        }
        masses
    }

    /// Its mass \[kg\].
    pub fn mass(&self) -> f64 {
        self.masses().iter().sum()
    }

    /// Radius of its point `v` \[m\].
    pub fn radius(&self, v: usize) -> f32 {
        self.groom.radii.get(v).copied().unwrap_or(self.material.radius)
    }
}
