//! Limits on coarse levels of soft solids (schemes `cycle` and `paper`): what travels, pins, and what they save.

use glam::Vec3;
use taut::{
    Description, Limit, Motion, Pin, Scheme, Solid, SolidMaterial, State, Stepper, World, certify,
    mesh::{generate, tetrahedra::TetrahedronMesh},
};

fn bar(cells: [u32; 3]) -> TetrahedronMesh {
    generate::bar(Vec3::new(0.8, 0.2, 0.2), cells).unwrap()
}

#[test]
fn explore() {
    for depth in 0..4usize {
        let all = [[16, 4, 4], [8, 2, 2], [4, 1, 1]];
        for stretch in [1.3f32, 0.8] {
            let mut solid = Solid::new("bar", bar([32, 8, 8]), SolidMaterial::named("silicone").unwrap());
            solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
            solid.levels = all[..depth].iter().map(|c| bar(*c)).collect();
            for x in &mut solid.start {
                x.x *= stretch;
            }
            let held = (0..solid.mesh.positions.len() as u32)
                .filter(|&v| solid.mesh.positions[v as usize].x < 1e-6)
                .collect();
            solid.pins = vec![Pin { vertices: held, motion: Motion::default(), ..Pin::default() }];
            let mut description = Description { solids: vec![solid], ..Description::default() };
            description.solver.scheme = Scheme::Cycle;
            description.solver.iterations = 2000;
            description.solver.steps_per_frame = 1;
            let world = World::new(description).unwrap();
            let mut state = State::new(&world);
            let mut stepper = Stepper::new(&world, 1).unwrap();
            for frame in 0..3 {
                let begun = std::time::Instant::now();
                let report = stepper.advance_frame(&world, &mut state);
                let c = certify(&world, &state);
                println!(
                    "{depth} {stretch} frame {frame}: {} it, residual {:.4}, {:.0} ms",
                    report.iterations,
                    c.bodies[0].strain.max_residual,
                    begun.elapsed().as_secs_f64() * 1e3
                );
            }
        }
    }
}
