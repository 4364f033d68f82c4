//! Steps as long as a frame, of limited cloth that nothing touches: near to converged ones, calm in the end.

use taut::{Cloth, Description, Limit, Material, Pin, State, Stepper, World, certify, mesh::generate};

/// A sheet of 1 m, held at two corners, that swings down from the horizontal.
fn sheet(material: Material, cells: u32, strain: Limit) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let corners = ["corner:top-left", "corner:top-right"];
    let vertices = corners.iter().flat_map(|corner| mesh.groups[*corner].clone()).collect();
    let mut cloth = Cloth::new("sheet", mesh, material);
    cloth.strain = strain;
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    Description { bodies: vec![cloth.into()], ..Description::default() }
}

fn upper(max: f32) -> Limit {
    Limit { min: None, max: Some(max) }
}

/// Mass-metric errors of every sixth frame.
fn errors(material: &str, strain: Limit, frames: u32) -> Vec<f64> {
    let material = Material::named(material).unwrap();
    let world = World::new(sheet(material, 64, strain)).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    let mut errors = Vec::new();
    for frame in 1..=frames {
        stepper.advance_frame(&world, &mut state);
        if frame % 6 == 0 {
            errors.extend(stepper.mass_metric_error(&world, &state));
        }
    }
    errors
}

#[test]
#[ignore = "full tier: long"]
fn long_steps_end_near_the_converged_ones() {
    let both = Limit { min: Some(-0.05), max: Some(0.05) };
    for (material, strain) in
        [("polyester", upper(0.01)), ("denim", upper(0.01)), ("polyester", both), ("denim", both)]
    {
        let found = errors(material, strain, 36);
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        println!("{material}, {strain:?}: {mean:.3}, {found:.3?}");
        assert_eq!(found.len(), 6);
        assert!(mean < 0.18 && found.iter().all(|error| *error < 0.28), "{material}, {strain:?}: {found:?}");
    }
}

/// Stages that follow each other too abruptly keep fine and stiff sheets trembling, and coarse ones not.
#[test]
#[ignore = "full tier: long"]
fn fine_sheets_come_to_rest() {
    for (name, strain) in [("silk", upper(0.05)), ("silk", upper(0.01)), ("ripstop", upper(0.05))] {
        let material = Material { damping: 0.5, ..Material::named(name).unwrap() };
        let density = f64::from(material.density);
        let world = World::new(sheet(material, 128, strain)).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        (0..150).for_each(|_| {
            stepper.advance_frame(&world, &mut state);
        });
        let speed = (2.0 * certify(&world, &state).bodies[0].energy.kinetic / density).sqrt();
        println!("{name}, {strain:?}: {speed:.4} m/s after 5 s");
        assert!(speed < 0.03, "{name}, {strain:?}: {speed} m/s");
    }
}
