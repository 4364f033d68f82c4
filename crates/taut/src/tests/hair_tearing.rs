//! Hair that tears, and hair that is cut.

use glam::Vec3;

use crate::{
    Budget, Description, Event, Hair, HairMaterial, HairModel, Limit, Motion, Pin, Roots, Simulation, State,
    Tear, World, WorldError,
    boundary::motion::Keyframe,
    mesh::groom::{Amount, Curl, Groom, Growth, Skin, grow},
};

/// Points of a lone strand.
const POINTS: u32 = 21;

/// A strand that hangs from a root, and whose tip is drawn down at 0.1 m/s.
fn drawn(tear: Option<Tear>) -> Description {
    let positions: Vec<Vec3> = (0..POINTS).map(|k| Vec3::NEG_Y * 0.01 * k as f32).collect();
    let groom = Groom { positions, counts: vec![POINTS], radii: Vec::new() };
    let mut hair = Hair::new("hair", groom, HairMaterial::named("european").unwrap());
    let key = |time: f32| Keyframe { time, translate: Vec3::NEG_Y * 0.1 * time, ..Keyframe::default() };
    let motion = Motion { keys: vec![key(0.0), key(10.0)], ..Motion::default() };
    hair.pins = vec![Pin { vertices: vec![POINTS - 1], motion, ..Pin::default() }];
    hair.tear = tear;
    Description { bodies: vec![hair.into()], ..Description::default() }
}

/// Hair on a ball of 10 cm.
fn head(count: u32, curl: Option<Curl>) -> Hair {
    let growth =
        Growth { segments: 40, curl, comb: Vec3::Y * 0.5, ..Growth::new(Amount::Count(count), 0.15) };
    let groom = grow(&Skin::sphere(Vec3::ZERO, 0.1).unwrap(), &growth).unwrap();
    Hair { roots: Roots::Fixed, ..Hair::new("hair", groom, HairMaterial::named("european").unwrap()) }
}

fn simulation(description: Description) -> Simulation {
    Simulation::from_description(description, 2).unwrap()
}

fn hair(simulation: &Simulation) -> &Hair {
    simulation.description().bodies[0].as_hair().unwrap()
}

fn positions(simulation: &Simulation) -> Vec<Vec3> {
    simulation.state().positions(simulation.world(), 0)
}

#[test]
fn a_strand_drawn_at_both_ends_tears_once_and_keeps_its_limits_and_mass() {
    let mut sim = simulation(drawn(Some(Tear::at(0.05))));
    let whole = sim.world().body_masses()[0];
    let mut torn = 0;
    for frame in 1..=60 {
        let report = sim.step_frame();
        let events = sim.drain_events().filter(|event| matches!(event, Event::Cut { pieces: 1, .. })).count();
        assert_eq!(events as u32, report.torn, "frame {frame}");
        torn += report.torn;
        let certificate = sim.certificate();
        let strain = &certificate.bodies[0].strain;
        assert!(strain.max_edge_strain <= 0.01 + 1e-6 && report.rescued == 0, "frame {frame}: {strain:?}");
        assert_eq!(certificate.bodies[0].max_pin_error, 0.0);
        assert_eq!(sim.world().body_masses()[0], whole);
    }
    assert_eq!(torn, 1);
    let found = sim.certificate().bodies[0].tear.unwrap();
    assert_eq!((found.vertices, found.pieces), (1, 2));
    // The piece that was cut off hangs from its pin.
    let (x, cut) = (positions(&sim), hair(&sim).cuts()[0] as usize);
    assert!((hair(&sim).mass() / whole - 1.0).abs() < 1e-5);
    let end = -0.2 - 0.1 * sim.time();
    assert!(x[0].y == 0.0 && (x[20].y - end).abs() < 1e-4 && x[cut].distance(x[cut - 1]) > 0.1, "{x:?}");
}

#[test]
fn strands_tear_at_their_weakest_segment() {
    let mut factors = vec![1.0; POINTS as usize];
    factors[12] = 0.5;
    for stretch in [0.5, 0.05] {
        let mut sim = simulation(drawn(Some(Tear { factors: factors.clone(), ..Tear::at(stretch) })));
        (0..20).for_each(|_| _ = sim.step_frame());
        let cuts = hair(&sim).cuts();
        assert!(cuts == [12] || cuts == [13], "{cuts:?}");
    }
    // Without a threshold it is stretched instead, and says so.
    let mut sim = simulation(drawn(None));
    (0..20).for_each(|_| _ = sim.step_frame());
    assert!(hair(&sim).cuts().is_empty() && sim.certificate().bodies[0].strain.max_edge_strain > 0.02);
}

