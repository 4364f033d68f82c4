//! What is promised of a hanging sheet of 128×128 cells: limits hold in every frame.
//!
//! Stretches are measured here, in double precision from rest and current edges alone, by another formula
//! than the engine's: as roots of the eigenvalues of the quotient of the two first fundamental forms.

use glam::{DVec3, Vec3};
use taut::{
    Cloth, Description, Limit, Material, Pin, Scheme, State, Stepper, World,
    mesh::{TriangleMesh, generate},
};

const CELLS: u32 = 128;
const FRAMES: u32 = 90;

/// Largest and smallest stretch, largest and mean residual of a frame.
struct Measured {
    largest: f64,
    smallest: f64,
    residual: f64,
    mean: f64,
}

/// Lengths and products of two edges of a triangle: E, F, G.
fn form(corners: [DVec3; 3]) -> [f64; 3] {
    let (a, b) = (corners[1] - corners[0], corners[2] - corners[0]);
    [a.length_squared(), a.dot(b), b.length_squared()]
}

fn measure(rest: &TriangleMesh, positions: &[Vec3], limit: Limit) -> Measured {
    let mut all = Measured { largest: 0.0, smallest: f64::MAX, residual: 0.0, mean: 0.0 };
    let range =
        [limit.min.map_or(0.0, |m| 1.0 + f64::from(m)), limit.max.map_or(1e9, |m| 1.0 + f64::from(m))];
    for triangle in &rest.triangles {
        let [re, rf, rg] = form(triangle.map(|v| rest.positions[v as usize].as_dvec3()));
        let [e, f, g] = form(triangle.map(|v| positions[v as usize].as_dvec3()));
        // Squares of stretches are the roots of det(form − λ rest form) = 0.
        let rest_determinant = re * rg - rf * rf;
        let half_trace = 0.5 * (e * rg + g * re - 2.0 * f * rf) / rest_determinant;
        let determinant = (e * g - f * f) / rest_determinant;
        let root = (half_trace * half_trace - determinant).max(0.0).sqrt();
        let (larger, smaller) = ((half_trace + root).sqrt(), (half_trace - root).max(0.0).sqrt());
        let residual = (larger - range[1]).max(range[0] - smaller).max(0.0);
        all.largest = all.largest.max(larger);
        all.smallest = all.smallest.min(smaller);
        all.residual = all.residual.max(residual);
        all.mean += residual / rest.triangles.len() as f64;
    }
    all
}

/// Runs a sheet with `limit` and hands every frame over.
fn hang(limit: Limit, mut each: impl FnMut(u32, &Measured)) {
    let mesh = generate::grid([1.0, 1.0], [CELLS, CELLS], generate::Diagonals::Alternating, 0);
    let vertices =
        ["corner:top-left", "corner:top-right"].iter().flat_map(|c| mesh.groups[*c].clone()).collect();
    let mut cloth = Cloth::new("sheet", mesh.clone(), Material::named("polyester").unwrap());
    cloth.strain = limit;
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = Scheme::Nearest;
    description.solver.steps_per_frame = 1;
    description.solver.max_substeps = 8;
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 0).unwrap();
    let mut lowest = 0.0f32;
    let (mut worst, mut iterations) = (0.0f64, 0);
    for frame in 1..=FRAMES {
        iterations += stepper.advance_frame(&world, &mut state).iterations;
        let positions = state.positions(&world, 0);
        let measured = measure(&mesh, &positions, limit);
        worst = worst.max(measured.residual);
        each(frame, &measured);
        lowest = positions.iter().fold(lowest, |lowest, p| lowest.min(p.y));
    }
    println!("{limit:?}: residual at most {worst:.5}, {} iterations per frame", iterations / FRAMES);
    // It must have swung down, not hung frozen.
    assert!(lowest < -0.9, "its lowest vertex came down to {lowest} m only");
}

#[test]
fn no_stretch_above_1_percent() {
    hang(Limit { min: None, max: Some(0.01) }, |frame, m| {
        assert!(m.largest <= 1.01 + 1e-5, "frame {frame}: stretch {}", m.largest);
        assert!(m.mean <= 0.001, "frame {frame}: mean residual {}", m.mean);
    });
}

fn two_sided(strain: f32) {
    hang(Limit { min: Some(-strain), max: Some(strain) }, |frame, m| {
        // Not beyond the limit; the rest is the rounding of single precision.
        assert!(m.residual <= 1e-5, "frame {frame}: {} to {}", m.smallest, m.largest);
        assert!(m.mean <= 0.001, "frame {frame}: mean residual {}", m.mean);
    });
}

#[test]
fn no_strain_beyond_5_percent_either_way() {
    two_sided(0.05);
}

#[test]
fn no_strain_beyond_1_percent_either_way() {
    two_sided(0.01);
}
