//! Vertices that are sewn together: panels that hang like one piece, open seams that close and stay closed.

use glam::Vec3;
use taut::{
    Certificate, Cloth, Contact, Description, Limit, Pin, Scheme, Seam, State, Stepper, World, certify,
    contact::{intersection::piercings, surface::Surface},
    mesh::{TriangleMesh, generate},
};

const SCHEMES: [Scheme; 6] =
    [Scheme::Nearest, Scheme::Sweep, Scheme::Jacobi, Scheme::Serial, Scheme::Cycle, Scheme::Paper];

/// A strip of `cells` of 2.5 cm, from `from` on along x; its vertices run along x first.
fn panel(name: &str, cells: [u32; 2], from: f32) -> Cloth {
    let size = cells.map(|c| 0.025 * c as f32);
    let mut mesh = generate::grid(size, cells, generate::Diagonals::Alternating, 0);
    let low = mesh.positions.iter().fold(Vec3::MAX, |low, p| low.min(*p));
    mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(from, 0.0, 0.0) - low);
    let mut cloth = Cloth::new(name, mesh, super::alike());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    cloth
}

/// The vertex nearest to a place in the rest shape.
fn nearest(mesh: &TriangleMesh, x: f32, z: f32) -> u32 {
    let far = |p: &Vec3| (p.x - x).abs() + (p.z - z).abs();
    (0..mesh.positions.len() as u32)
        .min_by(|&a, &b| far(&mesh.positions[a as usize]).total_cmp(&far(&mesh.positions[b as usize])))
        .unwrap()
}

/// Vertices of `mesh` at x, by z.
fn column(mesh: &TriangleMesh, x: f32) -> Vec<u32> {
    let mut column: Vec<u32> = (0..mesh.positions.len() as u32)
        .filter(|&v| (mesh.positions[v as usize].x - x).abs() < 1e-4)
        .collect();
    column.sort_by(|&a, &b| mesh.positions[a as usize].z.total_cmp(&mesh.positions[b as usize].z));
    column
}

fn pins(cloth: &mut Cloth, corners: &[[f32; 2]]) {
    let vertices = corners.iter().map(|&[x, z]| nearest(&cloth.mesh, x, z)).collect();
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
}

/// Two panels of half a metre, sewn to a sheet of a metre that hangs by two corners; one of them is moved
/// away by `apart`.
fn two_panels(apart: Vec3) -> Description {
    let (mut left, mut right) = (panel("left", [20, 16], 0.0), panel("right", [20, 16], 0.5));
    let pairs: Vec<[(usize, u32); 2]> = column(&left.mesh, 0.5)
        .into_iter()
        .zip(column(&right.mesh, 0.5))
        .map(|(a, b)| [(0, a), (1, b)])
        .collect();
    assert_eq!(pairs.len(), 17);
    pins(&mut left, &[[0.0, 0.0]]);
    pins(&mut right, &[[1.0, 0.0]]);
    right.start.iter_mut().for_each(|x| *x += apart);
    let seams = vec![Seam { pairs, ..Seam::default() }];
    Description { bodies: vec![left.into(), right.into()], seams, ..Description::default() }
}

fn one_piece() -> Description {
    let mut sheet = panel("sheet", [40, 16], 0.0);
    pins(&mut sheet, &[[0.0, 0.0], [1.0, 0.0]]);
    Description { bodies: vec![sheet.into()], ..Description::default() }
}

struct Run {
    certificates: Vec<Certificate>,
    iterations: u32,
    unconverged: u32,
    state: State,
}

fn run(world: &World, frames: u32, threads: usize) -> Run {
    let (mut state, mut stepper) = (State::new(world), Stepper::new(world, threads).unwrap());
    let (mut certificates, mut iterations, mut unconverged) = (Vec::new(), 0, 0);
    for _ in 0..frames {
        let report = stepper.advance_frame(world, &mut state);
        (iterations, unconverged) =
            (iterations + report.iterations, unconverged + u32::from(!report.converged));
        certificates.push(certify(world, &state));
    }
    Run { certificates, iterations, unconverged, state }
}

fn opening(certificate: &Certificate) -> f64 {
    certificate.seams.iter().map(|seam| seam.max_opening).fold(0.0, f64::max)
}

fn residual(certificate: &Certificate) -> f64 {
    certificate.bodies.iter().map(|body| body.strain.max_residual).fold(0.0, f64::max)
}

