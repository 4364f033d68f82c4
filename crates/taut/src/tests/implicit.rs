//! Implicit integrators: the material is what it says, motion is hardly damped, and both converge.

use glam::Vec3;
use taut::{
    Cloth, Description, Direction, Integrator, Limit, Material, Pin, Scheme, State, Stepper, World,
    WorldError, certify,
    kernel::lanes::LaneKind,
    mesh::{TriangleMesh, generate},
};

/// A strip of `size` \[m\], width first, held along its top edge, at `angle` \[°\] from the vertical.
fn strip(material: Material, size: [f32; 2], cells: [u32; 2], angle: f32) -> Description {
    let mesh = generate::grid(size, cells, generate::Diagonals::Alternating, 1);
    let vertices = held(&mesh, 1e-6);
    let mut cloth = Cloth::new("strip", mesh, material);
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    let (sine, cosine) = angle.to_radians().sin_cos();
    cloth.start.iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z * cosine, p.z * sine));
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.integrator = Some(Integrator::Bdf2);
    description.air.density = 0.0;
    description
}

fn held(mesh: &TriangleMesh, below: f32) -> Vec<u32> {
    (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].z < below).collect()
}

fn material(name: &str, damping: f32) -> Material {
    Material { damping, ..Material::named(name).unwrap() }
}

fn run(description: Description, frames: u32) -> (World, State) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for _ in 0..frames {
        stepper.advance_frame(&world, &mut state);
    }
    (world, state)
}

/// How much the middle of a hanging strip of 1 m is stretched, and by how much it has narrowed, relatively.
/// Its warp runs along its length, or where `warp` says.
fn hung(material: Material, warp: Option<Direction>) -> [f32; 2] {
    let mut description = strip(material, [0.1, 1.0], [4, 40], 0.0);
    description.cloths_mut().next().unwrap().warp = warp;
    // As many steps as carry all of its stiffness.
    let carries = |steps: &u32| {
        let mut description = description.clone();
        description.solver.steps_per_frame = *steps;
        World::new(description).unwrap().carried_stiffness().iter().all(|cloth| cloth.tension == 1.0)
    };
    description.solver.steps_per_frame = [1, 2, 4, 8].into_iter().find(carries).unwrap();
    let (world, state) = run(description, 240);
    let rest = &world.description().bodies[0].as_cloth().unwrap().mesh.positions;
    let x = state.positions(&world, 0);
    let mean = |select: &dyn Fn(Vec3) -> bool| {
        let chosen: Vec<Vec3> = (0..x.len()).filter(|&v| select(rest[v])).map(|v| x[v]).collect();
        chosen.iter().sum::<Vec3>() / chosen.len() as f32
    };
    let [above, below] = [0.3, 0.7].map(|at: f32| mean(&|p| (p.z - at).abs() < 1e-4));
    let middle = |p: Vec3| p.z > 0.29 && p.z < 0.71;
    let [left, right] = [0.0, 0.1].map(|at: f32| mean(&|p| middle(p) && (p.x - at).abs() < 1e-4));
    // Across the strip, which may lean.
    let across = (right - left).reject_from(above - below).length();
    [above.distance(below) / 0.4 - 1.0, 1.0 - across / 0.1]
}

/// 1/E \[m/N\] of a strip along the warp or along the bias, and how much it narrows of what it lengthens.
fn compliance(material: &Material, along_bias: bool) -> [f32; 2] {
    let (stretch, poisson) = (material.stretch, material.poisson);
    if !along_bias {
        return [1.0 / stretch.warp, poisson];
    }
    let axial = 1.0 / stretch.warp + 1.0 / stretch.weft - 2.0 * poisson / stretch.warp;
    let shear = 1.0 / stretch.shear.unwrap();
    let compliance = 0.25 * (axial + shear);
    [compliance, 0.25 * (shear - axial) / compliance]
}

