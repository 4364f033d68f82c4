//! OBJ files: every legal form, and a message for every illegal one.

use crate::mesh_samples;

use glam::{Vec2, Vec3};
use mesh_samples::{obj_text, tetrahedron};
use taut::mesh::{TriangleMesh, check::check, generate};
use taut_io::mesh::{Format, parse};

fn read(text: &str) -> TriangleMesh {
    parse(text.as_bytes(), Format::Obj, None).unwrap_or_else(|problem| panic!("{problem}"))
}

fn problem(text: &str) -> String {
    parse(text.as_bytes(), Format::Obj, None).unwrap_err().to_string()
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn round_trip() {
    let mesh = tetrahedron();
    assert_eq!(parse(&obj_text(&mesh), Format::Obj, None).unwrap(), mesh);
    let mut sphere = generate::Generator::Sphere { radius: 0.3, frequency: 9 }.generate().unwrap();
    sphere.uvs = None;
    assert_eq!(parse(&obj_text(&sphere), Format::Obj, None).unwrap(), sphere);
}

#[test]
fn faces_in_all_forms() {
    let head = format!("{SQUARE}vt 0 0\nvt 1 0 0\nvt 1 1\nvt 0.5\nvn 0 0 1\n");
    for face in [
        "f 1 2 3",
        "f 1/1 2/2 3/3",
        "f 1//1 2//1 3//1",
        "f 1/1/1 2/2/1 3/3/1",
        "f -4 -3 -2",
        "f -4/-4/-1 2/2/1 3/3/1",
    ] {
        let mesh = read(&format!("{head}{face}\n"));
        assert_eq!(mesh.triangles, [[0, 1, 2]], "{face}");
        let has_uvs = face.contains("/1 ") && !face.contains("//") || face.contains("/-4/");
        assert_eq!(mesh.uvs.is_some(), has_uvs, "{face}");
        if let Some(uvs) = mesh.uvs {
            assert_eq!(uvs, [[Vec2::ZERO, Vec2::X, Vec2::ONE]]);
        }
    }
}

#[test]
fn vertices_with_w_and_colours() {
    let mesh = read("v 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 1e0 +1 -0 1 .5 .5 5.\nf 1 2 3");
    assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)]);
}

#[test]
fn odd_but_legal() {
    let mesh = read(
        "\u{feff}# first\r\n\tv 0 0 0 # origin\r\nv 1 0 0\r\n\r\nmtllib a.mtl\r\nusemtl b\r\ns off\r\nl 1 2\r\np 1\r\n\
         f 1 \\\r\n 2 \\\r\n 3\r\nv 1 1 0\r\nvn 0 0 nonsense\r\nunknown keyword\r\n",
    );
    assert_eq!(mesh.triangles, [[0, 1, 2]], "vertex 3 comes after the face that uses it");
    assert_eq!(read("v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r").triangles.len(), 1, "CR alone ends lines");
    assert_eq!(
        read(&format!("# C:\\models\\\n{SQUARE}f 1 2 3 \\")).positions.len(),
        4,
        "backslashes that join nothing"
    );
    let latin = b"v 0 0 0\nv 1 0 0\nv 0 1 0\no caf\xe9\nf 1 2 3\n";
    assert_eq!(parse(latin, Format::Obj, None).unwrap().groups.len(), 1, "names need not be UTF-8");
}

#[test]
fn polygons_are_cut() {
    assert_eq!(read(&format!("{SQUARE}f 1 2 3 4")).triangles, [[0, 1, 2], [0, 2, 3]]);
    let shorter = read("v 0 0 0\nv 3 0 0\nv 4 1 0\nv 1 1 0\nf 1 2 3 4");
    assert_eq!(shorter.triangles, [[0, 1, 3], [1, 2, 3]]);
    let concave = read("v 0 0 0\nv 4 4 0\nv 0 2 0\nv -4 4 0\nv -1 1 0\nf 1 2 3 4 5");
    assert_eq!(concave.triangles.len(), 3);
    assert_eq!(check(&concave), []);
    let up = concave.triangles.iter().all(|t| {
        let [a, b, c] = t.map(|v| concave.positions[v as usize]);
        (b - a).cross(c - a).z > 0.0
    });
    assert!(up, "{:?}", concave.triangles);
}

