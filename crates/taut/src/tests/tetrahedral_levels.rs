//! Tetrahedral levels, from lattices and from the levels of the surface: shapes, sizes, transfer, the same
//! bits, and solids that are hard to coarsen.

use glam::{DVec3, Vec3};
use proptest::prelude::*;
use taut::{
    Description, LevelKind, Limit, Scheme, Solid, SolidMaterial, State, Stepper, World,
    hierarchy::solid::{SolidLevels, levels_of},
    kernel::random::Random,
    mesh::{
        TriangleMesh,
        generate::{self, Generator},
        locate::transfer,
        stuff::{StuffOptions, stuff},
        tessellate::{TessellateError, quality, tessellate},
        tetrahedra::{EDGES, TetrahedronMesh},
    },
};

const KINDS: [LevelKind; 2] = [LevelKind::Lattice, LevelKind::Surface];

fn made(generator: Generator) -> TriangleMesh {
    generator.generate().unwrap()
}

fn stuffed(surface: &TriangleMesh, spacing: f32) -> TetrahedronMesh {
    stuff(surface, &StuffOptions { spacing }).unwrap().mesh
}

fn both(mut a: TriangleMesh, b: TriangleMesh, by: Vec3) -> TriangleMesh {
    let first = a.positions.len() as u32;
    a.positions.extend(b.positions.iter().map(|x| *x + by));
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

fn corners(mesh: &TetrahedronMesh, t: &[u32; 4]) -> [DVec3; 4] {
    t.map(|v| mesh.positions[v as usize].as_dvec3())
}

/// Smallest quality, and smallest dihedral angle \[°\].
fn worst(mesh: &TetrahedronMesh) -> [f64; 2] {
    let mut worst = [f64::INFINITY; 2];
    for t in &mesh.tetrahedra {
        let x = corners(mesh, t);
        worst[0] = worst[0].min(quality(x));
        for [i, j] in EDGES {
            let others: Vec<usize> = (0..4).filter(|k| *k != i && *k != j).collect();
            let axis = (x[j] - x[i]).normalize();
            let [p, q] = [others[0], others[1]].map(|k| (x[k] - x[i]).reject_from(axis));
            worst[1] = worst[1].min(p.angle_between(q).to_degrees());
        }
    }
    worst
}

/// Volumes, shapes, and the transfer from `finest`, whose tetrahedra have this spacing \[m\].
fn assert_sound(name: &str, level: &TetrahedronMesh, finest: &TetrahedronMesh, spacing: f32) {
    assert!((0..level.tetrahedra.len()).all(|t| level.volume(t) > 0.0), "{name}");
    let [least, angle] = worst(level);
    assert!(least >= 0.1 && angle >= 5.0, "{name}: quality {least}, {angle}°");
    let linear = |x: Vec3| 2.0 * x.x - 3.0 * x.y + 0.5 * x.z;
    let rows = transfer(level, &finest.positions);
    assert_eq!(rows.len(), finest.positions.len(), "{name}");
    let mut inside = 0;
    for ((corners, weights), x) in rows.iter().zip(&finest.positions) {
        assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)), "{name}: {weights:?}");
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}: {weights:?}");
        let places = corners.map(|v| level.positions[v as usize]);
        let at: Vec3 = (0..4).map(|k| places[k] * weights[k]).sum();
        assert!(at.distance(*x) <= spacing, "{name}: {at} {x}");
        if weights.iter().all(|w| *w > 0.0) {
            let field: f32 = (0..4).map(|k| linear(places[k]) * weights[k]).sum();
            assert!((field - linear(*x)).abs() < 1e-5, "{name}: {field} at {x}");
            inside += 1;
        }
    }
    assert!(2 * inside > finest.positions.len(), "{name}: {inside} of {} inside", finest.positions.len());
}

