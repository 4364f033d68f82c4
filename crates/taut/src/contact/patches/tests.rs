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

/// What part of all blocks is safe at `x`.
fn safe_blocks(mesh: &TriangleMesh, x: &[Quad]) -> f64 {
    let (surface, threads) = (surface(mesh), Threads::new(1).unwrap());
    let mut patches = Patches::new(&surface, x);
    patches.look(&threads, &surface, x, x, (2.2, Claim::NothingTouches));
    let blocks = &patches.safe[patches.all.len()..];
    blocks.iter().filter(|safe| **safe).count() as f64 / blocks.len() as f64
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
}

#[test]
fn shells_that_keep_their_shape_are_safe_and_crushed_or_sharp_ones_are_not() {
    let ball = Generator::Sphere { radius: 0.5, frequency: 12 }.generate().unwrap();
    let rest = quads(ball.positions.iter().copied());
    // Turned and a little out of shape.
    let moved = |p: &Vec3| Vec3::new(3.0 - p.z, 1.05 * p.x + 0.02 * (9.0 * p.z).sin(), p.y);
    let moved = quads(ball.positions.iter().map(moved));
    let held = |x: &[Quad]| safe(&ball, x, x)[0];
    // Pieces around patches are more than half a radius across, those around blocks are less curved.
    let all = safe(&ball, &rest, &rest)[1];
    assert!(held(&rest) > all / 3 && held(&moved) > all / 4, "{} {} of {all}", held(&rest), held(&moved));
    assert_eq!(safe_blocks(&ball, &rest), 1.0);
    assert!(safe_blocks(&ball, &moved) > 0.95, "{}", safe_blocks(&ball, &moved));
    // Its lower half is turned inside out: at the rim something may touch.
    let dented = quads(ball.positions.iter().map(|p| Vec3::new(p.x, p.y.abs(), p.z)));
    let part = safe_blocks(&ball, &dented);
    assert!(part > 0.5 && part < 0.95, "{part}");
    let crushed = quads(ball.positions.iter().map(|p| 0.3 * *p));
    assert_eq!((held(&crushed), safe_blocks(&ball, &crushed)), (0, 0.0));
    // Sides of a thin tube are nearer to each other than to what is near them in the mesh.
    let tube = Generator::Cylinder { radius: 0.01, height: 0.5, segments: [8, 60] }.generate().unwrap();
    let rest = quads(tube.positions.iter().copied());
    assert_eq!(safe(&tube, &rest, &rest)[0], 0);
    assert_eq!(safe_blocks(&tube, &rest), 0.0);
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
    for round in 0..6 {
        stays_apart(
            &grid([0.5, 0.5], [14, 14], Diagonals::Delaunay, round),
            0.05 * (1 + round) as f32,
            round,
        );
    }
}

#[test]
fn what_is_left_out_of_shells_stays_as_far_apart_as_it_must() {
    let shells = [
        Generator::Sphere { radius: 0.3, frequency: 7 },
        Generator::Torus { major: 0.3, minor: 0.12, segments: [24, 12] },
        Generator::Cylinder { radius: 0.2, height: 0.4, segments: [24, 10] },
    ];
    for (shell, round) in shells.iter().zip(0..) {
        let mesh = shell.generate().unwrap();
        let left_out: usize =
            [0.02, 0.05, 0.1].map(|strength| stays_apart(&mesh, strength, round)).iter().sum();
        assert!(left_out > 1000, "{shell:?}: {left_out}");
    }
}

/// Moves a mesh from one state to another, both bent by waves and folds of this strength \[m\], and measures
/// all pairs that are not found; gives the number of those that are within twice the thickness at rest.
fn stays_apart(mesh: &TriangleMesh, strength: f32, round: u64) -> usize {
    let threads = Threads::new(2).unwrap();
    let mut random = Random::new(3 + round, 0);
    let surface = surface(mesh);
    let mut wave = || [(); 6].map(|()| 2.0 * random.unit() - 1.0);
    let mut place = || {
        let (a, b, c) = (wave(), wave(), wave());
        let bent = move |p: &Vec3| {
            let phase = |k: usize| (9.0 * (a[k] * p.x + b[k] * p.z + c[k] * p.y) + 3.0 * a[k + 3]).sin();
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
    let (pairs, mut near) = (all_pairs(&surface), 0);
    for claim in [Claim::NothingTouches, Claim::NothingCollides] {
        let share = if claim == Claim::NothingTouches { 2.2 } else { GUARDED_GAP };
        candidates.find(&threads, &surface, &old, &x, (share, claim));
        let found: std::collections::BTreeSet<Pair> = candidates.pairs().copied().collect();
        for pair in pairs.iter().filter(|pair| !found.contains(pair)) {
            let (from, to) = (at(&old, pair), at(&x, pair));
            let flat = pair.kind.nearest(&at(&rest, pair)).squared.sqrt();
            let thickness = f64::from(THICKNESS);
            near += usize::from(flat < 4.0 * thickness);
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
    near
}
