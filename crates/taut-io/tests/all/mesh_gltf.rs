//! glTF and GLB files.

use crate::mesh_samples;

use glam::{Vec2, Vec3};
use mesh_samples::*;
use taut::mesh::{TriangleMesh, check::check};
use taut_io::mesh::{Format, parse};

fn read(bytes: &[u8]) -> TriangleMesh {
    parse(bytes, Format::Gltf, None).unwrap_or_else(|problem| panic!("{problem}"))
}

fn problem(text: &str) -> String {
    parse(text.as_bytes(), Format::Gltf, None).unwrap_err().to_string()
}

/// The tetrahedron as JSON with its buffer inside.
fn sample() -> String {
    let mesh = tetrahedron();
    gltf_json(&mesh, &data_uri(&gltf_buffer(&mesh)), "")
}

#[test]
fn container_data_uri_and_file_give_the_same() {
    let mesh = tetrahedron();
    let buffer = gltf_buffer(&mesh);
    let inside = read(sample().as_bytes());
    assert_eq!(inside.positions, mesh.positions);
    assert_eq!(inside.triangles, mesh.triangles);
    assert_eq!(
        inside.uvs.as_ref().unwrap()[0],
        [Vec2::new(0.0, 0.75), Vec2::new(0.25, 0.75), Vec2::new(0.125, 0.75)]
    );
    assert_eq!(inside.groups["body"], [0, 1, 2, 3]);
    assert_eq!(read(&glb(&gltf_json(&mesh, "", ""), &buffer)), inside);

    let folder = std::env::temp_dir().join(format!("taut-gltf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a b.bin"), &buffer).unwrap();
    let path = folder.join("x.gltf");
    std::fs::write(&path, gltf_json(&mesh, r#""uri":"a%20b.bin","#, "")).unwrap();
    assert_eq!(taut_io::mesh::read(&path).unwrap(), inside);
    std::fs::write(&path, gltf_json(&mesh, r#""uri":"none.bin","#, "")).unwrap();
    let message = taut_io::mesh::read(&path).unwrap_err().to_string();
    assert!(message.contains("none.bin: ") && message.ends_with("no such file"), "{message}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn nodes_move_and_mirror() {
    let mesh = tetrahedron();
    let buffer = data_uri(&gltf_buffer(&mesh));
    let moved = read(gltf_json(&mesh, &buffer, r#","translation":[1,2,3],"scale":[2,2,2]"#).as_bytes());
    assert_eq!(moved.positions[1], Vec3::new(3.0, 2.0, 3.0));
    let turned = read(gltf_json(&mesh, &buffer, r#","rotation":[0,0,0.70710678,0.70710678]"#).as_bytes());
    assert!(turned.positions[1].distance(Vec3::Y) < 1e-6);
    let matrix = r#","matrix":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]"#;
    let mirrored = read(gltf_json(&mesh, &buffer, matrix).as_bytes());
    assert!(mirrored.positions.contains(&Vec3::new(4.0, 0.0, 0.0)));
    let volume = |m: &TriangleMesh| -> f32 {
        let p = |v: u32| m.positions[v as usize];
        m.triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c)))).sum()
    };
    assert!(volume(&mirrored) > 0.0, "a mirrored mesh still faces outward");
    assert_eq!(check(&mirrored), []);
}

#[test]
fn two_nodes_stay_apart_and_children_follow() {
    let json = sample()
        .replace(r#""nodes":[{"name":"body","mesh":0}]"#,
            r#""nodes":[{"name":"a","mesh":0,"children":[1],"translation":[0,0,1]},{"name":"b","mesh":0,"translation":[0,0,-1]}]"#);
    let mesh = read(json.as_bytes());
    assert_eq!(mesh.positions.len(), 8, "vertices at the same place belong to different nodes");
    assert_eq!((mesh.positions[0], mesh.positions[4]), (Vec3::Z, Vec3::ZERO));
    assert_eq!(mesh.groups["b"], [4, 5, 6, 7]);
}

#[test]
fn only_the_default_scene_is_shown() {
    let two = sample()
        .replace(
            r#""scene":0,"scenes":[{"nodes":[0]}]"#,
            r#""scene":1,"scenes":[{"nodes":[0]},{"nodes":[1]}]"#,
        )
        .replace(
            r#""nodes":[{"name":"body","mesh":0}]"#,
            r#""nodes":[{"mesh":0},{"name":"shown","mesh":0}]"#,
        );
    let mesh = read(two.as_bytes());
    assert_eq!((mesh.triangles.len(), mesh.groups.len()), (4, 1));
    let none = two.replace(r#""scene":1,"scenes":[{"nodes":[0]},{"nodes":[1]}],"#, "");
    assert_eq!(read(none.as_bytes()).triangles.len(), 8, "without scenes every root is shown");
}

#[test]
fn sparse_accessors_strips_and_fans() {
    let mesh = read(gltf_sparse().as_bytes());
    assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)]);
    assert_eq!(mesh.triangles, [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(mesh.groups["strip"], [0, 1, 2, 3]);
    let fan = read(gltf_sparse().replace(r#""mode":5"#, r#""mode":6"#).as_bytes());
    assert_eq!(fan.triangles.len(), 2);
    let points = problem(&gltf_sparse().replace(r#""mode":5"#, r#""mode":0"#));
    assert!(points.starts_with("contains no faces"), "{points}");
}

#[test]
fn small_integers_and_strides() {
    // Positions as normalized bytes, four bytes apart (KHR_mesh_quantization).
    let mut bytes: Vec<u8> = [[0i8, 0, 0], [127, 0, 0], [0, -128, 0]]
        .iter()
        .flat_map(|&[x, y, z]| [x as u8, y as u8, z as u8, 99])
        .collect();
    bytes.truncate(11);
    let json = format!(
        r#"{{"asset":{{"version":"2.1"}},"extensionsRequired":["KHR_mesh_quantization"],"meshes":[{{"primitives":[
{{"attributes":{{"POSITION":0}}}}]}}],"accessors":[{{"bufferView":0,"componentType":5120,"normalized":true,"count":3,"type":"VEC3"}}],
"bufferViews":[{{"buffer":0,"byteLength":11,"byteStride":4}}],"buffers":[{{{}"byteLength":11}}]}}"#,
        data_uri(&bytes)
    );
    let mesh = read(json.as_bytes());
    assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::NEG_Y]);
}

#[test]
fn errors_name_the_element_and_remedy() {
    let good = sample();
    let edit = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        problem(&good.replacen(from, to, 1))
    };
    let cases = [
        (
            r#""version":"2.0""#,
            r#""version":"1.0""#,
            "asset.version: is glTF of version \"1.0\": version 2 is read",
        ),
        (r#""scene":0,"#, r#""scene":7,"#, "scene: 7: the file has 1 scenes, counted from 0"),
        (r#""mesh":0"#, r#""mesh":3"#, "mesh 3 (from 0): does not exist: the file has 1 meshes"),
        (r#""mesh":0"#, r#""children":[0]"#, "node 0 (from 0): is reached twice: nodes must form a tree"),
        (r#""mesh":0"#, r#""children":[4]"#, "node 4 (from 0): does not exist: the file has 1 nodes"),
        (
            r#""indices":1"#,
            r#""indices":9"#,
            "mesh 0 primitive 0 (from 0): accessor 9 (from 0) does not exist: the file has 3",
        ),
        (
            r#""indices":1"#,
            r#""indices":0"#,
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0) has type \"VEC3\": must be \"SCALAR\"",
        ),
        (r#""indices":1"#, r#""mode":9"#, "mesh 0 primitive 0 (from 0): mode 9: must be from 0 to 6"),
        (
            r#""indices":1"#,
            r#""mode":4"#,
            "mesh 0 primitive 0 (from 0): 4 indices: triangles need a multiple of 3",
        ),
        (r#""POSITION":0,"#, "", "mesh 0 primitive 0 (from 0): has no POSITION"),
        (
            r#""componentType":5123"#,
            r#""componentType":5126"#,
            "mesh 0 primitive 0 (from 0): accessor 1 (from 0): componentType 5126: indices must be 5121, 5123 or 5125",
        ),
        (
            r#""componentType":5126"#,
            r#""componentType":1"#,
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0): componentType 1: must be 5120 to 5123, 5125 or 5126",
        ),
        (
            r#""count":4,"type":"VEC3""#,
            r#""count":4000000000,"type":"VEC3""#,
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0): 4000000000 elements of 12 bytes, 12 apart from byteOffset 0, reach past the end of bufferView 0 of 48 bytes",
        ),
        (
            r#""count":4,"type":"VEC3""#,
            r#""count":3,"type":"VEC3""#,
            "mesh 0 primitive 0 (from 0): index 3: it has 3 positions, counted from 0",
        ),
        (
            r#""count":4,"type":"VEC2""#,
            r#""count":2,"type":"VEC2""#,
            "mesh 0 primitive 0 (from 0): TEXCOORD_0 has 2 values for 4 positions",
        ),
        (
            r#""buffer":0,"byteLength":48"#,
            r#""buffer":0,"byteLength":480"#,
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0): bufferView 0 (from 0): byteOffset 0 and byteLength 480 reach past the end of its buffer of 104 bytes",
        ),
        (
            r#""buffer":0,"byteLength":48"#,
            r#""buffer":0,"byteStride":4,"byteLength":48"#,
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0): byteStride 4: its elements have 12 bytes",
        ),
        (
            r#""byteLength":104"#,
            r#""byteLength":105"#,
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0): buffer 0 (from 0) has 104 bytes: byteLength is 105",
        ),
        (
            "data:application/octet-stream;base64,",
            "data:application/octet-stream,",
            "mesh 0 primitive 0 (from 0): accessor 0 (from 0): buffer 0 (from 0): a data URI that is not base64",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(edit(from, to), expected);
    }
    assert!(problem("{\n\"asset\": 3}").starts_with("line 2: is not valid glTF: "));
    assert!(problem("{").contains("is not valid glTF"));
    let deep = "[".repeat(100_000);
    assert!(
        problem(&format!("{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{deep}"))
            .contains("is not valid glTF")
    );
    let deep = "[".repeat(100_000);
    assert!(problem(&format!("{{\"asset\":{deep}")).contains("is not valid glTF"));
    let external = |uri: &str| problem(&gltf_json(&tetrahedron(), &format!("\"uri\":\"{uri}\","), ""));
    assert!(external("x.bin").contains("is not available"));
    assert!(external("/etc/passwd").contains("must be a path relative"));
    assert!(external("https://example.org/x.bin").contains("must be a path relative"));
    let bare = problem(&gltf_json(&tetrahedron(), "", ""));
    assert!(bare.contains("has no uri, and is not the first of a GLB file"), "{bare}");
}

#[test]
fn compression_is_refused_by_name() {
    for name in ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let required = sample().replacen('{', &format!("{{\"extensionsRequired\":[\"{name}\"],"), 1);
        assert_eq!(
            problem(&required),
            format!("extensionsRequired: needs {name}, which is not supported: save it without")
        );
    }
    let draco = r#""indices":1,"extensions":{"KHR_draco_mesh_compression":{"bufferView":0,"attributes":{}}}"#;
    let with_plain_data = sample().replacen(r#""indices":1"#, draco, 1);
    assert_eq!(read(with_plain_data.as_bytes()).triangles.len(), 4);
    let without =
        with_plain_data.replacen(r#""bufferView":0,"componentType":5126"#, r#""componentType":5126"#, 1);
    assert!(problem(&without).contains("compressed by KHR_draco_mesh_compression"), "{}", problem(&without));
}

#[test]
fn containers_that_are_broken() {
    let mesh = tetrahedron();
    let good = glb(&gltf_json(&mesh, "", ""), &gltf_buffer(&mesh));
    let broken = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        parse(&bytes, Format::Gltf, None).unwrap_err().to_string()
    };
    assert!(broken(&|b| b[4] = 1).contains("version 1: version 2 is read"));
    assert!(broken(&|b| b.truncate(6)).contains("truncated GLB"));
    assert!(broken(&|b| b.truncate(good.len() - 4)).contains("declares"));
    assert!(broken(&|b| b[15] = 0xff).contains("truncated GLB"));
    assert!(broken(&|b| b[16] = b'X').contains("without a JSON chunk"));
}
