//! Draws a groom of 10,000 strands on a ball, straight or curly, and says how long it took:
//! `groom straight|curly RADIUS WIDTHxHEIGHT FILE.png`, the radius in micrometres.

use std::{f32::consts::TAU, time::Instant};

use glam::{Quat, Vec3};
use taut::{Pose, Shape};
use taut_render::{
    Camera, Lights, Picture, Renderer, Scene,
    camera::{Extent, View},
    color,
    encode::png,
    scene::{Floor, Paint, Solid, Strands},
};

const STRANDS: u32 = 10_000;
const POINTS: u32 = 50;
const HEAD: f32 = 0.1;

/// Strands that leave the head, and fall along it.
fn groom(curly: bool, radius: f32) -> Strands {
    let mut positions = Vec::new();
    let noise = |n: u32| (n as f32 * 12.9898).sin().mul_add(43_758.547, 0.0).rem_euclid(1.0);
    for n in 0..STRANDS {
        // Evenly over the upper part of the ball.
        let rise = 1.0 - 1.15 * (n as f32 + 0.5) / STRANDS as f32;
        let turn = n as f32 * TAU * 0.618_034;
        let out = (1.0 - rise * rise).sqrt();
        let normal = Vec3::new(out * turn.cos(), rise, out * turn.sin());
        let length = 0.26 * (0.85 + 0.3 * noise(n));
        let step = length / (POINTS - 1) as f32;
        // Combed away from the crown.
        let aside = Vec3::new(normal.x, 0.25 * noise(n + 5), normal.z).normalize_or(Vec3::X);
        let (mut p, mut along) = (normal * HEAD, (0.5 * normal + aside).normalize());
        let lock = noise(n / 40 + 7);
        let phase = TAU * (lock + 0.1 * noise(n + 3));
        for k in 0..POINTS {
            let across = along.any_orthonormal_vector();
            let angle = phase + 0.55 * k as f32;
            let wave = across * angle.cos() + along.cross(across) * angle.sin();
            let size = if curly { 0.0065 * (k as f32 / 10.0).min(1.0) } else { 0.0 };
            positions.push(p + wave * size);
            along = (along - Vec3::Y * 0.28
                + 0.02 * Vec3::new(noise(n + k) - 0.5, 0.0, noise(n * 3 + k) - 0.5))
            .normalize();
            p += along * step;
            let far = p.length();
            let least = HEAD * (1.0 + (0.1 + 0.12 * noise(n + 11)) * (k as f32 / 8.0).min(1.0));
            if far < least {
                p *= least / far;
            }
        }
    }
    let front = color::hair(if curly { 3 } else { 0 });
    let taper = |k: u32| 1.0 - 0.7 * (k % POINTS) as f32 / POINTS as f32;
    Strands {
        positions,
        counts: vec![POINTS; STRANDS as usize],
        radii: (0..STRANDS * POINTS).map(|k| radius * taper(k)).collect(),
        paint: Paint::Plain { front, back: front },
        shading: 1.0,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, radius, size, path] = &arguments[..] else {
        return Err("groom KIND RADIUS WIDTHxHEIGHT FILE.png".into());
    };
    let (width, height) = size.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
    let [width, height] = [width.parse::<usize>()?, height.parse::<usize>()?];
    let strands = groom(kind == "curly", 1e-6 * radius.parse::<f32>()?);
    let mut extent = Extent::default();
    extent.add(strands.positions.iter().copied());
    let camera = Camera::framing(&extent, View::ThreeQuarter, Vec3::Y, width as f32 / height as f32);
    let lights = Lights::studio(&camera, Vec3::Y, extent.center(), 1.02 * extent.radius());
    let lowest = extent.bounds()[0].y;
    let pose = Pose { rotation: Quat::IDENTITY, position: Vec3::ZERO };
    let scene = Scene {
        surfaces: Vec::new(),
        threads: Vec::new(),
        strands: vec![strands],
        solids: vec![Solid {
            shape: Shape::Sphere { radius: HEAD },
            pose,
            color: Vec3::new(0.36, 0.22, 0.16),
            extent: 1.0,
        }],
        floor: Some(Floor { normal: Vec3::Y, height: lowest - 0.01 }),
        camera,
        lights,
        backdrop: Default::default(),
    };
    let mut picture = Picture::new(width, height, [255; 4]);
    let mut renderer = Renderer::new(2)?;
    renderer.draw(&scene, &mut picture);
    let begun = Instant::now();
    renderer.draw(&scene, &mut picture);
    println!("{kind}: {:.2} s", begun.elapsed().as_secs_f64());
    std::fs::write(path, png(&picture))?;
    Ok(())
}
