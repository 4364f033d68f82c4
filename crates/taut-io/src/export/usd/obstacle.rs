//! Obstacles as prims of their shape, with their motion as transformations sampled at every frame.

use std::ops::RangeInclusive;

use glam::{Quat, Vec3};
use taut::{MeshObstacle, Pose, Shape, low_level::Surface, mesh::normals::vertex_normals};

use super::{
    body::{COLOUR, COUNTS, DOUBLE_SIDED, EXTENT, INDICES, NORMALS, POINTS, SUBDIVISION},
    layer::{Attribute, Failure, Layer, Prim},
    names::{Names, display_name},
    value::Value,
};
use crate::recording::Recording;

const TRANSLATE: Attribute = Attribute::new("xformOp:translate", "double3");
const ORIENT: Attribute = Attribute::new("xformOp:orient", "quatf");
const SCALE: Attribute = Attribute::new("xformOp:scale", "float3");
const ORDER: Attribute = Attribute::uniform("xformOpOrder", "token[]");
const AXIS: Attribute = Attribute::uniform("axis", "token");
const RADIUS: Attribute = Attribute::new("radius", "double");
const HEIGHT: Attribute = Attribute::new("height", "double");
const SIZE: Attribute = Attribute::new("size", "double");

const GREY: Vec3 = Vec3::splat(0.3);

/// Writes the obstacles of a recording to a scope of their own. Infinite planes are shown as squares of half
/// extent `reach` \[m\].
///
/// # Errors
/// A write error.
pub fn write(
    layer: &mut dyn Layer,
    recording: &Recording,
    scope: &str,
    frames: &RangeInclusive<u32>,
    reach: f32,
) -> Result<(), Failure> {
    let meshes = &recording.description().mesh_obstacles;
    if recording.obstacles().next().is_none() && meshes.is_empty() {
        return Ok(());
    }
    layer.begin(Prim { name: scope.into(), schema: "Scope", fields: Vec::new() })?;
    let mut names = Names::default();
    for (index, obstacle) in recording.obstacles().enumerate() {
        let name = names.give(&obstacle.name);
        let fields = display_name(&obstacle.name, &name);
        layer.begin(Prim { name, schema: schema(&obstacle.shape), fields })?;
        layer.value(&COLOUR, &Value::Vec3s(vec![GREY]))?;
        write_shape(layer, &obstacle.shape, reach)?;
        write_motion(layer, &obstacle.shape, recording.is_moving(index), frames, |frame| {
            recording.pose(index, frame)
        })?;
        layer.end()?;
    }
    for obstacle in meshes {
        let name = names.give(&obstacle.name);
        let fields = display_name(&obstacle.name, &name);
        layer.begin(Prim { name, schema: "Mesh", fields })?;
        layer.value(&COLOUR, &Value::Vec3s(vec![GREY]))?;
        write_surface(layer, obstacle, frames, |frame| recording.time(frame))?;
        layer.end()?;
    }
    layer.end()?;
    Ok(())
}

fn schema(shape: &Shape) -> &'static str {
    match shape {
        Shape::Plane | Shape::Torus { .. } => "Mesh",
        Shape::Sphere { .. } => "Sphere",
        Shape::Box { .. } => "Cube",
        Shape::Capsule { .. } => "Capsule",
        Shape::Cylinder { .. } => "Cylinder",
    }
}

