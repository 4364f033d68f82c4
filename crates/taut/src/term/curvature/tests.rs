//! Forms of triangles against the theory of thin plates.

use glam::{DMat3, DVec3, Vec3};

use super::*;
use crate::{
    kernel::random::Random,
    tests::strips::{ACROSS, KINDS, Kind, strip},
};

const CLOTH: Rigidity = Rigidity { along: [1.0; 2], torsion: 0.5 };
const WOVEN: Rigidity = Rigidity { along: [0.64, 0.97], torsion: 0.33 };

fn area(mesh: &TriangleMesh, t: usize) -> f64 {
    let [a, b, c] = mesh.triangles[t].map(|v| mesh.positions[v as usize].as_dvec3());
    0.5 * (b - a).cross(c - a).length()
}

/// The warp along `direction`, from each triangle's first edge.
fn warp(mesh: &TriangleMesh, t: usize, direction: DVec3) -> [f64; 2] {
    let [a, b, c] = mesh.triangles[t].map(|v| mesh.positions[v as usize].as_dvec3());
    let x = (b - a).normalize();
    let y = (b - a).cross(c - a).normalize().cross(x);
    let flat = [direction.dot(x), direction.dot(y)];
    flat.map(|d| d / flat[0].hypot(flat[1]))
}

fn fitted(mesh: &TriangleMesh, rigidity: Rigidity, direction: DVec3) -> Vec<CurvatureElement> {
    let areas: Vec<f64> = (0..mesh.triangles.len()).map(|t| area(mesh, t)).collect();
    let adjacency = Adjacency::new(&mesh.triangles);
    CurvatureElement::all(mesh, &adjacency, &areas, |t| (rigidity, warp(mesh, t, direction)))
}

/// The same before they are fitted.
fn unfitted(mesh: &TriangleMesh, rigidity: Rigidity) -> Vec<CurvatureElement> {
    let adjacency = Adjacency::new(&mesh.triangles);
    let shapes: Vec<_> = adjacency.hinges.iter().map(|&hinge| HingeShape::new(mesh, hinge)).collect();
    let mut all = Vec::new();
    for (t, hinges) in hinges_of(mesh, &adjacency).into_iter().enumerate() {
        let law = (rigidity, warp(mesh, t, DVec3::X));
        Form::new(mesh, &shapes, t, hinges, area(mesh, t), law).add_maps(
            &adjacency,
            &shapes,
            mesh.triangles[t][0],
            &mut all,
        );
    }
    all
}

/// Forces \[N\] on vertices that are raised by `height`, from their energy.
fn forces(elements: &[CurvatureElement], height: &[f64]) -> Vec<f64> {
    let mut forces = vec![0.0; height.len()];
    for e in elements {
        let each = || e.vertices.iter().zip(&e.weights);
        let stretch: f64 = each().map(|(&v, w)| w * height[v as usize]).sum();
        each().for_each(|(&v, w)| forces[v as usize] -= w * stretch);
    }
    forces
}

/// Root mean square force on inner vertices of a strip of constant curvature, relative to edge length and
/// rigidity of 1.
fn unrest(mesh: &TriangleMesh, elements: &[CurvatureElement]) -> f64 {
    let shapes: [fn(Vec3) -> f32; 3] = [|p| 0.5 * p.x * p.x, |p| 0.5 * p.z * p.z, |p| p.x * p.z];
    let far = |p: &Vec3| p.x > 3.0 && p.x < ACROSS as f32 - 3.0 && p.z > 4.0 && p.z < 17.0;
    let (mut sum, mut count) = (0.0, 0);
    for shape in shapes {
        let height: Vec<f64> = mesh.positions.iter().map(|&p| f64::from(shape(p))).collect();
        let forces = forces(elements, &height);
        for (force, _) in forces.iter().zip(&mesh.positions).filter(|(_, p)| far(p)) {
            sum += force * force;
            count += 1;
        }
    }
    (sum / f64::from(count)).sqrt()
}

