use std::time::Instant;
use taut::{
    contact::{candidates::Candidates, surface::Surface},
    mesh::generate,
    parallel::Threads,
};
fn main() {
    let n: u32 = std::env::args().nth(1).map_or(128, |a| a.parse().unwrap());
    let mesh = generate::grid([1.2, 1.2], [n, n], generate::Diagonals::Alternating, 0);
    let order = taut::mesh::reorder::locality_order(
        mesh.positions.len(),
        &taut::mesh::adjacency::Adjacency::new(&mesh.triangles).edges,
    );
    let mut place = vec![0u32; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = k as u32;
    }
    let mut x = vec![[0.0f32; 4]; order.len()];
    for (v, p) in mesh.positions.iter().enumerate() {
        let wave = 0.02 * (20.0 * p.x).sin() * (17.0 * p.z).cos();
        x[place[v] as usize] = [p.x, wave, p.z, 1.0];
    }
    let surface = Surface::new(mesh.triangles.iter().map(|t| t.map(|v| place[v as usize])).collect());
    let to: Vec<_> = x.iter().map(|q| [q[0], q[1] - 0.02 + 0.001 * (30.0 * q[0]).sin(), q[2], 1.0]).collect();
    for t in [1, 2] {
        let threads = Threads::new(t).unwrap();
        let mut c = Candidates::new(&surface, &x);
        for reach in [0.003f32, 0.006] {
            let mut best = f64::MAX;
            for _ in 0..10 {
                let b = Instant::now();
                c.find(&threads, &surface, &x, &to, reach);
                best = best.min(b.elapsed().as_secs_f64());
            }
            println!("{t} threads reach {reach}: {:.2} ms, {} pairs", best * 1e3, c.pairs().count());
        }
    }
}
