//! VTK unstructured grids (`.vtu`), one file per frame, and a ParaView collection (`.pvd`) of all with their
//! times \[s\].
//!
//! | array | of | |
//! |---|---|---|
//! | `displacement` | vertices | from the rest shape \[m\] |
//! | `velocity` | vertices | mean over the previous frame \[m/s\]; in frame 0 the initial velocity |
//! | `radius` | vertices of strands | if it is known \[m\] |
//! | `strain_max`, `strain_min` | triangles | principal strains (stretch − 1; 0.05: longer by 5 %) |
//! | `strain_direction` | triangles | world-space unit vector of the larger one |
//! | `residual` | triangles | excess past its strain limits, as in the certificate; 0: within |
//! | `stress_pk2_max`, `stress_pk2_min` | triangles | principal membrane stresses \[N/m\] |
//!
//! Strains are against the rest shape; stresses are second Piola–Kirchhoff, by the cloth's material.
//!
//! Soft bodies are written as tetrahedra, not as their display surface. They have the same arrays for every
//! tetrahedron, with a third principal strain `strain_mid` and stress `stress_pk2_mid` between the two
//! (stress in Pa), and `volume_ratio`, the volume relative to that at rest; negative: inverted.
//!
//! Stress follows from the material law at the strain of the frame; forces of the limits are not included. A
//! body that is not a cloth of the scene has no residual and no stress. Torn cloth is compared with its rest
//! shape torn alike, and what is split off in a frame was where it was split from. Where triangles change by
//! more than tears, there is no rest shape to compare with: only `velocity` remains, except in the frame of
//! a change itself. Strands are polylines with the arrays of vertices. Numbers are raw little-endian float32
//! at the end of the file.

mod grid;
mod solid;

use std::borrow::Cow;

use glam::Vec3;
use taut::{Cloth, Limit, measure::RestShape, mesh::tetrahedra::TetrahedronMesh};

use self::grid::{Grid, escape};
use super::{ExportError, Job, sink::write_file};
use crate::{
    Problem,
    recording::{Body, Connections, Geometry, gather},
};

/// Writes `NAME.0042.vtu` of every body and frame, and `SCENE.pvd`.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    job.each_body(|index, body| {
        if let Some(soft) = &body.soft {
            return solid::write(job, index, body, soft);
        }
        let whole = Measures::new(job, body, &body.rest)?;
        job.each_frame(index, |frame, geometry| {
            let velocities = velocities(job, index, frame, &geometry)?;
            let torn = if body.starts_with(&geometry) { None } else { Measures::new(job, body, &geometry)? };
            let measures = if body.starts_with(&geometry) { whole.as_ref() } else { torn.as_ref() };
            // Developable cloth is measured where it is simulated.
            let points = body.midpoints.as_ref().map(|_| job.recording.read_points(index, frame));
            let points = points.transpose()?;
            let measures =
                measures.map(|measures| (measures, points.as_ref().unwrap_or(&geometry.positions)));
            let grid = grid(body, &geometry, velocities, measures);
            write_file(&job.frame_path(body, frame, "vtu"), &grid.encode())
        })
    })?;
    write_file(&job.path.join(format!("{}.pvd", job.recording.name())), collection(job).as_bytes())
}

/// The list of all files with their times.
fn collection(job: &Job) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n\
         <Collection>\n",
    );
    for frame in job.frames.clone() {
        for (part, body) in job.recording.bodies().iter().enumerate() {
            let path = job.frame_path(body, frame, "vtu");
            let file = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            text += &format!(
                "<DataSet timestep=\"{}\" part=\"{part}\" name=\"{}\" file=\"{}\"/>\n",
                job.recording.time(frame),
                escape(&body.name),
                escape(&file)
            );
        }
    }
    text + "</Collection>\n</VTKFile>\n"
}

/// A file of tetrahedra alone.
pub(super) fn tetrahedra_file(mesh: &TetrahedronMesh) -> Vec<u8> {
    Grid::of_tetrahedra(&mesh.positions, &mesh.tetrahedra).encode()
}

