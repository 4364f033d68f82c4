//! `mesh`: the rest shape of cloth, generated or read from a file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use taut::mesh::generate::{self, Generator};

use super::Vector;

/// The rest shape of cloth: one generator, or a file. A generated mesh has at most 16 million vertices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MeshSource {
    /// A flat sheet: x from 0 to width, y = 0, z from 0 to depth. Its corners are top-left (0, 0, 0),
    /// top-right (width, 0, 0), bottom-left and bottom-right (at z = depth).
    Grid(Grid),
    /// A flat irregular L-shaped sheet with a hole: a grid without its top right quarter and without the
    /// middle of its bottom left one. Its corners are top-left, bottom-left and bottom-right.
    Ell(Ell),
    /// A flat round sheet in the xz plane, centred at the origin, of concentric rings of 6, 12, 18, …
    /// vertices.
    Disc(Disc),
    /// An open tube along y, centred at the origin. Its ends are the groups `ring:top` and `ring:bottom`.
    Cylinder(Tube),
    /// A sphere about the origin, with triangles of nearly equal size.
    Sphere(Ball),
    /// A torus around the y axis, centred at the origin.
    Torus(Ring),
    /// A closed tube along y with half-spheres at both ends, centred at the origin.
    Capsule(Tube),
    /// A closed box centred at the origin.
    Box(Cuboid),
    /// A human figure, 1.7 m tall: faces z, stands on y = 0, arms out. Edges of 0.005 to 0.025 m; 0.02 gives
    /// 10K triangles. Animated as the `sequence` of an obstacle.
    Figure(Even),
    /// A T-shirt for the figure: four flat panels with seams, placed around it. Edges of 0.002 to 0.03 m;
    /// 0.007 gives 41K triangles. Groups `hem`, `neckline`, `cuff:left`, `cuff:right`.
    Shirt(Even),
    /// A cape for the figure: flat at rest, initially hanging behind its back. Edges of 0.003 to 0.03 m; 0.01
    /// gives 17K triangles. Groups `shoulder:left`, `shoulder:right`.
    Cape(Even),
    /// A curtain: flat at rest, initially hanging from a rail in regular waves. The rail runs along x from 0,
    /// at y = 0. Group `rail`.
    Curtain(Curtain),
    /// A dragon-like creature, half as high as it is long: faces x, stands on y = 0. A closed surface.
    Creature(Creature),
    /// A rabbit with two long ears: faces x, stands on y = 0. A closed surface.
    Bunny(Bunny),
    /// A bath duck: faces x, stands on y = 0. A closed surface.
    Duck(Duck),
    /// A sewing pattern, for cloth only, as a file or a table with its edge length. In the format of
    /// GarmentCode (`pygarment`, json): panels that are flat at rest, placed around a body, and sewn together
    /// from there; groups `panel:NAME`, and the labels of panels and edges. In DXF (AAMA, ASTM): pieces that
    /// lie flat as they are drawn, not sewn; groups `panel:NAME`, and `edge:NAME:0`, `edge:NAME:1`, … for the
    /// parts of their outlines from corner to corner.
    Pattern(PatternSource),
    /// A file (obj, ply, stl, gltf, glb, usd, usda, usdc, usdz), relative to the scene file.
    File(#[schemars(length(min = 1))] String),
}

/// A flat sheet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GridMesh")]
pub(crate) struct Grid {
    /// Width (x) and depth (z) \[m\]. Each 0.0001 to 100000.
    #[schemars(inner(range(min = 0.000_1, max = 100_000)))]
    pub size: [f64; 2],
    /// Number of quads along x and z; each is split into two triangles. Each 1 to 1000000.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub cells: [u32; 2],
    /// How the quads are split. `"alternating"` by default.
    #[serde(default)]
    pub diagonals: Diagonals,
    /// Seed of jittered and Delaunay vertices. The scene's by default; 0 to 2⁶³ − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: Option<u64>,
}

/// A flat L-shaped sheet with a hole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EllMesh")]
pub(crate) struct Ell {
    /// Overall width (x) and depth (z) \[m\]. Each 0.0001 to 100000.
    #[schemars(inner(range(min = 0.000_1, max = 100_000)))]
    pub size: [f64; 2],
    /// Number of quads along x and z of the grid that it is cut from. Each 8 to 1000000.
    #[schemars(inner(range(min = 8, max = 1_000_000)))]
    pub cells: [u32; 2],
    /// Seed of the vertex positions. The scene's by default; 0 to 2⁶³ − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: Option<u64>,
}

/// How the quads of a grid are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Diagonals {
    /// All in the same direction.
    Regular,
    /// Alternating from quad to quad, so that no direction is preferred.
    #[default]
    Alternating,
    /// Vertices displaced at random by up to a quarter of a quad, each diagonal chosen at random.
    Jittered,
    /// Interior vertices displaced at random by up to 0.45 quads, Delaunay-triangulated: irregular.
    Delaunay,
}

/// A flat round sheet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DiscMesh")]
pub(crate) struct Disc {
    /// Radius \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub radius: f64,
    /// Rings around the centre. 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub rings: u32,
}

