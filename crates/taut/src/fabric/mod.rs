//! Tests that textile laboratories do, on simulated fabric: what a [`Material`] is worth before it is used,
//! and [what it must be](fit) to do as measured fabric did.
//!
//! [Cantilever](cantilever()) (ASTM D1388), [drape] (Cusick), [hanging](hanging()) by its own weight, and
//! [extension](extension()) along warp, weft and bias and both ways at once.

mod cantilever;
mod drape;
mod extension;
mod fit;

use glam::Vec3;
use serde::Serialize;

use crate::{
    Cloth, Description, Direction, Integrator, Material, Pin, State, Stepper, World, WorldError, certify,
    mesh::{TriangleMesh, generate},
    velocity::fabrics::DRAPES,
};

pub use cantilever::{ANGLE, Cantilever, cantilever};
pub use drape::{DISC, Drape, SPECIMEN, disc, drape, drape_of};
pub use extension::{Extension, Hanging, Pull, extension, hanging};
pub use fit::{Fitted, Target, fit};

/// Acceleration of gravity of all tests \[m/s²\].
pub const GRAVITY: f64 = 9.81;

/// Drape coefficients that were published of fabrics of the kind of a named material (Cusick, 30 cm on
/// 18 cm): smallest and largest, and where from.
pub fn published_drape(name: &str) -> Option<([f64; 2], &'static str)> {
    DRAPES.iter().find(|(kind, ..)| *kind == name).map(|&(_, range, source)| (range, source))
}

/// How a strip is cut from the fabric: the direction along its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// Along the warp.
    Warp,
    /// Along the weft.
    Weft,
    /// At 45 degrees to both.
    Bias,
}

impl Cut {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Warp, Self::Weft, Self::Bias];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warp => "warp",
            Self::Weft => "weft",
            Self::Bias => "bias",
        }
    }

    /// The direction of the warp of a strip along z.
    fn warp(self) -> Direction {
        Direction::Along(match self {
            Self::Warp => Vec3::Z,
            Self::Weft => Vec3::X,
            Self::Bias => Vec3::new(1.0, 0.0, 1.0),
        })
    }

    /// Flexural rigidity of a strip \[N m\].
    pub fn rigidity(self, material: &Material) -> f64 {
        let rigidity = material.rigidity();
        match self {
            Self::Warp => rigidity.along[0],
            Self::Weft => rigidity.along[1],
            Self::Bias => 0.25 * (rigidity.along[0] + rigidity.along[1]) + rigidity.torsion,
        }
    }

    /// Young's modulus times thickness of a strip \[N/m\], and how much it narrows of what it lengthens.
    pub fn stretching(self, material: &Material) -> [f64; 2] {
        let law = material.law();
        let ([c11, c22], c12) = (law.stiffness, law.coupling);
        let [e1, e2] = [c11 - c12 * c12 / c22, c22 - c12 * c12 / c11];
        match self {
            Self::Warp => [e1, c12 / c22],
            Self::Weft => [e2, c12 / c11],
            Self::Bias => {
                let (axial, shear) = (1.0 / e1 + 1.0 / e2 - 2.0 * c12 / (c22 * e1), 2.0 / law.shear);
                [4.0 / (axial + shear), (shear - axial) / (axial + shear)]
            }
        }
    }
}

/// A strip of `size` \[m\], width first, in the plane y = 0 along z, whose vertices with z up to `held` are
/// held.
fn strip(material: &Material, cut: Cut, size: [f32; 2], cells: [u32; 2], held: f32) -> Description {
    let mesh = generate::grid(size, cells, generate::Diagonals::Alternating, 0);
    described(material, cut.warp(), mesh, |p| p.z <= held)
}

/// A single cloth in still air without limits, at damping that lets it rest soon.
fn described(
    material: &Material,
    warp: Direction,
    mesh: TriangleMesh,
    held: impl Fn(Vec3) -> bool,
) -> Description {
    let vertices = (0..mesh.positions.len() as u32).filter(|&v| held(mesh.positions[v as usize])).collect();
    let mut cloth = Cloth::new("specimen", mesh, material.clone());
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    cloth.warp = Some(warp);
    let mut description = Description {
        bodies: vec![cloth.into()],
        gravity: Vec3::new(0.0, -GRAVITY as f32, 0.0),
        ..Description::default()
    };
    description.solver.integrator = Some(Integrator::Bdf2);
    description.air.density = 0.0;
    description
}

/// Runs until it rests: until the root mean square of velocities is below `calm` \[m/s\] after at least
/// `least` frames, or for `most` frames.
fn settle(
    description: Description,
    [least, most]: [u32; 2],
    calm: f64,
    threads: usize,
) -> Result<(World, State), WorldError> {
    let world = World::new(description)?;
    let mut state = State::new(&world);
    let Ok(mut stepper) = Stepper::new(&world, threads) else { return Ok((world, state)) };
    for frame in 1..=most {
        stepper.advance_frame(&world, &mut state);
        if frame >= least && frame % 10 == 0 {
            let body = &certify(&world, &state).bodies[0];
            let mass: f64 = world.body_masses().iter().sum();
            if 2.0 * body.energy.kinetic <= mass * calm * calm {
                break;
            }
        }
    }
    Ok((world, state))
}

/// The rest shape of the only body.
fn rest(world: &World) -> &[Vec3] {
    world.description().bodies[0].as_cloth().map_or(&[], |cloth| &cloth.mesh.positions)
}

/// The mean position of the vertices that are chosen by their place at rest \[m\].
fn mean(world: &World, state: &State, chosen: impl Fn(Vec3) -> bool) -> Vec3 {
    let x = state.positions(world, 0);
    let places = rest(world).iter().zip(&x).filter(|(p, _)| chosen(**p));
    let (sum, count) = places.fold((Vec3::ZERO, 0), |(sum, count), (_, &x)| (sum + x, count + 1));
    sum / count.max(1) as f32
}