#[test]
fn constant_curvature_is_nearly_in_equilibrium() {
    for (kind, factor) in [(Kind::Jittered, 5.0), (Kind::Delaunay, 4.0), (Kind::Rotated, 3.0)] {
        let mesh = strip(kind, 20, 1);
        let before = unrest(&mesh, &unfitted(&mesh, CLOTH));
        let after = unrest(&mesh, &fitted(&mesh, CLOTH, DVec3::X));
        assert!(factor * after < before, "{kind:?}: {after} after {before}");
    }
}

#[test]
fn regular_grids_keep_their_bits() {
    for rigidity in [CLOTH, WOVEN] {
        let mut mesh = strip(Kind::Regular, 20, 0);
        assert_eq!(fitted(&mesh, rigidity, DVec3::X), unfitted(&mesh, rigidity));
        mesh.positions.iter_mut().for_each(|p| *p *= Vec3::new(0.0123, 1.0, 0.0177));
        assert_eq!(fitted(&mesh, rigidity, DVec3::X), unfitted(&mesh, rigidity));
    }
}

#[test]
fn flat_cloth_has_no_energy() {
    let map = DMat3::from_cols_array(&[0.3, 1.0, 0.2, 0.0, 0.0, 0.0, -0.7, 0.1, 1.2]);
    for kind in KINDS {
        let mesh = strip(kind, 12, 2);
        let at = |v: u32| (map * mesh.positions[v as usize].as_dvec3() + DVec3::ONE).to_array();
        let energy: f64 = fitted(&mesh, WOVEN, DVec3::Z).iter().map(|e| e.energy(at)).sum();
        assert!(energy < 1e-9, "{kind:?}: {energy}");
    }
}

/// Solves a x = b, a positive definite, by elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for j in 0..n {
        let (above, below) = a.split_at_mut(j + 1);
        let pivot = &mut above[j];
        assert!(pivot[j] > 0.0, "not positive definite");
        for (i, row) in below.iter_mut().enumerate().filter(|(_, row)| row[j] != 0.0) {
            let factor = row[j] / pivot[j];
            (j + 1..n).for_each(|k| row[k] -= factor * pivot[k]);
            b[j + 1 + i] -= factor * b[j];
        }
    }
    for j in (0..n).rev() {
        b[j] = (b[j] - (j + 1..n).map(|k| a[j][k] * b[k]).sum::<f64>()) / a[j][j];
    }
    b
}

/// Rigidity that a strip seems to have, over that along z, by how far its tip sags under a small weight.
fn seeming_rigidity(mesh: &TriangleMesh, elements: &[CurvatureElement], along: f64) -> f64 {
    let held = 2 * (ACROSS as usize + 1);
    let n = mesh.positions.len() - held;
    let mut a = vec![vec![0.0; n]; n];
    for e in elements {
        let free = |v: u32| (v as usize).checked_sub(held);
        for (&i, w) in e.vertices.iter().zip(&e.weights) {
            for (&j, u) in e.vertices.iter().zip(&e.weights) {
                if let (Some(i), Some(j)) = (free(i), free(j)) {
                    a[i][j] += w * u;
                }
            }
        }
    }
    let mut weight = vec![0.0; n];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for v in corners.iter().filter(|v| **v as usize >= held) {
            weight[*v as usize - held] += area(mesh, t) / 3.0;
        }
    }
    let sag = solve(a, weight);
    let length = mesh.positions.iter().fold(0.0, |most, p| p.z.max(most));
    let tip: Vec<f64> = (0..n).filter(|&v| mesh.positions[held + v].z == length).map(|v| sag[v]).collect();
    let found = tip.iter().sum::<f64>() / tip.len() as f64;
    (f64::from(length) - 0.5).powi(4) / (8.0 * along * found)
}

#[test]
fn a_clamped_strip_has_the_rigidity_of_its_cloth_on_any_mesh() {
    for rigidity in [CLOTH, WOVEN] {
        for kind in KINDS {
            let mesh = strip(kind, 24, 3);
            let [before, after] = [unfitted(&mesh, rigidity), fitted(&mesh, rigidity, DVec3::X)]
                .map(|elements| seeming_rigidity(&mesh, &elements, rigidity.along[1]));
            assert!((after - 1.0).abs() < 0.02, "{kind:?}: {after} after {before}");
        }
    }
}