/// Mean over bodies of the same mass.
fn center(certificate: &Certificate) -> Vec3 {
    let sum: Vec3 =
        certificate.bodies.iter().map(|b| Vec3::from_array(b.center_of_mass.map(|c| c as f32))).sum();
    sum / certificate.bodies.len() as f32
}

/// The positions of all bodies, with where they are at rest.
fn places(world: &World, state: &State) -> Vec<(Vec3, Vec3)> {
    let bodies = world.description().cloths().enumerate();
    bodies
        .flat_map(|(b, cloth)| cloth.mesh.positions.clone().into_iter().zip(state.positions(world, b)))
        .collect()
}

#[test]
fn two_panels_hang_like_one_sheet() {
    for scheme in SCHEMES {
        // Long enough to come to rest.
        let frames = if scheme == Scheme::Nearest { 90 } else { 20 };
        let world = |mut description: Description| {
            description.solver.scheme = scheme;
            // Which way flat cloth buckles is left to chance otherwise.
            for cloth in description.cloths_mut() {
                (cloth.imperfection, cloth.material.damping) = (Some(0.0), 3.0);
            }
            World::new(description).unwrap()
        };
        let (sewn, whole) = (world(two_panels(Vec3::ZERO)), world(one_piece()));
        let (a, b) = (run(&sewn, frames, 2), run(&whole, frames, 2));
        let mut furthest = 0.0f32;
        for (rest, x) in places(&sewn, &a.state) {
            let twin = places(&whole, &b.state).into_iter().find(|(r, _)| r.distance(rest) < 1e-4).unwrap();
            furthest = furthest.max(twin.1.distance(x));
        }
        let apart = a.certificates.iter().zip(&b.certificates).map(|(a, b)| center(a).distance(center(b)));
        let apart = apart.fold(0.0, f32::max);
        println!(
            "{scheme:?}: {} iterations for {}, {} and {} unconverged, centres {apart} m, vertices {furthest} m",
            a.iterations, b.iterations, a.unconverged, b.unconverged
        );
        for (frame, certificate) in a.certificates.iter().enumerate() {
            assert!(opening(certificate) < 1e-5, "{scheme:?} frame {frame}: {}", opening(certificate));
        }
        if scheme != Scheme::Nearest {
            continue;
        }
        assert_eq!(a.unconverged, 0);
        assert!(a.certificates.iter().all(|c| residual(c) <= 0.01 + 1e-5));
        assert!(apart < 0.006 && furthest < 0.02, "{apart} {furthest}");
    }
}

#[test]
fn an_open_seam_closes_and_stays_closed() {
    for scheme in [Scheme::Nearest, Scheme::Sweep] {
        let mut description = two_panels(Vec3::new(0.1, 0.0, 0.0));
        description.solver.scheme = scheme;
        description.bodies[1].as_cloth_mut().unwrap().pins.clear();
        let world = World::new(description).unwrap();
        let a = run(&world, 40, 2);
        let openings: Vec<f64> = a.certificates.iter().map(opening).collect();
        let closed = openings.iter().position(|o| *o < 1e-5).unwrap();
        // 10 cm at 1 m/s.
        assert!((2..=20).contains(&closed), "{closed}");
        assert!(openings[closed..].iter().all(|o| *o < 1e-5));
        assert!(openings[1] > 0.02, "it closes at a limited speed");
        assert!(a.certificates.iter().all(|c| residual(c) <= 0.01 + 1e-5));
    }
}

/// A strip of which the two ends are sewn together to a tube about the z axis; of flat cloth if not `round`
/// at rest.
fn tube(round: bool, thickness: f32) -> Description {
    let mut strip = panel("tube", [36, 12], 0.0);
    let pairs = column(&strip.mesh, 0.0).into_iter().zip(column(&strip.mesh, 0.9));
    let pairs: Vec<_> = pairs.map(|(a, b)| [(0, a), (0, b)]).collect();
    assert_eq!(pairs.len(), 13);
    let radius = 0.9 / std::f32::consts::TAU;
    for (start, rest) in strip.start.iter_mut().zip(&mut strip.mesh.positions) {
        let (sin, cos) = (rest.x / radius).sin_cos();
        *start = Vec3::new(radius * sin, radius * cos, rest.z);
        if round {
            *rest = *start;
        }
    }
    let top: Vec<u32> =
        (0..strip.start.len() as u32).filter(|&v| strip.start[v as usize].y > 0.98 * radius).collect();
    strip.pins = vec![Pin { vertices: top, ..Pin::default() }];
    let contact = Contact { thickness, ..Contact::default() };
    Description {
        bodies: vec![strip.into()],
        seams: vec![Seam { pairs, ..Seam::default() }],
        contact,
        ..Description::default()
    }
}

