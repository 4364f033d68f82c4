use taut::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: u32 = a[1].parse().unwrap();
    let omega: f32 = a[2].parse().unwrap();
    let min: f32 = a[3].parse().unwrap();
    let max: f32 = a[4].parse().unwrap();
    let threads: usize = a[5].parse().unwrap();
    let subs: u32 = a[6].parse().unwrap();
    let frames: u32 = a[7].parse().unwrap();
    let mesh = mesh::generate::grid([1.0, 1.0], [n, n], mesh::generate::Diagonals::Alternating, 0);
    let g = |k: &str| mesh.groups[k].clone();
    let pin =
        Pin { vertices: [g("corner:top-left"), g("corner:top-right")].concat(), motion: Motion::default() };
    let mut c = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    c.strain = Limit { min: (min < 0.0).then_some(min), max: Some(max) };
    c.pins = vec![pin];
    if let Ok(t) = std::env::var("VISC") {
        c.material.viscosity = t.parse().unwrap();
    }
    if let Ok(t) = std::env::var("DAMP") {
        c.material.damping = t.parse().unwrap();
    }
    let mut d = Description { cloths: vec![c], ..Description::default() };
    d.solver.relaxation = omega;
    d.solver.max_substeps = subs;
    if let Some(t) = a.get(8) {
        d.solver.tolerance = t.parse().unwrap();
    }
    if let Some(t) = a.get(9) {
        d.solver.iterations = t.parse().unwrap();
    }
    if let Some(t) = a.get(10) {
        d.solver.scheme = match t.as_str() {
            "serial" => Scheme::Serial,
            "jacobi" => Scheme::Jacobi,
            _ => Scheme::Sweep,
        };
    }
    if let Ok(t) = std::env::var("STEPS") {
        d.solver.steps_per_frame = t.parse().unwrap();
    }
    let w = World::new(d).unwrap();
    println!("colors {} plan {:?} {:?}", w.color_count(), w.plan(), kernel::lanes::LaneKind::detect());
    for l in w.warnings() {
        println!("{l}");
    }
    let mut s = State::new(&w);
    let mut st = Stepper::new(&w, threads).unwrap();
    let t0 = std::time::Instant::now();
    for f in 1..=frames {
        let r = st.advance_frame(&w, &mut s);
        let c = certify(&w, &s);
        let b = &c.bodies[0];
        if f % 5 == 0 || !r.converged {
            println!(
                "{f} it {} sub {} conv {} res {:.4} cert {:.4} min {:.3} com {:.4} {:.4} {:.4} ke {:.4} pe {:.4} se {:.5} be {:.6} v {:.2} l {:.2} ms resc {}",
                r.iterations,
                r.substeps,
                r.converged,
                r.residual,
                b.strain.max_stretch,
                b.strain.min_stretch,
                b.center_of_mass[0],
                b.center_of_mass[1],
                b.center_of_mass[2],
                b.energy.kinetic,
                b.energy.gravity,
                b.energy.stretch,
                b.energy.bend,
                r.velocity_ms,
                r.limit_ms,
                r.rescued
            );
        }
    }
    println!("{:.3} s", t0.elapsed().as_secs_f64());
}