#[test]
fn levels_of_both_kinds_are_sound() {
    let torus = || made(Generator::Torus { major: 0.5, minor: 0.2, segments: [60, 30] });
    let ball = made(Generator::Sphere { radius: 0.25, frequency: 12 });
    let cases = [
        ("torus", torus(), 0.04),
        ("torus and ball", both(torus(), ball, Vec3::Y), 0.04),
        ("bunny", made(Generator::Bunny { height: 0.5, triangles: 8000 }), 0.016),
        ("creature", made(Generator::Creature { length: 0.8, triangles: 12000 }), 0.011),
    ];
    for (name, surface, spacing) in cases {
        let finest = stuffed(&surface, spacing);
        for kind in KINDS {
            let SolidLevels { meshes, notes } = levels_of(&finest, Some((&surface, spacing)), kind);
            let name = format!("{name}, {kind:?}");
            assert!(kind == LevelKind::Lattice || !meshes.is_empty() && notes.is_empty(), "{name} {notes:?}");
            let mut finer = finest.tetrahedra.len();
            for (k, level) in meshes.iter().enumerate() {
                assert_sound(&name, level, &finest, spacing * 2f32.powi(k as i32 + 1));
                let ratio = finer as f64 / level.tetrahedra.len() as f64;
                println!("{name}: {finer} to {}: {:?}", level.tetrahedra.len(), worst(level));
                assert!((5.0..14.0).contains(&ratio), "{name}: {finer} to {}", level.tetrahedra.len());
                finer = level.tetrahedra.len();
            }
            // The lattice loses the spines of the creature, and has no level for it.
            assert_eq!(meshes.is_empty(), name.starts_with("creature, Lattice"), "{name}");
        }
    }
}

#[test]
fn levels_have_the_same_bits_at_any_number_of_threads() {
    let bunny = made(Generator::Bunny { height: 0.5, triangles: 8000 });
    let finest = stuffed(&bunny, 0.016);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| levels_of(&finest, None, LevelKind::Surface))
    };
    let one = with(1);
    assert!(!one.meshes.is_empty());
    assert!([2, 5].iter().all(|&threads| with(threads) == one));
}

/// An unstructured mesh, as files have them: no lattice is anywhere in it.
#[test]
fn meshes_without_a_lattice_have_levels() {
    let surface = made(Generator::Duck { length: 0.6, triangles: 3000 });
    let finest = tessellate(&surface, 0.02).unwrap();
    let [least, angle] = worst(&finest);
    assert!(least >= 0.1 && angle >= 5.0, "{least} {angle}");
    // It keeps the vertices of the surface.
    let at = |mesh: &TriangleMesh| mesh.positions.iter().fold(Vec3::ZERO, |sum, x| sum + *x);
    let own = finest.surface();
    assert_eq!(own.positions.len(), surface.positions.len());
    assert!((at(&own) - at(&surface)).length() < 1e-3 * own.positions.len() as f32 * 0.02);
    let levels = levels_of(&finest, None, LevelKind::Surface);
    assert!(!levels.meshes.is_empty() && levels.notes.is_empty(), "{:?}", levels.notes);
    assert_sound("duck", &levels.meshes[0], &finest, 0.08);
}

#[test]
fn surfaces_that_cannot_be_filled_are_refused_with_a_reason() {
    let ball = made(Generator::Sphere { radius: 0.5, frequency: 6 });
    let mut open = ball.clone();
    open.triangles.truncate(open.triangles.len() - 1);
    assert_eq!(tessellate(&open, 0.1), Err(TessellateError::Open { edges: 3 }));
    let crossing = both(ball.clone(), ball.clone(), Vec3::X * 0.3);
    assert!(matches!(tessellate(&crossing, 0.1), Err(TessellateError::Intersects { .. })));
    assert!(matches!(tessellate(&ball, 1e-9), Err(TessellateError::TooFine { .. })));
    for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(tessellate(&ball, spacing), Err(TessellateError::Spacing { .. })));
    }
    let mut nowhere = ball.clone();
    nowhere.positions[3].x = f32::NAN;
    assert!(matches!(tessellate(&nowhere, 0.1), Err(TessellateError::Mesh(_))));
    let mut flat = ball;
    flat.positions.iter_mut().for_each(|x| x.y = 0.0);
    assert!(tessellate(&flat, 0.1).is_err());
    assert!(tessellate(&TriangleMesh::default(), 0.1).is_err());
}