#[test]
fn a_panel_becomes_a_tube() {
    for (round, thickness) in [(false, 0.0), (true, 0.0), (false, 0.004)] {
        let world = World::new(tube(round, thickness)).unwrap();
        let a = run(&world, 40, 2);
        assert_eq!(a.unconverged, 0);
        assert!(a.certificates.iter().all(|c| opening(c) < 1e-5 && residual(c) <= 0.01 + 1e-5));
        // It hangs from its top, where the seam is, as a flat loop.
        let center = center(&a.certificates[39]);
        assert!(center.y < -0.01, "{center}");
        if thickness > 0.0 {
            let mesh = &world.description().bodies[0].as_cloth().unwrap().mesh;
            let mut surface = Surface::new(mesh.triangles.clone());
            for &[(_, a), (_, b)] in &world.description().seams[0].pairs {
                surface.identity[a.max(b) as usize] = a.min(b);
            }
            let x: Vec<[f32; 3]> = a.state.positions(&world, 0).iter().map(|x| x.to_array()).collect();
            assert_eq!(piercings(&surface, &x), []);
        }
    }
}

/// Two panels face to face, sewn along three sides to a bag that hangs by the corners of its mouth; open by
/// `apart` at the start.
fn bag(apart: f32) -> Description {
    let (mut front, mut back) = (panel("front", [14, 14], 0.0), panel("back", [14, 14], 0.0));
    let count = front.mesh.positions.len() as u32;
    let side = 0.025 * 14.0;
    let sewn = (0..count).filter(|&v| {
        let p = front.mesh.positions[v as usize];
        p.x < 1e-4 || p.x > side - 1e-4 || p.z > side - 1e-4
    });
    let pairs: Vec<_> = sewn.map(|v| [(0, v), (1, v)]).collect();
    pins(&mut front, &[[0.0, 0.0], [side, 0.0]]);
    // Faces of the two look away from each other.
    back.mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    back.start.iter_mut().for_each(|x| x.y -= apart);
    for cloth in [&mut front, &mut back] {
        cloth.start.iter_mut().for_each(|x| *x = Vec3::new(x.x, -x.z, x.y));
    }
    let contact = Contact { thickness: 0.003, ..Contact::default() };
    let seams = vec![Seam { name: "rim".into(), pairs, speed: 0.5 }];
    let mut description =
        Description { bodies: vec![front.into(), back.into()], seams, contact, ..Description::default() };
    description.solver.steps_per_frame = 4;
    description
}

#[test]
fn a_bag_closes_with_contact_and_pierces_nothing() {
    let description = bag(0.06);
    let world = World::new(description).unwrap();
    let count = world.description().bodies[0].as_cloth().unwrap().mesh.positions.len() as u32;
    let mut triangles = world.description().bodies[0].as_cloth().unwrap().mesh.triangles.clone();
    triangles.extend(
        world.description().bodies[1].as_cloth().unwrap().mesh.triangles.iter().map(|t| t.map(|v| v + count)),
    );
    let mut surface = Surface::new(triangles);
    for &[(_, a), (_, b)] in &world.description().seams[0].pairs {
        surface.identity[(b + count) as usize] = a;
    }
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let (mut openings, mut worst) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        stepper.advance_frame(&world, &mut state);
        let certificate = certify(&world, &state);
        openings.push(opening(&certificate));
        worst.push(residual(&certificate));
        let both = [0, 1].map(|b| state.positions(&world, b)).concat();
        let x: Vec<[f32; 3]> = both.iter().map(|x| x.to_array()).collect();
        assert_eq!(piercings(&surface, &x), [], "frame {}", state.frame());
    }
    let closed = openings.iter().position(|o| *o == 0.0).unwrap();
    assert!(closed < 12 && openings[closed..].iter().all(|o| *o == 0.0), "{openings:?}");
    assert!(worst.iter().all(|worst| *worst <= 0.01 + 1e-5), "{worst:?}");
}

