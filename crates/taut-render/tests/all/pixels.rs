//! What ends up in which pixel.

use glam::{Quat, Vec3};
use taut::{Pose, Shape, low_level::Random, mesh::generate::Diagonals, mesh::generate::grid};
use taut_render::{
    Camera, Lights, Picture, Scene, render,
    scene::{Backdrop, Floor, Paint, Solid, Strands, Surface, Threads},
};

const RED: Vec3 = Vec3::new(1.0, 0.0, 0.0);
const BLUE: Vec3 = Vec3::new(0.0, 0.0, 1.0);

/// A scene seen from z = 10, in which a metre is 10 pixels high in a picture of 64 × 64.
fn scene(surfaces: Vec<Surface>) -> Scene {
    let field = 2.0 * 0.32f32.atan().to_degrees();
    let camera = Camera::new(Vec3::new(0.0, 0.0, 10.0), Vec3::ZERO, Vec3::Y, field).unwrap();
    let lights = Lights::studio(&camera, Vec3::Y, Vec3::ZERO, 4.0);
    let black = Backdrop { top: Vec3::ZERO, bottom: Vec3::ZERO };
    Scene {
        surfaces,
        threads: vec![],
        strands: vec![],
        solids: vec![],
        floor: None,
        camera,
        lights,
        backdrop: black,
    }
}

/// A surface whose colours light does not change.
fn unlit(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>, paint: Paint) -> Surface {
    Surface { positions, triangles, paint, shading: 0.0 }
}

fn draw(scene: &Scene) -> Picture {
    render(scene, 64, 64, 2).unwrap()
}

fn luminance(p: [u8; 4]) -> f32 {
    0.21 * f32::from(p[0]) + 0.72 * f32::from(p[1]) + 0.07 * f32::from(p[2])
}

#[test]
fn a_triangle_covers_what_it_should() {
    let corners = vec![Vec3::new(-2.0, -2.0, 0.0), Vec3::new(2.0, -2.0, 0.0), Vec3::new(-2.0, 2.0, 0.0)];
    let picture = draw(&scene(vec![unlit(corners, vec![[0, 1, 2]], Paint::Triangles(vec![RED]))]));
    let mut area = 0.0;
    for y in 0..64 {
        for x in 0..64 {
            let [r, g, b, a] = picture.get(x, y);
            assert!(g == 0 && b == 0 && a == 255);
            // In metres, y upwards, of the pixel's middle.
            let (px, py) = ((x as f32 + 0.5 - 32.0) / 10.0, (32.0 - y as f32 - 0.5) / 10.0);
            let inside = (px + 2.0).min(py + 2.0).min(-(px + py) / 2f32.sqrt());
            match inside {
                i if i > 0.1 => assert_eq!(r, 255, "{x} {y}"),
                i if i < -0.1 => assert_eq!(r, 0, "{x} {y}"),
                _ => {}
            }
            // As light, not as stored.
            area += (f64::from(r) / 255.0).powf(2.2);
        }
    }
    assert!((area - 800.0).abs() < 8.0, "half of 40 × 40 pixels: {area}");
}

#[test]
fn triangles_with_common_edges_leave_no_crack_and_no_overlap() {
    for seed in 0..12 {
        let mut random = Random::new(seed, 0);
        let mut mesh = grid([8.0, 8.0], [23, 29], Diagonals::Jittered, seed);
        // Corners that move in the plane of the picture, but not so far that triangles fold over.
        for p in &mut mesh.positions {
            let shift = Vec3::new(random.unit() - 0.5, random.unit() - 0.5, 0.0) * 0.1;
            *p = Vec3::new(p.x - 4.0, p.z - 4.0, 0.0) + shift;
        }
        let count = mesh.triangles.len();
        // One colour: a crack would show the black behind it.
        let whole = unlit(mesh.positions.clone(), mesh.triangles.clone(), Paint::Triangles(vec![RED; count]));
        let picture = draw(&scene(vec![whole]));
        assert!(picture.pixels().iter().all(|p| *p == [255, 0, 0, 255]), "seed {seed}: a crack");
        // The same in two halves: what both cover together is everything, and nothing twice.
        let half = |keep: usize| {
            let some =
                mesh.triangles.iter().copied().enumerate().filter(|(k, _)| k % 2 == keep).map(|(_, t)| t);
            let some: Vec<[u32; 3]> = some.collect();
            let colors = vec![RED; some.len()];
            draw(&scene(vec![unlit(mesh.positions.clone(), some, Paint::Triangles(colors))]))
        };
        let (a, b) = (half(0), half(1));
        // Samples that are covered, of 8 in each pixel.
        let covered = |p: [u8; 4]| {
            let v = f32::from(p[0]) / 255.0;
            let light = if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
            (8.0 * light).round() as i32
        };
        for (p, q) in a.pixels().iter().zip(b.pixels()) {
            assert_eq!(covered(*p) + covered(*q), 8, "seed {seed}: a sample is covered twice or not at all");
        }
    }
}