#[test]
fn groups_and_objects_name_vertices() {
    let mesh =
        read(&format!("{SQUARE}v 2 2 0\no My Object\ng hem front\nf 1 2 3\ng front\nf 1 3 4\ng\nf 3 5 4\n"));
    assert_eq!(mesh.groups["hem"], [0, 1, 2]);
    assert_eq!(mesh.groups["front"], [0, 1, 2, 3]);
    assert_eq!(mesh.groups["My Object"], [0, 1, 2, 3, 4]);
    assert_eq!(mesh.groups.len(), 3);
    assert!(read(&format!("g empty\ng full\n{SQUARE}f 1 2 3")).groups.keys().eq(["full"]));
}

#[test]
fn half_a_texture_mapping_is_none() {
    assert_eq!(read(&format!("{SQUARE}vt 0 0\nf 1/1 2/1 3/1\nf 1 3 4")).uvs, None);
}

#[test]
fn errors_name_line_and_remedy() {
    for (text, expected) in [
        (
            "v 0 0\n",
            "line 1: vertex: 2 numbers: must have 3 coordinates, and may have w, or a colour of 3 numbers",
        ),
        ("# x\nv 0 0 zero\n", "line 2: vertex: \"zero\": must be a number"),
        ("v 0 nan 0\n", "line 1: vertex: \"nan\": must be a finite number below 3.4e38"),
        ("v 0 1e39 0\n", "line 1: vertex: \"1e39\": must be a finite number below 3.4e38"),
        ("v 0,5 1 0\n", "line 1: vertex: \"0,5\": must be a number"),
        ("vt\n", "line 1: texture coordinate: 0 numbers: must have 1 to 3"),
        ("v 0 0 0\nf 1 1\n", "line 2: face: a face of 2 corners: at least 3 are required"),
        ("v 0 0 0\nf 0 1 1\n", "line 2: face: corner \"0\": vertexs count from 1"),
        ("v 0 0 0\nf 1 1 2\n", "line 2: face: vertex 2: the file has 1, counted from 1"),
        ("v 0 0 0\nf 1/1 1/1 1/2\n", "line 2: face: texture coordinate 1: the file has 0, counted from 1"),
        ("v 0 0 0\nf -1 -2 -1\n", "line 2: face: corner \"-2\": there are 1 vertices before it"),
        ("v 0 0 0\nf 1.5 1 1\n", "line 2: face: corner \"1.5\": the vertex must be an integer"),
        ("v 0 0 0\nf 1/1/1/1 1 1\n", "line 2: face: corner \"1/1/1/1\": must be v, v/vt, v//vn or v/vt/vn"),
        (
            "v 0 0 0\nf 99999999999999999999 1 1\n",
            "line 2: face: corner \"99999999999999999999\": the vertex must be an integer",
        ),
        ("v 0 0 0\nv 1 0 0\n", "contains no faces (2 vertices): at least one triangle is required"),
        ("hello", "contains no faces (0 vertices): at least one triangle is required"),
        ("", "the file is empty"),
    ] {
        assert_eq!(problem(text), expected.replace("vertexs", "vertices"), "{text:?}");
    }
    let many = format!("g {}\n", (0..100).map(|i| format!("n{i} ")).collect::<String>());
    assert!(problem(&many).contains("more than 64 names"));
    let huge = format!("v 0 0 0\nf {}\n", "1 ".repeat(5000));
    assert_eq!(problem(&huge), "line 2: face: a face of 5000 corners: at most 4096 are read; triangulate it");
}
