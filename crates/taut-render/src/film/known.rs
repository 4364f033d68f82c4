//! What is known of the bodies of a recording before any frame is drawn.

use std::borrow::Cow;

use glam::Vec3;
use taut::{Cloth, mesh::TriangleMesh};
use taut_io::{
    Problem,
    recording::{Body, Geometry, Recording},
};

use super::{FURTHEST, FilmError, Options, curves::CurveGauge};
use crate::{
    coarse::Coarse,
    color::{
        Coloring,
        level::Levels,
        measure::{Gauge, Measured},
        soft::SoftGauge,
    },
    scene::Paint,
};

/// Precomputed data of a body.
#[derive(Debug)]
pub(super) struct Known {
    pub rest: TriangleMesh,
    /// The level that is drawn instead of it.
    pub coarse: Option<Coarse>,
    pub gauge: Option<Gauge>,
    /// Whether that measures the points of developable cloth.
    pub by_points: bool,
    /// For a soft body, unless the strain of its surface is shown.
    pub soft: Option<SoftGauge>,
    /// For curves, if strain is shown.
    pub curve: Option<CurveGauge>,
    /// Colours by level.
    pub levels: Option<Paint>,
}

impl Known {
    /// Reads the displayed geometry of the body in a frame.
    pub fn read(&self, recording: &Recording, body: usize, frame: u32) -> Result<Geometry, Problem> {
        let geometry = read(recording, body, frame)?;
        Ok(self.coarse.as_ref().and_then(|coarse| coarse.of(&geometry)).unwrap_or(geometry))
    }

    /// Measures the displayed geometry of body `body` in a frame, and gives the rest shape that it is
    /// measured against: torn where the frame is. `None` if it is not measured, or its triangles are others.
    pub fn measured(
        &self,
        recording: &Recording,
        (body, frame): (usize, u32),
        geometry: &Geometry,
    ) -> Option<(Vec<Measured>, Cow<'_, TriangleMesh>)> {
        let gauge = self.gauge.as_ref()?;
        if self.by_points {
            let points = recording.read_points(body, frame).ok()?;
            return Some((gauge.measure(&points)?, Cow::Borrowed(&self.rest)));
        }
        if geometry.connections.triangles() == self.rest.triangles {
            return Some((gauge.measure(&geometry.positions)?, Cow::Borrowed(&self.rest)));
        }
        let body = &recording.bodies()[body];
        let torn = body.rest_of(geometry)?;
        let cloth = recording.described(body).and_then(taut::Body::as_cloth);
        // What could be measured whole can be measured torn.
        let measured = Gauge::new(&torn, cloth).ok()?.measure(&geometry.positions)?;
        Some((measured, Cow::Owned(torn)))
    }
}

/// The values that `coloring` shows of the soft body `body`, at the vertices of its surface.
pub(super) fn soft_values(
    recording: &Recording,
    known: &Known,
    body: usize,
    frame: u32,
    coloring: Coloring,
) -> Result<Vec<f32>, Problem> {
    let (Some(gauge), Some(soft)) = (&known.soft, &recording.bodies()[body].soft) else {
        return Ok(Vec::new());
    };
    let values = gauge.at_vertices(&recording.read_tetrahedra(body, frame)?, coloring);
    let values: Vec<Vec3> = values.into_iter().map(Vec3::splat).collect();
    Ok(soft.to_surface(&values).iter().map(|value| value.x).collect())
}

/// Reads a frame that can be drawn.
fn read(recording: &Recording, body: usize, frame: u32) -> Result<Geometry, Problem> {
    let geometry = recording.read(body, frame)?;
    if let Some(vertex) = geometry.positions.iter().position(|p| p.abs().max_element() > FURTHEST) {
        let name = &recording.bodies()[body].name;
        let at = geometry.positions[vertex];
        return Err(Problem {
            file: Some(recording.frame_file(body, frame)),
            key: Some(format!("frame {frame} of {name}")),
            message: format!("vertex {vertex} is at {at}, more than a million kilometres away"),
            ..Problem::default()
        });
    }
    Ok(geometry)
}

