//! Reading and writing triangle meshes, and reading tetrahedral ones.
//!
//! A mesh comes from an unknown program, in a format that programs interpret differently, and must be read as
//! its author saw it: shared vertices stay shared, polygons are triangulated validly, names are kept. Files
//! are untrusted input: no content may make a reader panic, loop, or allocate more than the file's size
//! warrants, and every error names the line or element and what is expected.
//!
//! Readers refuse malformed files. Well-formed meshes that cannot be simulated (a face without area, an edge
//! of three faces) are refused by [`taut::mesh::check`].

mod fault;
mod file;
mod gltf;
mod groom;
mod lines;
mod obj;
mod ply;
mod polygon;
pub mod sequence;
mod solid;
mod stl;
mod text;
mod usd;
mod weld;

use std::path::Path;

use glam::Vec3;
use taut::mesh::TriangleMesh;

use crate::Problem;
use fault::{Fault, fault};

pub use groom::{GroomFormat, is_groom, parse_groom, read_groom, write_hair};
pub use lines::read_lines;
pub use ply::{write_marked_ply, write_ply, write_strands};
pub use solid::{SolidFormat, Tetrahedra, parse_tetrahedra, read_tetrahedra};

/// A file format of triangle meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Wavefront OBJ (text).
    Obj,
    /// Stanford PLY, text or binary of either byte order.
    Ply,
    /// Stereolithography, text or binary.
    Stl,
    /// glTF 2.0, as JSON or as GLB container.
    Gltf,
    /// Universal Scene Description, text, binary or in a package.
    Usd,
}

impl Format {
    /// Whether one file may contain an animation.
    pub fn is_animated(self) -> bool {
        matches!(self, Self::Gltf | Self::Usd)
    }

    /// Every format.
    pub const ALL: [Self; 5] = [Self::Obj, Self::Ply, Self::Stl, Self::Gltf, Self::Usd];

    /// The format of a file name by its extension, case-insensitive.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply),
            "stl" => Some(Self::Stl),
            "gltf" | "glb" => Some(Self::Gltf),
            "usd" | "usda" | "usdc" | "usdz" => Some(Self::Usd),
            _ => None,
        }
    }
}

/// Reads a triangle mesh; the format is chosen by the file's extension (obj, ply, stl, gltf, glb, usd,
/// usda, usdc, usdz).
///
/// # Errors
/// A problem with file and line or element.
pub fn read(path: &Path) -> Result<TriangleMesh, Problem> {
    let read = || {
        let format = Format::of_path(path).ok_or_else(|| {
            fault("unknown mesh format: the extension must be .obj, .ply, .stl, .gltf, .glb or .usd (.usda, .usdc, .usdz)")
        })?;
        parse_bytes(&file::read(path)?, format, path.parent())
    };
    read().map_err(|fault| fault.into_problem(Some(path)))
}

/// Reads strands from a PLY file with edges instead of faces: positions \[m\], and the number of vertices of
/// each strand.
///
/// # Errors
/// A problem with file and line or element.
pub fn read_strands(path: &Path) -> Result<(Vec<Vec3>, Vec<u32>), Problem> {
    let read = || ply::strands::parse(&file::read(path)?);
    read().map_err(|fault| fault.into_problem(Some(path)))
}

/// Whether a PLY file contains strands: edges, and no faces.
pub(crate) fn holds_strands(path: &Path) -> bool {
    file::read(path).is_ok_and(|bytes| ply::strands::is_strands(&bytes))
}

/// Reads a triangle mesh from the bytes of a file.
///
/// Positions are taken as metres, as they are; USD files say their units and axis. Texture coordinates have v
/// upwards in every format, and are kept if every face has them. Groups are the names of objects, groups,
/// solids, nodes and prims. `folder` is where a glTF file finds its buffers; without it only buffers inside
/// the file can be read.
///
/// # Errors
/// A problem that names the line or element; its `file` is set only if it is in another file than this one.
pub fn parse(bytes: &[u8], format: Format, folder: Option<&Path>) -> Result<TriangleMesh, Problem> {
    parse_bytes(bytes, format, folder).map_err(|fault| fault.into_problem(None))
}

fn parse_bytes(bytes: &[u8], format: Format, folder: Option<&Path>) -> Result<TriangleMesh, Fault> {
    if bytes.is_empty() {
        return Err(fault("the file is empty"));
    }
    // Indices are u32 in every table: below this size none can overflow.
    if bytes.len() as u64 > file::MAX_BYTES {
        return Err(file::too_large(bytes.len() as u64));
    }
    let mut mesh = match format {
        Format::Obj => obj::parse(bytes)?,
        Format::Ply => ply::parse(bytes)?,
        Format::Stl => stl::parse(bytes)?,
        Format::Gltf => gltf::parse(bytes, folder)?,
        Format::Usd => usd::parse(bytes)?,
    };
    if mesh.triangles.is_empty() {
        let vertices = mesh.positions.len();
        return Err(fault(format!(
            "contains no faces ({vertices} vertices): at least one triangle is required"
        )));
    }
    for members in mesh.groups.values_mut() {
        members.sort_unstable();
        members.dedup();
    }
    Ok(mesh)
}