/// A tube along y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TubeMesh")]
pub(crate) struct Tube {
    /// Radius \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub radius: f64,
    /// Length of the straight part \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub height: f64,
    /// Number of quads around (at least 3) and along the straight part. Each 1 to 1000000.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub segments: [u32; 2],
}

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SphereMesh")]
pub(crate) struct Ball {
    /// Radius \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub radius: f64,
    /// Subdivisions of each edge of the icosahedron: 20 · frequency² triangles. 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub frequency: u32,
}

/// A torus.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TorusMesh")]
pub(crate) struct Ring {
    /// Radius of the centre circle of the tube \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub major: f64,
    /// Radius of the tube \[m\]; less than `major`. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub minor: f64,
    /// Number of quads around the axis and around the tube (at least 3). Each 1 to 1000000.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub segments: [u32; 2],
}

/// A box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BoxMesh")]
pub(crate) struct Cuboid {
    /// Lengths along x, y and z \[m\]. Each 0.0001 to 100000.
    #[schemars(inner(range(min = 0.000_1, max = 100_000)))]
    pub size: [f64; 3],
    /// Number of quads along x, y and z. Each 1 to 1000000.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub cells: [u32; 3],
}

/// A mesh of triangles as uniform as possible.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EvenMesh")]
pub(crate) struct Even {
    /// Edge length \[m\]. 0.002 to 0.03.
    #[schemars(range(min = 0.002, max = 0.03))]
    pub edge: f64,
}

/// A dragon-like creature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CreatureMesh")]
pub(crate) struct Creature {
    /// Length from snout to tail \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub length: f64,
    /// Approximate number of triangles. 500 to 2000000.
    #[schemars(range(min = 500, max = 2_000_000))]
    pub triangles: u32,
}

/// A rabbit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BunnyMesh")]
pub(crate) struct Bunny {
    /// Height from feet to ears \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub height: f64,
    /// Approximate number of triangles. 500 to 2000000.
    #[schemars(range(min = 500, max = 2_000_000))]
    pub triangles: u32,
}

/// A bath duck.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DuckMesh")]
pub(crate) struct Duck {
    /// Length from bill to tail \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub length: f64,
    /// Approximate number of triangles. 500 to 2000000.
    #[schemars(range(min = 500, max = 2_000_000))]
    pub triangles: u32,
}

/// A pleated curtain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CurtainMesh")]
pub(crate) struct Curtain {
    /// Width and height of the sheet \[m\]. Each 0.0001 to 100000.
    #[schemars(inner(range(min = 0.000_1, max = 100_000)))]
    pub size: [f64; 2],
    /// Number of quads along width and height. Each 1 to 1000000.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub cells: [u32; 2],
    /// Number of waves. 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub pleats: u32,
    /// Depth of the waves from front to back \[m\]. 0.0001 to 100000.
    #[schemars(range(min = 0.000_1, max = 100_000))]
    pub depth: f64,
}

/// A sewing pattern: a file, or a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PatternSource {
    /// A pattern file (json, dxf), relative to the scene file.
    File(#[schemars(length(min = 1))] String),
    /// A pattern file or a built-in pattern, and how it is meshed and sewn.
    Table(PatternMesh),
}

/// A sewing pattern. Exactly one of `file` and `built_in` is required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatternMesh {
    /// Pattern file (json, dxf), relative to the scene file. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub file: Option<String>,
    /// Name of a pattern that comes with taut. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_in: Option<BuiltInPattern>,
    /// Edge length \[m\]. 0.01 by default; 0.001 to 0.1.
    #[serde(default = "pattern_edge")]
    #[schemars(range(min = 0.001, max = 0.1))]
    pub edge: f64,
    /// Units of the file in a metre: 100 for centimetres. The file's own by default, of a DXF file that does
    /// not say the ones that fit its size; 0.001 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1_000_000))]
    pub units_in_meter: Option<f64>,
    /// By panel: how far it is moved from where the file places it \[m\]. Nothing is moved by default; each
    /// −10 to 10.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shift: BTreeMap<String, Vector>,
    /// Edges that are sewn together in addition to the file's stitches, as `PANEL:EDGE`, edges counted
    /// from 0:
    /// `[["front:1", "back:3"]]`. The start of one is joined to the end of the other. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100_000))]
    pub stitches: Vec<[String; 2]>,
    /// Speed at which sewn vertices are pulled together \[m/s\]. By default the speed that closes the widest
    /// seam in two fifths of `scene.sewing`; 1 without one. 0.0001 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_1, max = 1000))]
    pub speed: Option<f64>,
}

/// A pattern that comes with taut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BuiltInPattern {
    /// A sleeveless A-line dress for the figure.
    Dress,
    /// A sleeveless shirt for the figure.
    Shirt,
    /// A sleeveless jacket for the figure, open in front, that fits over the shirt.
    Jacket,
    /// Two squares of 40 cm, one above the other, sewn along all sides.
    Pillow,
}

fn pattern_edge() -> f64 {
    crate::pattern::DEFAULT_EDGE
}

