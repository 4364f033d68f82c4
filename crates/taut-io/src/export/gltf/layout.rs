//! Layout of the binary part of a glTF file.

use serde_json::{Value, json};

/// Maximum characters of a number in JSON.
const WIDEST_NUMBER: usize = 24;

/// Contents of an accessor: numbers of four bytes, so that everything is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Positions or their differences, with bounds.
    Positions,
    /// Other vectors of vertices.
    Vectors,
    /// Numbers of vertices.
    Numbers,
    /// Texture coordinates.
    Uvs,
    /// Indices of vertices.
    Indices,
    /// Times of an animation, with bounds.
    Times,
    /// Weights of morph targets.
    Weights,
    /// Translations of a node.
    Translations,
    /// Rotations of a node.
    Rotations,
}

impl Kind {
    fn components(self) -> usize {
        match self {
            Self::Positions | Self::Vectors | Self::Translations => 3,
            Self::Uvs => 2,
            Self::Numbers | Self::Indices | Self::Times | Self::Weights => 1,
            Self::Rotations => 4,
        }
    }

    fn has_bounds(self) -> bool {
        matches!(self, Self::Positions | Self::Times)
    }

    /// GPU buffer target, if any.
    fn target(self) -> Option<u32> {
        match self {
            Self::Positions | Self::Vectors | Self::Numbers | Self::Uvs => Some(34962),
            Self::Indices => Some(34963),
            Self::Times | Self::Weights | Self::Translations | Self::Rotations => None,
        }
    }
}

struct Accessor {
    kind: Kind,
    count: usize,
    offset: u64,
    bounds: [Vec<f32>; 2],
}

impl Accessor {
    fn length(&self) -> u64 {
        4 * (self.kind.components() * self.count) as u64
    }
}

/// Accessors one after the other: those whose bytes are known at once, then those that are reserved.
#[derive(Default)]
pub(super) struct Layout {
    accessors: Vec<Accessor>,
    /// The bytes that are known.
    pub known: Vec<u8>,
}

impl Layout {
    /// Number of bytes of everything.
    pub fn length(&self) -> u64 {
        self.accessors.last().map_or(0, |last| last.offset + last.length())
    }

    /// Adds an accessor whose bytes `put` writes; returns its index.
    pub fn add(&mut self, kind: Kind, put: impl FnOnce(&mut Vec<u8>)) -> usize {
        debug_assert_eq!(self.length(), self.known.len() as u64, "known bytes come first");
        let start = self.known.len();
        put(&mut self.known);
        let bytes = self.known.split_off(start);
        let index = self.reserve(kind, bytes.len() / (4 * kind.components()));
        self.measure(index, &bytes);
        self.known.extend_from_slice(&bytes);
        index
    }

    /// Adds an accessor of `count` elements whose bytes come later, in the order of these calls; returns its
    /// index.
    pub fn reserve(&mut self, kind: Kind, count: usize) -> usize {
        let bounds = [vec![0.0; kind.components()], vec![0.0; kind.components()]];
        self.accessors.push(Accessor { kind, count, offset: self.length(), bounds });
        self.accessors.len() - 1
    }

    /// Records the bounds of an accessor, once its bytes are known.
    pub fn measure(&mut self, index: usize, bytes: &[u8]) {
        let Accessor { kind, count, bounds, .. } = &mut self.accessors[index];
        if !kind.has_bounds() {
            return;
        }
        let components = kind.components();
        debug_assert_eq!(bytes.len(), 4 * components * *count);
        *bounds = [vec![f32::INFINITY; components], vec![f32::NEG_INFINITY; components]];
        let (numbers, _) = bytes.as_chunks::<4>();
        for element in numbers.chunks_exact(components) {
            for (k, number) in element.iter().enumerate() {
                let number = f32::from_le_bytes(*number);
                bounds[0][k] = bounds[0][k].min(number);
                bounds[1][k] = bounds[1][k].max(number);
            }
        }
    }

    /// Puts buffer, buffer views and accessors into `document`.
    pub fn describe(&self, document: &mut Value) {
        document["buffers"] = json!([{ "byteLength": self.length() }]);
        let view = |accessor: &Accessor| {
            let mut view =
                json!({ "buffer": 0, "byteOffset": accessor.offset, "byteLength": accessor.length() });
            if let Some(target) = accessor.kind.target() {
                view["target"] = target.into();
            }
            view
        };
        document["bufferViews"] = self.accessors.iter().map(view).collect();
        let describe = |(index, accessor): (usize, &Accessor)| {
            let Accessor { kind, count, bounds, .. } = accessor;
            let component = if *kind == Kind::Indices { 5125 } else { 5126 };
            let shape = ["SCALAR", "VEC2", "VEC3", "VEC4"][kind.components() - 1];
            let mut accessor =
                json!({ "bufferView": index, "componentType": component, "count": count, "type": shape });
            if kind.has_bounds() {
                accessor["min"] = json!(bounds[0]);
                accessor["max"] = json!(bounds[1]);
            }
            accessor
        };
        document["accessors"] = self.accessors.iter().enumerate().map(describe).collect();
    }

    /// Maximum number of characters of bounds that are not known yet.
    pub fn room_for_bounds(&self) -> usize {
        let bounded = self.accessors.iter().filter(|accessor| accessor.kind.has_bounds());
        bounded.map(|accessor| 2 * accessor.kind.components() * WIDEST_NUMBER).sum()
    }
}
