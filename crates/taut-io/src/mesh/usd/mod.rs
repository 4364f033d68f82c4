//! USD layers: text (`.usda`), binary (`.usdc`), either (`.usd`), or in a package (`.usdz`).
//!
//! Supported: all `Mesh` prims that the file shows, in one mesh: polygons, placed by the transforms of all
//! prims that they are in, in metres with y up, whatever units and axis the file has. Points keep their
//! order, so that a cache fits them. Prims that are invisible, not active, overs, classes, guides or proxies
//! are left out. Names of meshes and of their `GeomSubset`s become groups. Subdivision surfaces are read as
//! their control mesh. Time samples are played by [`animation`]; here the mesh is read as its defaults say,
//! or at the start. Not followed: sublayers, references, payloads, variants, instances, skeletons. Ignored:
//! everything that only affects appearance.
//!
//! Hand-written, because a reader of user files must report any invalid input with a message, and triangles
//! need a small part of the format. [`layer`] is that part, read by [`text`] or [`binary`]; [`stage`] has
//! values at a time, [`transform`] placements, [`surface`] faces.

pub(super) mod animation;
mod archive;
mod binary;
pub(super) mod curves;
mod layer;
mod stage;
mod surface;
mod text;
mod transform;

use taut::mesh::TriangleMesh;

use super::{
    fault::{Fault, fault},
    text::{shown, without_mark},
};
use stage::{Stage, When};

/// Maximum triangles: a packed file may have many in few bytes.
const MAX_TRIANGLES: usize = 32_000_000;

/// Reads the bytes of a USD file.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let stage = open(bytes)?;
    let mut mesh = TriangleMesh::default();
    let (mut uvs, mut all_have_uvs) = (Vec::new(), true);
    for prim in stage.shown("Mesh")? {
        let placement = stage.placement(prim, When::Still)?;
        let positions = stage.positions(prim, When::Still, placement)?;
        let surface = stage.surface(prim, When::Still, positions.len())?;
        let (triangles, own_uvs) = surface.triangulate(&positions, placement);
        check_size(mesh.triangles.len() + triangles.len(), mesh.positions.len() + positions.len())?;
        let first = mesh.positions.len() as u32;
        mesh.triangles.extend(triangles.iter().map(|triangle| triangle.map(|vertex| first + vertex)));
        match own_uvs {
            Some(own) => uvs.extend(own),
            None => all_have_uvs &= triangles.is_empty(),
        }
        let all = (stage.layer.prims[prim].name.clone(), (0..positions.len() as u32).collect());
        let groups = surface.groups.into_iter().chain([all]);
        for (name, members) in groups.filter(|(name, members)| !name.is_empty() && !members.is_empty()) {
            let members = members.into_iter().map(|vertex| first + vertex);
            mesh.groups.entry(name).or_default().extend(members);
        }
        mesh.positions.extend(positions);
    }
    if all_have_uvs && !mesh.triangles.is_empty() {
        mesh.uvs = Some(uvs);
    }
    Ok(mesh)
}

/// Refuses what a packed file, or one that repeats its arrays, may come to.
fn check_size(triangles: usize, points: usize) -> Result<(), Fault> {
    if triangles > MAX_TRIANGLES || points > 3 * MAX_TRIANGLES {
        return Err(fault(format!(
            "shows {triangles} triangles and {points} points, or more: at most {MAX_TRIANGLES} and {} are read",
            3 * MAX_TRIANGLES
        )));
    }
    Ok(())
}

/// Opens a layer of any encoding, which its first bytes tell.
fn open(bytes: &[u8]) -> Result<Stage<'_>, Fault> {
    let bytes = if bytes.starts_with(b"PK\x03\x04") { archive::first_layer(bytes)? } else { bytes };
    if bytes.starts_with(b"PXR-USDC") {
        return Stage::new(binary::parse(bytes)?);
    }
    let text = without_mark(bytes);
    if text.starts_with(b"#usda") {
        return Stage::new(text::parse(text)?);
    }
    let found = shown(&bytes[..bytes.len().min(8)]);
    Err(fault(format!(
        "is not a USD file: begins with {found}, must begin with \"#usda 1.0\" (text), \"PXR-USDC\" (binary) or \"PK\" (usdz)"
    )))
}
