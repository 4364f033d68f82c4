//! The limiter as a function for other simulators: the same as inside taut's own step, in every scheme.

use glam::{DVec3, Quat, Vec3};
use taut::{
    Cloth, Description, FilterError, FilterSetup, Limit, Motion, Obstacle, Pin, Scheme, State, Stepper,
    VelocityFilter, World, boundary::obstacle::Shape, kernel::random::Random, mesh::generate,
};

const SCHEMES: [Scheme; 6] =
    [Scheme::Nearest, Scheme::Cycle, Scheme::Paper, Scheme::Sweep, Scheme::Serial, Scheme::Jacobi];
const DT: f32 = 1.0 / 120.0;

/// A sheet of 12×12 cells with ±5 %, and masses that differ by up to 3.
fn setup(scheme: Scheme) -> FilterSetup {
    let mesh = generate::grid([1.0, 1.0], [12, 12], generate::Diagonals::Jittered, 4);
    let mut random = Random::new(5, 0);
    let masses = mesh.positions.iter().map(|_| 1e-3 * f64::from(1.0 + 2.0 * random.unit())).collect();
    let mut setup = FilterSetup::new(mesh, masses);
    setup.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    setup.solver.scheme = scheme;
    setup
}

/// Seeded velocities that stretch and press the sheet, smooth enough to be mended \[m/s\].
fn shaken(positions: &[Vec3]) -> Vec<Vec3> {
    positions
        .iter()
        .map(|p| Vec3::new(9.0 * (4.0 * p.z).sin(), 3.0 * (5.0 * p.x).cos(), 12.0 * (3.0 * p.z + p.x).sin()))
        .collect()
}

fn momentum(masses: &[f64], velocities: &[Vec3]) -> DVec3 {
    masses.iter().zip(velocities).map(|(m, v)| *m * v.as_dvec3()).sum()
}

#[test]
fn every_scheme_keeps_momentum_and_mends() {
    for scheme in SCHEMES {
        let setup = setup(scheme);
        let (positions, masses) = (setup.mesh.positions.clone(), setup.masses.clone());
        let mut filter = VelocityFilter::new(setup).unwrap();
        let before = shaken(&positions);
        let mut velocities = before.clone();
        let filtered = filter.apply(&positions, &mut velocities, DT).unwrap();
        assert_ne!(before, velocities);
        // The published scheme is one pass and may end outside, and says so.
        assert!(filtered.converged || scheme == Scheme::Paper, "{scheme:?}: {filtered:?}");
        assert_eq!(
            filtered.converged,
            filtered.strain.max_residual <= 0.01 + 1e-5,
            "{scheme:?}: {filtered:?}"
        );
        let change = momentum(&masses, &velocities) - momentum(&masses, &before);
        let impulse: f64 = masses
            .iter()
            .zip(before.iter().zip(&velocities))
            .map(|(m, (a, b))| m * f64::from(a.distance(*b)))
            .sum();
        assert!(change.length() < 2e-4 * impulse, "{scheme:?}: {change} of {impulse}");

        // What is within the limits is left alone, bit for bit.
        let gentle: Vec<Vec3> = before.iter().map(|v| 0.01 * *v).collect();
        let mut velocities = gentle.clone();
        filter.reset();
        filter.apply(&positions, &mut velocities, DT).unwrap();
        let moved = velocities.iter().zip(&gentle).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(moved < 1e-4, "{scheme:?}: {moved} m/s");
    }
}

#[test]
fn it_is_what_the_stepper_does() {
    for scheme in SCHEMES {
        let setup = setup(scheme);
        let corners = [0u32, 12];
        let mut material = super::alike();
        (material.stretch, material.bend, material.damping, material.viscosity) =
            (0.0.into(), 0.0.into(), 0.0, 0.0);
        let mut cloth = Cloth::new("mesh", setup.mesh.clone(), material);
        (cloth.strain, cloth.imperfection) = (setup.strain, Some(0.0));
        cloth.masses = Some(setup.masses.clone());
        cloth.pins = vec![Pin { vertices: corners.to_vec(), ..Pin::default() }];
        let mut description =
            Description { bodies: vec![cloth.into()], frame_time: DT, ..Description::default() };
        description.air.density = 0.0;
        let integrator = Some(taut::Integrator::LeapFrog);
        description.solver = taut::Solver { steps_per_frame: 1, integrator, ..setup.solver };
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());

        let mut filter = VelocityFilter::new(setup.clone()).unwrap();
        corners.iter().for_each(|&v| filter.set_held(v as usize, true).unwrap());
        let mut positions = setup.mesh.positions.clone();
        let mut velocities = vec![Vec3::ZERO; positions.len()];
        for step in 0..16 {
            for (i, v) in velocities.iter_mut().enumerate() {
                if !filter.is_held(i) {
                    v.y -= 9.81 * DT;
                }
            }
            filter.apply(&positions, &mut velocities, DT).unwrap();
            positions.iter_mut().zip(&velocities).for_each(|(x, v)| *x += DT * *v);
            stepper.advance_frame(&world, &mut state);
            let there = state.positions(&world, 0);
            let off = positions.iter().zip(&there).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(off < 1e-4, "{scheme:?} step {step}: {off} m");
            assert!(corners.iter().all(|&v| positions[v as usize] == setup.mesh.positions[v as usize]));
        }
        assert!(positions[100].y < -0.05, "{scheme:?}: it hangs");
    }
}

