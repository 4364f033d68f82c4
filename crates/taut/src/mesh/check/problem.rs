//! Problems of a mesh, with messages that name the element and what would be right.

use glam::Vec3;

use super::{MAX_COORDINATE, MIN_EDGE, MIN_RELATIVE_HEIGHT};

/// One problem of a mesh. Faces and vertices are numbered from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshProblem {
    /// There is nothing to simulate.
    #[error("the mesh has {vertices} vertices and {faces} faces: at least one triangle is needed")]
    Empty {
        /// Number of vertices.
        vertices: usize,
        /// Number of faces.
        faces: usize,
    },
    /// A face names a vertex that does not exist.
    #[error("face {face} (from 0) uses vertex {index}: the mesh has {vertices} vertices, counted from 0")]
    FaceIndex {
        /// The face.
        face: usize,
        /// The vertex that it names.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// Texture coordinates do not match the faces.
    #[error(
        "texture coordinates for {uvs} faces: the mesh has {faces} faces, and needs one set for each, or none"
    )]
    UvCount {
        /// Faces that have texture coordinates.
        uvs: usize,
        /// Number of faces.
        faces: usize,
    },
    /// A group names a vertex that does not exist.
    #[error("group {group:?} names vertex {index}: the mesh has {vertices} vertices, counted from 0")]
    GroupIndex {
        /// The group.
        group: String,
        /// The vertex that it names.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A position is not finite.
    #[error("vertex {vertex} (from 0) is at {position}: coordinates must be finite numbers")]
    NonFinite {
        /// The vertex.
        vertex: usize,
        /// Its position \[m\].
        position: Vec3,
    },
    /// A position is absurdly large.
    #[error(
        "vertex {vertex} (from 0) is at {position}: coordinates must be within ±{MAX_COORDINATE} m; is the unit right?"
    )]
    TooFar {
        /// The vertex.
        vertex: usize,
        /// Its position \[m\].
        position: Vec3,
    },
    /// A face has no area, or nearly none.
    #[error(
        "face {face} (from 0; vertices {}, {}, {}) is degenerate: its smallest height is {relative_height:.1e} of its \
         longest edge, and must be at least {MIN_RELATIVE_HEIGHT:e}; remove it, or merge or move its vertices",
        .vertices[0], .vertices[1], .vertices[2]
    )]
    Degenerate {
        /// The face.
        face: usize,
        /// Its vertices.
        vertices: [u32; 3],
        /// Smallest height over longest edge.
        relative_height: f64,
    },
    /// An edge has no length, or nearly none.
    #[error(
        "face {face} (from 0): its edge between vertices {} and {} is {length:.1e} m long, and must be at least \
         {MIN_EDGE:e} m; is the unit right?",
        .vertices[0], .vertices[1]
    )]
    ShortEdge {
        /// The face.
        face: usize,
        /// The ends of the edge.
        vertices: [u32; 2],
        /// Its length \[m\].
        length: f64,
    },
    /// Two faces have the same vertices, in any order.
    #[error(
        "faces {first} and {second} (from 0) both join vertices {}, {} and {}: remove one of them",
        .vertices[0], .vertices[1], .vertices[2]
    )]
    DuplicateFace {
        /// The first of them.
        first: usize,
        /// The other.
        second: usize,
        /// Their vertices, sorted.
        vertices: [u32; 3],
    },
    /// An edge has more than two faces.
    #[error(
        "the edge between vertices {} and {} (from 0) belongs to {count} faces ({}{}): at most two may meet at an \
         edge; split the mesh there",
        .vertices[0], .vertices[1], join(.faces), if .faces.len() < *.count { ", …" } else { "" }
    )]
    NonManifoldEdge {
        /// The ends of the edge.
        vertices: [u32; 2],
        /// Its first few faces.
        faces: Vec<usize>,
        /// Number of all its faces.
        count: usize,
    },
    /// Two adjacent faces have opposite orientations.
    #[error(
        "faces {} and {} (from 0) run along their edge between vertices {} and {} in the same direction: one of them is \
         turned over; reverse its vertex order",
        .faces[0], .faces[1], .vertices[0], .vertices[1]
    )]
    Orientation {
        /// The two faces.
        faces: [usize; 2],
        /// The ends of their edge.
        vertices: [u32; 2],
    },
    /// Parts of the surface touch in one vertex only.
    #[error(
        "vertex {vertex} (from 0) joins {fans} parts of the surface that share no edge there: it works as a hinge; \
         give each part its own vertex if that is not meant"
    )]
    NonManifoldVertex {
        /// The vertex.
        vertex: usize,
        /// Number of fans of faces around it.
        fans: usize,
    },
    /// A vertex belongs to no face.
    #[error("vertex {vertex} (from 0) belongs to no face: it would have no mass; remove it")]
    Unreferenced {
        /// The vertex.
        vertex: usize,
    },
    /// There are more problems of the kind listed just before.
    #[error("… and {count} more of this kind: {}", .kind.name())]
    More {
        /// The kind.
        kind: Kind,
        /// Number of problems that are not listed.
        count: usize,
    },
}

