//! A mesh of one's own: a cone of denim that is dropped on a floor.
//!
//! `cargo run --release --example own_mesh`

use glam::Vec3;
use taut::{Budget, Cloth, Contact, Material, Obstacle, Simulation, SimulationError, mesh::TriangleMesh};

/// A cone of `rings` rings with `around` vertices each, its tip at the origin, open below.
fn cone(rings: u32, around: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh { positions: vec![Vec3::ZERO], ..TriangleMesh::default() };
    for ring in 1..=rings {
        let height = 0.2 * ring as f32 / rings as f32;
        for k in 0..around {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
            mesh.positions.push(Vec3::new(height * cos, -height, height * sin));
        }
    }
    let at = |ring: u32, k: u32| 1 + (ring - 1) * around + k % around;
    for k in 0..around {
        mesh.triangles.push([0, at(1, k + 1), at(1, k)]);
        for ring in 1..rings {
            let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)];
            mesh.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    mesh
}

fn main() -> Result<(), SimulationError> {
    let contact = Contact { thickness: 1e-3, friction: 0.3 };
    let mut simulation = Simulation::builder().contact(contact).build()?;
    simulation.insert_obstacle(Obstacle::floor(-0.5).friction(0.5))?;
    let denim = Material::named("denim").unwrap_or_default();
    let hat = simulation.insert(Cloth::new("hat", cone(8, 24), denim).stretch(..=0.02))?;
    for second in 1..=2 {
        for _ in 0..30 {
            simulation.step(1.0 / 60.0, Budget::unlimited())?;
        }
        let measured = simulation.body_certificate(hat)?;
        let tip = simulation.positions(hat)?.at(0);
        println!(
            "after {} s: tip at {:.3} m, stretched to {:.4}, {} vertices below the floor",
            0.5 * second as f32,
            tip.y,
            measured.strain.max_stretch,
            measured.penetrating
        );
    }
    Ok(())
}