/// Levels of both kinds are made of `mesh` without a panic, and what there is can be simulated.
fn assert_usable(mesh: TetrahedronMesh) -> usize {
    let mut count = 0;
    for kind in KINDS {
        let mut solid = Solid::new("solid", mesh.clone(), SolidMaterial::named("silicone").unwrap());
        solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
        solid.start.iter_mut().for_each(|x| x.x *= 1.2);
        let notes = solid.make_levels(kind, None);
        assert!(notes.len() <= solid.levels.len(), "{notes:?}");
        count += solid.levels.len();
        for level in &solid.levels {
            assert!((0..level.tetrahedra.len()).all(|t| level.volume(t) > 0.0));
            assert!(level.tetrahedra.len() < mesh.tetrahedra.len());
        }
        let mut description = Description { bodies: vec![solid.into()], ..Description::default() };
        (description.solver.scheme, description.solver.iterations) = (Scheme::Cycle, 20);
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
        stepper.advance_frame(&world, &mut state);
        assert!(state.positions(&world, 0).iter().all(|x| x.is_finite()));
    }
    count
}

#[test]
fn tiny_and_thin_solids_have_fewer_levels() {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
    let tetrahedra = vec![[0, 1, 2, 3], [1, 2, 3, 4]];
    let alone = TetrahedronMesh { positions: positions[..4].to_vec(), tetrahedra: tetrahedra[..1].to_vec() };
    assert_eq!(assert_usable(alone), 0);
    assert_eq!(assert_usable(TetrahedronMesh { positions, tetrahedra }), 0);
    assert_eq!(assert_usable(generate::bar(Vec3::ONE, [1, 1, 1]).unwrap()), 0);
    // A plate of one cell, which a lattice of twice the spacing does not hold.
    assert_usable(generate::bar(Vec3::new(1.0, 1.0, 0.025), [40, 40, 1]).unwrap());
    assert_usable(generate::bar(Vec3::new(4.0, 0.05, 0.05), [160, 2, 2]).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Bars with cells of random size out of which pieces are broken: holes, several components, tetrahedra
    /// that hang together by an edge or a vertex alone.
    #[test]
    fn broken_solids_make_no_trouble(
        cells in [4u32..16, 2u32..9, 2u32..9],
        kept in 0.3f32..1.0,
        shake in 0.0f32..0.2,
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed, 0);
        let mut mesh = generate::bar(Vec3::from(cells.map(|n| 0.1 * n as f32)), cells).unwrap();
        for x in &mut mesh.positions {
            *x += 0.1 * shake * (Vec3::new(random.unit(), random.unit(), random.unit()) - 0.5);
        }
        let fits: Vec<bool> =
            (0..mesh.tetrahedra.len()).map(|t| mesh.volume(t) > 1e-6 && random.unit() < kept).collect();
        let mut fits = fits.into_iter();
        mesh.tetrahedra.retain(|_| fits.next() == Some(true));
        let mut place = vec![u32::MAX; mesh.positions.len()];
        let mut positions = Vec::new();
        for v in mesh.tetrahedra.iter_mut().flatten() {
            if place[*v as usize] == u32::MAX {
                place[*v as usize] = positions.len() as u32;
                positions.push(mesh.positions[*v as usize]);
            }
            *v = place[*v as usize];
        }
        mesh.positions = positions;
        prop_assume!(!mesh.tetrahedra.is_empty());
        assert_usable(mesh);
    }
}