/// The kind of a [`MeshProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// [`MeshProblem::Empty`]
    Empty,
    /// [`MeshProblem::FaceIndex`]
    FaceIndex,
    /// [`MeshProblem::UvCount`]
    UvCount,
    /// [`MeshProblem::GroupIndex`]
    GroupIndex,
    /// [`MeshProblem::NonFinite`]
    NonFinite,
    /// [`MeshProblem::TooFar`]
    TooFar,
    /// [`MeshProblem::Degenerate`]
    Degenerate,
    /// [`MeshProblem::ShortEdge`]
    ShortEdge,
    /// [`MeshProblem::DuplicateFace`]
    DuplicateFace,
    /// [`MeshProblem::NonManifoldEdge`]
    NonManifoldEdge,
    /// [`MeshProblem::Orientation`]
    Orientation,
    /// [`MeshProblem::NonManifoldVertex`]
    NonManifoldVertex,
    /// [`MeshProblem::Unreferenced`]
    Unreferenced,
}

impl Kind {
    /// Its plural name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty meshes",
            Self::FaceIndex => "faces with vertices that do not exist",
            Self::UvCount => "wrong numbers of texture coordinates",
            Self::GroupIndex => "groups with vertices that do not exist",
            Self::NonFinite => "vertices that are not at finite positions",
            Self::TooFar => "vertices that are too far away",
            Self::Degenerate => "degenerate faces",
            Self::ShortEdge => "edges that are too short",
            Self::DuplicateFace => "duplicate faces",
            Self::NonManifoldEdge => "edges of more than two faces",
            Self::Orientation => "edges whose faces are turned against each other",
            Self::NonManifoldVertex => "vertices that join separate parts",
            Self::Unreferenced => "vertices without a face",
        }
    }
}

impl MeshProblem {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Empty { .. } => Kind::Empty,
            Self::FaceIndex { .. } => Kind::FaceIndex,
            Self::UvCount { .. } => Kind::UvCount,
            Self::GroupIndex { .. } => Kind::GroupIndex,
            Self::NonFinite { .. } => Kind::NonFinite,
            Self::TooFar { .. } => Kind::TooFar,
            Self::Degenerate { .. } => Kind::Degenerate,
            Self::ShortEdge { .. } => Kind::ShortEdge,
            Self::DuplicateFace { .. } => Kind::DuplicateFace,
            Self::NonManifoldEdge { .. } => Kind::NonManifoldEdge,
            Self::Orientation { .. } => Kind::Orientation,
            Self::NonManifoldVertex { .. } => Kind::NonManifoldVertex,
            Self::Unreferenced { .. } => Kind::Unreferenced,
            Self::More { kind, .. } => *kind,
        }
    }

    /// Whether the mesh cannot be simulated as it is; otherwise this is a warning.
    ///
    /// Only vertices that join separate parts are warnings: the limits can be satisfied, and it may be
    /// intended.
    pub fn is_error(&self) -> bool {
        self.kind() != Kind::NonManifoldVertex
    }
}

/// Face numbers separated by commas.
fn join(faces: &[usize]) -> String {
    faces.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