#[test]
fn held_vertices_masses_obstacles_and_reset() {
    for scheme in [Scheme::Nearest, Scheme::Cycle, Scheme::Sweep] {
        let mut setup = setup(scheme);
        setup.masses[30] = 0.0;
        setup.masses[90] = f64::INFINITY;
        setup.obstacles = vec![Obstacle {
            name: "ball".into(),
            shape: Shape::Sphere { radius: 0.2 },
            position: Vec3::new(0.5, -0.21, 0.5),
            rotation: Quat::IDENTITY,
            motion: Motion::default(),
            friction: 0.3,
            restitution: 0.0,
            margin: 0.0,
        }];
        let positions = setup.mesh.positions.clone();
        let mut filter = VelocityFilter::new(setup.clone()).unwrap();
        let falling = vec![Vec3::new(0.0, -4.0, 0.0); positions.len()];
        let mut velocities = falling.clone();
        let first = filter.apply(&positions, &mut velocities, DT).unwrap();
        assert!((velocities[30], velocities[90]) == (falling[30], falling[90]), "{scheme:?}");
        assert!(first.max_penetration < 1e-5 && first.rescued == 0, "{scheme:?}: {first:?}");
        assert!(velocities[84].y > -3.0, "{scheme:?}: the ball stops the middle: {}", velocities[84]);
        assert!((filter.time() - f64::from(DT)).abs() < 1e-9);

        // Again after a reset: the same bits.
        filter.reset();
        let mut again = falling.clone();
        assert_eq!(filter.apply(&positions, &mut again, DT).unwrap(), first, "{scheme:?}");
        assert_eq!(again, velocities, "{scheme:?}");

        // Held and let go between calls; new masses.
        assert!(matches!(filter.set_held(30, false), Err(FilterError::NoMass(30))));
        filter.set_held(84, true).unwrap();
        let mut velocities = shaken(&positions);
        filter.apply(&positions, &mut velocities, DT).unwrap();
        assert_eq!(velocities[84], shaken(&positions)[84], "{scheme:?}");
        filter.set_held(84, false).unwrap();
        filter.set_masses(&vec![2.0; positions.len()]).unwrap();
        assert!((0..positions.len()).all(|v| !filter.is_held(v)));
        let mut velocities = shaken(&positions);
        filter.apply(&positions, &mut velocities, DT).unwrap();
        assert!([30, 84, 90].iter().any(|&v| velocities[v] != shaken(&positions)[v]), "{scheme:?}");
    }
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let setup = setup(Scheme::Nearest);
    let positions = setup.mesh.positions.clone();
    let count = positions.len();
    let mut filter = VelocityFilter::new(setup.clone()).unwrap();
    let good = shaken(&positions);
    let mut wrong = |positions: &[Vec3], change: &dyn Fn(&mut Vec<Vec3>), dt: f32| {
        let mut velocities = good.clone();
        change(&mut velocities);
        let before = velocities.clone();
        let message = filter.apply(positions, &mut velocities, dt).unwrap_err().to_string();
        assert_eq!(format!("{before:?}"), format!("{velocities:?}"));
        message
    };
    assert_eq!(
        wrong(&positions[1..], &|_| (), DT),
        format!("{} positions for {count} vertices; each needs one", count - 1)
    );
    assert!(wrong(&positions, &|v| v.push(Vec3::ZERO), DT).contains("velocities for"));
    assert!(wrong(&positions, &|v| v[7].y = f32::NAN, DT).contains("velocity of vertex 7"));
    assert!(wrong(&positions, &|v| v[8].x = 1e20, DT).contains("velocity of vertex 8"));
    for dt in [0.0, -DT, f32::NAN, f32::INFINITY] {
        assert!(wrong(&positions, &|_| (), dt).contains("time step"));
    }
    let mut far = positions.clone();
    far[3].z = f32::INFINITY;
    assert!(wrong(&far, &|_| (), DT).contains("position of vertex 3"));
    assert!(matches!(filter.set_held(count, true), Err(FilterError::NoVertex { .. })));
    let refused = |masses: Vec<f64>| {
        VelocityFilter::new(FilterSetup { masses, ..setup.clone() }).unwrap_err().to_string()
    };
    assert!(refused(vec![1.0; count - 1]).contains("masses for"));
    for mass in [-1.0, f64::NAN, 1e-30] {
        let mut masses = vec![1.0; count];
        masses[5] = mass;
        assert!(refused(masses).contains("mass of vertex 5"));
    }
    let bad = FilterSetup { strain: Limit { min: Some(0.5), max: None }, ..setup.clone() };
    assert!(VelocityFilter::new(bad).unwrap_err().to_string().contains("limit"));
    // Everything held, and absurd speeds: no panic, no NaN.
    let mut velocities = vec![Vec3::new(1e7, -1e7, 3e6); count];
    velocities.iter_mut().step_by(3).for_each(|v| *v = -*v);
    filter.apply(&positions, &mut velocities, DT).unwrap();
    assert!(velocities.iter().all(|v| v.is_finite()));
    filter.set_masses(&vec![0.0; count]).unwrap();
    let mut velocities = good.clone();
    let filtered = filter.apply(&positions, &mut velocities, DT).unwrap();
    assert!(velocities == good && !filtered.converged, "{filtered:?}");
}
