//! glTF 2.0, as JSON or as GLB container.
//!
//! Supported: all triangles (lists, strips, fans) of the meshes of the default scene, transformed by their
//! nodes. Vertices of one node are merged if their positions are equal, since glTF repeats them along texture
//! and normal seams; different nodes stay separate even where they touch. Skins, morph targets and animation
//! are handled by [`animation`] (here the mesh is read as stored). Ignored: everything that only affects
//! appearance.
//!
//! Hand-written on `serde_json`: a reader of user files must report any invalid input with a message, and
//! reading triangles needs a small part of the format. [`document`] is that part, [`buffers`] finds bytes,
//! [`accessor`] decodes them.

mod accessor;
pub(super) mod animation;
mod buffers;
mod document;
pub(super) mod lines;
mod primitive;

use std::path::Path;

use glam::{DMat4, DQuat, DVec3};
use taut::mesh::TriangleMesh;

use super::{
    fault::{Fault, fault},
    text,
    weld::Weld,
};
use accessor::Accessors;
use buffers::Buffers;
use document::{Document, Node};

/// Unsupported extensions that affect triangles.
const NOT_READ: [&str; 4] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "EXT_mesh_gpu_instancing",
];
/// Maximum triangles: a small file can instantiate one mesh any number of times.
const MAX_TRIANGLES: usize = 32_000_000;

/// Reads the bytes of a glTF or GLB file; `folder` is where its other files are.
pub(super) fn parse(bytes: &[u8], folder: Option<&Path>) -> Result<TriangleMesh, Fault> {
    let (document, chunk) = open(bytes)?;
    let buffers = Buffers::new(&document, chunk, folder);
    let mut accessors = Accessors::new(&document, buffers);
    let mut builder = Builder { mesh: TriangleMesh::default(), uvs: Vec::new(), all_have_uvs: true };
    if document.nodes.is_empty() {
        // A file without scenes shows nothing; the meshes themselves are meant.
        for mesh in 0..document.meshes.len() {
            builder.add(&document, &mut accessors, mesh, None, DMat4::IDENTITY)?;
        }
    } else {
        walk(&document, |mesh, node, transform| {
            builder.add(&document, &mut accessors, mesh, Some(node), transform)
        })?;
    }
    Ok(builder.finish())
}

/// The document, and the binary chunk if it is in a container.
fn open(bytes: &[u8]) -> Result<(Document, Option<&[u8]>), Fault> {
    let (json, chunk) = if bytes.starts_with(b"glTF") { split_container(bytes)? } else { (bytes, None) };
    let document: Document = serde_json::from_slice(text::without_mark(json)).map_err(|error| {
        // Lines of a GLB's JSON are not those of any editor.
        let found = fault(format!("is not valid glTF: {error}"));
        if chunk.is_none() && error.line() > 0 { found.at_line(error.line()) } else { found }
    })?;
    check_version(&document)?;
    Ok((document, chunk))
}