#[test]
fn tension_tears_what_is_held_within_its_limit() {
    // 1 g on a strand of which 0.01 % would be 0.6 mN: it hangs from the pinned strand by a heavy rope.
    let torn = |stretch: f32| {
        let mut description = drawn(Some(Tear::at(stretch)));
        let strand = description.bodies[0].as_hair().unwrap();
        let mut hair = Hair { pins: Vec::new(), ..strand.clone() };
        hair.groom.radii = (0..POINTS).map(|k| if k < 16 { 3e-5 } else { 2e-3 }).collect();
        description.bodies = vec![hair.into()];
        let mut sim = simulation(description);
        (0..20).for_each(|_| _ = sim.step_frame());
        sim.description().bodies[0].as_hair().unwrap().cuts()
    };
    // ρ π r² 9.81 · 4.5 cm over E π (30 µm)² of the segment that it hangs from.
    let hair = HairMaterial::named("european").unwrap();
    let pulled = hair.density * 9.81 * 0.045 * (2e-3f32 / 3e-5).powi(2) / hair.young;
    assert!(torn(1.3 * pulled).is_empty());
    let cuts = torn(0.7 * pulled);
    assert!(!cuts.is_empty() && cuts[0] < 17, "{cuts:?}");
}

#[test]
fn a_run_that_is_resumed_after_tears_has_the_same_bits() {
    let curl = Curl { radius: 0.004, pitch: 0.02 };
    let mut description = Description::default();
    let mut strands = head(40, Some(curl));
    let tips: Vec<u32> = strands.groom.strands().map(|own| own.end as u32 - 1).step_by(3).collect();
    let key = |time: f32| Keyframe { time, translate: Vec3::X * 0.4 * time, ..Keyframe::default() };
    let motion = Motion { keys: vec![key(0.0), key(10.0)], ..Motion::default() };
    strands.pins = vec![Pin { vertices: tips, motion, ..Pin::default() }];
    strands.tear = Some(Tear::at(0.05));
    description.bodies = vec![strands.into()];
    let mut sim = simulation(description.clone());
    (0..20).for_each(|_| _ = sim.step_frame());
    let torn = hair(&sim).cuts();
    assert!(torn.len() > 2, "{torn:?}");
    // From the whole hair, its cuts and a snapshot alone.
    let snapshot = sim.state().snapshot(sim.world());
    let whole = description.bodies[0].as_hair().unwrap();
    let mut other = description.clone();
    other.bodies = vec![whole.cut(&torn).unwrap().into()];
    let world = World::new(other).unwrap();
    let state = State::restore(&world, &snapshot).unwrap();
    let mut resumed = Simulation::resume(world, Some(state), 1).unwrap();
    for _ in 0..10 {
        sim.step_frame();
        resumed.step_frame();
        assert_eq!(positions(&sim), positions(&resumed));
    }
    // Whole again, and torn as before.
    let first = positions(&sim);
    sim.reset();
    assert!(hair(&sim).whole.is_none() && hair(&sim).groom == whole.groom);
    (0..30).for_each(|_| _ = sim.step_frame());
    assert_eq!(positions(&sim), first);
}

#[test]
fn what_is_cut_off_goes_on_as_it_moved() {
    for curl in [None, Some(Curl { radius: 0.004, pitch: 0.02 })] {
        let description = Description { bodies: vec![head(30, curl).into()], ..Description::default() };
        let [mut sim, mut whole] = [simulation(description.clone()), simulation(description)];
        (0..10).for_each(|_| _ = (sim.step_frame(), whole.step_frame()));
        let body = sim.bodies().next().unwrap();
        let middles: Vec<u32> = hair(&sim).groom.strands().map(|own| own.start as u32 + 20).collect();
        let before = positions(&sim);
        assert_eq!(sim.cut_hair(body, &[0, 1, 40, 39, 100_000]).unwrap(), 1);
        assert_eq!(sim.cut_hair(body, &middles).unwrap(), middles.len());
        assert_eq!(sim.cut_hair(body, &middles).unwrap(), 0);
        assert_eq!(positions(&sim), before);
        assert_eq!(sim.certificate().bodies[0].tear.unwrap().pieces, 61);
        let turn = |x: &[Vec3], v: usize| (x[v] - x[v - 1]).angle_between(x[v + 1] - x[v]);
        let mut late = false;
        for frame in 1..=15 {
            let report = sim.step_frame();
            whole.step_frame();
            let (x, rest) = (positions(&sim), &hair(&sim).groom);
            let strain = sim.certificate().bodies[0].strain.max_edge_strain;
            assert!(strain <= 0.01 + 1e-6 && report.rescued == 0, "frame {frame}: {strain}");
            // Ends that carry less spring back, and nothing else: no piece turns its curls inside out.
            let worst = middles.iter().flat_map(|&v| [v as usize - 4, v as usize + 4]);
            let worst = worst.map(|v| (turn(&x, v) - turn(&rest.positions, v)).abs()).fold(0.0, f32::max);
            assert!(worst < 0.6 || curl.is_none(), "frame {frame}: {worst} rad");
            let fallen = x[middles[0] as usize].y < before[middles[0] as usize].y - 0.05;
            late |= fallen;
        }
        assert!(late, "nothing fell");
        sim.reset();
        assert_eq!(hair(&sim).cuts(), []);
    }
}

