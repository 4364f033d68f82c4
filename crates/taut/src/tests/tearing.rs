//! Tearing (S6): a notched strip, what tears and what holds.

use glam::Vec3;

use crate::{
    Cloth, Description, Event, Limit, Material, Motion, Pin, Simulation, Tear, TearMeasure,
    boundary::motion::Keyframe,
    mesh::{adjacency::Adjacency, generate, split},
};

/// A strip of 0.4 by 0.1 m in the x direction whose ends are pulled apart at 0.1 m/s, with a notch of `cut`
/// cells at the middle of one side.
fn strip(seed: u64, cut: u32, tear: Tear, strain: Limit) -> Description {
    let cells = [32, 8];
    let mut mesh = generate::grid([0.4, 0.1], cells, generate::Diagonals::Jittered, seed);
    let [nx, nz] = cells;
    let at = |x: u32, z: u32| z * (nx + 1) + x;
    // A notch: the edges of the middle column are open from the border inwards.
    let mut triangles = mesh.triangles.clone();
    let mut count = mesh.positions.len() as u32;
    for z in 0..cut {
        let v = at(nx / 2, z);
        let left = |t: &[u32; 3]| {
            t.iter().map(|&c| mesh.positions[c as usize].x).sum::<f32>() / 3.0 < mesh.positions[v as usize].x
        };
        for t in triangles.iter_mut().filter(|t| t.contains(&v)) {
            if left(&mesh.triangles[mesh.triangles.iter().position(|o| o == t).unwrap_or(0)]) {
                *t = t.map(|c| if c == v { count } else { c });
            }
        }
        count += 1;
    }
    let parents = split::origins(&mesh.triangles, &triangles, mesh.positions.len()).unwrap();
    mesh.positions = parents.iter().map(|&p| mesh.positions[p as usize]).collect();
    mesh.triangles = triangles;
    let ends = |right: bool| (0..=nz).map(|z| at(if right { nx } else { 0 }, z)).collect::<Vec<u32>>();
    let pull = |speed: f32| {
        let keys = [0.0f32, 10.0].map(|time| Keyframe {
            time,
            translate: Vec3::X * speed * time,
            ..Keyframe::default()
        });
        Motion { keys: keys.to_vec(), ..Motion::default() }
    };
    let pin = |right: bool, speed: f32| Pin { vertices: ends(right), motion: pull(speed), ..Pin::default() };
    let mut cloth = Cloth::new("strip", mesh, Material::named("polyester").unwrap());
    (cloth.tear, cloth.strain) = (Some(tear), strain);
    cloth.pins = vec![pin(false, -0.05), pin(true, 0.05)];
    Description { bodies: vec![cloth.into()], gravity: Vec3::ZERO, ..Description::default() }
}

#[test]
fn tmp_watch() {
    let mut sim = Simulation::from_description(strip(1, 2, Tear::at(0.08), Limit::default()), 2).unwrap();
    let mass = |sim: &Simulation| sim.world().body_masses()[0];
    let whole = mass(&sim);
    for frame in 1..=8 {
        let t = std::time::Instant::now();
        let report = sim.step_frame();
        let torn: Vec<Event> = sim.drain_events().filter(|e| matches!(e, Event::Torn { .. })).collect();
        let c = sim.certificate();
        println!(
            "{frame} stretch {:.4} torn {} iterations {} conv {} {:?} {:.1} ms mass {:e}",
            c.bodies[0].strain.max_stretch - 1.0,
            report.torn,
            report.iterations,
            report.converged,
            torn,
            1e3 * t.elapsed().as_secs_f64(),
            mass(&sim) - whole
        );
    }
    let _ = (TearMeasure::Edges, Adjacency::default());
}

#[test]
fn tmp_torn_from_start() {
    let mut d = strip(1, 0, Tear::at(100.0), Limit::default());
    let cloth = d.bodies[0].as_cloth_mut().unwrap();
    let mut t = cloth.mesh.triangles.clone();
    let around = split::Around::new(cloth.mesh.positions.len(), &t);
    let mut s = split::Splitter::new(&cloth.mesh.positions, &t, &around);
    for z in (0..9u32).step_by(2) {
        s.split(z * 33 + 16, glam::DVec3::X);
    }
    s.separate_fans();
    t = s.triangles.clone();
    let cut = cloth.torn(&t).unwrap();
    *cloth = cut;
    let mut sim = Simulation::from_description(d, 2).unwrap();
    for frame in 1..=8 {
        let r = sim.step_frame();
        let x = sim.state().positions(sim.world(), 0);
        let c = sim.certificate();
        println!(
            "{frame} {} {} {:?} {:?} {}",
            c.bodies[0].strain.max_stretch,
            r.iterations,
            x[16],
            &x[297..],
            sim.world().level_sizes().len()
        );
    }
}
