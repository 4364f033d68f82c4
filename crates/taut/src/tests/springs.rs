//! Springs and point masses against the formulas of textbooks (issue 20, S1).

use std::f64::consts::TAU;

use glam::Vec3;
use taut::{
    Cloth, Description, Integrator, Limit, Material, Particles, Pin, SegmentSprings, Spring, SpringEnd,
    State, Stepper, World, certify,
    mesh::{generate, lines::LineMesh},
};

/// Runs for `frames` frames, and looks at every one.
fn run(description: Description, frames: u32, mut look: impl FnMut(u32, &World, &State)) -> (World, State) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for frame in 1..=frames {
        let report = stepper.advance_frame(&world, &mut state);
        assert!(report.converged, "frame {frame}: {report:?}");
        look(frame, &world, &state);
    }
    (world, state)
}

/// One mass on a spring of 1 m that is stretched by `stretched` \[m\] at the start, without gravity.
fn mass_on_spring(mass: f64, stiffness: f32, damping: f32, stretched: f32) -> Description {
    let mesh = LineMesh { positions: vec![Vec3::new(0.0, -1.0 - stretched, 0.0)], segments: Vec::new() };
    let body = Particles::new("mass", mesh, mass);
    let ends = [SpringEnd::Point(Vec3::ZERO), SpringEnd::Vertex { body: 0, vertex: 0 }];
    let spring = Spring { rest: Some(1.0), damping, ..Spring::new("spring", ends, stiffness) };
    Description {
        bodies: vec![body.into()],
        springs: vec![spring],
        gravity: Vec3::ZERO,
        ..Description::default()
    }
}

/// The time from the first to the last rising zero of `samples`, over the number of periods between.
fn period(samples: &[(f64, f64)]) -> f64 {
    let mut zeros = Vec::new();
    for pair in samples.windows(2) {
        let [(t0, y0), (t1, y1)] = [pair[0], pair[1]];
        if y0 < 0.0 && y1 >= 0.0 {
            zeros.push(t0 + (t1 - t0) * y0 / (y0 - y1));
        }
    }
    assert!(zeros.len() > 2, "{} zeros", zeros.len());
    (zeros[zeros.len() - 1] - zeros[0]) / (zeros.len() - 1) as f64
}

fn measured_period(integrator: Option<Integrator>, steps: u32, mass: f64, stiffness: f32) -> f64 {
    let mut description = mass_on_spring(mass, stiffness, 0.0, 0.1);
    let period_wanted = TAU * (mass / f64::from(stiffness)).sqrt();
    // 24 frames a period.
    description.frame_time = (period_wanted / 24.0) as f32;
    description.solver.integrator = integrator;
    description.solver.steps_per_frame = steps;
    let frame_time = f64::from(description.frame_time);
    let mut samples = Vec::new();
    run(description, 240, |frame, world, state| {
        let y = state.positions(world, 0)[0].y;
        samples.push((f64::from(frame) * frame_time, f64::from(-y) - 1.0));
    });
    period(&samples) / period_wanted
}

#[test]
fn the_period_of_a_mass_on_a_spring() {
    for stiffness in [1e-3, 1.0, 100.0, 1e7] {
        let implicit = measured_period(None, 8, 0.1, stiffness);
        assert!((implicit - 1.0).abs() < 1e-3, "bdf2, k = {stiffness}: {implicit}");
        let explicit = measured_period(Some(Integrator::LeapFrog), 8, 0.1, stiffness);
        assert!((explicit - 1.0).abs() < 1e-3, "leap-frog, k = {stiffness}: {explicit}");
    }
}

#[test]
fn backward_euler_damps_but_keeps_the_period() {
    let euler = measured_period(Some(Integrator::Euler), 64, 0.1, 100.0);
    assert!((euler - 1.0).abs() < 1e-3, "{euler}");
}

#[test]
fn two_bodies_keep_their_momentum() {
    for integrator in [None, Some(Integrator::Euler), Some(Integrator::LeapFrog)] {
        let at = |x: f32| LineMesh { positions: vec![Vec3::new(x, 0.0, 0.0)], segments: Vec::new() };
        let mut light = Particles::new("light", at(0.0), 0.1);
        light.velocity = Vec3::new(0.0, 1.0, 0.5);
        let heavy = Particles::new("heavy", at(1.3), 0.7);
        let ends = [SpringEnd::Vertex { body: 0, vertex: 0 }, SpringEnd::Vertex { body: 1, vertex: 0 }];
        let spring = Spring { rest: Some(1.0), damping: 0.1, ..Spring::new("between", ends, 50.0) };
        let mut description = Description {
            bodies: vec![light.into(), heavy.into()],
            springs: vec![spring],
            gravity: Vec3::ZERO,
            ..Description::default()
        };
        description.solver.integrator = integrator;
        description.solver.steps_per_frame = 4;
        let wanted = [0.0, 0.1, 0.05];
        let (_, state) = run(description, 120, |_, _, _| {});
        let v: Vec<Vec3> = (0..2).map(|i| Vec3::from_slice(&state.v[i])).collect();
        for k in 0..3 {
            let sum = 0.1 * f64::from(v[0][k]) + 0.7 * f64::from(v[1][k]);
            // Velocities are rounded 480 times, each time by 6e-8 of 1 m/s at most.
            assert!((sum - wanted[k]).abs() < 1e-6, "{integrator:?}: {k}: {sum}");
        }
        assert!(v[1].length() > 0.01, "{v:?}");
    }
}

