//! Reading and writing grooms: strands of hair.
//!
//! Strands are polylines, in the order of the file, each from its first point, its root. Where a file has
//! segments instead, [`chain`] joins them. Files are untrusted as those of meshes are; what is well-formed
//! and cannot be simulated is refused by [`Groom::problems`].

mod chain;
mod hair;

use std::path::Path;

use glam::Vec3;
use taut::mesh::groom::{Groom, MAX_POINTS};

use super::{
    fault::{Fault, fault},
    file, gltf, lines, ply, usd,
};
use crate::Problem;

pub use hair::write_hair;

/// A file format of grooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroomFormat {
    /// Cem Yuksel's HAIR files (binary).
    Hair,
    /// Stanford PLY with edges.
    Ply,
    /// Wavefront OBJ with lines.
    Obj,
    /// glTF 2.0 with lines or strips of lines.
    Gltf,
    /// Universal Scene Description with `BasisCurves`.
    Usd,
}

impl GroomFormat {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Hair, Self::Ply, Self::Obj, Self::Gltf, Self::Usd];

    /// The format of a file name by its extension, case-insensitive.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "hair" => Some(Self::Hair),
            "ply" => Some(Self::Ply),
            "obj" => Some(Self::Obj),
            "gltf" | "glb" => Some(Self::Gltf),
            "usd" | "usda" | "usdc" | "usdz" => Some(Self::Usd),
            _ => None,
        }
    }
}

/// Reads a groom; the format is chosen by the file's extension (hair, ply, obj, gltf, glb, usd, usda, usdc,
/// usdz). Radii are read from `.hair` files, USD files and PLY files that have them.
///
/// # Errors
/// A problem with file and line or element.
pub fn read_groom(path: &Path) -> Result<Groom, Problem> {
    let read = || {
        let format = GroomFormat::of_path(path).ok_or_else(|| {
            fault("unknown groom format: the extension must be .hair, .ply, .obj, .gltf, .glb or .usd (.usda, .usdc, .usdz)")
        })?;
        parse(&file::read(path)?, format, path.parent())
    };
    read().map_err(|fault| fault.into_problem(Some(path)))
}

/// Reads a groom from the bytes of a file; see [`parse`](super::parse) on `folder`. Positions and radii are
/// taken as metres, as they are; USD files say their units and axis.
///
/// # Errors
/// A problem that names the line or element; its `file` is set only if it is in another file than this one.
pub fn parse_groom(bytes: &[u8], format: GroomFormat, folder: Option<&Path>) -> Result<Groom, Problem> {
    parse(bytes, format, folder).map_err(|fault| fault.into_problem(None))
}

/// Whether a file holds strands and no faces, so that it is a groom and no mesh.
pub fn is_groom(path: &Path) -> bool {
    let Some(format) = GroomFormat::of_path(path) else { return false };
    if format == GroomFormat::Hair {
        return true;
    }
    let Ok(bytes) = file::read(path) else { return false };
    match format {
        GroomFormat::Ply => ply::strands::is_strands(&bytes),
        GroomFormat::Obj => lines::is_lines(&bytes),
        // These say so at once if there is no mesh.
        _ => {
            super::parse(&bytes, format.of_mesh(), path.parent()).is_err()
                && parse(&bytes, format, path.parent()).is_ok()
        }
    }
}

impl GroomFormat {
    fn of_mesh(self) -> super::Format {
        if self == Self::Gltf { super::Format::Gltf } else { super::Format::Usd }
    }
}

fn parse(bytes: &[u8], format: GroomFormat, folder: Option<&Path>) -> Result<Groom, Fault> {
    if bytes.is_empty() {
        return Err(fault("the file is empty"));
    }
    if bytes.len() as u64 > file::MAX_BYTES {
        return Err(file::too_large(bytes.len() as u64));
    }
    let groom = match format {
        GroomFormat::Hair => hair::parse(bytes)?,
        GroomFormat::Ply => {
            let (positions, radii, segments) = ply::strands::parse_edges(bytes)?;
            from_segments(&positions, &radii, &segments, "edge")?
        }
        GroomFormat::Obj => {
            let lines = lines::parse(bytes)?;
            from_segments(&lines.positions, &[], &lines.segments, "segment")?
        }
        GroomFormat::Gltf => gltf::lines::parse(bytes, folder)?,
        GroomFormat::Usd => usd::curves::parse(bytes)?,
    };
    if groom.counts.is_empty() {
        return Err(fault("contains no strands: at least one is required"));
    }
    check_size(groom.positions.len())?;
    Ok(groom)
}

/// Refuses more points than are supported.
pub(super) fn check_size(points: usize) -> Result<(), Fault> {
    if points > MAX_POINTS {
        return Err(fault(format!("has {points} points of strands, or more: at most {MAX_POINTS} are read")));
    }
    Ok(())
}

/// A groom from segments between points; `what` is what the file calls a segment.
pub(super) fn from_segments(
    positions: &[Vec3],
    radii: &[f32],
    segments: &[[u32; 2]],
    what: &str,
) -> Result<Groom, Fault> {
    let mut groom = Groom::default();
    for strand in chain::strands(positions.len(), segments, what)? {
        groom.counts.push(strand.len() as u32);
        groom.positions.extend(strand.iter().map(|&v| positions[v as usize]));
        groom.radii.extend(strand.iter().filter_map(|&v| radii.get(v as usize)));
    }
    Ok(groom)
}

#[cfg(test)]
mod tests;
