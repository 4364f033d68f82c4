//! The spine's promise on one scene: a hanging sheet of 40×40 cells stays within its limit and swings like
//! cloth.
//!
//! The reference is another simulator: f64, one element after the other in random order, iterated until
//! nothing is past its limit by more than 1e-4. It shares the formulas of single elements, which have tests
//! of their own, and nothing else: no lanes, no colours, no reordering, no certificate.

use glam::{DVec3, Vec3};
use taut::{
    Cloth, Description, Integrator, Limit, Motion, Pin, Scheme, State, Stepper, World, certify,
    kernel::{
        dihedral::dihedral,
        random::Random,
        strain::{Range, limit_strain_gradient},
        svd2::rest_inverse,
    },
    mesh::{TriangleMesh, adjacency::Adjacency, generate},
    velocity::{
        bending::{hinge_forces, sine_moment},
        fem::{membrane_forces, moduli},
    },
};

const FRAMES: u32 = 90;

fn sheet(cells: u32) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let corners = ["corner:top-left", "corner:top-right"].map(|c| mesh.groups[c].clone()).concat();
    let mut cloth = Cloth::new("sheet", mesh, super::alike());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    cloth.pins = vec![Pin { vertices: corners, motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    // So many that no stiffness is softened: the reference does not know that.
    (description.solver.steps_per_frame, description.solver.max_substeps) = (8, 24);
    description
}

/// The largest principal stretch, by another formula than the engine's: the largest singular value from
/// nalgebra.
fn largest_stretch(rest: &TriangleMesh, positions: &[Vec3]) -> f64 {
    rest.triangles
        .iter()
        .map(|t| {
            let r = t.map(|v| rest.positions[v as usize].as_dvec3());
            let x = t.map(|v| positions[v as usize].as_dvec3());
            let (e1, e2) = (r[1] - r[0], r[2] - r[0]);
            let axis = e1.normalize();
            let normal = e1.cross(e2).normalize();
            let other = normal.cross(axis);
            let flat = nalgebra::Matrix2::new(e1.dot(axis), e2.dot(axis), e1.dot(other), e2.dot(other));
            let (d1, d2) = (x[1] - x[0], x[2] - x[0]);
            let edges = nalgebra::Matrix3x2::new(d1.x, d2.x, d1.y, d2.y, d1.z, d2.z);
            (edges * flat.try_inverse().unwrap()).svd(false, false).singular_values.max()
        })
        .fold(0.0, f64::max)
}

/// Centres of mass of the reference run, frame by frame.
fn reference(description: &Description, steps: u32, substeps: u32) -> Vec<DVec3> {
    let cloth = description.bodies[0].as_cloth().unwrap();
    let (mesh, material) = (&cloth.mesh, &cloth.material);
    let adjacency = Adjacency::new(&mesh.triangles);
    let mut x: Vec<DVec3> = cloth.start.iter().map(|p| p.as_dvec3()).collect();
    let mut v = vec![DVec3::ZERO; x.len()];
    let corner = |x: &[DVec3], v: u32| x[v as usize].to_array();
    let rest: Vec<_> =
        mesh.triangles.iter().map(|t| rest_inverse(t.map(|v| corner(&x, v))).unwrap()).collect();
    let mut masses = vec![0.0; x.len()];
    for (t, (_, area)) in mesh.triangles.iter().zip(&rest) {
        for &v in t {
            masses[v as usize] += f64::from(material.density) * area / 3.0;
        }
    }
    let mut w: Vec<f64> = masses.iter().map(|m| 1.0 / m).collect();
    for &v in &cloth.pins[0].vertices {
        w[v as usize] = 0.0;
    }
    let hinges: Vec<_> = adjacency
        .hinges
        .iter()
        .zip(&adjacency.hinge_triangles)
        .map(|(h, t)| {
            let edge = (x[h[1] as usize] - x[h[0] as usize]).length_squared();
            let stiffness =
                f64::from(material.bend.mean()) * edge / (rest[t[0] as usize].1 + rest[t[1] as usize].1);
            (*h, stiffness, dihedral(&h.map(|v| corner(&x, v))).heights.map(|h| 0.25 * h))
        })
        .collect();
    let dt = f64::from(description.frame_time) / f64::from(steps);
    let h = dt / f64::from(substeps);
    let warps = cloth.warps().unwrap();
    let base: Vec<_> = (0..mesh.triangles.len()).map(|t| moduli(material, warps.double_angle(t))).collect();
    let air = f64::from(description.air.density);
    let mut random = Random::new(99, 1);
    let mut order: Vec<usize> = (0..mesh.triangles.len()).collect();
    let mut centers = vec![];
    for _ in 0..FRAMES {
        for _ in 0..steps {
            let mut drag = vec![DVec3::ZERO; x.len()];
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|v| x[v as usize]);
                let area = 0.5 * (b - a).cross(c - a);
                let normal = area.normalize();
                let across = t.map(|i| v[i as usize]).into_iter().sum::<DVec3>().dot(normal) / 3.0;
                let rate = 0.5 * 1.28 * air * across.abs();
                let force = -area * rate * across / (1.0 + dt * rate / f64::from(material.density)) / 3.0;
                for &v in t {
                    drag[v as usize] += force;
                }
            }
            for _ in 0..substeps {
                let mut f = drag.clone();
                for ((t, (rest, area)), base) in mesh.triangles.iter().zip(&rest).zip(&base) {
                    let velocities = t.map(|i| v[i as usize].to_array());
                    let damping = Some((&velocities, f64::from(material.viscosity)));
                    let forces = membrane_forces(
                        &t.map(|v| corner(&x, v)),
                        damping,
                        *rest,
                        base.map(|m| m * area),
                        1e9,
                    );
                    for k in 0..3 {
                        f[t[k] as usize] += DVec3::from(forces[k]);
                    }
                }
                for (hinge, stiffness, heights) in &hinges {
                    let forces = hinge_forces(
                        &hinge.map(|v| corner(&x, v)),
                        |d| sine_moment(d, *stiffness, 0.0),
                        *heights,
                    );
                    for k in 0..4 {
                        f[hinge[k] as usize] += DVec3::from(forces[k]);
                    }
                }
                let keep = (-f64::from(material.damping) * h).exp();
                for i in 0..x.len() {
                    if w[i] > 0.0 {
                        v[i] = (v[i] + h * (f[i] * w[i] + description.gravity.as_dvec3())) * keep;
                        x[i] += h * v[i];
                    }
                }
            }
            let predicted = x.clone();
            for _ in 0..20_000 {
                let mut worst = 0.0f64;
                random.shuffle(&mut order);
                for &t in &order {
                    let corners = mesh.triangles[t];
                    let (p, weights) = (corners.map(|v| corner(&x, v)), corners.map(|v| w[v as usize]));
                    let range = Range { min: 0.0, max: 1.05 };
                    if let Some(p) = limit_strain_gradient(&p, weights, rest[t].0, range, 1.0) {
                        worst = worst.max(p.residual);
                        for k in 0..3 {
                            x[corners[k] as usize] += DVec3::from(p.moves[k]);
                        }
                    }
                }
                if worst <= 1e-4 {
                    break;
                }
            }
            for i in 0..x.len() {
                v[i] += (x[i] - predicted[i]) / dt;
            }
        }
        let weighted: DVec3 = x.iter().zip(&masses).map(|(x, m)| *x * *m).sum();
        centers.push(weighted / masses.iter().sum::<f64>());
    }
    centers
}

