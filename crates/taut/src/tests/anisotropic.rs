//! Limits along warp, weft and bias (W13).

use glam::{Vec2, Vec3};
use proptest::prelude::*;
use taut::{
    Cloth, Description, Direction, Limit, Material, Pin, Projection, Scheme, State, Stepper, Weave, World,
    certify,
    kernel::{
        real::{Real, add},
        strain::{Range, limit_strain_gradient, limit_strain_paper, strain_residual},
        svd2::rest_inverse,
        weave::WeaveRange,
    },
    mesh::{TriangleMesh, generate},
};

const SCHEMES: [Scheme; 6] =
    [Scheme::Sweep, Scheme::Jacobi, Scheme::Serial, Scheme::Nearest, Scheme::Cycle, Scheme::Paper];

fn upper(max: f32) -> Limit {
    Limit { min: None, max: Some(max) }
}

fn weave(direction: Direction) -> Weave {
    Weave { warp: upper(0.01), weft: upper(0.03), bias: upper(0.15), direction }
}

/// Two sheets, one with lower limits, held at a corner.
fn sheets(weave: impl Fn(Limit) -> Option<Weave>, scheme: Scheme, projection: Projection) -> Description {
    let mut bodies = Vec::new();
    for (name, strain) in [("upper", upper(0.02)), ("both", Limit { min: Some(-0.05), max: Some(0.05) })] {
        let mesh = generate::grid([0.6, 0.5], [9, 8], generate::Diagonals::Jittered, 3);
        let pins = vec![Pin { vertices: mesh.groups["corner:top-left"].clone(), ..Pin::default() }];
        let mut cloth = Cloth::new(name, mesh, super::alike());
        (cloth.strain, cloth.weave, cloth.pins) = (strain, weave(strain), pins);
        bodies.push(cloth.into());
    }
    let mut description = Description { bodies, ..Description::default() };
    description.solver.scheme = scheme;
    description.solver.projection = projection;
    description.solver.iterations = 100;
    description.solver.steps_per_frame = 4;
    description
}

/// Two sheets with limits of their own along warp, weft and bias.
pub(super) fn woven() -> Description {
    sheets(|_| Some(weave(Direction::U)), Scheme::Nearest, Projection::Gradient)
}

fn run(description: Description, threads: usize, frames: u32) -> (World, State) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
    for _ in 0..frames {
        stepper.advance_frame(&world, &mut state);
    }
    (world, state)
}

fn bits((world, state): &(World, State)) -> Vec<[u32; 3]> {
    (0..world.description().bodies.len())
        .flat_map(|b| state.positions(world, b))
        .map(|p| p.to_array().map(f32::to_bits))
        .collect()
}

#[test]
fn equal_limits_are_the_isotropic_ones_to_the_bit() {
    let equal = |limit| {
        let direction = Direction::Along(Vec3::new(1.0, 0.3, 0.7));
        Some(Weave { warp: limit, weft: limit, bias: limit, direction })
    };
    for scheme in SCHEMES {
        for projection in [Projection::Gradient, Projection::Paper] {
            let woven = run(sheets(equal, scheme, projection), 1, 4);
            let plain = run(sheets(|_| None, scheme, projection), 1, 4);
            assert_eq!(bits(&woven), bits(&plain), "{scheme:?} {projection:?}");
            let [a, b] = [&woven, &plain].map(|(world, state)| certify(world, state));
            assert_eq!(a, b, "{scheme:?} {projection:?}");
        }
    }
}

