use glam::{Quat, Vec3};
use std::time::Instant;
use taut::{*, boundary::obstacle::Shape};
fn main() {
    let arg = |k: usize, d: &str| std::env::args().nth(k).unwrap_or(d.into());
    let (n, steps, frames): (u32, u32, u32) = (arg(1, "128").parse().unwrap(), arg(2, "2").parse().unwrap(), arg(3, "60").parse().unwrap());
    let thickness: f32 = arg(4, "0.003").parse().unwrap();
    let every: u32 = arg(5, "5").parse().unwrap();
    let mesh = mesh::generate::grid([1.2, 1.2], [n, n], mesh::generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
    for p in &mut cloth.start { *p += Vec3::new(-0.6, 0.6, -0.6); }
    cloth.strain.max = Some(0.05);
    let obstacle = |shape, position, friction| Obstacle { name: "o".into(), shape, position, rotation: Quat::IDENTITY, motion: Default::default(), friction, restitution: 0.0, margin: 0.001 };
    let mut d = Description { cloths: vec![cloth], ..Description::default() };
    d.obstacles = vec![obstacle(Shape::Sphere { radius: 0.25 }, Vec3::new(0.0, 0.25, 0.0), 0.4), obstacle(Shape::Plane, Vec3::ZERO, 0.5)];
    d.contact.thickness = thickness;
    d.solver.steps_per_frame = steps;
    d.solver.iterations = arg(6, "300").parse().unwrap();
    let world = World::new(d).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 2).unwrap();
    let mut times = Vec::new();
    for f in 1..=frames {
        let b = Instant::now();
        let r = stepper.advance_frame(&world, &mut state);
        times.push(b.elapsed().as_secs_f64() * 1e3);
        if f % every == 0 || f == frames {
            let c = certify(&world, &state);
            let v = state.velocities(&world, 0);
            let rms = (v.iter().map(|v| v.length_squared()).sum::<f32>() / v.len() as f32).sqrt();
            let s = &c.bodies[0].strain;
            println!("{f}: it {} res {:.4} conv {} stopped {} vel {:.1} lim {:.0} ms  rms {:.3} stretch {:.3} compression {:.3} mean {:.4}", r.iterations, r.residual, r.converged, r.stopped, r.velocity_ms, r.limit_ms, rms, s.max_stretch, s.min_stretch, s.mean_stretch);
        }
    }
    times.sort_by(f64::total_cmp);
    println!("median {:.1} ms, worst {:.1}", times[times.len() / 2], times[times.len() - 1]);
}
