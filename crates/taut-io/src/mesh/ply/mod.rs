//! Stanford PLY, text and binary of either byte order.
//!
//! [`header`] parses the header, [`values`] reads the numbers in sequence; this module builds the mesh from
//! them. Elements may come in any order and have any properties; unneeded ones are skipped. Declared sizes
//! are compared with the length of the file before anything is allocated.

mod header;
pub(super) mod strands;
mod values;
mod write;

use glam::{Vec2, Vec3};
use taut::mesh::TriangleMesh;

use super::{
    fault::{Fault, fault},
    polygon::{Corner, MAX_CORNERS, NO_UV, Polygons},
};
use header::{Element, Header, Kind, Property};
use values::Values;

pub use strands::write_strands;
pub use write::{write_marked_ply, write_ply};

/// Reads the bytes of a PLY file.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let header = Header::parse(bytes)?;
    let mut values = Values::new(&header, bytes);
    let (mut vertices, mut faces) = (None, None);
    for element in &header.elements {
        values.require(element)?;
        match element.name.as_str() {
            "vertex" if vertices.is_none() => vertices = Some(read_vertices(element, &mut values)?),
            "face" if faces.is_none() => faces = Some(read_faces(element, &mut values)?),
            "vertex" | "face" => {
                let message = format!("a second element {:?}: one is allowed", element.name);
                return Err(fault(message).at_line(element.line));
            }
            "tristrips" => {
                let message = "has triangle strips (element \"tristrips\"), which are not supported: save it with faces";
                return Err(fault(message).at_line(element.line));
            }
            _ => skip(element, &mut values)?,
        }
    }
    let vertices = vertices.ok_or_else(|| fault("has no element \"vertex\""))?;
    let mut faces = faces.ok_or_else(|| fault("has no element \"face\": points alone are not cloth"))?;
    check_indices(&faces.polygons, vertices.positions.len())?;
    let uvs = match (vertices.uvs.is_empty(), faces.uvs.is_empty()) {
        (false, true) => {
            faces.polygons.corners.iter_mut().for_each(|corner| corner.uv = corner.vertex);
            vertices.uvs
        }
        _ => faces.uvs,
    };
    let (triangles, uvs) = faces.polygons.triangulate(&vertices.positions, &uvs);
    Ok(TriangleMesh { positions: vertices.positions, triangles, uvs, ..TriangleMesh::default() })
}

struct Vertices {
    positions: Vec<Vec3>,
    /// One a vertex, or none.
    uvs: Vec<Vec2>,
    /// One a vertex \[m\], or none: of strands.
    radii: Vec<f32>,
}

/// Properties of vertices that say how thick a strand is, and its radius over their value.
const RADII: [(&str, f32); 4] = [("radius", 1.0), ("width", 0.5), ("thickness", 0.5), ("diameter", 0.5)];

fn read_vertices(element: &Element, values: &mut Values) -> Result<Vertices, Fault> {
    let find = |name: &str| element.properties.iter().position(|property| property.name == name);
    let mut slots = [0; 5];
    for (slot, name) in slots.iter_mut().zip(["x", "y", "z"]) {
        let missing = || fault(format!("vertices have no property {name:?}")).at_line(element.line);
        *slot = find(name).ok_or_else(missing)?;
        if let Kind::List { .. } = element.properties[*slot].kind {
            let message = format!("vertex property {name:?} is a list: must be a number");
            return Err(fault(message).at_line(element.properties[*slot].line));
        }
    }
    let pair = [("s", "t"), ("u", "v"), ("texture_u", "texture_v")]
        .into_iter()
        .find_map(|(u, v)| Some([find(u)?, find(v)?]))
        .filter(|pair| pair.iter().all(|&i| matches!(element.properties[i].kind, Kind::Scalar(_))));
    let wanted = if let Some([u, v]) = pair {
        (slots[3], slots[4]) = (u, v);
        5
    } else {
        3
    };

    let is_scalar = |&(i, _): &(usize, f32)| matches!(element.properties[i].kind, Kind::Scalar(_));
    let thickness = RADII.iter().find_map(|&(name, factor)| Some((find(name)?, factor))).filter(is_scalar);

    let count = element.count as usize;
    let mut radii = Vec::with_capacity(if thickness.is_some() { count } else { 0 });
    let mut positions = Vec::with_capacity(count);
    let mut uvs = Vec::with_capacity(if pair.is_some() { count } else { 0 });
    let mut row = vec![0.0; element.properties.len()];
    for vertex in 0..count {
        let name = || format!("vertex {vertex} (from 0)");
        for (slot, property) in row.iter_mut().zip(&element.properties) {
            match property.kind {
                Kind::Scalar(number) => *slot = values.scalar(number).map_err(|f| f.at(name()))?,
                Kind::List { .. } => values.skip(property).map_err(|f| f.at(name()))?,
            }
        }
        let used = &slots[..wanted];
        // In text the line can be named here; what binary files hold is left to the mesh's check.
        if values.is_text() && !used.iter().all(|&i| (row[i] as f32).is_finite()) {
            return Err(values.located(fault("must have finite numbers below 3.4e38").at(name())));
        }
        let [x, y, z] = [0, 1, 2].map(|i| row[slots[i]] as f32);
        positions.push(Vec3::new(x, y, z));
        if pair.is_some() {
            uvs.push(Vec2::new(row[slots[3]] as f32, row[slots[4]] as f32));
        }
        radii.extend(thickness.map(|(slot, factor)| factor * row[slot] as f32));
    }
    Ok(Vertices { positions, uvs, radii })
}

