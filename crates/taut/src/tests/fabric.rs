//! Named fabrics in the tests of textile laboratories: bending length, drape, extension, and fits to these.

use glam::{DVec2, Vec3};
use taut::{
    Material,
    fabric::{
        Cut, DISC, Pull, SPECIMEN, Target, cantilever, disc, drape, drape_of, extension, fit, hanging,
        published_drape,
    },
    kernel::random::Random,
    mesh::{TriangleMesh, generate::triangulate},
};

fn named(name: &str) -> Material {
    Material::named(name).unwrap()
}

#[test]
fn bending_lengths_are_those_of_the_rigidity() {
    for name in ["denim", "silk", "leather"] {
        for cut in Cut::ALL {
            let found = cantilever(&named(name), cut).unwrap();
            let off = found.bending_length / found.expected - 1.0;
            println!("{name}, {}: {:.4} m, {:+.2} %", cut.name(), found.bending_length, 100.0 * off);
            assert!(off.abs() < 0.05, "{name}, {}: {found:?}", cut.name());
        }
    }
}

#[test]
fn strips_that_hang_or_are_pulled_have_the_moduli_of_their_cut() {
    for name in ["polyester", "denim", "paper"] {
        let material = named(name);
        for cut in Cut::ALL {
            let [young, poisson] = cut.stretching(&material);
            let hung = hanging(&material, cut).unwrap();
            assert!((hung.strain / hung.expected[0] - 1.0).abs() < 0.02, "{name}: {hung:?}");
            assert!((hung.narrowing - poisson).abs() < 0.02, "{name}: {hung:?}");
            let curve = extension(&material, Pull::Along(cut), 0.02, 2).unwrap();
            for point in &curve {
                assert!(
                    (point.force / (young * point.strain) - 1.0).abs() < 0.05,
                    "{name} {cut:?}: {curve:?}"
                );
            }
        }
    }
}

#[test]
fn a_stiffness_is_found_that_bends_as_measured() {
    let fitted = fit(&named("wool"), Target::BendingLength(Cut::Weft, 0.02), 8, 1).unwrap();
    assert!(fitted.met && (fitted.reached - 0.02).abs() < 2e-4, "{fitted:?}");
    let Material { bend, .. } = named("wool");
    let ratio = fitted.material.bend.warp / bend.warp;
    assert!((fitted.material.bend.weft / bend.weft / ratio - 1.0).abs() < 1e-5, "{fitted:?}");
}

#[test]
#[ignore = "full tier: long"]
fn a_stiffness_is_found_that_drapes_as_measured() {
    let fitted = fit(&named("cotton"), Target::Drape(0.6), 8, 2).unwrap();
    assert!(fitted.met && fitted.factor < 1.0, "{fitted:?}");
    // Nothing drapes to more than all of the specimen's shadow.
    let fitted = fit(&named("paper"), Target::Drape(0.02), 4, 2).unwrap();
    assert!(!fitted.met || (fitted.reached - 0.02).abs() < 0.01, "{fitted:?}");
}

/// A specimen of which what hangs over is a Delaunay mesh of random points.
fn irregular(rings: u32) -> (TriangleMesh, f64) {
    let regular = disc(rings);
    let cell = (SPECIMEN - DISC) / (f64::from(rings) + 0.5);
    let held = DISC + 0.5 * cell;
    let flat = |p: &Vec3| DVec2::new(f64::from(p.x), f64::from(p.z));
    let on_edge = |p: &DVec2| p.length() > SPECIMEN * (1.0 - 1e-5);
    let mut points: Vec<DVec2> = regular.positions.iter().map(flat).collect();
    points.retain(|p| p.length() < held * (1.0 + 1e-5) || on_edge(p));
    let mut random = Random::new(3, 0);
    let mut unit = || f64::from(random.unit());
    for _ in 0..60 * rings * rings * 10 {
        let p = DVec2::from_angle(std::f64::consts::TAU * unit()) * SPECIMEN * unit().sqrt();
        let apart = |q: &DVec2| q.distance_squared(p) > (0.8 * cell).powi(2);
        if p.length() > held && p.length() < SPECIMEN - 0.4 * cell && points.iter().all(apart) {
            points.push(p);
        }
    }
    // The triangulation works in cells.
    let scaled: Vec<DVec2> = points.iter().map(|p| *p / cell).collect();
    let height = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| scaled[v as usize]);
        (b - a).perp_dot(c - a).abs()
    };
    let triangles = triangulate(&scaled).into_iter().filter(|t| height(t) > 1e-3).map(|[a, b, c]| [a, c, b]);
    let triangles = triangles.collect();
    let positions = points.iter().map(|p| Vec3::new(p.x as f32, 0.0, p.y as f32)).collect();
    (TriangleMesh { positions, triangles, ..TriangleMesh::default() }, held)
}

#[test]
#[ignore = "full tier: long"]
fn drapes_are_as_published_and_do_not_depend_on_the_mesh() {
    for name in ["cotton", "silk", "denim"] {
        let material = named(name);
        let ([least, most], _) = published_drape(name).unwrap();
        let mut found: Vec<f64> =
            [16, 22].iter().map(|&rings| drape(&material, rings, 2).unwrap().coefficient).collect();
        let (mesh, held) = irregular(16);
        found.push(drape_of(&material, mesh, held, 2).unwrap().coefficient);
        println!("{name}: {found:?}");
        for coefficient in &found {
            assert!((least..=most).contains(coefficient), "{name}: {found:?}");
        }
        let (low, high) = found.iter().fold((f64::MAX, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
        assert!(high - low < 0.03, "{name}: {found:?}");
    }
}
