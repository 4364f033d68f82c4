//! Strands of a glTF file: its primitives of lines and strips of lines.

use std::path::Path;

use glam::{DMat4, Vec3};
use taut::mesh::groom::Groom;

use super::{
    super::{
        fault::{Fault, fault},
        groom::{check_size, from_segments},
    },
    accessor::Accessors,
    buffers::Buffers,
    document::{Document, Primitive},
    open, walk,
};

const LINES: u32 = 1;
const LOOP: u32 = 2;
const STRIP: u32 = 3;

/// Reads the strands of a glTF or GLB file; `folder` is where its other files are.
pub(in super::super) fn parse(bytes: &[u8], folder: Option<&Path>) -> Result<Groom, Fault> {
    let (document, chunk) = open(bytes)?;
    let buffers = Buffers::new(&document, chunk, folder);
    let mut accessors = Accessors::new(&document, buffers);
    let mut groom = Groom::default();
    if document.nodes.is_empty() {
        for mesh in 0..document.meshes.len() {
            add(&document, &mut accessors, mesh, DMat4::IDENTITY, &mut groom)?;
        }
    } else {
        walk(&document, |mesh, _, transform| add(&document, &mut accessors, mesh, transform, &mut groom))?;
    }
    if groom.counts.is_empty() {
        let message = "contains no lines: strands are primitives of mode 1 (lines) or 3 (a strip of lines)";
        return Err(fault(message));
    }
    Ok(groom)
}

fn add(
    document: &Document,
    accessors: &mut Accessors,
    index: usize,
    transform: DMat4,
    groom: &mut Groom,
) -> Result<(), Fault> {
    let Some(mesh) = document.meshes.get(index) else {
        let message = format!("does not exist: the file has {} meshes", document.meshes.len());
        return Err(fault(message).at(format!("mesh {index} (from 0)")));
    };
    for (number, primitive) in mesh.primitives.iter().enumerate() {
        let name = || format!("mesh {index} primitive {number} (from 0)");
        let read = read(primitive, accessors, transform).map_err(|found| found.at(name()))?;
        let Some((positions, segments)) = read else { continue };
        let own = from_segments(&positions, &[], &segments, "line").map_err(|found| found.within(&name()))?;
        check_size(groom.positions.len() + own.positions.len())?;
        groom.positions.extend(own.positions);
        groom.counts.extend(own.counts);
    }
    Ok(())
}

/// Points and the segments between them; none if the primitive is not made of lines.
#[expect(clippy::type_complexity)]
fn read(
    primitive: &Primitive,
    accessors: &mut Accessors,
    transform: DMat4,
) -> Result<Option<(Vec<Vec3>, Vec<[u32; 2]>)>, Fault> {
    match primitive.mode {
        Some(LINES | STRIP) => {}
        Some(LOOP) => return Err(fault("mode 2 (a loop of lines): a strand must have a root and a tip")),
        _ => return Ok(None),
    }
    let Some(&position) = primitive.attributes.get("POSITION") else {
        return Err(fault("has no POSITION"));
    };
    let numbers = accessors.floats(position, 3)?;
    let place = |x: &[f32; 3]| transform.transform_point3(Vec3::from(*x).as_dvec3()).as_vec3();
    let positions: Vec<Vec3> = numbers.as_chunks::<3>().0.iter().map(place).collect();
    let count = positions.len() as u32;
    let mut order: Vec<u32> = match primitive.indices {
        None => (0..count).collect(),
        Some(accessor) => accessors.indices(accessor)?.to_vec(),
    };
    if let Some(outside) = order.iter().find(|&&index| index >= count) {
        return Err(fault(format!("index {outside}: it has {count} positions, counted from 0")));
    }
    if primitive.mode == Some(STRIP) {
        return Ok(Some((positions, order.windows(2).map(|pair| [pair[0], pair[1]]).collect())));
    }
    if !order.len().is_multiple_of(2) {
        return Err(fault(format!("{} indices: lines need a multiple of 2", order.len())));
    }
    // Without shared vertices, a line goes on where the one before it ended.
    for k in (2..order.len()).step_by(2) {
        let (end, start) = (order[k - 1], order[k]);
        if positions[end as usize] == positions[start as usize] {
            order[k] = end;
        }
    }
    Ok(Some((positions, order.as_chunks::<2>().0.to_vec())))
}
