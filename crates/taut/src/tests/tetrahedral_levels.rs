//! Tetrahedral levels: from lattices and from the levels of the surface.

use glam::Vec3;
use taut::{
    LevelKind,
    hierarchy::solid::{SolidLevels, levels_of},
    mesh::{
        generate::{self, Generator},
        stuff::{StuffOptions, stuff},
        tessellate::quality,
        tetrahedra::TetrahedronMesh,
    },
};

fn least_quality(mesh: &TetrahedronMesh) -> f64 {
    let at = |v: u32| mesh.positions[v as usize].as_dvec3();
    mesh.tetrahedra.iter().map(|t| quality(t.map(at))).fold(f64::INFINITY, f64::min)
}

#[test]
fn probe() {
    let made = |g: Generator, spacing: f32| {
        let surface = g.generate().unwrap();
        let mesh = stuff(&surface, &StuffOptions { spacing }).unwrap().mesh;
        (surface, mesh)
    };
    let (s, m) = made(Generator::Torus { major: 0.5, minor: 0.2, segments: [60, 30] }, 0.03);
    let (cs, c) = made(Generator::Creature { length: 1.0, triangles: 20000 }, 0.012);
    let bar = generate::bar(Vec3::new(0.8, 0.2, 0.2), [32, 8, 8]).unwrap();
    for (name, mesh, of) in
        [("torus", &m, Some((&s, 0.03))), ("bar", &bar, None), ("creature", &c, Some((&cs, 0.012)))]
    {
        for kind in [LevelKind::Lattice, LevelKind::Surface] {
            let start = std::time::Instant::now();
            let SolidLevels { meshes, notes } = levels_of(mesh, of, kind);
            println!("{name} {} {kind:?} {:?} {notes:?}", mesh.tetrahedra.len(), start.elapsed());
            for level in &meshes {
                println!(
                    "  {} {} {:.3}",
                    level.positions.len(),
                    level.tetrahedra.len(),
                    least_quality(level)
                );
            }
        }
    }
}