fn write_shape(layer: &mut dyn Layer, shape: &Shape, reach: f32) -> Result<(), Failure> {
    let mut double = |attribute: &Attribute, value: f32| layer.value(attribute, &Value::Double(value.into()));
    let half = match *shape {
        Shape::Plane | Shape::Torus { .. } => return write_mesh(layer, shape.surface(reach)),
        Shape::Sphere { radius } => {
            double(&RADIUS, radius)?;
            Vec3::splat(radius)
        }
        Shape::Box { .. } => {
            // The scale has its edge lengths.
            double(&SIZE, 1.0)?;
            Vec3::splat(0.5)
        }
        Shape::Capsule { radius, length } => {
            double(&RADIUS, radius)?;
            double(&HEIGHT, length)?;
            layer.value(&AXIS, &Value::token("Y"))?;
            Vec3::new(radius, 0.5 * length + radius, radius)
        }
        Shape::Cylinder { radius, height } => {
            double(&RADIUS, radius)?;
            double(&HEIGHT, height)?;
            layer.value(&AXIS, &Value::token("Y"))?;
            Vec3::new(radius, 0.5 * height, radius)
        }
    };
    layer.value(&EXTENT, &Value::Vec3s(vec![-half, half]))?;
    Ok(())
}

fn write_motion(
    layer: &mut dyn Layer,
    shape: &Shape,
    is_moving: bool,
    frames: &RangeInclusive<u32>,
    pose: impl Fn(u32) -> Pose,
) -> Result<(), Failure> {
    let values =
        |position: Vec3, rotation: Quat| [Value::Double3(position.as_dvec3()), Value::Quat(rotation)];
    let start = pose(*frames.start());
    let operations = [TRANSLATE, ORIENT];
    if is_moving {
        let mut before = start.rotation;
        layer.samples(&operations, frames.clone(), &mut |frame, _| {
            let now = pose(frame);
            // q and −q are the same rotation; the one nearer to the previous interpolates along the short
            // path.
            before = if now.rotation.dot(before) < 0.0 { -now.rotation } else { now.rotation };
            Ok(values(now.position, before).map(Some).into())
        })?;
    } else {
        for (operation, value) in operations.iter().zip(values(start.position, start.rotation)) {
            layer.value(operation, &value)?;
        }
    }
    let mut order = vec![TRANSLATE.name, ORIENT.name];
    if let Shape::Box { size } = *shape {
        layer.value(&SCALE, &Value::Float3(size))?;
        order.push(SCALE.name);
    }
    layer.value(&ORDER, &Value::Tokens(order))?;
    Ok(())
}

/// A mesh obstacle in world space, with a sample for every frame if it moves.
fn write_surface(
    layer: &mut dyn Layer,
    obstacle: &MeshObstacle,
    frames: &RangeInclusive<u32>,
    time: impl Fn(u32) -> f32,
) -> Result<(), Failure> {
    let values = |frame: u32| {
        let positions = obstacle.positions_at(time(frame));
        let normals = vertex_normals(&positions, obstacle.triangles.iter().copied());
        [Value::extent(&positions, 0.0), Value::Vec3s(normals), Value::Vec3s(positions)]
    };
    let attributes = [EXTENT, NORMALS, POINTS];
    write_faces(layer, &obstacle.triangles)?;
    if obstacle.is_moving() {
        layer.samples(&attributes, frames.clone(), &mut |frame, _| Ok(values(frame).map(Some).into()))?;
    } else {
        for (attribute, value) in attributes.iter().zip(values(*frames.start())) {
            layer.value(attribute, &value)?;
        }
    }
    Ok(())
}

fn write_faces(layer: &mut dyn Layer, triangles: &[[u32; 3]]) -> Result<(), Failure> {
    let indices = triangles.as_flattened().iter().map(|&v| v as i32).collect();
    layer.value(&SUBDIVISION, &Value::token("none"))?;
    layer.value(&DOUBLE_SIDED, &Value::Bool(true))?;
    layer.value(&COUNTS, &Value::Ints(vec![3; triangles.len()]))?;
    layer.value(&INDICES, &Value::Ints(indices))?;
    Ok(())
}

fn write_mesh(layer: &mut dyn Layer, surface: Surface) -> Result<(), Failure> {
    let Surface { positions, normals, triangles } = surface;
    write_faces(layer, &triangles)?;
    layer.value(&NORMALS, &Value::Vec3s(normals))?;
    layer.value(&EXTENT, &Value::extent(&positions, 0.0))?;
    layer.value(&POINTS, &Value::Vec3s(positions))?;
    Ok(())
}