#[test]
fn what_is_nearer_hides_what_is_behind_it_and_cuts_are_where_they_should_be() {
    let square = |z: [f32; 2]| {
        let at = |x: f32, y: f32| Vec3::new(x, y, if x < 0.0 { z[0] } else { z[1] });
        vec![at(-3.0, -3.0), at(3.0, -3.0), at(3.0, 3.0), at(-3.0, 3.0)]
    };
    let faces = vec![[0, 1, 2], [0, 2, 3]];
    let paint = |color| Paint::Triangles(vec![color; 2]);
    // Two squares that cross in the middle of the picture.
    let a = unlit(square([0.5, -0.5]), faces.clone(), paint(RED));
    let b = unlit(square([-0.5, 0.5]), faces, paint(BLUE));
    for surfaces in [vec![a.clone(), b.clone()], vec![b, a]] {
        let picture = draw(&scene(surfaces));
        for y in 10..54 {
            assert_eq!(picture.get(20, y), [255, 0, 0, 255]);
            assert_eq!(picture.get(44, y), [0, 0, 255, 255]);
        }
    }
}

#[test]
fn a_camera_between_triangles_does_not_see_those_behind_it() {
    let positions =
        vec![Vec3::new(-50.0, -1.0, 50.0), Vec3::new(50.0, -1.0, 50.0), Vec3::new(0.0, -1.0, -500.0)];
    let picture = draw(&scene(vec![unlit(positions, vec![[0, 1, 2]], Paint::Triangles(vec![RED]))]));
    // A floor below the camera that goes on behind it: the lower half but for what is beyond its tip.
    for x in 0..64 {
        assert_eq!(picture.get(x, 63), [255, 0, 0, 255]);
        assert_eq!(picture.get(x, 30), [0, 0, 0, 255]);
    }
}

/// A waving sheet over a floor, beside a ball, with threads.
fn busy() -> Scene {
    let mut mesh = grid([4.0, 4.0], [40, 40], Diagonals::Alternating, 0);
    for p in &mut mesh.positions {
        *p = Vec3::new(p.x - 2.0, 0.4 * (2.0 * p.x).sin() * p.z.cos(), p.z - 2.0);
    }
    let mut busy = scene(vec![Surface::plain(mesh.positions, mesh.triangles, Vec3::new(0.5, 0.1, 0.05))]);
    let pose = Pose { rotation: Quat::IDENTITY, position: Vec3::new(1.5, -0.7, 1.0) };
    busy.solids.push(Solid {
        shape: Shape::Sphere { radius: 0.6 },
        pose,
        color: Vec3::splat(0.5),
        extent: 1.0,
    });
    let positions: Vec<Vec3> =
        (0..30).map(|k| Vec3::new(-2.0, 1.0 - 0.1 * k as f32, (0.4 * k as f32).sin())).collect();
    let colors = (0..30).map(|k| Vec3::new(0.2, 0.01 * k as f32, 0.1)).collect();
    let threads = Threads {
        positions: positions.clone(),
        strands: vec![30],
        radius: 0.05,
        color: Vec3::ZERO,
        colors,
        shading: 1.0,
    };
    busy.threads.push(threads);
    let beside = positions.iter().map(|p| *p + 0.3 * Vec3::X).collect();
    let paint = Paint::Plain { front: Vec3::new(0.2, 0.1, 0.05), back: Vec3::ZERO };
    let radii = vec![0.01; 30];
    busy.strands.push(Strands { positions: beside, counts: vec![12, 18], radii, paint, shading: 1.0 });
    busy.floor = Some(Floor { normal: Vec3::Y, height: -1.3 });
    busy.backdrop = Backdrop::default();
    busy.camera.eye = Vec3::new(3.0, 4.0, 9.0);
    busy
}

#[test]
fn the_same_pixels_for_any_number_of_threads() {
    let busy = busy();
    let one = render(&busy, 333, 211, 1).unwrap();
    for threads in [2, 5] {
        assert!(render(&busy, 333, 211, threads).unwrap() == one, "{threads} threads");
    }
    let colors = one.pixels().iter().collect::<std::collections::HashSet<_>>().len();
    assert!(colors > 500, "{colors} colours: there is something to compare");
}

/// A horizontal sheet of 2 × 2 m, 1 m above a floor.
fn sheet_above_floor() -> Scene {
    let mesh = grid([2.0, 2.0], [20, 20], Diagonals::Alternating, 0);
    let positions = mesh.positions.iter().map(|p| *p - Vec3::new(1.0, 0.0, 1.0)).collect();
    let mut scene = scene(vec![Surface::plain(positions, mesh.triangles, Vec3::splat(0.4))]);
    scene.floor = Some(Floor { normal: Vec3::Y, height: -1.0 });
    scene.backdrop = Backdrop { top: Vec3::splat(0.7), bottom: Vec3::splat(0.7) };
    scene
}