/// Strips of all materials lengthen by their weight and narrow by Poisson's ratio. Where their own weight
/// would stretch them by less than a thousandth, they are made heavier.
fn check_hung(along_bias: bool) {
    for name in Material::names() {
        let mut material = material(name, 2.0);
        if along_bias && material.is_isotropic() {
            continue;
        }
        let [compliance, poisson] = compliance(&material, along_bias);
        let by_itself = 0.5 * 9.81 * material.density * compliance;
        let expected = by_itself.max(1e-3);
        material.density *= expected / by_itself;
        let warp = along_bias.then_some(Direction::Along(Vec3::new(1.0, 0.0, 1.0)));
        let [longer, narrower] = hung(material, warp);
        let (off, narrowing) = (longer / expected - 1.0, narrower / expected - poisson);
        println!("{name}: {longer:.5}, {:+.2} %, narrower {:+.2} %", 100.0 * off, 100.0 * narrowing);
        let close = if along_bias { 0.05 } else { 0.02 };
        assert!(
            off.abs() < close && narrowing.abs() < close,
            "{name}: {longer} in place of {expected}, {narrower}"
        );
    }
}

#[test]
fn a_hanging_strip_lengthens_by_its_weight_and_narrows_by_poisson_s_ratio() {
    check_hung(false);
}

#[test]
fn a_strip_cut_along_the_bias_lengthens_and_narrows_by_its_shear() {
    check_hung(true);
}

#[test]
fn damping_does_not_carry_weight() {
    let [calm, damped] = [0.5, 5.0].map(|damping| hung(material("jersey", damping), None)[0]);
    assert!((damped / calm - 1.0).abs() < 0.01, "{damped} in place of {calm}");
}

