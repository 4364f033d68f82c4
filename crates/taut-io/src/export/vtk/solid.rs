//! Soft bodies as grids of tetrahedra, with measurements of each.

use glam::Vec3;
use taut::{Solid, measure::RestTetrahedra};

use super::grid::Grid;
use crate::{
    export::{ExportError, Job, sink::write_file},
    recording::{Body, SoftBody},
};

/// Writes `NAME.0042.vtu` of every frame of a soft body.
pub(super) fn write(job: &Job, index: usize, body: &Body, soft: &SoftBody) -> Result<(), ExportError> {
    let rest = RestTetrahedra::new(&soft.mesh);
    let solid = job.recording.described(body).and_then(taut::Body::as_solid);
    let solid = solid.filter(|solid| solid.mesh.tetrahedra == soft.mesh.tetrahedra);
    job.each_soft_frame(index, |frame, positions| {
        let mut grid = Grid::of_tetrahedra(&positions, &soft.mesh.tetrahedra);
        let moved: Vec<Vec3> = positions.iter().zip(&soft.mesh.positions).map(|(x, rest)| x - rest).collect();
        grid.add_point_vectors("displacement", &moved);
        let velocities = match (frame, solid) {
            (0, None) => None,
            (0, Some(solid)) => Some(vec![solid.velocity; positions.len()]),
            _ => {
                let before = job.recording.read_tetrahedra(index, frame - 1)?;
                let rate = 1.0 / job.recording.description().frame_time;
                Some(positions.iter().zip(&before).map(|(x, before)| rate * (x - before)).collect())
            }
        };
        if let Some(velocities) = velocities {
            grid.add_point_vectors("velocity", &velocities);
        }
        add_measures(&mut grid, &rest, solid, &positions);
        write_file(&job.frame_path(body, frame, "vtu"), &grid.encode())
    })
}

fn add_measures(grid: &mut Grid, rest: &RestTetrahedra, solid: Option<&Solid>, positions: &[Vec3]) {
    let limit = solid.map(|solid| solid.strain).unwrap_or_default();
    let measured: Vec<_> = (0..rest.len()).map(|t| rest.tetrahedron(t, positions, limit)).collect();
    for (k, name) in ["strain_max", "strain_mid", "strain_min"].into_iter().enumerate() {
        grid.add_cell_numbers(name, measured.iter().map(|m| (m.stretches[k] - 1.0) as f32));
    }
    let directions: Vec<Vec3> = measured.iter().map(|m| m.direction.as_vec3()).collect();
    grid.add_cell_vectors("strain_direction", &directions);
    let volumes = measured.iter().map(|m| m.stretches.iter().product::<f64>() as f32);
    grid.add_cell_numbers("volume_ratio", volumes);
    let Some(solid) = solid else { return };
    grid.add_cell_numbers("residual", measured.iter().map(|m| m.residual as f32));
    let (young, poisson) = (f64::from(solid.material.young), f64::from(solid.material.poisson));
    let stresses: Vec<[f64; 3]> =
        measured.iter().map(|m| principal_stress(m.stretches, young, poisson)).collect();
    for (k, name) in ["stress_pk2_max", "stress_pk2_mid", "stress_pk2_min"].into_iter().enumerate() {
        grid.add_cell_numbers(name, stresses.iter().map(|stress| stress[k] as f32));
    }
}

/// Principal values of the second Piola–Kirchhoff stress \[Pa\] at these stretches, linear in Green strain.
fn principal_stress(stretches: [f64; 3], young: f64, poisson: f64) -> [f64; 3] {
    let strains = stretches.map(|s| 0.5 * (s * s - 1.0));
    let shear = young / (2.0 * (1.0 + poisson));
    let bulk = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)) * strains.iter().sum::<f64>();
    strains.map(|strain| bulk + 2.0 * shear * strain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_under_tension_narrows_by_its_poisson_ratio() {
        // At small strains: no stress across, Young's modulus along.
        let (strain, poisson) = (1e-6, 0.3);
        let across = 1.0 - poisson * strain;
        let stress = principal_stress([1.0 + strain, across, across], 2e5, poisson);
        assert!((stress[0] - 0.2).abs() < 1e-6 && stress[1].abs() < 1e-6 && stress[2].abs() < 1e-6);
    }
}
