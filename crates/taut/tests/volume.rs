//! Volumes around vertices are kept (W13).

use glam::Vec3;
use taut::{
    Description, Limit, Pin, Scheme, Solid, SolidMaterial, State, Stepper, World, certify,
    mesh::tetrahedra::TetrahedronMesh,
};

/// A bar of 4n × n × n cells, clamped at one end.
fn bar(n: u32, preserve_volume: bool) -> Description {
    let id = |c: [u32; 3]| (c[0] * (n + 1) + c[1]) * (n + 1) + c[2];
    let mut mesh = TetrahedronMesh::default();
    for i in 0..=4 * n {
        for j in 0..=n {
            mesh.positions
                .extend((0..=n).map(|k| Vec3::new(i as f32, j as f32, k as f32) * (0.25 / n as f32)));
        }
    }
    for cell in 0..4 * n * n * n {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut c = [cell / (n * n), cell / n % n, cell % n];
            let mut corners = [id(c); 4];
            for (k, &axis) in order.iter().enumerate() {
                c[axis] += 1;
                corners[k + 1] = id(c);
            }
            mesh.tetrahedra.push(corners);
            if mesh.volume(mesh.tetrahedra.len() - 1) < 0.0 {
                corners.swap(2, 3);
                *mesh.tetrahedra.last_mut().unwrap() = corners;
            }
        }
    }
    let vertices = (0..(n + 1) * (n + 1)).collect();
    let material = SolidMaterial { young: 1e5, poisson: 0.3, ..SolidMaterial::named("flesh").unwrap() };
    let mut solid = Solid::new("bar", mesh, material);
    solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    solid.pins = vec![Pin { vertices, ..Pin::default() }];
    solid.preserve_volume = preserve_volume;
    Description { solids: vec![solid], ..Description::default() }
}

/// Largest error of a ring over `frames`, how many frames did not converge, and the bits of the end.
fn run(description: Description, frames: u32, threads: usize) -> (f64, u32, Vec<Vec3>) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
    let (mut worst, mut missed) = (0.0f64, 0);
    for _ in 0..frames {
        missed += u32::from(!stepper.advance_frame(&world, &mut state).converged);
        let body = &certify(&world, &state).bodies[0];
        worst = worst.max(body.solid.unwrap().max_ring_volume_error);
    }
    (worst, missed, state.positions(&world, 0))
}

#[test]
fn a_sagging_bar_keeps_its_rings() {
    let (free, ..) = run(bar(4, false), 20, 1);
    let (kept, missed, one) = run(bar(4, true), 20, 1);
    assert!(free > 0.02, "{free}");
    assert!(kept <= 0.01 && missed == 0, "{kept} {missed}");
    assert_eq!(one, run(bar(4, true), 20, 2).2, "bits depend on threads");
}

#[test]
fn other_schemes_refuse() {
    let mut description = bar(1, true);
    description.solver.scheme = Scheme::Sweep;
    let error = World::new(description).unwrap_err().to_string();
    assert!(error.contains("volume = \"preserve\"") && error.contains("nearest"), "{error}");
}