/// Two sewn panels that lie flat but for a fold along their seam, in which each passes through the other:
/// `deep` cells of each are in it.
fn crossed(deep: f32) -> Description {
    let mut description = two_panels(Vec3::ZERO);
    let fold = 0.025 * deep;
    for (side, cloth) in [1.0, -1.0].into_iter().zip(description.cloths_mut()) {
        for (x, rest) in cloth.start.iter_mut().zip(&cloth.mesh.positions) {
            let from_seam = (rest.x - 0.5).abs();
            let beyond = (from_seam - fold).max(0.0);
            let across = 0.4 * fold * (std::f32::consts::PI * (from_seam / fold).min(1.0)).sin();
            x.x = 0.5 + side * (across - beyond);
            x.y = 0.8 * (fold - from_seam).max(0.0);
        }
        cloth.pins.clear();
    }
    description.gravity = Vec3::ZERO;
    description.contact = Contact { thickness: 0.003, ..Contact::default() };
    description.solver.steps_per_frame = 4;
    description
}

#[test]
fn panels_that_cross_beside_their_seam_are_separated() {
    for deep in [1.5, 2.5, 3.5] {
        let world = World::new(crossed(deep)).unwrap();
        let begun = world.tangled_at_start();
        assert!(begun > 30, "{begun}");
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let tangled: Vec<u32> = (0..15).map(|_| stepper.advance_frame(&world, &mut state).tangled).collect();
        assert!(tangled[6..].iter().all(|t| *t == 0), "{deep}: {begun}, {tangled:?}");
        let certificate = certify(&world, &state);
        assert_eq!(certificate.contact.as_ref().unwrap().intersections, 0);
        assert!(opening(&certificate) == 0.0 && residual(&certificate) <= 0.01 + 1e-5);
    }
}

/// Everything at once: an open seam and a chain of three panels in a point, pins that let go, contact.
pub(super) fn busy() -> Description {
    let mut description = bag(0.03);
    let mut flap = panel("flap", [6, 6], 0.0);
    flap.start.iter_mut().for_each(|x| *x = Vec3::new(x.x, -x.z, x.y + 0.05));
    let pairs =
        column(&flap.mesh, 0.0).into_iter().zip(column(&description.bodies[0].as_cloth().unwrap().mesh, 0.0));
    let pairs: Vec<_> = pairs.map(|(a, b)| [(2, a), (0, b)]).collect();
    description.bodies.push(flap.into());
    description.bodies[0].as_cloth_mut().unwrap().pins[0].until = Some(0.5);
    description.seams.push(Seam { name: "flap".into(), pairs, speed: 0.3 });
    description
}

#[test]
fn a_held_twin_is_followed() {
    let mut description = two_panels(Vec3::ZERO);
    let [(_, a), (_, b)] = description.seams[0].pairs[8];
    description.bodies[0].as_cloth_mut().unwrap().pins = vec![Pin { vertices: vec![a], ..Pin::default() }];
    description.bodies[1].as_cloth_mut().unwrap().pins.clear();
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let start = state.positions(&world, 0)[a as usize];
    for _ in 0..15 {
        stepper.advance_frame(&world, &mut state);
        let certificate = certify(&world, &state);
        assert!(opening(&certificate) == 0.0 && residual(&certificate) <= 0.01 + 1e-5);
    }
    assert_eq!(state.positions(&world, 0)[a as usize], start);
    assert_eq!(state.positions(&world, 1)[b as usize], start);
}

#[test]
fn what_cannot_be_sewn_is_refused() {
    let fails = |change: &dyn Fn(&mut Description)| {
        let mut description = two_panels(Vec3::ZERO);
        change(&mut description);
        World::new(description).unwrap_err().to_string()
    };
    let told = fails(&|d| d.seams[0].pairs[3] = [(1, 7), (1, 7)]);
    assert!(told.contains("seam \"seam\"") && told.contains("pair 3 sews vertex 7 to itself"), "{told}");
    let told = fails(&|d| d.seams[0].pairs[2][1] = (1, 9999));
    assert!(told.contains("pair 2: there is no vertex 9999 of cloth number 1"), "{told}");
    let told = fails(&|d| d.seams[0].pairs[2][1] = (5, 0));
    assert!(told.contains("cloth number 5"), "{told}");
    let told = fails(&|d| d.seams[0].speed = 0.0);
    assert!(told.contains("speed must be positive"), "{told}");
    let told = fails(&|d| {
        let [a, b, _] = d.bodies[0].as_cloth().unwrap().mesh.triangles[5];
        d.seams[0].pairs.push([(0, a), (0, b)]);
    });
    assert!(told.contains("two corners of its face"), "{told}");
}
