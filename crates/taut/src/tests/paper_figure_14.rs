//! Figure 14 of the main paper: a sheet distorted by noise of several octaves is brought back within ±5 %, on
//! the finest level alone and over several levels. There, 1 % mean residual took 7.68 s and 0.51 s. Asserted
//! here: at least four times fewer iterations; the bench `times` asserts at least four times faster.

use super::octaves;

use taut::{Cloth, Description, Limit, Material, Scheme, State, Stepper, World, certify, mesh::generate};

/// A free sheet of 81² vertices on which nothing acts but its limits.
fn world(scheme: Scheme, iterations: u32) -> World {
    let mesh = generate::grid([1.0, 1.0], [80, 80], generate::Diagonals::Jittered, 14);
    let mut material = Material::named("polyester").unwrap();
    (material.stretch, material.bend, material.damping) = (0.0.into(), 0.0.into(), 0.0);
    let mut cloth = Cloth::new("sheet", mesh, material);
    cloth.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    octaves::displace(&mut cloth.start, 0.012, 5, 14);
    let mut description =
        Description { bodies: vec![cloth.into()], gravity: glam::Vec3::ZERO, ..Description::default() };
    description.air.density = 0.0;
    description.solver.scheme = scheme;
    description.solver.steps_per_frame = 1;
    description.solver.iterations = iterations;
    description.solver.tolerance = crate::Tolerance::Past(0.0);
    World::new(description).unwrap()
}

/// Mean residual after one step.
fn limit_once(scheme: Scheme, iterations: u32) -> f64 {
    let world = world(scheme, iterations);
    let mut state = State::new(&world);
    Stepper::new(&world, 1).unwrap().advance_frame(&world, &mut state);
    certify(&world, &state).bodies[0].strain.mean_residual
}

/// The fewest iterations, within a tenth, that bring the mean residual to 1 %.
fn cost(scheme: Scheme) -> u32 {
    let mut iterations = 1;
    while limit_once(scheme, iterations) > 0.01 {
        assert!(iterations < 5000, "{scheme:?} does not get there");
        iterations += (iterations / 10).max(1);
    }
    iterations
}

#[test]
#[ignore = "full tier: long"]
fn paper_fig14_multiresolution_converges_faster() {
    let start = {
        let world = world(Scheme::Sweep, 1);
        certify(&world, &State::new(&world)).bodies[0].strain.clone()
    };
    println!("start: mean residual {:.3}, largest {:.3}", start.mean_residual, start.max_residual);
    assert!(start.mean_residual > 0.05, "the noise must strain the sheet: {}", start.mean_residual);
    println!("{:24}{:>12}", "to 1 % mean residual", "iterations");
    let alone = cost(Scheme::Sweep);
    println!("{:24}{alone:>12}", "sweeps, fine only");
    for (name, scheme) in [("cycle", Scheme::Cycle), ("nearest", Scheme::Nearest)] {
        let iterations = cost(scheme);
        println!("{name:24}{iterations:>12}");
        assert!(iterations * 4 <= alone, "{name}: {iterations} against {alone} iterations");
    }
    // The paper's own comparison: 512 iterations in all, and the fine-only result is worse. That it is
    // slower, too, is measured by the bench `times`.
    let (mean, mean_alone) = (limit_once(Scheme::Paper, 128), limit_once(Scheme::Serial, 512));
    println!("paper, one pass: mean residual {mean:.5} after 128 iterations a level");
    println!("serial, fine only: mean residual {mean_alone:.5} after 512 iterations");
    assert!(mean < mean_alone, "{mean} {mean_alone}");
}
