//! Pins that begin and end while it runs, and pin overrides of the caller (T4): at every level, with the
//! limits held.

use glam::Vec3;
use taut::{
    Cloth, Description, Limit, Material, MeshFrames, MeshObstacle, Motion, Pin, Scheme, State, Stepper,
    World,
    boundary::{hold::Caught, motion::Keyframe},
    certify,
    measure::certify_positions,
    mesh::generate,
};

const SCHEMES: [Scheme; 3] = [Scheme::Nearest, Scheme::Cycle, Scheme::Sweep];

/// A level sheet of 1 m with 16×16 cells and an upper limit of 5 %.
fn sheet() -> Cloth {
    let mesh = generate::grid([1.0, 1.0], [16, 16], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    cloth
}

fn described(cloth: Cloth, scheme: Scheme) -> Description {
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = scheme;
    description
}

fn group(cloth: &Cloth, corner: &str) -> Vec<u32> {
    cloth.mesh.groups[&format!("corner:{corner}")].clone()
}

fn pin(vertices: Vec<u32>, from: f32, until: Option<f32>) -> Pin {
    Pin { vertices, from, until, ..Pin::default() }
}

/// Steps through `frames` frames; every one must hold limits and pins. Gives what `at` says of each.
fn run<T>(world: &World, state: &mut State, frames: u32, mut at: impl FnMut(&mut State) -> T) -> Vec<T> {
    let mut stepper = Stepper::new(world, 2).unwrap();
    (0..frames)
        .map(|_| {
            let report = stepper.advance_frame(world, state);
            let body = &certify(world, state).bodies[0];
            let frame = state.frame();
            assert!(report.converged, "{:?} frame {frame}: {report:?}", world.description().solver.scheme);
            assert!(body.strain.max_residual <= 0.01 + 1e-5, "frame {frame}: {}", body.strain.max_residual);
            assert_eq!(body.max_pin_error, 0.0, "frame {frame}");
            at(state)
        })
        .collect()
}

#[test]
fn a_corner_that_is_released_swings() {
    for scheme in SCHEMES {
        let mut cloth = sheet();
        let (left, right) = (group(&cloth, "top-left"), group(&cloth, "top-right"));
        cloth.pins = vec![pin(left.clone(), 0.0, None), pin(right.clone(), 0.0, Some(0.5))];
        let world = World::new(described(cloth, scheme)).unwrap();
        let mut state = State::new(&world);
        let start = state.positions(&world, 0);
        let (left, right) = (left[0] as usize, right[0] as usize);
        let places = run(&world, &mut state, 36, |state| state.positions(&world, 0));
        for (k, places) in places.iter().enumerate() {
            assert_eq!(places[left], start[left], "{scheme:?}");
            assert_eq!(places[right] == start[right], k < 15, "{scheme:?} frame {}", k + 1);
        }
        let fallen = start[right].y - places[35][right].y;
        assert!(fallen > 0.3, "{scheme:?}: it fell by {fallen} m in 0.7 s");
    }
}

#[test]
fn a_falling_sheet_is_caught_where_it_is_and_carried_on() {
    for scheme in SCHEMES {
        let mut cloth = sheet();
        let corners = [group(&cloth, "top-left"), group(&cloth, "top-right")].concat();
        let key = |time, x| Keyframe { time, translate: Vec3::new(0.0, 0.0, x), rotate: Vec3::ZERO };
        // What the motion did before the pin begins counts for nothing.
        let keys = vec![key(0.0, -7.0), key(0.3, 1.0), key(0.8, 1.25)];
        let motion = Motion { keys, pivot: Vec3::ZERO, ..Motion::default() };
        cloth.pins = vec![Pin { motion, ..pin(corners.clone(), 0.3, None) }];
        let world = World::new(described(cloth, scheme)).unwrap();
        assert_eq!(world.catches(), [(0, 9)]);
        let mut state = State::new(&world);
        let start = state.positions(&world, 0);
        let places = run(&world, &mut state, 30, |state| state.positions(&world, 0));
        for &v in &corners {
            let v = v as usize;
            let caught = places[8][v];
            let fallen = start[v].y - caught.y;
            assert!((0.25..0.5).contains(&fallen), "{scheme:?}: fell by {fallen} m in 0.3 s");
            let carried = places[23][v] - caught;
            assert!((carried - Vec3::new(0.0, 0.0, 0.25)).length() < 1e-5, "{scheme:?}: {carried}");
        }
        let mean = |k: usize| places[k].iter().map(|p| p.y).sum::<f32>() / places[k].len() as f32;
        assert!(mean(8) - mean(29) < 1.0, "{scheme:?}: it hangs and does not fall on");

        // From positions alone, as files have them.
        let mut known = Caught::new(&world);
        let unknown = certify_positions(&world, 0, 20, &places[19], &known);
        known.note(&world, 0, 9, &places[8]);
        let fine = certify_positions(&world, 0, 20, &places[19], &known);
        let late = certify_positions(&world, 0, 20, &places[18], &known);
        assert_eq!((unknown.max_pin_error, fine.max_pin_error), (0.0, 0.0));
        assert!(late.max_pin_error > 0.01);
    }
}

/// Three pins inside the sheet that take turns, the second for two vertices at once.
pub(super) fn taking_turns() -> Description {
    let mut cloth = sheet();
    let at = |i: u32, j: u32| j * 17 + i;
    cloth.pins = vec![
        pin(vec![at(5, 8)], 0.0, Some(0.2)),
        pin(vec![at(11, 6), at(10, 12)], 0.1, Some(0.3)),
        pin(vec![at(5, 8)], 0.25, None),
    ];
    described(cloth, Scheme::Nearest)
}

#[test]
fn pins_inside_take_turns_with_limits_held() {
    for scheme in SCHEMES {
        let mut description = taking_turns();
        description.solver.scheme = scheme;
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let places = run(&world, &mut state, 24, |state| state.positions(&world, 0));
        let still = |v: usize| (1..24).filter(|&k| places[k][v] == places[k - 1][v]).collect::<Vec<_>>();
        // Places are those of frames 1 to 24: held from frame 0 to 6, and again from 8 on.
        assert_eq!(still(8 * 17 + 5), (1..6).chain(8..24).collect::<Vec<_>>(), "{scheme:?}");
        assert_eq!(still(6 * 17 + 11), (3..9).collect::<Vec<_>>(), "{scheme:?}");
        assert_eq!(still(12 * 17 + 10), (3..9).collect::<Vec<_>>(), "{scheme:?}");
    }
}

#[test]
fn snapshots_that_lack_where_vertices_were_caught_are_refused() {
    let mut description = taking_turns();
    description.solver.scheme = Scheme::Sweep;
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    run(&world, &mut state, 5, |_| ());
    let snapshot = state.snapshot(&world);
    assert_eq!(snapshot.caught.len(), 2);
    for caught in [Vec::new(), vec![Vec3::ZERO; 3], vec![Vec3::NAN; 2]] {
        let snapshot = taut::state::Snapshot { caught, ..snapshot.clone() };
        assert!(State::restore(&world, &snapshot).is_none());
    }
    assert!(State::restore(&world, &snapshot).is_some());
}

#[test]
fn a_grabbed_vertex_follows_the_hand_and_moves_freely_afterwards() {
    for scheme in SCHEMES {
        let mut cloth = sheet();
        let corners = [group(&cloth, "top-left"), group(&cloth, "top-right")].concat();
        cloth.pins = vec![pin(corners.clone(), 0.0, None)];
        let world = World::new(described(cloth, scheme)).unwrap();
        let mut state = State::new(&world);
        let grabbed = 4 * 17 + 8;
        let place = |state: &State| state.positions(&world, 0)[grabbed as usize];
        run(&world, &mut state, 6, |_| ());
        let mut target = place(&state);
        let mut follows = Vec::new();
        for _ in 0..10 {
            target += Vec3::new(0.003, 0.015, 0.0);
            state.pin(&world, 0, grabbed, target).unwrap();
            run(&world, &mut state, 1, |state| follows.push(place(state) == target));
        }
        assert_eq!(follows, [true; 10], "{scheme:?}");
        // It stays where it was taken, over a resume too.
        state = State::restore(&world, &state.snapshot(&world)).unwrap();
        run(&world, &mut state, 3, |state| assert_eq!(place(state), target, "{scheme:?}"));
        state.unpin(&world, 0, grabbed).unwrap();
        assert_eq!(state.pin_overrides().count(), 0);
        run(&world, &mut state, 8, |_| ());
        assert!(place(&state).y < target.y - 0.02, "{scheme:?}: {} {target}", place(&state));
        // Pins can be let go as well.
        let corner = state.positions(&world, 0)[corners[0] as usize];
        state.unpin(&world, 0, corners[0]).unwrap();
        run(&world, &mut state, 8, |_| ());
        assert!(state.positions(&world, 0)[corners[0] as usize].y < corner.y - 0.05, "{scheme:?}");
    }
}

#[test]
fn matrices_of_a_held_set_are_those_of_a_world_that_begins_with_it() {
    let with = |pins: &[u32], overrides: &[u32]| {
        let mut cloth = sheet();
        cloth.imperfection = Some(0.0);
        cloth.start.iter_mut().for_each(|p| p.x *= 1.1);
        cloth.pins = vec![pin(pins.to_vec(), 0.0, None)];
        let world = World::new(described(cloth, Scheme::Nearest)).unwrap();
        let mut state = State::new(&world);
        let places = state.positions(&world, 0);
        for &v in overrides {
            state.pin(&world, 0, v, places[v as usize]).unwrap();
        }
        Stepper::new(&world, 1).unwrap().advance_frame(&world, &mut state);
        state.positions(&world, 0)
    };
    assert_eq!(with(&[0, 140], &[]), with(&[0], &[140]));
    assert_ne!(with(&[0, 140], &[]), with(&[0], &[]));
}

#[test]
fn mistakes_are_named() {
    let problem = |change: fn(&mut Pin)| {
        let mut cloth = sheet();
        let mut bad = pin(vec![0], 0.0, None);
        change(&mut bad);
        cloth.pins = vec![bad];
        World::new(described(cloth, Scheme::Sweep)).unwrap_err().to_string()
    };
    assert!(problem(|pin| pin.from = -1.0).contains("from must be at least 0 s"));
    assert!(problem(|pin| pin.from = f32::NAN).contains("from"));
    assert!(problem(|pin| (pin.from, pin.until) = (1.0, Some(1.0))).contains("until later"));
    let mut description = taking_turns();
    description.solver.scheme = Scheme::Sweep;
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let message = |result: Result<(), taut::WorldError>| result.unwrap_err().to_string();
    assert!(message(state.pin(&world, 1, 0, Vec3::ZERO)).contains("body 1: there is none; the world has 1"));
    assert!(message(state.unpin(&world, 0, 289)).contains("has no vertex 289; it has 289"));
    assert!(message(state.pin(&world, 0, 3, Vec3::NAN)).contains("target of vertex 3"));
    assert_eq!(state.pin_overrides().count(), 0);
}

/// A face beside the corner of the sheet that is at the origin: its first edge points there, and ends 10 cm
/// before. It tilts, turns and stretches in half a second, then shifts as a whole.
fn flap() -> MeshObstacle {
    let first = vec![Vec3::new(-0.3, 0.0, 0.0), Vec3::new(-0.1, 0.0, 0.0), Vec3::new(-0.3, 0.0, -0.1)];
    let then = vec![Vec3::new(-0.35, -0.1, 0.0), Vec3::new(-0.1, 0.05, 0.02), Vec3::new(-0.3, 0.0, -0.15)];
    let shift = |time, x| Keyframe { time, translate: Vec3::new(x, 0.0, 0.0), ..Keyframe::default() };
    MeshObstacle {
        name: "flap".into(),
        triangles: vec![[0, 1, 2]],
        frames: MeshFrames::at_rate(vec![first, then], 2.0, 0.0),
        motion: Motion {
            keys: vec![shift(0.5, 0.0), shift(1.0, -0.1)],
            pivot: Vec3::ZERO,
            ..Motion::default()
        },
        friction: 0.3,
        margin: 0.0,
    }
}

#[test]
fn a_vertex_that_is_attached_to_a_face_follows_it_exactly_until_it_is_let_go() {
    for scheme in SCHEMES {
        let mut cloth = sheet();
        let (left, right) = (group(&cloth, "top-left"), group(&cloth, "top-right"));
        let corner = left[0] as usize;
        assert_eq!(cloth.start[corner], Vec3::ZERO);
        cloth.pins = vec![
            pin(right, 0.0, None),
            Pin { vertices: left, attach: Some(0), until: Some(1.2), ..Pin::default() },
        ];
        let mut description = described(cloth, scheme);
        description.mesh_obstacles.push(flap());
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        assert!(certify(&world, &state).bodies[0].max_pin_error < 1e-7);
        let (flap, mut stepper) = (flap(), Stepper::new(&world, 2).unwrap());
        let mut way = 0.0;
        for frame in 1..=45 {
            stepper.advance_frame(&world, &mut state);
            let x = state.positions(&world, 0);
            let certified = certify(&world, &state).bodies.swap_remove(0).max_pin_error;
            assert_eq!(certified, 0.0, "{scheme:?} frame {frame}");
            let corners = flap.positions_at(world.time_of_frame(frame));
            let ahead = corners[1] + 0.1 * (corners[1] - corners[0]).normalize();
            let error = x[corner].distance(ahead);
            if frame <= 36 {
                assert!(error < 1e-6, "{scheme:?} frame {frame}: {} is off by {error}", x[corner]);
                let mut moved = x.clone();
                moved[corner].y += 0.01;
                let caught = Caught::new(&world);
                let planted = certify_positions(&world, 0, frame, &moved, &caught).max_pin_error;
                assert!((planted - 0.01).abs() < 1e-6, "verify sees what was changed: {planted}");
            } else {
                way = error;
            }
        }
        assert!(way > 0.01, "it falls once it is let go");
    }
}

#[test]
fn attachments_that_make_no_sense_are_refused() {
    let refused = |change: &dyn Fn(&mut Description)| {
        let mut cloth = sheet();
        cloth.pins = vec![Pin { vertices: vec![0], attach: Some(0), ..Pin::default() }];
        let mut description = described(cloth, Scheme::Nearest);
        description.mesh_obstacles.push(flap());
        change(&mut description);
        World::new(description).unwrap_err().to_string()
    };
    assert!(refused(&|d| d.mesh_obstacles.clear()).contains("mesh obstacle 0; there are 0"));
    assert!(
        refused(&|d| d.bodies[0].as_cloth_mut().unwrap().pins[0].from = 1.0).contains("begins at the start")
    );
    assert!(
        refused(&|d| d.bodies[0].as_cloth_mut().unwrap().pins[0].motion.keys.push(Keyframe::default()))
            .contains("no motion")
    );
    assert!(refused(&|d| d.mesh_obstacles[0].triangles[0][1] = 0).contains("no face with three corners"));
}