#[test]
fn critical_damping_follows_its_formula() {
    let (mass, stiffness) = (0.1f64, 100.0f32);
    let omega = (f64::from(stiffness) / mass).sqrt();
    let damping = 2.0 * (f64::from(stiffness) * mass).sqrt();
    for integrator in [None, Some(Integrator::LeapFrog)] {
        let mut description = mass_on_spring(mass, stiffness, damping as f32, 0.1);
        description.frame_time = (0.1 / omega) as f32;
        description.solver.steps_per_frame = 8;
        description.solver.integrator = integrator;
        let frame_time = f64::from(description.frame_time);
        let mut worst = 0.0f64;
        run(description, 80, |frame, world, state| {
            let t = f64::from(frame) * frame_time;
            let wanted = 0.1 * (1.0 + omega * t) * (-omega * t).exp();
            let y = f64::from(-state.positions(world, 0)[0].y) - 1.0;
            worst = worst.max((y - wanted).abs() / 0.1);
        });
        assert!(worst < 5e-3, "{integrator:?}: {worst}");
    }
}

/// A chain of `segments` that hangs from its first particle over 1 m, displaced in its first mode by
/// `angle`. Particles have the mass of the halves of their segments.
fn hanging_chain(segments: u32, angle: f32) -> Particles {
    let mut chain =
        Particles::new("chain", LineMesh::chain(Vec3::ZERO, Vec3::new(0.0, -1.0, 0.0), segments), 1.0 / 40.0);
    let last = segments as usize;
    chain.masses[0] *= 0.5;
    chain.masses[last] *= 0.5;
    // J₀(2.4048 √s) with s from the lower end, by its series.
    let mode = |s: f64| {
        let q = 0.25 * 2.404_825_557_7f64.powi(2) * s;
        let (mut sum, mut term) = (0.0, 1.0);
        for k in 1..30 {
            sum += term;
            term *= -q / f64::from(k * k);
        }
        sum
    };
    let (mut at, length) = (Vec3::ZERO, 1.0 / segments as f32);
    for k in 1..=last {
        let x = angle * mode(1.0 - k as f64 / f64::from(segments)) as f32;
        let dx = x - at.x;
        at = Vec3::new(x, at.y - (length * length - dx * dx).sqrt(), 0.0);
        chain.start[k] = at;
    }
    chain.pins.push(Pin { vertices: vec![0], ..Pin::default() });
    chain
}

/// The first period of a chain: 4π / 2.4048 √(L/g) = 5.2255 √(L/g).
fn check_chain(chain: Particles, steps: u32) -> f64 {
    let mut description = Description { bodies: vec![chain.into()], ..Description::default() };
    description.solver.steps_per_frame = steps;
    let frame_time = f64::from(description.frame_time);
    let mut samples = Vec::new();
    run(description, 200, |frame, world, state| {
        samples.push((f64::from(frame) * frame_time, f64::from(state.positions(world, 0)[40].x)));
    });
    period(&samples) / (5.225_5 * (1.0f64 / 9.81).sqrt())
}

#[test]
fn the_first_period_of_a_hanging_chain() {
    let mut stiff = hanging_chain(40, 0.02);
    stiff.springs = SegmentSprings { stiffness: 1e6, ..SegmentSprings::default() };
    let ratio = check_chain(stiff, 4);
    assert!((ratio - 1.0).abs() < 0.01, "stiff springs: {ratio}");
    let mut limited = hanging_chain(40, 0.02);
    limited.edge = Limit { min: None, max: Some(0.0) };
    let ratio = check_chain(limited, 4);
    assert!((ratio - 1.0).abs() < 0.01, "limits: {ratio}");
}

#[test]
fn a_rope_holds_its_limit_under_a_load_a_thousand_times_its_mass() {
    let mesh = LineMesh::chain(Vec3::ZERO, Vec3::X, 40);
    let mut rope = Particles::new("rope", mesh, 0.001);
    rope.masses[40] = 40.0;
    rope.edge = Limit { min: None, max: Some(0.01) };
    rope.pins.push(Pin { vertices: vec![0], ..Pin::default() });
    let description = Description { bodies: vec![rope.into()], ..Description::default() };
    run(description, 90, |frame, world, state| {
        let strain = &certify(world, state).bodies[0].strain;
        assert!(strain.max_edge_residual <= 1e-6, "frame {frame}: {strain:?}");
    });
}

