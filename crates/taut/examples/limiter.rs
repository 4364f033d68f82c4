//! A limiter for somebody else's simulator: its velocities in, velocities that keep the limits out.
//!
//! `cargo run --release --example limiter`

use glam::Vec3;
use taut::{FilterError, FilterSetup, VelocityFilter, mesh::generate};

/// The other simulator: particles with gravity and soft springs along the edges of a mesh.
struct Springs {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    masses: Vec<f64>,
    edges: Vec<[usize; 2]>,
    lengths: Vec<f32>,
}

impl Springs {
    fn accelerate(&mut self, dt: f32) {
        for (v, mass) in self.velocities.iter_mut().zip(&self.masses) {
            *v += if *mass > 0.0 { dt * Vec3::new(0.0, -9.81, 0.0) } else { Vec3::ZERO };
        }
        for (&[a, b], &length) in self.edges.iter().zip(&self.lengths) {
            let way = self.positions[b] - self.positions[a];
            let force = 2.0 * (way.length() - length) * way.normalize_or_zero();
            for (v, force) in [(a, force), (b, -force)] {
                if self.masses[v] > 0.0 {
                    self.velocities[v] += dt * force / self.masses[v] as f32;
                }
            }
        }
    }
}

fn main() -> Result<(), FilterError> {
    let mesh = generate::grid([1.0, 1.0], [20, 20], generate::Diagonals::Alternating, 0);
    let sides = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let edges: Vec<[usize; 2]> = sides.map(|side| side.map(|v| v as usize)).collect();
    let lengths = edges.iter().map(|&[a, b]| mesh.positions[a].distance(mesh.positions[b])).collect();
    let mut masses = vec![1e-3; mesh.positions.len()];
    (masses[0], masses[20]) = (0.0, 0.0); // Two corners are held.
    let velocities = vec![Vec3::ZERO; masses.len()];
    let mut other = Springs { positions: mesh.positions.clone(), velocities, masses, edges, lengths };

    let mut setup = FilterSetup::new(mesh, other.masses.clone());
    setup.strain = (..=0.02).into();
    let mut filter = VelocityFilter::new(setup)?;
    let dt = 1.0 / 240.0;
    for step in 1..=120 {
        other.accelerate(dt);
        let filtered = filter.apply(&other.positions, &mut other.velocities, dt)?;
        other.positions.iter_mut().zip(&other.velocities).for_each(|(x, v)| *x += dt * *v);
        if step % 40 == 0 {
            let stretch = 100.0 * (filtered.strain.max_stretch - 1.0);
            println!("step {step}: stretched by {stretch:.2} %, {} iterations", filtered.iterations);
        }
    }
    Ok(())
}