/// Energy over that of the start after each second, and the period \[s\], of a strip of 1 m that swings from
/// 45°.
fn swing(steps: u32, integrator: Integrator) -> (Vec<f64>, f64) {
    let mut description = strip(material("polyester", 0.0), [0.5, 1.0], [10, 20], 45.0);
    description.cloths_mut().next().unwrap().strain = Limit { min: None, max: Some(0.01) };
    description.solver.steps_per_frame = steps;
    description.solver.integrator = Some(integrator);
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    // Above the energy of the strip as it hangs.
    let energy = |state: &State| {
        let body = &certify(&world, state).bodies[0];
        body.energy.kinetic + body.energy.gravity + 0.5 * 9.81 * 0.5 * 0.113
    };
    let start = energy(&state);
    let (mut left, mut crossings, mut before) = (Vec::new(), Vec::new(), 0.0);
    for frame in 1..=150 {
        stepper.advance_frame(&world, &mut state);
        if frame % 30 == 0 {
            left.push(energy(&state) / start);
        }
        let z = certify(&world, &state).bodies[0].center_of_mass[2];
        if before * z < 0.0 {
            crossings.push((f64::from(frame) - z / (z - before)) / 30.0);
        }
        before = z;
    }
    let period = 2.0 * (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    (left, period)
}

#[test]
fn a_swinging_strip_keeps_its_energy_and_its_period() {
    let (left, period) = swing(1, Integrator::Bdf2);
    assert!(left[4] > 0.75 && left.iter().all(|e| *e < 1.0), "{left:?}");
    let (fine_left, fine) = swing(8, Integrator::Bdf2);
    assert!(fine_left.iter().all(|e| (0.6..1.05).contains(e)), "{fine_left:?}");
    assert!((period / fine - 1.0).abs() < 0.01, "{period} s in place of {fine}");
    let (euler, _) = swing(1, Integrator::Euler);
    assert!(euler[4] < 0.5 * left[4], "backward Euler damps: {euler:?}");
}

/// Where a small sheet that begins to swing is after 0.4 s, with `steps` steps a frame of all iterations.
fn converged(integrator: Integrator, steps: u32) -> Vec<Vec3> {
    let mut description = strip(material("polyester", 0.0), [0.3, 0.3], [4, 4], 20.0);
    description.solver.integrator = Some(integrator);
    (description.solver.steps_per_frame, description.solver.tolerance) = (steps, crate::Tolerance::Past(0.0));
    description.solver.iterations = 150;
    let (world, state) = run(description, 12);
    state.positions(&world, 0)
}

#[test]
fn halving_the_step_quarters_the_error_of_bdf2_and_halves_that_of_euler() {
    // 3.4 and 1.7 were found; both tend to 4 and 2.
    for (integrator, least, most) in [(Integrator::Bdf2, 2.9, 5.0), (Integrator::Euler, 1.5, 2.3)] {
        let [coarse, middle, fine] = [1, 2, 4].map(|steps| converged(integrator, steps));
        let apart = |a: &[Vec3], b: &[Vec3]| {
            let square: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
            (square / a.len() as f64).sqrt()
        };
        let ratio = apart(&coarse, &middle) / apart(&middle, &fine);
        assert!((least..most).contains(&ratio), "{integrator:?}: {ratio}");
    }
}

#[test]
fn a_resumed_run_and_other_threads_and_lanes_give_the_same_bits() {
    let description = || {
        let mut description = strip(material("denim", 0.5), [0.5, 0.5], [12, 12], 60.0);
        description.cloths_mut().next().unwrap().strain = Limit { min: Some(-0.05), max: Some(0.05) };
        description
    };
    let world = World::new(description()).unwrap();
    let whole = |threads: usize, lanes: LaneKind| {
        let mut stepper = Stepper::new(&world, threads).unwrap().with_lanes(lanes);
        let mut state = State::new(&world);
        for _ in 0..9 {
            stepper.advance_frame(&world, &mut state);
        }
        state
    };
    let first = whole(1, LaneKind::detect());
    for lanes in LaneKind::available() {
        let other = whole(3, lanes);
        assert_eq!(first.positions(&world, 0), other.positions(&world, 0), "{lanes:?}");
    }
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    for _ in 0..9 {
        let snapshot = state.snapshot(&world);
        state = State::restore(&world, &snapshot).unwrap();
        assert_eq!(state.snapshot(&world), snapshot);
        stepper.advance_frame(&world, &mut state);
    }
    assert_eq!(first.snapshot(&world), state.snapshot(&world));
}

#[test]
fn limits_hold_and_cloth_touches_as_ever() {
    let mut description = strip(material("polyester", 0.5), [0.5, 0.5], [16, 16], 80.0);
    description.cloths_mut().next().unwrap().strain = Limit { min: Some(-0.05), max: Some(0.05) };
    description.contact.thickness = 0.004;
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for _ in 0..45 {
        let report = stepper.advance_frame(&world, &mut state);
        let found = &certify(&world, &state).bodies[0];
        assert!(report.converged && found.strain.max_residual < 0.0101, "{}", found.strain.max_residual);
    }
}

#[test]
fn what_cannot_be_integrated_so_is_refused_by_name() {
    for scheme in [Scheme::Sweep, Scheme::Cycle] {
        let mut description = strip(material("denim", 0.5), [0.5, 0.5], [4, 4], 0.0);
        description.solver.scheme = scheme;
        let refused = World::new(description).unwrap_err();
        assert!(matches!(refused, WorldError::Solver { key: "integrator", .. }), "{refused}");
        assert!(refused.to_string().contains("need the scheme nearest"), "{refused}");
    }
}

#[test]
fn what_steps_do_not_carry_is_said() {
    let carried = |name: &str| {
        let description = strip(material(name, 0.5), [1.0, 1.0], [8, 8], 0.0);
        World::new(description).unwrap().carried_stiffness()
    };
    assert!(carried("jersey").is_empty());
    let paper = &carried("paper")[0];
    // 4 ρ ℓ² / (4/9 dt²) over Y / (1 − ν²), and an eighth of that; damping makes a vertex heavier by 1.1 %.
    let whole = 5e5 / (1.0 - 0.2 * 0.2);
    let expected = 1.011 * 4.0 * 0.08 * 9.0 / 4.0 * 900.0 / whole;
    assert!((paper.tension / expected - 1.0).abs() < 0.01, "{paper:?}, not {expected}");
    assert!((8.0 * paper.compression / paper.tension - 1.0).abs() < 1e-6, "{paper:?}");
}

#[test]
fn cloth_without_bending_beside_a_curved_shell_leaves_its_hinges_alone() {
    let flat = strip(Material { bend: 0.0.into(), ..material("denim", 0.5) }, [0.5, 0.5], [6, 6], 0.0);
    let mut description = strip(material("denim", 0.5), [0.5, 0.5], [4, 4], 0.0);
    let shell = description.cloths_mut().next().unwrap();
    shell.name = "shell".into();
    shell.mesh.positions.iter_mut().for_each(|p| p.y = 0.3 * p.x * p.x);
    shell.start.clone_from(&shell.mesh.positions);
    description.bodies.extend(flat.bodies);
    let (world, state) = run(description, 3);
    let energy = |body: usize| certify(&world, &state).bodies[body].energy.bend;
    assert!(energy(0).is_finite() && energy(1) == 0.0);
}
