use glam::Vec3;

use super::*;
use crate::{
    contact::{
        candidates::{Candidates, Pair},
        continuous::Kind,
        guard::GUARDED_GAP,
    },
    kernel::random::Random,
    mesh::{
        TriangleMesh,
        generate::{Diagonals, Generator, grid},
    },
};

const THICKNESS: f32 = 0.01;

fn surface(mesh: &TriangleMesh) -> Surface {
    let mut surface = Surface::new(mesh.triangles.clone());
    surface.radius.fill(0.5 * THICKNESS);
    surface.rest = mesh.positions.clone();
    surface
}

fn quads(x: impl IntoIterator<Item = Vec3>) -> Vec<Quad> {
    x.into_iter().map(|p| [p.x, p.y, p.z, 1.0]).collect()
}

/// A sheet of 40×40 cells of 25 mm.
fn sheet(diagonals: Diagonals) -> TriangleMesh {
    grid([1.0, 1.0], [40, 40], diagonals, 7)
}

/// How many patches are safe on the way from `old` to `x`, and how many there are.
fn safe(mesh: &TriangleMesh, old: &[Quad], x: &[Quad]) -> [usize; 2] {
    let (surface, threads) = (surface(mesh), Threads::new(1).unwrap());
    let mut patches = Patches::new(&surface, old);
    patches.look(&threads, &surface, old, x, (2.2, Claim::NothingTouches));
    let count = patches.all.len();
    [patches.safe[..count].iter().filter(|safe| **safe).count(), count]
}

#[test]
fn sheets_that_hardly_bend_are_safe_however_they_move_and_folded_ones_are_not() {
    for diagonals in [Diagonals::Alternating, Diagonals::Delaunay] {
        let mesh = sheet(diagonals);
        let turned = mesh.positions.iter().map(|p| Vec3::new(3.0 - p.z, p.x + 0.02 * (9.0 * p.z).sin(), p.y));
        let (flat, moved) = (quads(mesh.positions.iter().copied()), quads(turned));
        let [count, all] = safe(&mesh, &flat, &flat);
        assert_eq!(count, all);
        // A quarter turn within a step takes no part nearer to another in the end, but on the way.
        assert_eq!(safe(&mesh, &moved, &moved), [all, all]);
        let crushed = quads(mesh.positions.iter().map(|p| Vec3::new(0.3 * p.x, 0.0, p.z)));
        assert_eq!(safe(&mesh, &flat, &crushed)[0], 0);
        let folded = quads(mesh.positions.iter().map(|p| match p.x - 0.5 {
            past if past > 0.0 => Vec3::new(0.5 - past, 0.02, p.z),
            _ => *p,
        }));
        let [count, _] = safe(&mesh, &folded, &folded);
        assert!(count > 0 && count < all, "{count} of {all}");
    }
}

#[test]
fn holes_slits_and_hollow_outlines_are_not_safe_and_round_ones_are() {
    let none = |_: &Vec3| false;
    let cut = |gone: &dyn Fn(&Vec3) -> bool| {
        let mut mesh = sheet(Diagonals::Alternating);
        let middle = |t: &[u32; 3]| t.iter().map(|&v| mesh.positions[v as usize]).sum::<Vec3>() / 3.0;
        let kept: Vec<[u32; 3]> = mesh.triangles.iter().copied().filter(|t| !gone(&middle(t))).collect();
        mesh.triangles = kept;
        let flat = quads(mesh.positions.iter().copied());
        safe(&mesh, &flat, &flat)
    };
    let [whole, all] = cut(&none);
    assert_eq!(whole, all);
    let [hole, all] = cut(&|p| (0.45..0.55).contains(&p.x) && (0.45..0.55).contains(&p.z));
    assert!(hole > all / 2 && hole < all, "{hole} of {all}");
    let [ell, all] = cut(&|p| p.x > 0.5 && p.z > 0.5);
    assert!(ell > all / 2 && ell < all, "{ell} of {all}");
    let disc = Generator::Disc { radius: 0.5, rings: 20 }.generate().unwrap();
    let flat = quads(disc.positions.iter().copied());
    let [round, all] = safe(&disc, &flat, &flat);
    assert_eq!(round, all);
    // A slit: vertices of one side are doubled.
    let mut mesh = sheet(Diagonals::Alternating);
    let count = mesh.positions.len() as u32;
    let on = |p: &Vec3| (p.x - 0.5).abs() < 1e-4 && p.z < 0.6;
    let doubled: Vec<Vec3> = mesh.positions.clone();
    mesh.positions.extend(doubled);
    for t in &mut mesh.triangles {
        let right = t.iter().map(|&v| mesh.positions[v as usize].x).sum::<f32>() > 1.5;
        t.iter_mut().filter(|v| right && on(&mesh.positions[**v as usize])).for_each(|v| *v += count);
    }
    let flat = quads(mesh.positions.iter().copied());
    let [slit, all] = safe(&mesh, &flat, &flat);
    assert!(slit > 0 && slit < all, "{slit} of {all}");
    // Curved at rest: no pattern.
    let ball = Generator::Sphere { radius: 0.5, frequency: 8 }.generate().unwrap();
    assert_eq!(
        safe(&ball, &quads(ball.positions.iter().copied()), &quads(ball.positions.iter().copied()))[0],
        0
    );
}

