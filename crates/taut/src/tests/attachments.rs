//! Pins that follow a surface which shears (rigid shape or each its own face), and pins by springs, which
//! fade.

use glam::Vec3;
use taut::{
    AttachedShape, Cloth, Description, Limit, Material, MeshFrames, MeshObstacle, Pin, Scheme, State,
    Stepper, World, certify, mesh::generate,
};

/// A sheet of 1 m by 0.5 m, level, with limits of ±2 %; the first of its edges is on z = 0.
fn sheet() -> Cloth {
    let mesh = generate::grid([1.0, 0.5], [16, 8], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = Limit { min: None, max: Some(0.02) };
    cloth
}

/// The two rows of vertices at the held edge.
fn strip(cloth: &Cloth) -> Vec<u32> {
    let first = cloth.start[cloth.mesh.groups["corner:top-left"][0] as usize];
    let near = |v: &u32| (cloth.start[*v as usize].z - first.z).abs() < 0.07;
    (0..cloth.start.len() as u32).filter(near).collect()
}

/// A band above that edge which is stretched by a quarter, bent and lifted in half a second.
fn skin(cloth: &Cloth) -> MeshObstacle {
    let first = cloth.start[cloth.mesh.groups["corner:top-left"][0] as usize];
    let mesh = generate::grid([1.4, 0.2], [14, 2], generate::Diagonals::Alternating, 0);
    let centre = mesh.positions.iter().sum::<Vec3>() / mesh.positions.len() as f32;
    let middle = Vec3::new(0.5, first.y + 0.25, first.z);
    let start: Vec<Vec3> = mesh.positions.iter().map(|p| *p - centre + middle).collect();
    let moved = |p: &Vec3| {
        let off = *p - middle;
        middle + Vec3::new(1.25 * off.x + 0.4 * off.z, 0.3 + 0.2 * off.x + 0.1 * off.x * off.x, off.z)
    };
    let end = start.iter().map(moved).collect();
    MeshObstacle {
        name: "skin".into(),
        triangles: mesh.triangles,
        frames: MeshFrames::at_rate(vec![start, end], 2.0, 0.1),
        ..MeshObstacle::default()
    }
}

fn attached(shape: AttachedShape) -> World {
    let mut cloth = sheet();
    let obstacle = skin(&cloth);
    cloth.pins = vec![Pin { vertices: strip(&cloth), attach: Some(0), shape, ..Pin::default() }];
    let mesh_obstacles = vec![obstacle];
    World::new(Description { bodies: vec![cloth.into()], mesh_obstacles, ..Description::default() }).unwrap()
}

#[test]
fn a_strip_keeps_its_shape_on_a_surface_that_shears() {
    let world = attached(AttachedShape::Rigid);
    let held = strip(&sheet());
    let run = |threads: usize, resume: bool| {
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
        let start = state.positions(&world, 0);
        for frame in 1..=30 {
            let report = stepper.advance_frame(&world, &mut state);
            let body = &certify(&world, &state).bodies[0];
            assert!(report.converged && body.strain.max_residual <= 0.01 + 1e-5, "frame {frame}: {report:?}");
            assert_eq!(body.max_pin_error, 0.0, "frame {frame}");
            let x = state.positions(&world, 0);
            for pair in held.windows(2) {
                let [a, b] = [pair[0] as usize, pair[1] as usize];
                assert!((x[a].distance(x[b]) - start[a].distance(start[b])).abs() < 1e-6, "frame {frame}");
            }
            if resume && frame == 10 {
                state = State::restore(&world, &state.snapshot(&world)).unwrap();
                stepper = Stepper::new(&world, threads).unwrap();
            }
        }
        state.positions(&world, 0)
    };
    let one = run(1, false);
    assert!(held.iter().all(|&v| one[v as usize].y > 0.15), "lifted with the surface");
    assert_eq!(one, run(2, true));
    assert_eq!(one, run(5, false));
}

#[test]
fn vertices_that_follow_a_face_each_shear_with_them() {
    let world = attached(AttachedShape::Skin);
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    for _ in 0..30 {
        stepper.advance_frame(&world, &mut state);
    }
    let body = &certify(&world, &state).bodies[0];
    assert_eq!(body.max_pin_error, 0.0);
    assert!(body.strain.max_residual > 0.1, "no limit can be met there: {}", body.strain.max_residual);
}

/// A sheet whose vertices all hang on springs of `stiffness` \[N/m\].
fn sprung(stiffness: f32, change: impl Fn(&mut Pin)) -> Description {
    let mut cloth = sheet();
    let vertices = (0..cloth.start.len() as u32).collect();
    let mut pin = Pin { vertices, stiffness: Some(stiffness), ..Pin::default() };
    change(&mut pin);
    cloth.pins = vec![pin];
    Description { bodies: vec![cloth.into()], ..Description::default() }
}

/// How far the sheet is below its start on average \[m\].
fn sag(world: &World, state: &State) -> f32 {
    let start = State::new(world).positions(world, 0);
    let below = start.iter().zip(state.positions(world, 0)).map(|(a, b)| a.y - b.y);
    below.sum::<f32>() / start.len() as f32
}

#[test]
fn springs_yield_by_the_weight_over_their_stiffness() {
    for scheme in [Scheme::Nearest, Scheme::Sweep] {
        let cloth = sheet();
        let density = cloth.material.density;
        let weight = density * 0.5 * 9.81;
        let wanted = 0.004;
        let stiffness = weight / (wanted * cloth.start.len() as f32);
        let mut description = sprung(stiffness, |_| ());
        description.solver.scheme = scheme;
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        for _ in 0..120 {
            stepper.advance_frame(&world, &mut state);
        }
        let sag = sag(&world, &state);
        assert!((sag / wanted - 1.0).abs() < 0.05, "{scheme:?}: {sag} m, not {wanted} m");
        assert_eq!(certify(&world, &state).bodies[0].max_pin_error, 0.0, "not held exactly, so no error");
    }
}

#[test]
fn springs_fade_in_and_out_and_can_be_released() {
    let world = World::new(sprung(0.5, |pin| {
        (pin.from, pin.until, pin.fade) = (0.2, Some(1.2), [0.3, 0.3]);
    }))
    .unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 2).unwrap();
    let mut fallen = vec![0.0];
    for _ in 0..45 {
        stepper.advance_frame(&world, &mut state);
        fallen.push(sag(&world, &state));
    }
    let speed = |frame: usize| (fallen[frame] - fallen[frame - 1]) * 30.0;
    assert!(speed(6) > 1.0, "falls freely before: {fallen:?}");
    assert!(speed(7) > 0.5, "and is not stopped at once: {fallen:?}");
    assert!((20..27).all(|frame| speed(frame).abs() < 0.2), "held: {fallen:?}");
    assert!(speed(45) > 1.0, "falls again: {fallen:?}");
    assert!((0..fallen.len() - 1).all(|k| (fallen[k + 1] - fallen[k]).abs() < 0.2), "{fallen:?}");

    let world = World::new(sprung(50.0, |_| ())).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 2).unwrap();
    state.unpin(&world, 0, 0).unwrap();
    let (start, mut lowest) = (state.positions(&world, 0)[0].y, 0.0f32);
    for _ in 0..20 {
        stepper.advance_frame(&world, &mut state);
        lowest = lowest.min(state.positions(&world, 0)[0].y - start);
    }
    assert!(lowest < -0.02, "a released corner hangs down: {lowest}");
}

