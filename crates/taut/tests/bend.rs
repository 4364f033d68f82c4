//! Bend limits: in degrees a centimetre, on flat and curved rest shapes, together with strain limits.

use taut::{Cloth, Description, Limit, Material, World, limit::bend::NO_ANGLE, mesh::generate};

#[test]
fn every_hinge_gets_the_angles_of_eq_5() {
    let mesh = generate::grid([0.1, 0.1], [10, 10], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    // Hinges without stiffness are limited too.
    cloth.material.bend = 0.0;
    cloth.bend = Limit { min: Some(-30.0), max: None };
    let world = World::new(Description { cloths: vec![cloth], ..Description::default() }).unwrap();
    // Inner edges of a grid of 10 × 10 cells of 1 cm: 100 diagonals, whose wings are 1/√2 cm high, and 180 others.
    let angles: Vec<f32> = world.bend_elements().iter().map(|e| e.min.to_degrees()).collect();
    let count = |angle: f32| angles.iter().filter(|a| (*a - angle).abs() < 0.01).count();
    assert_eq!((angles.len(), count(-30.0 * 2.0f32.sqrt()), count(-60.0)), (280, 100, 180));
    assert!(world.bend_elements().iter().all(|e| e.max == NO_ANGLE && e.rest_angle == 0.0));
}

#[test]
fn limits_on_the_wrong_side_of_zero_are_refused() {
    for bend in [
        Limit { min: Some(1.0), max: None },
        Limit { min: None, max: Some(-1.0) },
        Limit { min: None, max: Some(f32::NAN) },
    ] {
        let mesh = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Alternating, 0);
        let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
        cloth.bend = bend;
        let error = World::new(Description { cloths: vec![cloth], ..Description::default() }).unwrap_err();
        assert!(
            error.to_string().contains("cloth \"sheet\"") && error.to_string().contains("bend"),
            "{error}"
        );
    }
}