#[test]
fn texture_coordinates_and_vectors_agree() {
    for (by_uv, vector) in [(Direction::U, Vec3::X), (Direction::V, Vec3::NEG_Z)] {
        let positions = [by_uv, Direction::Along(vector)].map(|direction| {
            let (world, state) =
                run(sheets(|_| Some(weave(direction)), Scheme::Sweep, Projection::Gradient), 1, 3);
            state.positions(&world, 0)
        });
        let apart = positions[0].iter().zip(&positions[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(apart < 1e-4, "{by_uv:?}: {apart}");
    }
}

/// A strip of 0.6 m by 0.1 m that hangs along x by its whole end, its other end loaded.
fn strip(direction: Direction, scheme: Scheme) -> Description {
    let mesh = generate::grid([0.6, 0.1], [18, 3], generate::Diagonals::Alternating, 0);
    let held = (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].x == 0.0).collect();
    let material = Material { stretch: 2.0.into(), poisson: 0.0, damping: 5.0, ..super::alike() };
    let mut cloth = Cloth::new("strip", mesh, material);
    cloth.weave = Some(weave(direction));
    cloth.pins = vec![Pin { vertices: held, ..Pin::default() }];
    let mut description = Description {
        bodies: vec![cloth.into()],
        gravity: Vec3::new(100.0, 0.0, 0.0),
        ..Description::default()
    };
    description.solver.scheme = scheme;
    description.solver.tolerance = crate::Tolerance::Past(0.002);
    description
}

/// Mean strain of the middle third of the strip along its length, and the largest residual.
fn pulled(direction: Direction, scheme: Scheme, frames: u32) -> (f32, f64) {
    let mut description = strip(direction, scheme);
    if scheme == Scheme::Nearest {
        // A single step stops a little before the limit, which is loose here and the cloth soft.
        description.solver.steps_per_frame = 4;
    }
    let (world, state) = run(description, 2, frames);
    let (rest, x) =
        (&world.description().bodies[0].as_cloth().unwrap().mesh.positions, state.positions(&world, 0));
    let row = |at: f32| {
        let row = (0..x.len()).filter(|&v| (rest[v].x - at).abs() < 1e-4);
        row.fold((0.0, 0.0), |(sum, count), v| (sum + x[v].x, count + 1.0))
    };
    let [(low, count), (high, _)] = [row(0.2), row(0.4)];
    ((high - low) / count / 0.2 - 1.0, certify(&world, &state).bodies[0].strain.max_residual)
}

#[test]
fn a_strip_stretches_to_the_limit_of_the_direction_that_it_is_pulled_in() {
    for (along, limit) in [(Vec3::X, 0.01), (Vec3::Z, 0.03), (Vec3::new(1.0, 0.0, 1.0), 0.15)] {
        let (strain, residual) = pulled(Direction::Along(along), Scheme::Nearest, 30);
        println!("{along}: {strain:.4} of {limit}, residual {residual:.5}");
        assert!(residual <= 0.002, "{along}: residual {residual}");
        assert!((strain - limit).abs() < 0.002, "{along}: {strain}");
    }
}

#[test]
fn no_scheme_lets_a_strip_stretch_further() {
    for scheme in [Scheme::Sweep, Scheme::Serial, Scheme::Cycle] {
        for (along, limit) in [(Vec3::X, 0.01), (Vec3::Z, 0.03), (Vec3::new(1.0, 0.0, 1.0), 0.15)] {
            let (strain, residual) = pulled(Direction::Along(along), scheme, 10);
            println!("{scheme:?} {along}: {strain:.4} of {limit}, residual {residual:.5}");
            assert!(residual <= 0.002, "{scheme:?} {along}: residual {residual}");
            assert!(strain < limit + 0.002, "{scheme:?} {along}: {strain}");
        }
    }
}

type Triangle<R> = [[R; 3]; 3];

fn project<R: Real>(
    x: &Triangle<R>,
    w: [R; 3],
    rest: [R; 3],
    limits: WeaveRange<R>,
    projection: Projection,
) -> Triangle<R> {
    let one = R::splat(1.0);
    let projected = match projection {
        Projection::Gradient => limit_strain_gradient(x, w, rest, limits, one),
        Projection::Paper => limit_strain_paper(x, w, rest, limits, one),
    };
    projected.map_or(*x, |p| [0, 1, 2].map(|i| add(x[i], p.moves[i])))
}

fn limits(turn: f64, two_sided: bool) -> WeaveRange<f64> {
    let range = |by: f64| Range { min: if two_sided { 1.0 - by } else { 0.0 }, max: 1.0 + by };
    WeaveRange { warp: range(0.01), weft: range(0.03), bias: range(0.15), axis: [turn.cos(), turn.sin()] }
}

#[test]
fn one_projection_lands_where_the_direction_stays() {
    // Rest triangles that are symmetric to the pull: its direction stays.
    let rest = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.9, 0.0]];
    let (inverse, _) = rest_inverse(rest).unwrap();
    for (turn, limit) in [(0.0, 1.01), (180.0f64, 1.03), (90.0, 1.15)] {
        let limits = limits(turn.to_radians(), false);
        // Narrow enough for threads at 45 degrees to the pull.
        let pulled = rest.map(|[x, y, z]| [1.3 * x, 0.8 * y, z]);
        for projection in [Projection::Gradient, Projection::Paper] {
            let x = project(&pulled, [1.0; 3], inverse, limits, projection);
            let width = x[1][0] - x[0][0];
            assert!((width - limit).abs() < 1e-5, "{projection:?} {turn}: {width}, not {limit}");
            assert!(strain_residual(&x, inverse, limits) < 1e-5);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    /// Along the gradient the direction turns while a stretch is brought to its limit, and the limit with it;
    /// and where the lower limit of one direction is in the way of the upper one of another, one projection
    /// mends one of them. So it takes several.
    #[test]
    fn any_triangle_ends_within_its_limits(
        x in prop::array::uniform3(prop::array::uniform3(-1.0f64..1.0)),
        apex in (0.2f64..0.8, 0.5f64..1.2),
        w in prop::array::uniform3(0.3f64..3.0),
        turn in -3.2f64..3.2,
        two_sided: bool,
    ) {
        let (inverse, _) = rest_inverse([[0.0; 3], [1.0, 0.0, 0.0], [apex.0, apex.1, 0.0]]).unwrap();
        let limits = limits(turn, two_sided);
        for projection in [Projection::Gradient, Projection::Paper] {
            let mut x = x;
            let mut residuals = Vec::new();
            for _ in 0..80 {
                x = project(&x, w, inverse, limits, projection);
                residuals.push(strain_residual(&x, inverse, limits));
            }
            prop_assert!(residuals[9] < 0.01 && residuals[79] < 1e-4, "{projection:?} {residuals:?}");
        }
    }
}

#[test]
fn what_cannot_be_woven_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Cloth)| {
        let mut description = sheets(|_| Some(weave(Direction::U)), Scheme::Sweep, Projection::Gradient);
        change(description.bodies[0].as_cloth_mut().unwrap());
        World::new(description).map(|_| ()).unwrap_err().to_string()
    };
    let set = |weave: Weave| move |cloth: &mut Cloth| cloth.weave = Some(weave);
    let message = refused(&set(weave(Direction::Along(Vec3::Y))));
    assert!(message.contains("face 0") && message.contains("normal"), "{message}");
    let message = refused(&set(weave(Direction::Along(Vec3::ZERO))));
    assert!(message.contains("length"), "{message}");
    let message = refused(&set(Weave { bias: Limit::default(), ..weave(Direction::U) }));
    assert!(message.contains("all have a max"), "{message}");
    let message = refused(&|cloth| cloth.mesh.uvs = None);
    assert!(message.contains("no texture coordinates"), "{message}");
    let message = refused(&|cloth| flatten_uv(&mut cloth.mesh, 5));
    assert!(message.contains("face 5"), "{message}");
}

fn flatten_uv(mesh: &mut TriangleMesh, face: usize) {
    mesh.uvs.as_mut().unwrap()[face] = [Vec2::ZERO, Vec2::ONE, Vec2::ONE];
}