/// The pixel in which `p` is seen, in a picture of `size` pixels each way.
fn pixel(picture: &Picture, scene: &Scene, p: Vec3) -> [u8; 4] {
    let axes = scene.camera.axes();
    let d = p - scene.camera.eye;
    let focal = 0.5 * picture.height() as f32 / (0.5 * scene.camera.field_of_view).to_radians().tan();
    let (x, y) = (d.dot(axes.right) / d.dot(axes.forward), d.dot(axes.up) / d.dot(axes.forward));
    let at = [0.5 * picture.width() as f32 + focal * x, 0.5 * picture.height() as f32 - focal * y];
    picture.get(at[0] as usize, at[1] as usize)
}

#[test]
fn a_sheet_darkens_the_floor_under_it_and_where_its_shadow_falls() {
    let mut scene = sheet_above_floor();
    scene.camera = Camera::new(Vec3::new(0.0, 1.0, 9.0), Vec3::new(0.0, -0.8, 0.0), Vec3::Y, 40.0).unwrap();
    let picture = render(&scene, 320, 240, 2).unwrap();
    // Where a ray towards the light meets the middle of the sheet.
    let shadow = Vec3::ZERO - scene.lights.key / scene.lights.key.y;
    let lit = luminance(pixel(&picture, &scene, Vec3::new(-3.5, -1.0, 2.0)));
    let dark = luminance(pixel(&picture, &scene, shadow));
    assert!(dark < 0.85 * lit && dark > 0.3 * lit, "{dark} in the shadow, {lit} in the light");
    scene.surfaces.clear();
    let empty = render(&scene, 320, 240, 2).unwrap();
    let open = luminance(pixel(&empty, &scene, shadow));
    assert!((open - lit).abs() < 0.06 * lit, "{open} without the sheet");
}

#[test]
fn both_sides_of_a_sheet_are_lit_and_can_be_told_apart() {
    let mut scene = sheet_above_floor();
    scene.floor = None;
    scene.surfaces[0].paint = Paint::Plain { front: Vec3::splat(0.4), back: Vec3::new(0.4, 0.1, 0.1) };
    let from = |y: f32| {
        let mut scene = scene.clone();
        scene.camera = Camera::new(Vec3::new(0.0, y, 5.0), Vec3::ZERO, Vec3::Y, 40.0).unwrap();
        let picture = render(&scene, 160, 120, 2).unwrap();
        pixel(&picture, &scene, Vec3::ZERO)
    };
    let (above, below) = (from(3.0), from(-3.0));
    assert!(
        above[0].abs_diff(above[1]) < 25 && luminance(above) > 100.0,
        "the front is grey and bright: {above:?}"
    );
    assert!(below[0] > below[1] + 25, "the back is red: {below:?}");
    assert!(luminance(below) > 20.0, "and not black: {below:?}");
}

#[test]
fn a_flat_sheet_in_the_light_does_not_shade_itself() {
    // At any angle to the light, and coarse or fine: no spots.
    for (tilt, cells) in [(0.0f32, 4), (0.4, 30), (0.8, 12), (-0.5, 60)] {
        let mut scene = sheet_above_floor();
        scene.floor = None;
        let mesh = grid([4.0, 4.0], [cells, cells], Diagonals::Alternating, 0);
        let turn = Quat::from_rotation_x(tilt);
        let positions = mesh.positions.iter().map(|p| turn * (*p - Vec3::new(2.0, 0.0, 2.0))).collect();
        scene.surfaces = vec![Surface::plain(positions, mesh.triangles, Vec3::splat(0.3))];
        scene.camera = Camera::new(Vec3::new(0.0, 8.0, 4.0), Vec3::ZERO, Vec3::Y, 20.0).unwrap();
        let picture = render(&scene, 200, 200, 2).unwrap();
        let values = |f: fn(f32, f32) -> f32, start: f32| {
            (50..150)
                .flat_map(|y| (50..150).map(move |x| (x, y)))
                .map(|(x, y)| luminance(picture.get(x, y)))
                .fold(start, f)
        };
        let (low, high) = (values(f32::min, 999.0), values(f32::max, 0.0));
        assert!(high - low < 0.1 * high, "tilt {tilt}: from {low} to {high}");
    }
}

#[test]
fn broken_surfaces_are_drawn_as_far_as_they_go() {
    let nan = Vec3::new(f32::NAN, 0.0, 0.0);
    let positions =
        vec![Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0), nan];
    let triangles = vec![[0, 1, 2], [0, 1, 3], [0, 1, 99], [0, 0, 0]];
    let picture = draw(&scene(vec![unlit(positions, triangles, Paint::Triangles(vec![RED; 4]))]));
    assert_eq!(picture.get(32, 32), [255, 0, 0, 255]);
    assert_eq!(render(&scene(vec![]), 0, 5, 1).unwrap().pixels().len(), 0);
    draw(&scene(vec![]));
}