/// All pairs without a common vertex.
fn all_pairs(surface: &Surface) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for &first in &surface.vertices {
        let others = (0..).zip(&surface.triangles).filter(|(_, t)| !t.contains(&first));
        pairs.extend(others.map(|(second, _)| Pair { kind: Kind::VertexTriangle, first, second }));
    }
    for (first, e) in (0u32..).zip(&surface.edges) {
        let others = (0u32..).zip(&surface.edges).skip(first as usize + 1);
        let others = others.filter(|(_, f)| !f.contains(&e[0]) && !f.contains(&e[1]));
        pairs.extend(others.map(|(second, _)| Pair { kind: Kind::EdgeEdge, first, second }));
    }
    pairs
}

#[test]
fn what_is_left_out_stays_as_far_apart_as_it_must_on_the_whole_way() {
    let threads = Threads::new(2).unwrap();
    let mut random = Random::new(3, 0);
    for round in 0..6 {
        let mesh = grid([0.5, 0.5], [14, 14], Diagonals::Delaunay, round);
        let surface = surface(&mesh);
        // Waves and folds of any strength.
        let mut wave = || [(); 6].map(|()| 2.0 * random.unit() - 1.0);
        let strength = 0.05 * (1 + round) as f32;
        let mut place = || {
            let (a, b) = (wave(), wave());
            let bent = move |p: &Vec3| {
                let phase = |k: usize| (9.0 * a[k] * p.x + 9.0 * b[k] * p.z + 3.0 * a[k + 3]).sin();
                *p + strength * Vec3::new(0.3 * phase(0), phase(1), 0.3 * phase(2))
            };
            quads(mesh.positions.iter().map(bent))
        };
        let (old, x) = (place(), place());
        let rest = quads(mesh.positions.iter().copied());
        let mut candidates = Candidates::new(&surface, &rest);
        let at = |x: &[Quad], pair: &Pair| {
            let v = pair.vertices(&surface);
            v.map(|v| Vec3::from_slice(&x[v as usize]).as_dvec3())
        };
        for claim in [Claim::NothingTouches, Claim::NothingCollides] {
            let share = if claim == Claim::NothingTouches { 2.2 } else { GUARDED_GAP };
            candidates.find(&threads, &surface, &old, &x, (share, claim));
            let found: std::collections::BTreeSet<Pair> = candidates.pairs().copied().collect();
            for pair in all_pairs(&surface).iter().filter(|pair| !found.contains(pair)) {
                let (from, to) = (at(&old, pair), at(&x, pair));
                let flat = pair.kind.nearest(&at(&rest, pair)).squared.sqrt();
                let thickness = f64::from(THICKNESS);
                let needed = match claim {
                    Claim::NothingTouches => 1.5 * thickness.min(0.5 * flat),
                    Claim::NothingCollides => f64::from(GUARDED_GAP) * thickness,
                };
                for k in 0..=4 {
                    let time = f64::from(k) / 4.0;
                    let now = std::array::from_fn(|i| from[i].lerp(to[i], time));
                    let distance = pair.kind.nearest(&now).squared.sqrt();
                    assert!(distance > needed, "{pair:?} at {time}: {distance} of {flat}");
                }
            }
        }
    }
}
