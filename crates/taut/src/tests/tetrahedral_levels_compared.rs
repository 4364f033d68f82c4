//! Which tetrahedral levels converge faster: lattices, or those made from the levels of the surface. Solids
//! start stretched by 30 % and are brought within ±5 % in one step; what counts is iterations of the finest
//! level.

use glam::Vec3;
use taut::{
    Description, LevelKind, Limit, Pin, Scheme, Solid, SolidMaterial, State, Stepper, World, certify,
    mesh::{
        TriangleMesh,
        generate::{self, Generator},
        stuff::{StuffOptions, stuff},
        tessellate::tessellate,
        tetrahedra::TetrahedronMesh,
    },
};

/// Most iterations of the finest level.
const MOST: u32 = 2000;

const KINDS: [LevelKind; 2] = [LevelKind::Lattice, LevelKind::Surface];

/// A solid, and the surface and the spacing \[m\] that it was stuffed into.
struct Case {
    name: &'static str,
    mesh: TetrahedronMesh,
    skin: Option<(TriangleMesh, f32)>,
    /// Levels of a bar as scenes have them.
    halved: Vec<TetrahedronMesh>,
}

fn stuffed(name: &'static str, generator: Generator, tetrahedra: usize) -> Case {
    let surface = generator.generate().unwrap();
    let options = StuffOptions::for_count(&surface, tetrahedra).unwrap();
    let mesh = stuff(&surface, &options).unwrap().mesh;
    Case { name, mesh, skin: Some((surface, options.spacing)), halved: vec![] }
}

/// What the levels of a solid are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Levels {
    None,
    Halved,
    Made(LevelKind),
}

/// Iterations of the finest level, whether it came within its limits, and the numbers of tetrahedra of the
/// coarser levels.
fn run(case: &Case, levels: Levels, scheme: Scheme) -> (u32, bool, Vec<usize>) {
    let mut solid = Solid::new("solid", case.mesh.clone(), SolidMaterial::named("silicone").unwrap());
    solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    solid.start.iter_mut().for_each(|x| x.x *= 1.3);
    let left = solid.mesh.positions.iter().fold(f32::INFINITY, |left, x| left.min(x.x));
    if !case.halved.is_empty() {
        let end = |v: &u32| solid.mesh.positions[*v as usize].x <= left;
        let vertices = (0..solid.mesh.positions.len() as u32).filter(end).collect();
        solid.pins = vec![Pin { vertices, ..Pin::default() }];
    }
    match levels {
        Levels::None => {}
        Levels::Halved => solid.levels = case.halved.clone(),
        Levels::Made(kind) => {
            solid.skin = case.skin.as_ref().map(|(surface, _)| surface.clone());
            let notes = solid.make_levels(kind, case.skin.as_ref().map(|(_, spacing)| *spacing));
            assert!(notes.is_empty(), "{notes:?}");
        }
    }
    let sizes = solid.levels.iter().map(|level| level.tetrahedra.len()).collect();
    let mut description =
        Description { bodies: vec![solid.into()], gravity: Vec3::ZERO, ..Description::default() };
    let solver = &mut description.solver;
    (solver.scheme, solver.steps_per_frame, solver.iterations) = (scheme, 1, MOST);
    solver.passes = if scheme == Scheme::Paper { MOST } else { 0 };
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let iterations = stepper.advance_frame(&world, &mut state).iterations;
    (iterations, certify(&world, &state).bodies[0].strain.max_residual <= 1e-5, sizes)
}

fn torus(tetrahedra: usize) -> Case {
    stuffed("torus", Generator::Torus { major: 0.2, minor: 0.08, segments: [96, 40] }, tetrahedra)
}

#[test]
fn levels_from_the_surface_converge_no_slower() {
    let case = torus(17300);
    let iterations = |levels| run(&case, levels, Scheme::Cycle);
    let (alone, [lattice, surface]) =
        (iterations(Levels::None), KINDS.map(|kind| iterations(Levels::Made(kind))));
    println!("{alone:?} {lattice:?} {surface:?}");
    assert!(surface.1 && surface.0 <= lattice.0, "{surface:?} {lattice:?}");
    assert!(3 * surface.0 < alone.0, "{surface:?} {alone:?}");
}

/// The table of the book, but for what does not converge there. Takes a minute.
#[test]
#[ignore = "takes a minute: a table of the book"]
fn tetrahedral_levels_table() {
    let bar = |cells| generate::bar(Vec3::new(0.8, 0.2, 0.2), cells).unwrap();
    let bunny = Generator::Bunny { height: 0.5, triangles: 6000 }.generate().unwrap();
    let cases = [
        Case {
            name: "bar",
            mesh: bar([32, 8, 8]),
            skin: None,
            halved: [[16, 4, 4], [8, 2, 2], [4, 1, 1]].map(bar).to_vec(),
        },
        torus(17300),
        Case { name: "bunny", mesh: tessellate(&bunny, 0.015).unwrap(), skin: None, halved: vec![] },
    ];
    for (scheme, cases) in [(Scheme::Cycle, &cases[..]), (Scheme::Paper, &cases[..2])] {
        for case in cases {
            let told = |levels| {
                let (iterations, is_within, sizes) = run(case, levels, scheme);
                let count = case.mesh.tetrahedra.len();
                println!("{scheme:?}, {} of {count}, {levels:?} {sizes:?}: {iterations}", case.name);
                assert!(is_within, "{scheme:?}, {}, {levels:?}", case.name);
                iterations
            };
            let [lattice, surface] = KINDS.map(|kind| told(Levels::Made(kind)));
            if case.halved.is_empty() {
                assert!(surface < lattice, "{scheme:?}, {}: {surface} {lattice}", case.name);
            } else {
                let halved = told(Levels::Halved);
                assert!(halved < lattice.min(surface), "{scheme:?}: {halved} {lattice} {surface}");
            }
        }
    }
}