#[test]
fn a_spring_breaks_at_its_force() {
    // A mass of 1 kg at rest on a spring of 1000 N/m pulls with 9.81 N; released without tension, with up to
    // twice that.
    for (breaking_force, breaks) in [(18.0, true), (21.0, false)] {
        for integrator in [None, Some(Integrator::LeapFrog)] {
            let mut description = mass_on_spring(1.0, 1000.0, 0.0, 0.0);
            description.gravity = Vec3::new(0.0, -9.81, 0.0);
            description.springs[0].breaking_force = Some(breaking_force);
            description.solver.integrator = integrator;
            description.solver.steps_per_frame = 16;
            let mut largest = 0.0f64;
            let (world, state) = run(description, 30, |_, world, state| {
                let springs = certify(world, state).springs.unwrap();
                largest = largest.max(springs.max_force);
            });
            assert_eq!(state.broken_springs(), [breaks], "{integrator:?}");
            assert!(largest <= f64::from(breaking_force), "{largest}");
            let y = state.positions(&world, 0)[0].y;
            if breaks {
                assert!(y < -2.0, "{integrator:?}: {y}");
            } else {
                assert!(largest > 19.0 && y > -1.03, "{integrator:?}: {largest} {y}");
            }
        }
    }
}

#[test]
fn a_resume_after_a_break_has_the_same_bits() {
    let mut rope = hanging_chain(12, 0.3);
    rope.springs = SegmentSprings { stiffness: 2e3, breaking_force: Some(8.0), ..SegmentSprings::default() };
    rope.masses[12] = 0.5;
    let description = Description { bodies: vec![rope.into()], ..Description::default() };
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    let mut broken = 0;
    let mut resumed: Option<(State, Stepper)> = None;
    for frame in 0..40 {
        let report = stepper.advance_frame(&world, &mut state);
        broken += report.broken;
        if let Some((state, stepper)) = &mut resumed {
            stepper.advance_frame(&world, state);
        }
        if frame == 20 {
            assert!(broken > 0, "no spring broke in 20 frames");
            let restored = State::restore(&world, &state.snapshot(&world)).unwrap();
            assert_eq!(restored.broken_springs(), state.broken_springs());
            resumed = Some((restored, Stepper::new(&world, 2).unwrap()));
        }
    }
    assert_eq!(resumed.unwrap().0.positions(&world, 0), state.positions(&world, 0));
}

/// A strip of cloth, held at its upper end, from which a particle of `mass` \[kg\] hangs by a spring.
fn weight_on_cloth(mass: f64, stiffness: f32, damping: f32) -> Description {
    let mesh = generate::grid([0.3, 0.3], [6, 6], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("strip", mesh, Material { damping: 2.0, ..Material::named("denim").unwrap() });
    cloth.strain = Limit { min: None, max: Some(0.05) };
    // Upright: what lies along z hangs along -y.
    cloth.start.iter_mut().for_each(|x| *x = Vec3::new(x.x, -x.z, 0.0));
    cloth.pins.push(Pin { vertices: (0..7).collect(), ..Pin::default() });
    let at = Vec3::new(0.15, -0.8, 0.0);
    let mut weight = Particles::new("weight", LineMesh { positions: vec![at], segments: Vec::new() }, mass);
    weight.damping = 2.0;
    let ends = [SpringEnd::Vertex { body: 0, vertex: 45 }, SpringEnd::Vertex { body: 1, vertex: 0 }];
    let spring = Spring { rest: Some(0.5), damping, ..Spring::new("hanger", ends, stiffness) };
    Description { bodies: vec![cloth.into(), weight.into()], springs: vec![spring], ..Description::default() }
}

#[test]
fn a_weight_hangs_from_cloth_by_its_weight_over_the_stiffness() {
    for (mass, stiffness) in [(0.05, 10.0), (0.2, 500.0)] {
        let world = World::new(weight_on_cloth(mass, stiffness, 0.5)).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
        for _ in 0..150 {
            stepper.advance_frame(&world, &mut state);
        }
        let (corner, weight) = (state.positions(&world, 0)[45], state.positions(&world, 1)[0]);
        let stretched = f64::from(corner.distance(weight)) - 0.5;
        let wanted = mass * 9.81 / f64::from(stiffness);
        assert!((stretched / wanted - 1.0).abs() < 0.05, "{mass} kg: {stretched} m, wanted {wanted}");
    }
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    let says = |change: &dyn Fn(&mut Description), what: &str| {
        let mut description = mass_on_spring(0.1, 10.0, 0.0, 0.1);
        change(&mut description);
        let error = World::new(description).unwrap_err().to_string();
        assert!(error.contains("spring \"spring\"") && error.contains(what), "{error}");
    };
    says(&|d| d.springs[0].stiffness = f32::NAN, "stiffness is NaN");
    says(&|d| d.springs[0].damping = -1.0, "damping is -1");
    says(&|d| d.springs[0].breaking_force = Some(0.0), "breaking_force is 0");
    says(&|d| d.springs[0].ends[1] = SpringEnd::Vertex { body: 0, vertex: 7 }, "has no vertex 7; it has 1");
    says(&|d| d.springs[0].ends[1] = SpringEnd::Vertex { body: 3, vertex: 0 }, "no body 3");
    says(&|d| d.springs[0].ends[0] = d.springs[0].ends[1], "the same vertex");
    says(&|d| d.springs[0].ends[1] = SpringEnd::Point(Vec3::X), "one end must be a vertex or a rigid body");
}