/// Prepares all bodies, and returns the title of the displayed level.
pub(super) fn know(
    recording: &Recording,
    options: &Options,
) -> Result<(Vec<Known>, Option<String>), FilmError> {
    let mut known = Vec::new();
    let mut title = None;
    let described = |body: &Body| recording.described(body);
    if options.mesh_level > 0
        && !recording.bodies().iter().any(|body| described(body).is_some_and(|b| b.as_cloth().is_some()))
    {
        let message = "the run has no cloth, and only cloth has mesh levels".into();
        return Err(FilmError::Refused { message, hint: "omit --mesh-level".into() });
    }
    for body in recording.bodies() {
        let rest = rest_mesh(body);
        let cloth = described(body).and_then(taut::Body::as_cloth);
        let coarse = match cloth {
            Some(_) if options.mesh_level > 0 => Some(coarse(body, &rest, cloth, options.mesh_level)?),
            _ => None,
        };
        if let Some(coarse) = &coarse {
            let words = format!("level {}: {} triangles", options.mesh_level, coarse.mesh.triangles.len());
            title.get_or_insert(words);
        }
        let rest = coarse.as_ref().map_or(rest, |coarse| coarse.mesh.clone());
        let solid = described(body).and_then(taut::Body::as_solid);
        let by_tetrahedra = options.coloring.measures() && options.coloring != Coloring::Hsv;
        let soft = body.soft.as_ref().filter(|_| by_tetrahedra);
        let soft = soft.map(|soft| SoftGauge::new(&soft.mesh, solid));
        let gauge = if options.coloring.measures() && soft.is_none() && !rest.triangles.is_empty() {
            let refused =
                |message| FilmError::Refused { message, hint: "--color fabric requires no limits".into() };
            let own = cloth.filter(|cloth| cloth.midpoints.is_some() && coarse.is_none());
            let elements = own.map(|cloth| cloth.element_mesh().into_owned());
            let gauge = Gauge::new(elements.as_ref().unwrap_or(&rest), cloth).map_err(refused)?;
            Some(match solid {
                Some(solid) => gauge.with_limit(solid.strain),
                None => gauge,
            })
        } else {
            None
        };
        let curve = options.coloring.measures().then(|| CurveGauge::new(body, described(body))).flatten();
        let has_levels = body.soft.is_none() && !rest.triangles.is_empty();
        let levels = if options.coloring == Coloring::Level && has_levels {
            let levels = Levels::new(rest.clone());
            let coarsest = levels.coarsest();
            let level = options.level.unwrap_or(coarsest);
            if level > coarsest {
                let message =
                    format!("{} has levels 0 to {coarsest}: level {level} does not exist", body.name);
                return Err(FilmError::Refused { message, hint: "level 0 is the finest".into() });
            }
            let words = format!("level {level} of {coarsest}: {} triangles", levels.triangles(level));
            title.get_or_insert(words);
            Some(Paint::Triangles(levels.colors(level)))
        } else {
            None
        };
        let by_points = body.midpoints.is_some() && coarse.is_none();
        known.push(Known { rest, coarse, gauge, by_points, soft, curve, levels });
    }
    Ok((known, title))
}

fn coarse(
    body: &Body,
    rest: &TriangleMesh,
    cloth: Option<&Cloth>,
    level: usize,
) -> Result<Coarse, FilmError> {
    Coarse::new(rest, cloth, level).map_err(|coarsest| {
        let message = format!("{} has levels 0 to {coarsest}: level {level} does not exist", body.name);
        FilmError::Refused { message, hint: "level 0 is the finest".into() }
    })
}

fn rest_mesh(body: &Body) -> TriangleMesh {
    TriangleMesh {
        positions: body.rest.positions.clone(),
        triangles: body.rest.connections.triangles().to_vec(),
        ..TriangleMesh::default()
    }
}
