//! The part of a glTF document that defines triangles.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Asset,
    pub scene: Option<usize>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub skins: Vec<Skin>,
    #[serde(default)]
    pub animations: Vec<Animation>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub inverse_bind_matrices: Option<usize>,
    pub joints: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub sampler: usize,
    pub target: ChannelTarget,
}

#[derive(Deserialize)]
pub(super) struct ChannelTarget {
    pub node: Option<usize>,
    pub path: String,
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    pub name: Option<String>,
    pub mesh: Option<usize>,
    #[serde(default)]
    pub children: Vec<usize>,
    /// Column by column.
    pub matrix: Option<[f64; 16]>,
    #[serde(default)]
    pub translation: [f64; 3],
    /// Quaternion x, y, z, w.
    #[serde(default = "no_rotation")]
    pub rotation: [f64; 4],
    #[serde(default = "no_scale")]
    pub scale: [f64; 3],
    pub skin: Option<usize>,
    /// Of morph targets.
    pub weights: Option<Vec<f64>>,
}

impl Node {
    /// A node without mesh and children that is placed as this one is, its matrix left out.
    pub fn placement(&self) -> Node {
        Node {
            name: None,
            mesh: None,
            children: Vec::new(),
            matrix: None,
            translation: self.translation,
            rotation: self.rotation,
            scale: self.scale,
            skin: None,
            weights: None,
        }
    }
}

fn no_rotation() -> [f64; 4] {
    [0.0, 0.0, 0.0, 1.0]
}

fn no_scale() -> [f64; 3] {
    [1.0; 3]
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub name: Option<String>,
    #[serde(default)]
    pub primitives: Vec<Primitive>,
    /// Of morph targets.
    pub weights: Option<Vec<f64>>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub attributes: BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub mode: Option<u32>,
    /// Morph targets: accessors by attribute.
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, usize>>,
    #[serde(default)]
    pub extensions: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Sparse>,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
}