fn grid(
    body: &Body,
    geometry: &Geometry,
    velocities: Option<Vec<Vec3>>,
    measures: Option<(&Measures, &Vec<Vec3>)>,
) -> Grid {
    let Geometry { positions, connections } = geometry;
    let mut grid = match &**connections {
        Connections::Triangles(triangles) => Grid::of_triangles(positions, triangles),
        Connections::Curves(counts) => Grid::of_curves(positions, counts),
    };
    if let Some(origins) = body.origins(geometry) {
        let rest = gather(&body.rest.positions, &origins);
        let moved: Vec<Vec3> = positions.iter().zip(rest).map(|(x, rest)| x - rest).collect();
        grid.add_point_vectors("displacement", &moved);
    }
    if let Some(velocities) = velocities {
        grid.add_point_vectors("velocity", &velocities);
    }
    if let Some(radii) = &body.radii {
        grid.add_point_numbers("radius", radii.iter().copied());
    }
    if let Some((measures, measured)) = measures {
        measures.add_to(&mut grid, measured);
    }
    grid
}

/// Mean velocities over the previous frame \[m/s\], if its vertices are the same, or were split since.
fn velocities(
    job: &Job,
    body: usize,
    frame: u32,
    geometry: &Geometry,
) -> Result<Option<Vec<Vec3>>, ExportError> {
    let (recording, about) = (job.recording, &job.recording.bodies()[body]);
    if frame == 0 {
        let described = recording.described(about).map(taut::Body::velocity);
        return Ok(described.map(|velocity| vec![velocity; geometry.positions.len()]));
    }
    let before = recording.read(body, frame - 1)?;
    let Some(origins) = before.origins_of(geometry) else { return Ok(None) };
    let before = gather(&before.positions, &origins);
    let rate = 1.0 / recording.description().frame_time;
    Ok(Some(geometry.positions.iter().zip(&before).map(|(x, before)| rate * (x - before)).collect()))
}

/// Measurements of triangles.
struct Measures<'a> {
    rest: RestShape,
    cloth: Option<Cow<'a, Cloth>>,
}

impl<'a> Measures<'a> {
    /// Of `body` in the connectivity of `geometry`, one of its frames, if that has triangles that are those
    /// of the rest shape or torn from them.
    fn new(job: &Job<'a>, body: &Body, geometry: &Geometry) -> Result<Option<Self>, ExportError> {
        let whole = body.rest.connections.triangles();
        let Some(mesh) = body.rest_of(geometry).filter(|_| !whole.is_empty()) else { return Ok(None) };
        let cloth = job.recording.described(body).and_then(taut::Body::as_cloth);
        let of = |cloth: &&Cloth| match &body.midpoints {
            Some(midpoints) => midpoints.shown.triangles == *whole,
            None => cloth.mesh.triangles == *whole,
        };
        let cloth = cloth.filter(of);
        let cloth = cloth.and_then(|cloth| match body.starts_with(geometry) {
            true => Some(Cow::Borrowed(cloth)),
            false => cloth.torn(&mesh.triangles).map(Cow::Owned),
        });
        let rest = match &cloth {
            Some(cloth) => RestShape::of_cloth(cloth).map_err(|message| Problem {
                key: Some(format!("cloth.{}", cloth.name)),
                message,
                ..Problem::default()
            })?,
            None => RestShape::new(&mesh, Vec::new()),
        };
        Ok(Some(Self { rest, cloth }))
    }

    fn add_to(&self, grid: &mut Grid, positions: &[Vec3]) {
        let limit = self.cloth.as_ref().map_or_else(Limit::default, |cloth| cloth.strain);
        let measured: Vec<_> = (0..grid.cells()).map(|t| self.rest.triangle(t, positions, limit)).collect();
        for (k, name) in ["strain_max", "strain_min"].into_iter().enumerate() {
            grid.add_cell_numbers(name, measured.iter().map(|m| (m.stretches[k] - 1.0) as f32));
        }
        let directions: Vec<Vec3> = measured.iter().map(|m| m.direction.as_vec3()).collect();
        grid.add_cell_vectors("strain_direction", &directions);
        let Some(cloth) = &self.cloth else { return };
        grid.add_cell_numbers("residual", measured.iter().map(|m| m.residual as f32));
        let stresses: Vec<[f64; 2]> =
            (0..grid.cells()).map(|t| self.rest.principal_stress(t, cloth, positions)).collect();
        for (k, name) in ["stress_pk2_max", "stress_pk2_min"].into_iter().enumerate() {
            grid.add_cell_numbers(name, stresses.iter().map(|stress| stress[k] as f32));
        }
    }
}