#[test]
fn a_spring_draws_cloth_back_to_its_place_on_an_obstacle() {
    let mut cloth = sheet();
    let obstacle = skin(&cloth);
    let vertices = strip(&cloth);
    let pin = Pin {
        vertices: vertices.clone(),
        attach: Some(0),
        stiffness: Some(3.0),
        weights: (0..vertices.len()).map(|k| if k % 2 == 0 { 1.0 } else { 0.25 }).collect(),
        from: 0.2,
        fade: [0.5, 0.0],
        ..Pin::default()
    };
    cloth.pins = vec![pin];
    let description =
        Description { bodies: vec![cloth.into()], mesh_obstacles: vec![obstacle], ..Description::default() };
    let world = World::new(description).unwrap();
    let rigid = attached(AttachedShape::Rigid);
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let (mut held, mut other) = (State::new(&rigid), Stepper::new(&rigid, 2).unwrap());
    let (mut distances, mut missed) = (Vec::new(), 0);
    for _ in 0..60 {
        let report = stepper.advance_frame(&world, &mut state);
        other.advance_frame(&rigid, &mut held);
        missed += u32::from(!report.converged);
        let (x, y) = (state.positions(&world, 0), held.positions(&rigid, 0));
        let off = vertices.iter().map(|&v| x[v as usize].distance(y[v as usize]));
        distances.push(off.sum::<f32>() / vertices.len() as f32);
    }
    assert!(distances[8] > 0.1, "falls before it is drawn back: {distances:?}");
    assert!(distances[59] < 0.03 && missed == 0, "{missed} frames missed, {distances:?}");
}

#[test]
fn pins_that_make_no_sense_are_refused() {
    let refused = |change: fn(&mut Pin)| World::new(sprung(1.0, change)).unwrap_err().to_string();
    assert!(refused(|pin| pin.stiffness = Some(-1.0)).contains("stiffness must lie between"));
    assert!(refused(|pin| pin.weights = vec![1.0]).contains("as many weights as vertices"));
    assert!(refused(|pin| pin.weights = vec![f32::NAN; pin.vertices.len()]).contains("weights must lie"));
    assert!(refused(|pin| pin.fade = [-1.0, 0.0]).contains("fade must lie"));
    assert!(refused(|pin| (pin.stiffness, pin.fade) = (None, [1.0, 0.0])).contains("requires a stiffness"));
    assert!(refused(|pin| pin.fade = [0.0, 1.0]).contains("requires an until"));
}
