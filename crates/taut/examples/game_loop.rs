//! A game loop: a capsule walks through a curtain, 4 ms a frame for cloth.
//!
//! `cargo run --release --example game_loop`

use glam::Vec3;
use taut::{Budget, Cloth, Event, Material, Obstacle, Pose, Simulation, SimulationError, mesh::generate};

const DT: f32 = 1.0 / 60.0;

fn main() -> Result<(), SimulationError> {
    let mut simulation = Simulation::builder().time_step(DT).build()?;

    // A curtain of 1 m × 2 m that hangs from its upper edge and stretches by 5 % at most. Grids lie flat,
    // with z from 0 at the top: turned about x, z points down.
    let mesh = generate::grid([1.0, 2.0], [20, 40], generate::Diagonals::Alternating, 0);
    let upper_edge: Vec<u32> = (0..=20).collect();
    let hanging = Pose {
        rotation: glam::Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
        position: Vec3::new(-0.5, 2.0, 0.0),
    };
    let material = Material::named("denim").unwrap_or_default();
    let curtain = simulation
        .insert(Cloth::new("curtain", mesh, material).stretch(..=0.05).placed(hanging).pin(upper_edge))?;

    // The player, a capsule, begins a metre in front of it.
    let start = Vec3::new(0.0, 0.9, -1.0);
    let player =
        simulation.insert_obstacle(Obstacle::capsule(start, 0.25, 1.2).friction(0.4).margin(0.01))?;

    for frame in 0..90 {
        // What moves a character in your game goes here; cloth feels the velocity.
        let at = start + Vec3::new(0.0, 0.0, 1.5 * DT * frame as f32);
        simulation.set_next_pose(player, Pose::at(at))?;
        let report = simulation.step(DT, Budget::millis(4.0))?;

        for event in simulation.drain_events() {
            match event {
                Event::LimitNotMet { excess, .. } => {
                    println!("frame {frame}: {:.1} % past its limit", 100.0 * excess)
                }
                other => println!("frame {frame}: {other:?}"),
            }
        }
        if frame % 30 == 29 {
            // Positions in the order of the mesh: copy them to a vertex buffer.
            let positions = simulation.positions(curtain)?;
            let pushed = positions.iter().map(|x| x.z).fold(0.0, f32::max);
            let stretch = simulation.body_certificate(curtain)?.strain.max_stretch;
            println!(
                "frame {frame}: {} vertices, pushed {pushed:.2} m, stretched by {:.1} %, {} iterations",
                positions.len(),
                100.0 * (stretch - 1.0),
                report.iterations
            );
        }
    }
    Ok(())
}