struct Faces {
    polygons: Polygons,
    /// One a corner, or none.
    uvs: Vec<Vec2>,
}

fn read_faces(element: &Element, values: &mut Values) -> Result<Faces, Fault> {
    let is_list = |property: &&Property| matches!(property.kind, Kind::List { .. });
    let is_indices =
        |property: &Property| ["vertex_indices", "vertex_index"].contains(&property.name.as_str());
    let lists = || element.properties.iter().filter(is_list);
    if element.count > 0 && lists().filter(|property| is_indices(property)).count() != 1 {
        let message = "faces must have one list property \"vertex_indices\" (or \"vertex_index\")";
        return Err(fault(message).at_line(element.line));
    }
    let mut faces = Faces { polygons: Polygons::default(), uvs: Vec::new() };
    let (mut indices, mut coordinates) = (Vec::new(), Vec::new());
    for face in 0..element.count {
        let name = || format!("face {face} (from 0)");
        coordinates.clear();
        for property in &element.properties {
            if is_list(&property) && is_indices(property) {
                values.list(property, MAX_CORNERS, &mut indices).map_err(|f| f.at(name()))?;
            } else if is_list(&property) && property.name == "texcoord" {
                values.list(property, 2 * MAX_CORNERS, &mut coordinates).map_err(|f| f.at(name()))?;
            } else {
                values.skip(property).map_err(|f| f.at(name()))?;
            }
        }
        let has_uvs = !indices.is_empty() && coordinates.len() == 2 * indices.len();
        for (corner, &index) in indices.iter().enumerate() {
            // Too large for any file, or no index at all: refused before it is rounded to one that exists.
            if !(index >= 0.0 && index < f64::from(u32::MAX) && index.fract() == 0.0) {
                let message = format!("vertex {index}: must be an integer from 0");
                return Err(values.located(fault(message).at(name())));
            }
            let uv = if has_uvs { faces.uvs.len() as u32 } else { NO_UV };
            if has_uvs {
                faces.uvs.push(Vec2::new(coordinates[2 * corner] as f32, coordinates[2 * corner + 1] as f32));
            }
            faces.polygons.corners.push(Corner { vertex: index as u32, uv });
        }
        faces.polygons.close().map_err(|f| values.located(f.at(name())))?;
    }
    // Texture coordinates that only some faces have are none.
    if faces.uvs.len() != faces.polygons.corners.len() {
        faces.uvs.clear();
    }
    Ok(faces)
}

fn skip(element: &Element, values: &mut Values) -> Result<(), Fault> {
    // Without properties there is nothing to pass over, however many there are.
    if element.properties.is_empty() {
        return Ok(());
    }
    for number in 0..element.count {
        for property in &element.properties {
            values.skip(property).map_err(|f| f.at(format!("{} {number} (from 0)", element.name)))?;
        }
    }
    Ok(())
}

/// Faces may come before vertices, so that indices can be checked only when everything is read.
fn check_indices(polygons: &Polygons, vertices: usize) -> Result<(), Fault> {
    for (face, polygon) in polygons.iter().enumerate() {
        if let Some(corner) = polygon.iter().find(|corner| corner.vertex as usize >= vertices) {
            let message = format!("vertex {}: the file has {vertices}, counted from 0", corner.vertex);
            return Err(fault(message).at(format!("face {face} (from 0)")));
        }
    }
    Ok(())
}
