//! Small valid files that tests read, break and mutate.
#![allow(missing_docs, reason = "samples speak for themselves")]

use std::fmt::Write;

use glam::Vec3;
use taut::mesh::TriangleMesh;

/// A tetrahedron, counter-clockwise from outside.
pub fn tetrahedron() -> TriangleMesh {
    TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        ..TriangleMesh::default()
    }
}

/// A USD layer with transforms, polygons, texture coordinates, a subset and time samples.
pub const USD_TEXT: &str = r#"#usda 1.0
( # comment
    "Made by hand"
    customLayerData = { string creator = "a } b"; dictionary more = { int k = 1 } }
    metersPerUnit = 0.1
    upAxis = "Z"
    startTimeCode = 1
    endTimeCode = 5
    timeCodesPerSecond = 25
    doc = """several
lines)"""
)
/* A block
   comment. */
over "Elsewhere" { def Mesh "Other" { } }
def Xform "World" ( kind = "group"; variants = { string look = "plain" } )
{
    double3 xformOp:translate.timeSamples = { 1: (0, 0, 1), 5: (0, 0, 5), }
    float3 xformOp:rotateXYZ = (0, 0, 90)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]

    def Mesh "Sheet" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        int[] faceVertexCounts = [4, 3]
        int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0.5, 1e-1)]
        point3f[] points.timeSamples = {
            1: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0.5, 1e-1)],
            3: [(0, 0, 2), (1, 0, 2), (1, 1, 2), (0, 1, 2), (2, 0.5, 2.1)],
        }
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "faceVarying" )
        int[] primvars:st:indices = [0, 1, 2, 3, 1, 0, 2]
        rel material:binding = </World/Looks/Red>
        asset texture = @a(b].png@
        def GeomSubset "tip" { int[] indices = [1]; uniform token elementType = "face" }
    }
}
"#;

/// The same kind of scene in binary, written by Pixar's library 26.11 in version 0.8: `/World` (translate
/// over time, scale 2) with `Sheet`, 4 by 4 quads in the xy plane, at heights of 0.25, 0.5 and 1 at time
/// codes 1, 2 and 4; z up, tenths of metres; a subset `hem` of the first two faces.
pub const USD_BINARY: &[u8] = include_bytes!("pixar.usdc");

pub fn stl_text(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("solid part one\n");
    for triangle in &mesh.triangles {
        text.push_str("facet normal 0 0 1\n  outer loop\n");
        for &vertex in triangle {
            let p = mesh.positions[vertex as usize];
            writeln!(text, "    vertex {:e} {:e} {:e}", p.x, p.y, p.z).unwrap();
        }
        text.push_str("  endloop\nendfacet\n");
    }
    text.push_str("endsolid part one\n");
    text.into_bytes()
}

