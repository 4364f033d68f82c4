//! Triangles of one primitive: lists, strips and fans, with or without indices.

use std::rc::Rc;

use glam::{Vec2, Vec3};

use super::{
    super::fault::{Fault, fault},
    NOT_READ,
    accessor::Accessors,
    document::Primitive,
};

const TRIANGLES: u32 = 4;
const FAN: u32 = 6;

/// Triangles over the vertices of a primitive.
pub(super) struct Triangles {
    /// In range of the positions.
    pub indices: Vec<[u32; 3]>,
    positions: Rc<Vec<f32>>,
    uvs: Option<Rc<Vec<f32>>>,
}

impl Triangles {
    /// Number of vertices, used or not.
    pub fn count(&self) -> usize {
        self.positions.len() / 3
    }

    pub fn position(&self, vertex: u32) -> Vec3 {
        Vec3::from_slice(&self.positions[3 * vertex as usize..])
    }

    /// Texture coordinate with v upwards, as in the other formats; glTF counts it downwards.
    pub fn uv(&self, vertex: u32) -> Option<Vec2> {
        let uvs = self.uvs.as_ref()?;
        Some(Vec2::new(uvs[2 * vertex as usize], 1.0 - uvs[2 * vertex as usize + 1]))
    }
}

/// The triangles of a primitive, or none if it is made of points or lines.
pub(super) fn read(primitive: &Primitive, accessors: &mut Accessors) -> Result<Option<Triangles>, Fault> {
    let mode = primitive.mode.unwrap_or(TRIANGLES);
    match mode {
        0..TRIANGLES => return Ok(None),
        TRIANGLES..=FAN => {}
        _ => return Err(fault(format!("mode {mode}: must be from 0 to 6"))),
    }
    let Some(&position) = primitive.attributes.get("POSITION") else {
        return Err(fault("has no POSITION"));
    };
    // Compressed primitives may carry plain data as well; if not, their accessors have nowhere to read from.
    if let Some(extension) = NOT_READ.iter().find(|&&name| primitive.extensions.contains_key(name))
        && accessors.is_without_data(position)
    {
        return Err(fault(format!("is compressed by {extension}, which is not supported: save it without")));
    }
    let positions = accessors.floats(position, 3)?;
    let count = (positions.len() / 3) as u32;
    let uvs = match primitive.attributes.get("TEXCOORD_0") {
        None => None,
        Some(&accessor) => {
            let uvs = accessors.floats(accessor, 2)?;
            if uvs.len() / 2 < count as usize {
                let message = format!("TEXCOORD_0 has {} values for {count} positions", uvs.len() / 2);
                return Err(fault(message));
            }
            Some(uvs)
        }
    };
    let indices = match primitive.indices {
        None => assemble(mode, count as usize, |i| i as u32)?,
        Some(accessor) => {
            let indices = accessors.indices(accessor)?;
            if let Some(outside) = indices.iter().find(|&&index| index >= count) {
                return Err(fault(format!("index {outside}: it has {count} positions, counted from 0")));
            }
            assemble(mode, indices.len(), |i| indices[i])?
        }
    };
    Ok(Some(Triangles { indices, positions, uvs }))
}

/// Triangles from `count` indices.
fn assemble(mode: u32, count: usize, index: impl Fn(usize) -> u32) -> Result<Vec<[u32; 3]>, Fault> {
    if mode == TRIANGLES {
        if !count.is_multiple_of(3) {
            return Err(fault(format!("{count} indices: triangles need a multiple of 3")));
        }
        return Ok((0..count / 3).map(|i| [0, 1, 2].map(|k| index(3 * i + k))).collect());
    }
    let triangles = (0..count.saturating_sub(2)).map(|i| match (mode, i % 2) {
        (FAN, _) => [i + 1, i + 2, 0],
        // A strip: every second triangle runs backwards.
        (_, 0) => [i, i + 1, i + 2],
        _ => [i, i + 2, i + 1],
    });
    // Strips repeat an index to turn a corner or to jump: those triangles are not meant to be seen.
    let is_seen = |&[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    Ok(triangles.map(|triangle| triangle.map(&index)).filter(is_seen).collect())
}