#[test]
fn neither_place_nor_order_of_corners_nor_axes_matter() {
    let mesh = strip(Kind::Delaunay, 8, 4);
    let mut other = mesh.clone();
    let (turn, move_by) = (glam::DQuat::from_rotation_x(0.7) * glam::DQuat::from_rotation_y(1.9), DVec3::ONE);
    for p in &mut other.positions {
        *p = (turn * p.as_dvec3() + move_by).as_vec3();
    }
    for (t, corners) in other.triangles.iter_mut().enumerate() {
        corners.rotate_left(t % 3);
    }
    let height: Vec<f64> = mesh.positions.iter().map(|p| f64::from(p.x * p.x * p.z).sin()).collect();
    let energy = |elements: &[CurvatureElement]| -> f64 {
        elements.iter().map(|e| e.energy(|v| [0.0, height[v as usize], 0.0])).sum()
    };
    let first = energy(&fitted(&mesh, WOVEN, DVec3::X));
    let second = energy(&fitted(&other, WOVEN, turn * DVec3::X));
    assert!((second / first - 1.0).abs() < 1e-4, "{second} in place of {first}");
    // Cloth that is the same in all directions may have its warp anywhere.
    let adjacency = Adjacency::new(&mesh.triangles);
    let areas: Vec<f64> = (0..mesh.triangles.len()).map(|t| area(&mesh, t)).collect();
    let any = |t: usize| (CLOTH, [(t as f64).cos(), (t as f64).sin()]);
    let second = energy(&CurvatureElement::all(&mesh, &adjacency, &areas, any));
    let first = energy(&fitted(&mesh, CLOTH, DVec3::X));
    assert!((second / first - 1.0).abs() < 1e-9, "{second} in place of {first}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // More triangles than one thread takes at once.
    let mesh = strip(Kind::Jittered, 400, 5);
    let [first, second] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted(&mesh, WOVEN, DVec3::X))
    });
    assert_eq!(first, second);
}

#[test]
fn thin_triangles_stay_finite_and_about_as_stiff_as_they_were() {
    for seed in 0..20 {
        let mut random = Random::new(seed, 1);
        let mut mesh = strip(Kind::Regular, 10, 0);
        let thin = [1.0, 1e-3, 2e-4][seed as usize % 3];
        for p in &mut mesh.positions {
            // Sheared, so that triangles are obtuse as well, and pressed.
            p.x += 0.15 * random.unit() + 3.0 * p.z;
            p.z = thin * (p.z + 0.15 * random.unit());
        }
        let largest = |elements: &[CurvatureElement]| {
            assert!(elements.iter().flat_map(|e| e.weights).all(f64::is_finite));
            elements.iter().flat_map(|e| e.weights).fold(0.0f64, |most, w| most.max(w.abs()))
        };
        let [before, after] = [unfitted(&mesh, WOVEN), fitted(&mesh, WOVEN, DVec3::X)].map(|e| largest(&e));
        assert!(after < 10.0 * before, "{after} after {before}");
    }
}

#[test]
fn weak_bending_is_made_anew_less_often() {
    let mesh = strip(Kind::Regular, 8, 0);
    let elements = fitted(&mesh, CLOTH, DVec3::X);
    let curvature = Curvature::new(&elements, 0, mesh.positions.len(), [1.0, 0.01], None);
    let beside = |factor: f32| curvature.diagonal.iter().map(|own| factor * own).collect::<Vec<f32>>();
    assert!(curvature.diagonal.iter().all(|own| *own > 0.0));
    assert_eq!([1.0, 5.1, 1000.0].map(|factor| curvature.lag(&beside(factor))), [1, 2, 5]);
    // What is held has no row.
    assert_eq!(curvature.lag(&vec![0.0; mesh.positions.len()]), 5);
}
