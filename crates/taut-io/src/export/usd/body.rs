//! Bodies of a run as prims: cloth as `Mesh`, strands as `BasisCurves`.
//!
//! Points, normals and extent have a sample for every frame. Constant connectivity is written once. If it
//! changes (cloth that tears), it has a sample at the first frame and at each change; USD holds the value in
//! between, and also holds points between two frames with different numbers of them, so that they always
//! match. Strands have the width of each point, if their radii are known; otherwise one width for all. Rest
//! positions and texture coordinates are torn with the mesh; where triangles change by more than that, they
//! have no value.

use glam::Vec3;
use taut::mesh::normals::vertex_normals;

use super::{
    layer::{Attribute, Failure, Layer, Prim},
    names::display_name,
    value::Value,
};
use crate::{
    export::Job,
    recording::{Body, Connections, Geometry, gather},
};

/// Colours of bodies in viewers without materials, cyclic (linear red, green, blue).
const COLOURS: [Vec3; 5] = [
    Vec3::new(0.55, 0.12, 0.10),
    Vec3::new(0.10, 0.25, 0.50),
    Vec3::new(0.50, 0.36, 0.08),
    Vec3::new(0.12, 0.38, 0.22),
    Vec3::new(0.35, 0.14, 0.42),
];

pub const POINTS: Attribute = Attribute::new("points", "point3f[]");
pub const EXTENT: Attribute = Attribute::new("extent", "float3[]");
pub const NORMALS: Attribute = Attribute::new("normals", "normal3f[]").per("vertex");
pub const COUNTS: Attribute = Attribute::new("faceVertexCounts", "int[]");
pub const INDICES: Attribute = Attribute::new("faceVertexIndices", "int[]");
pub const SUBDIVISION: Attribute = Attribute::uniform("subdivisionScheme", "token");
pub const DOUBLE_SIDED: Attribute = Attribute::uniform("doubleSided", "bool");
pub const COLOUR: Attribute = Attribute::new("primvars:displayColor", "color3f[]").per("constant");
const STRANDS: Attribute = Attribute::new("curveVertexCounts", "int[]");
const WIDTH: Attribute = Attribute::new("widths", "float[]").per("constant");
const WIDTHS: Attribute = Attribute::new("widths", "float[]").per("vertex");
const CURVE_TYPE: Attribute = Attribute::uniform("type", "token");
const WRAP: Attribute = Attribute::uniform("wrap", "token");
const REST: Attribute = Attribute::new("primvars:rest", "point3f[]").per("vertex");
const UVS: Attribute = Attribute::new("primvars:st", "texCoord2f[]").per("faceVarying");

/// Writes body `k` of a recording as a prim named `name`.
///
/// # Errors
/// If a frame cannot be read, or a write fails.
pub fn write(layer: &mut dyn Layer, job: &Job, k: usize, name: String) -> Result<(), Failure> {
    let (body, frames) = (&job.recording.bodies()[k], &job.frames);
    let fields = display_name(&body.name, &name);
    let is_mesh = matches!(*body.rest.connections, Connections::Triangles(_));
    let schema = if is_mesh { "Mesh" } else { "BasisCurves" };
    layer.begin(Prim { name, schema, fields })?;
    layer.value(&COLOUR, &Value::Vec3s(vec![COLOURS[k % COLOURS.len()]]))?;
    let width = strand_width(&body.rest);
    if is_mesh {
        layer.value(&SUBDIVISION, &Value::token("none"))?;
        layer.value(&DOUBLE_SIDED, &Value::Bool(true))?;
    } else {
        layer.value(&CURVE_TYPE, &Value::token("linear"))?;
        layer.value(&WRAP, &Value::token("nonperiodic"))?;
        match &body.radii {
            Some(radii) => {
                layer.value(&WIDTHS, &Value::Floats(radii.iter().map(|radius| 2.0 * radius).collect()))?;
            }
            None => layer.value(&WIDTH, &Value::Floats(vec![width]))?,
        }
    }

    let mut sampled = vec![POINTS, EXTENT];
    if is_mesh {
        sampled.push(NORMALS);
    }
    let every_frame = sampled.len();
    // Attributes of the connectivity: written once, or at each change.
    let mut held = if is_mesh { vec![COUNTS, INDICES] } else { vec![STRANDS] };
    held.push(REST);
    if body.uvs.is_some() {
        held.push(UVS);
    }
    let changing = body.changes.iter().any(|change| change <= frames.end());
    if changing {
        sampled.extend(held);
    } else {
        for attribute in &held {
            layer.value(attribute, &value(body, &body.rest, width, attribute))?;
        }
    }
    layer.samples(&sampled, frames.clone(), &mut |frame, only| {
        let begins = frame == *frames.start() || body.changes.contains(&frame);
        let wanted = |k: usize| only.is_none_or(|only| only == k) && (begins || k < every_frame);
        if !(0..sampled.len()).any(wanted) {
            return Ok(vec![None; sampled.len()]);
        }
        let geometry = job.read(k, frame)?;
        let values = sampled.iter().enumerate();
        let values = values.map(|(k, attribute)| wanted(k).then(|| value(body, &geometry, width, attribute)));
        Ok(values.collect())
    })?;
    layer.end()?;
    Ok(())
}

/// The value of an attribute of a body in one frame.
fn value(body: &Body, geometry: &Geometry, width: f32, attribute: &Attribute) -> Value {
    let positions = &geometry.positions;
    let triangles = geometry.connections.triangles();
    match (attribute.name, &*geometry.connections) {
        ("points", _) => Value::Vec3s(positions.clone()),
        ("extent", Connections::Triangles(_)) => Value::extent(positions, 0.0),
        ("extent", Connections::Curves(_)) => match &body.radii {
            Some(radii) => Value::extent_of_balls(positions, radii),
            None => Value::extent(positions, 0.5 * width),
        },
        ("normals", _) => Value::Vec3s(vertex_normals(positions, triangles.iter().copied())),
        ("faceVertexCounts", _) => Value::Ints(vec![3; triangles.len()]),
        ("faceVertexIndices", _) => Value::Ints(triangles.as_flattened().iter().map(|&v| v as i32).collect()),
        ("curveVertexCounts", Connections::Curves(counts)) => {
            Value::Ints(counts.iter().map(|&count| count as i32).collect())
        }
        ("primvars:rest", _) => match body.origins(geometry) {
            Some(origins) => Value::Vec3s(gather(&body.rest.positions, &origins)),
            None => Value::Blocked,
        },
        ("primvars:st", _) => match &body.uvs {
            Some(uvs) if uvs.len() == triangles.len() => Value::Vec2s(uvs.as_flattened().to_vec()),
            _ => Value::Blocked,
        },
        _ => Value::Blocked,
    }
}

/// Display width of strands of unknown radius \[m\]: a tenth of the distance of their vertices. Viewers draw
/// curves without a width one metre thick.
fn strand_width(rest: &Geometry) -> f32 {
    let Connections::Curves(counts) = &*rest.connections else { return 0.0 };
    let (mut length, mut edges, mut start) = (0.0, 0_u32, 0);
    for &count in counts {
        let end = start + count as usize;
        for pair in rest.positions[start..end].windows(2) {
            length += pair[0].distance(pair[1]);
            edges += 1;
        }
        start = end;
    }
    0.1 * length / edges.max(1) as f32
}