impl PatternSource {
    /// All keys.
    pub fn table(&self) -> PatternMesh {
        match self {
            Self::File(file) => {
                PatternMesh { file: Some(file.clone()), edge: pattern_edge(), ..PatternMesh::default() }
            }
            Self::Table(table) => table.clone(),
        }
    }
}

/// What is read from a file.
pub(crate) enum FromFile<'a> {
    /// A mesh.
    Mesh(&'a str),
    /// A sewing pattern.
    Pattern(&'a PatternSource),
}

impl MeshSource {
    /// The key that selects it: `grid`, `file`, …
    pub fn tag(&self) -> &'static str {
        match self {
            MeshSource::Grid(_) => "grid",
            MeshSource::Ell(_) => "ell",
            MeshSource::Disc(_) => "disc",
            MeshSource::Cylinder(_) => "cylinder",
            MeshSource::Sphere(_) => "sphere",
            MeshSource::Torus(_) => "torus",
            MeshSource::Capsule(_) => "capsule",
            MeshSource::Box(_) => "box",
            MeshSource::Figure(_) => "figure",
            MeshSource::Shirt(_) => "shirt",
            MeshSource::Cape(_) => "cape",
            MeshSource::Curtain(_) => "curtain",
            MeshSource::Creature(_) => "creature",
            MeshSource::Bunny(_) => "bunny",
            MeshSource::Duck(_) => "duck",
            MeshSource::Pattern(_) => "pattern",
            MeshSource::File(_) => "file",
        }
    }

    /// The file that it is read from, if any.
    pub fn file(&self) -> Option<&String> {
        match self {
            MeshSource::File(file) | MeshSource::Pattern(PatternSource::File(file)) => Some(file),
            MeshSource::Pattern(PatternSource::Table(pattern)) => pattern.file.as_ref(),
            _ => None,
        }
    }

    /// The same, mutable.
    pub fn file_mut(&mut self) -> Option<&mut String> {
        match self {
            MeshSource::File(file) | MeshSource::Pattern(PatternSource::File(file)) => Some(file),
            MeshSource::Pattern(PatternSource::Table(pattern)) => pattern.file.as_mut(),
            _ => None,
        }
    }

    /// The engine's generator, or what is read from a file.
    pub fn generator(&self, scene_seed: u64) -> Result<Generator, FromFile<'_>> {
        Ok(match self {
            MeshSource::Grid(grid) => Generator::Grid {
                size: grid.size.map(|length| length as f32),
                cells: grid.cells,
                diagonals: match grid.diagonals {
                    Diagonals::Regular => generate::Diagonals::Regular,
                    Diagonals::Alternating => generate::Diagonals::Alternating,
                    Diagonals::Jittered => generate::Diagonals::Jittered,
                    Diagonals::Delaunay => generate::Diagonals::Delaunay,
                },
                seed: grid.seed.unwrap_or(scene_seed),
            },
            MeshSource::Ell(ell) => Generator::Ell {
                size: ell.size.map(|length| length as f32),
                cells: ell.cells,
                seed: ell.seed.unwrap_or(scene_seed),
            },
            MeshSource::Disc(disc) => Generator::Disc { radius: disc.radius as f32, rings: disc.rings },
            MeshSource::Cylinder(tube) => Generator::Cylinder {
                radius: tube.radius as f32,
                height: tube.height as f32,
                segments: tube.segments,
            },
            MeshSource::Sphere(ball) => {
                Generator::Sphere { radius: ball.radius as f32, frequency: ball.frequency }
            }
            MeshSource::Torus(ring) => Generator::Torus {
                major: ring.major as f32,
                minor: ring.minor as f32,
                segments: ring.segments,
            },
            MeshSource::Capsule(tube) => Generator::Capsule {
                radius: tube.radius as f32,
                height: tube.height as f32,
                segments: tube.segments,
            },
            MeshSource::Box(cuboid) => {
                Generator::Box { size: cuboid.size.map(|length| length as f32), cells: cuboid.cells }
            }
            MeshSource::Figure(even) => Generator::Figure { edge: even.edge as f32 },
            MeshSource::Shirt(even) => Generator::Shirt { edge: even.edge as f32 },
            MeshSource::Cape(even) => Generator::Cape { edge: even.edge as f32 },
            MeshSource::Curtain(curtain) => Generator::Curtain {
                size: curtain.size.map(|length| length as f32),
                cells: curtain.cells,
                pleats: curtain.pleats,
                depth: curtain.depth as f32,
            },
            MeshSource::Creature(creature) => {
                Generator::Creature { length: creature.length as f32, triangles: creature.triangles }
            }
            MeshSource::Bunny(bunny) => {
                Generator::Bunny { height: bunny.height as f32, triangles: bunny.triangles }
            }
            MeshSource::Duck(duck) => {
                Generator::Duck { length: duck.length as f32, triangles: duck.triangles }
            }
            MeshSource::Pattern(pattern) => return Err(FromFile::Pattern(pattern)),
            MeshSource::File(file) => return Err(FromFile::Mesh(file)),
        })
    }
}