#[test]
fn shaken_hair_does_not_tear_where_its_threshold_is_that_of_hair() {
    let mut strands = head(200, None);
    strands.roots = Roots::Obstacle(0);
    strands.tear = Some(Tear::at(0.02));
    let mut ball = crate::Obstacle::sphere(Vec3::ZERO, 0.099);
    let turn = |k: usize| {
        let time = k as f32 / 60.0;
        let angle = 86.0 * (std::f32::consts::TAU * 3.0 * time).sin();
        Keyframe { time, rotate: Vec3::Y * angle, ..Keyframe::default() }
    };
    ball.motion = Motion { keys: (0..90).map(turn).collect(), ..Motion::default() };
    ball.friction = 0.4;
    let description =
        Description { bodies: vec![strands.into()], obstacles: vec![ball], ..Description::default() };
    let mut sim = simulation(description);
    (0..40).for_each(|_| _ = sim.step(1.0 / 60.0, Budget::unlimited()).unwrap());
    assert_eq!(hair(&sim).cuts(), []);
}

#[test]
fn what_cannot_tear_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Hair)| {
        let mut description = drawn(Some(Tear::at(0.1)));
        let mut hair = description.bodies[0].as_hair().unwrap().clone();
        change(&mut hair);
        description.bodies = vec![hair.into()];
        let Err(error) = World::new(description) else { return String::new() };
        assert!(matches!(error, WorldError::Hair { .. }));
        error.to_string()
    };
    assert_eq!(refused(&|_| {}), "");
    type Case<'a> = (&'a dyn Fn(&mut Hair), &'a str);
    let cases: [Case; 8] = [
        (&|hair| hair.tear = Some(Tear::at(0.0)), "tear.stretch"),
        (&|hair| hair.tear = Some(Tear::at(f32::NAN)), "tear.stretch"),
        (&|hair| hair.tear = Some(Tear::at(-1.0)), "tear.stretch"),
        (&|hair| hair.tear = Some(Tear { factors: vec![1.0; 3], ..Tear::at(0.1) }), "3 factors"),
        (&|hair| hair.tear = Some(Tear { factors: vec![0.0; 21], ..Tear::at(0.1) }), "vertex 0"),
        (&|hair| hair.model = HairModel::Springs, "springs"),
        (&|hair| hair.full = Some(hair.groom.clone()), "guides"),
        (&|hair| hair.whole = Some(vec![20].into()), "pieces"),
    ];
    for (change, what) in cases {
        let message = refused(change);
        assert!(message.contains(what) && message.contains("hair"), "{message}");
    }
    let mut sim = simulation(drawn(None));
    let body = sim.bodies().next().unwrap();
    assert!(sim.set_tear(body, Some(Tear::at(f32::INFINITY))).is_err());
    sim.set_tear(body, Some(Tear::at(0.05))).unwrap();
    (0..10).for_each(|_| _ = sim.step_frame());
    assert_eq!(hair(&sim).cuts().len(), 1);
    sim.set_tear(body, None).unwrap();
    assert!(matches!(hair(&sim).stretch, Limit { max: Some(_), .. }));
}

#[test]
fn a_brush_takes_hair_along_within_its_limits() {
    let mut description = drawn(None);
    let mut strand = description.bodies[0].as_hair().unwrap().clone();
    strand.pins.clear();
    description.bodies = vec![strand.into()];
    let mut sim = simulation(description);
    (0..5).for_each(|_| _ = sim.step_frame());
    // 5 mm a frame to the side, at the middle of the strand.
    let at = |frame: usize| Vec3::new(0.005 * frame as f32, -0.15, 0.0);
    // Later it is left behind: it follows by part of the way.
    for frame in 0..6 {
        let taken = sim.comb([at(frame), at(frame + 1)], 0.03).unwrap();
        assert!(taken > 0 && taken < 12, "frame {frame}: {taken}");
        sim.step_frame();
        let strain = sim.certificate().bodies[0].strain.max_edge_strain;
        assert!(strain <= 0.01 + 1e-6, "frame {frame}: {strain}");
    }
    let x = positions(&sim);
    assert!(x[14].x > 0.003 && x[14].x < 0.05 && x[0] == Vec3::ZERO, "{x:?}");
    for (ways, radius) in
        [([Vec3::NAN, Vec3::ZERO], 0.1), ([Vec3::ZERO; 2], 0.0), ([Vec3::ZERO; 2], f32::NAN)]
    {
        assert!(sim.comb(ways, radius).is_err());
    }
    assert_eq!(sim.comb([Vec3::ONE * 5.0; 2], 0.1).unwrap(), 0);
}