#[test]
fn a_hanging_sheet_holds_its_limit_and_swings_like_the_reference() {
    let mut description = sheet(40);
    // The reference is explicit.
    description.solver.integrator = Some(Integrator::LeapFrog);
    let world = World::new(description.clone()).unwrap();
    let centers = reference(&description, world.steps_per_frame(), world.plan().substeps + 2);
    // 2 % of the sheet's length would do; both are far closer.
    swings_like(&description, &centers, Scheme::Nearest, 0.006);
    swings_like(&description, &centers, Scheme::Sweep, 0.003);
    // It must have swung, not hung frozen: down by a good part of its length, and through below the pins.
    assert!(centers[30].y < -0.45 && centers[50].z < 0.05, "{} {}", centers[30], centers[50]);
}

fn swings_like(description: &Description, centers: &[DVec3], scheme: Scheme, close: f64) {
    let mut description = description.clone();
    description.solver.scheme = scheme;
    let world = World::new(description.clone()).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 0).unwrap();
    let mut worst = (0.0f64, 0.0f64);
    for (k, reference) in centers.iter().enumerate() {
        let report = stepper.advance_frame(&world, &mut state);
        assert!(report.converged, "frame {} ended with residual {}", k + 1, report.residual);
        let measured =
            largest_stretch(&description.bodies[0].as_cloth().unwrap().mesh, &state.positions(&world, 0));
        let certificate = certify(&world, &state);
        assert!(measured <= 1.061, "frame {}: stretch {measured}", k + 1);
        assert!((measured - certificate.bodies[0].strain.max_stretch).abs() < 1e-4);
        let center = DVec3::from(certificate.bodies[0].center_of_mass);
        worst = (worst.0.max(measured), worst.1.max(center.distance(*reference)));
        assert!(center.distance(*reference) < close, "frame {}: {center} against {reference}", k + 1);
    }
    println!(
        "{scheme:?}: largest stretch {:.4}, centre of mass off by at most {:.1} mm",
        worst.0,
        1e3 * worst.1
    );
}