/// The JSON and the binary chunk of a GLB container.
fn split_container(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Fault> {
    let word = |at: usize| {
        let b = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let short = || fault("is a truncated GLB file");
    let version = word(4).ok_or_else(short)?;
    if version != 2 {
        return Err(fault(format!("is a GLB file of version {version}: version 2 is read")));
    }
    let length = word(8).ok_or_else(short)?;
    if length as usize > bytes.len() {
        return Err(fault(format!("declares {length} bytes, but has {}", bytes.len())));
    }
    let (mut json, mut binary) = (None, None);
    let mut at = 12;
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let start = at + 8;
        let end = start.checked_add(length as usize).filter(|&end| end <= bytes.len());
        let chunk = &bytes[start..end.ok_or_else(short)?];
        match &kind.to_le_bytes() {
            b"JSON" if json.is_none() => json = Some(chunk),
            b"BIN\0" if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = start + chunk.len();
    }
    let json = json.ok_or_else(|| fault("is a GLB file without a JSON chunk"))?;
    // An absent chunk is an empty one, so that the caller still knows that this was a container.
    Ok((json, Some(binary.unwrap_or_default())))
}

fn check_version(document: &Document) -> Result<(), Fault> {
    let version = &document.asset.version;
    if !version.starts_with("2.") {
        return Err(fault(format!("is glTF of version {version:?}: version 2 is read")).at("asset.version"));
    }
    for extension in &document.extensions_required {
        if NOT_READ.contains(&extension.as_str()) {
            let message = format!("needs {extension}, which is not supported: save it without");
            return Err(fault(message).at("extensionsRequired"));
        }
    }
    Ok(())
}

/// Calls `visit` with mesh, node and transform for every mesh that the default scene shows, in the order of
/// its nodes.
fn walk(
    document: &Document,
    mut visit: impl FnMut(usize, &Node, DMat4) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut placed = vec![DMat4::IDENTITY; document.nodes.len()];
    for (index, parent) in tree(document)? {
        let node = &document.nodes[index];
        placed[index] = parent.map_or(DMat4::IDENTITY, |parent| placed[parent]) * node_transform(node);
        if let Some(mesh) = node.mesh {
            visit(mesh, node, placed[index])?;
        }
    }
    Ok(())
}

/// The nodes of the default scene, each after its parent.
fn tree(document: &Document) -> Result<Vec<(usize, Option<usize>)>, Fault> {
    let scene = document.scene.unwrap_or(0);
    let roots = match document.scenes.get(scene) {
        Some(scene) => scene.nodes.clone(),
        None if document.scene.is_some() => {
            let count = document.scenes.len();
            return Err(fault(format!("{scene}: the file has {count} scenes, counted from 0")).at("scene"));
        }
        None => {
            let mut is_child = vec![false; document.nodes.len()];
            for &child in document.nodes.iter().flat_map(|node| &node.children) {
                if let Some(slot) = is_child.get_mut(child) {
                    *slot = true;
                }
            }
            (0..document.nodes.len()).filter(|&node| !is_child[node]).collect()
        }
    };
    let mut seen = vec![false; document.nodes.len()];
    let mut order = Vec::new();
    let mut stack: Vec<(usize, Option<usize>)> = roots.into_iter().rev().map(|root| (root, None)).collect();
    while let Some((index, parent)) = stack.pop() {
        let name = format!("node {index} (from 0)");
        let Some(node) = document.nodes.get(index) else {
            let count = document.nodes.len();
            return Err(fault(format!("does not exist: the file has {count} nodes")).at(name));
        };
        if std::mem::replace(&mut seen[index], true) {
            return Err(fault("is reached twice: nodes must form a tree").at(name));
        }
        order.push((index, parent));
        stack.extend(node.children.iter().rev().map(|&child| (child, Some(index))));
    }
    Ok(order)
}

/// Where a node puts what is in it, relative to its parent.
fn node_transform(node: &Node) -> DMat4 {
    if let Some(matrix) = node.matrix {
        return DMat4::from_cols_array(&matrix);
    }
    let [x, y, z, w] = node.rotation;
    let rotation = DQuat::from_xyzw(x, y, z, w);
    // A rotation of length zero turns nothing; dividing by its length would give NaN.
    let rotation = if rotation.length_squared() > 1e-12 { rotation.normalize() } else { DQuat::IDENTITY };
    DMat4::from_scale_rotation_translation(DVec3::from(node.scale), rotation, DVec3::from(node.translation))
}

/// Collects triangles of all meshes.
struct Builder {
    mesh: TriangleMesh,
    uvs: Vec<[glam::Vec2; 3]>,
    all_have_uvs: bool,
}

impl Builder {
    fn add(
        &mut self,
        document: &Document,
        accessors: &mut Accessors,
        index: usize,
        node: Option<&Node>,
        transform: DMat4,
    ) -> Result<(), Fault> {
        let Some(mesh) = document.meshes.get(index) else {
            let message = format!("does not exist: the file has {} meshes", document.meshes.len());
            return Err(fault(message).at(format!("mesh {index} (from 0)")));
        };
        let mut weld = Weld::default();
        let first = self.mesh.positions.len();
        // A mirror turns triangles over; their order is reversed to keep their fronts.
        let mirrored = transform.determinant() < 0.0;
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            let name = || format!("mesh {index} primitive {number} (from 0)");
            let Some(triangles) = primitive::read(primitive, accessors).map_err(|f| f.at(name()))? else {
                continue;
            };
            if self.mesh.triangles.len() + triangles.indices.len() > MAX_TRIANGLES {
                return Err(fault(format!("the scene shows more than {MAX_TRIANGLES} triangles")).at(name()));
            }
            // In the order of the file's vertices, so that a cache fits what the program that wrote it has.
            let mut used: Vec<u32> = triangles.indices.iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            let mut place = |&vertex: &u32| {
                let position = transform.transform_point3(triangles.position(vertex).as_dvec3()).as_vec3();
                weld.vertex(position, &mut self.mesh.positions)
            };
            let welded: Vec<u32> = used.iter().map(&mut place).collect();
            for triangle in &triangles.indices {
                let order = if mirrored { [0, 2, 1] } else { [0, 1, 2] };
                let corners = order.map(|i| triangle[i]);
                // Every corner is among the used ones.
                let vertex = |corner: u32| welded[used.partition_point(|&vertex| vertex < corner)];
                self.mesh.triangles.push(corners.map(vertex));
                match corners.map(|corner| triangles.uv(corner)) {
                    [Some(a), Some(b), Some(c)] => self.uvs.push([a, b, c]),
                    _ => self.all_have_uvs = false,
                }
            }
        }
        let name = node.and_then(|node| node.name.as_ref()).or(mesh.name.as_ref());
        if let Some(name) = name.filter(|name| !name.is_empty())
            && self.mesh.positions.len() > first
        {
            let members = first as u32..self.mesh.positions.len() as u32;
            self.mesh.groups.entry(name.clone()).or_default().extend(members);
        }
        Ok(())
    }

    fn finish(self) -> TriangleMesh {
        TriangleMesh { uvs: self.all_have_uvs.then_some(self.uvs), ..self.mesh }
    }
}