pub fn stl_binary(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = b"solid is how many binary files begin".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for triangle in &mesh.triangles {
        bytes.extend([0; 12]);
        for &vertex in triangle {
            mesh.positions[vertex as usize].to_array().iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

pub fn obj_text(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("# taut\n");
    for p in &mesh.positions {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    for [a, b, c] in &mesh.triangles {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
    }
    text.into_bytes()
}

pub fn ply_text(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len()
    );
    for p in &mesh.positions {
        writeln!(text, "{} {} {}", p.x, p.y, p.z).unwrap();
    }
    for [a, b, c] in &mesh.triangles {
        writeln!(text, "3 {a} {b} {c}").unwrap();
    }
    text.into_bytes()
}

/// A big-endian file with faces first, a polygon, an element that nobody knows and properties that nobody
/// needs.
pub fn ply_big_endian_odd() -> Vec<u8> {
    let mut bytes =
        b"ply\r\ncomment odd\r\nformat binary_big_endian 1.0\r\nelement face 2\r\nproperty uchar flags\r\n\
        property list ushort uint vertex_index\r\nproperty list uchar float texcoord\r\nelement extra 2\r\n\
        property list int double values\r\nobj_info x\r\nelement vertex 5\r\nproperty uchar red\r\n\
        property double z\r\nproperty float x\r\nproperty short y\r\nend_header\r\n"
            .to_vec();
    for face in [&[0u32, 1, 2, 3][..], &[3, 2, 4]] {
        bytes.push(7);
        bytes.extend((face.len() as u16).to_be_bytes());
        face.iter().for_each(|index| bytes.extend(index.to_be_bytes()));
        bytes.push(2 * face.len() as u8);
        face.iter().for_each(|&index| {
            bytes.extend((index as f32 / 10.0).to_be_bytes());
            bytes.extend((index as f32 / 5.0).to_be_bytes());
        });
    }
    for count in [0i32, 2] {
        bytes.extend(count.to_be_bytes());
        (0..count).for_each(|i| bytes.extend(f64::from(i).to_be_bytes()));
    }
    for [x, y, z] in [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 2, 1]] {
        bytes.push(255);
        bytes.extend(f64::from(z).to_be_bytes());
        bytes.extend((x as f32).to_be_bytes());
        bytes.extend((y as i16).to_be_bytes());
    }
    bytes
}

/// Positions, u16 indices and texture coordinates one after the other, padded to multiples of four.
pub fn gltf_buffer(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = Vec::new();
    mesh.positions.iter().flat_map(|p| p.to_array()).for_each(|x| bytes.extend(x.to_le_bytes()));
    mesh.triangles.iter().flatten().for_each(|&v| bytes.extend((v as u16).to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for v in 0..mesh.positions.len() {
        bytes.extend((v as f32 / 8.0).to_le_bytes());
        bytes.extend(0.25f32.to_le_bytes());
    }
    bytes
}

/// A document over [`gltf_buffer`]; `uri` is what its buffer has (`"uri":"…",` or nothing), `node` the node's
/// properties.
pub fn gltf_json(mesh: &TriangleMesh, uri: &str, node: &str) -> String {
    let (vertices, indices) = (mesh.positions.len(), 3 * mesh.triangles.len());
    let indices_at = 12 * vertices;
    let uvs_at = (indices_at + 2 * indices).next_multiple_of(4);
    let total = uvs_at + 8 * vertices;
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
"nodes":[{{"name":"body","mesh":0{node}}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"TEXCOORD_0":2}},"indices":1}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":{vertices},"type":"VEC3"}},
{{"bufferView":1,"componentType":5123,"count":{indices},"type":"SCALAR"}},
{{"bufferView":2,"componentType":5126,"count":{vertices},"type":"VEC2"}}],
"bufferViews":[{{"buffer":0,"byteLength":{indices_at}}},
{{"buffer":0,"byteOffset":{indices_at},"byteLength":{}}},
{{"buffer":0,"byteOffset":{uvs_at},"byteLength":{}}}],
"buffers":[{{{uri}"byteLength":{total}}}]}}"#,
        2 * indices,
        8 * vertices
    )
}

pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let character = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= group.len() { char::from(character) } else { '=' });
        }
    }
    text
}

pub fn data_uri(bytes: &[u8]) -> String {
    format!(r#""uri":"data:application/octet-stream;base64,{}","#, base64(bytes))
}

pub fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend(((12 + 8 + json.len() + 8 + binary.len()) as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json.as_slice()), (b"BIN\0", binary)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

/// A document whose positions have two vertices replaced and whose triangles are a strip.
pub fn gltf_sparse() -> String {
    let mut bytes = Vec::new();
    [1u16, 3].iter().for_each(|i| bytes.extend(i.to_le_bytes()));
    [1.0f32, 0.0, 0.0, 1.0, 1.0, 0.0].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    // The base: four vertices, two of them wrong.
    [0.0f32, 0.0, 0.0, 9.0, 9.0, 9.0, 0.0, 1.0, 0.0, 9.0, 9.0, 9.0]
        .iter()
        .for_each(|x| bytes.extend(x.to_le_bytes()));
    format!(
        r#"{{"asset":{{"version":"2.0"}},"meshes":[{{"name":"strip","primitives":[{{"mode":5,"attributes":{{"POSITION":0}}}}]}}],
"accessors":[{{"bufferView":2,"componentType":5126,"count":4,"type":"VEC3","sparse":{{"count":2,
"indices":{{"bufferView":0,"componentType":5123}},"values":{{"bufferView":1}}}}}}],
"bufferViews":[{{"buffer":0,"byteLength":4}},{{"buffer":0,"byteOffset":4,"byteLength":24}},
{{"buffer":0,"byteOffset":28,"byteLength":48}}],"buffers":[{{{}"byteLength":76}}]}}"#,
        data_uri(&bytes)
    )
}
