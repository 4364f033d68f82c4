//! PLY files: written and read back bit for bit, odd but legal ones, and a message for every illegal one.

use crate::mesh_samples;

use glam::{Vec2, Vec3};
use mesh_samples::{ply_big_endian_odd, ply_text, tetrahedron};
use taut::mesh::{TriangleMesh, generate};
use taut_io::mesh::{Format, parse, write_ply};

fn read(bytes: &[u8]) -> TriangleMesh {
    parse(bytes, Format::Ply, None).unwrap_or_else(|problem| panic!("{problem}"))
}

fn problem(bytes: &[u8]) -> String {
    parse(bytes, Format::Ply, None).unwrap_err().to_string()
}

#[test]
fn what_is_written_comes_back_bit_for_bit() {
    let bits = |mesh: &TriangleMesh| -> Vec<[u32; 3]> {
        mesh.positions.iter().map(|p| p.to_array().map(f32::to_bits)).collect()
    };
    let mut mesh = generate::grid([1.0, 0.7], [37, 23], generate::Diagonals::Jittered, 5);
    mesh.positions[3] = Vec3::new(-0.0, f32::MIN_POSITIVE / 8.0, f32::MAX);
    let bytes = write_ply(&mesh);
    let back = read(&bytes);
    assert_eq!(bits(&back), bits(&mesh));
    assert_eq!(back.triangles, mesh.triangles);
    assert_eq!(write_ply(&back), bytes);
    let header = String::from_utf8_lossy(&bytes[..300]).into_owned();
    assert!(header.starts_with("ply\nformat binary_little_endian 1.0\ncomment taut\n"), "{header}");
}

#[test]
fn text() {
    assert_eq!(read(&ply_text(&tetrahedron())), tetrahedron());
    // Values need not keep to lines, and names of types come in two sets.
    let loose = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float32 x\nproperty float64 y\nproperty int8 z\n\
        property float s\nproperty float t\nelement face 1\nproperty list uint8 int32 vertex_indices\nend_header\n\
        0 0 0 0 0 1 0\n0 1 0\n\n1 1 0 1 1 3 0 1 2";
    let mesh = read(loose.as_bytes());
    assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)]);
    assert_eq!(mesh.uvs.unwrap(), [[Vec2::ZERO, Vec2::X, Vec2::ONE]]);
    // Not-a-number is no harm in a property that nobody needs.
    let normals = ply_with("3", "property float nx\n", "0 0 0 nan\n1 0 0 nan\n0 1 0 inf\n3 0 1 2\n");
    assert_eq!(read(normals.as_bytes()).triangles, [[0, 1, 2]]);
}

#[test]
fn big_endian_with_everything_unusual() {
    let mesh = read(&ply_big_endian_odd());
    assert_eq!(mesh.positions[4], Vec3::new(0.0, 2.0, 1.0));
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [3, 2, 4]]);
    assert_eq!(mesh.uvs.unwrap()[2][2], Vec2::new(0.4, 0.8));
}

#[test]
fn carriage_returns_alone_end_header_lines() {
    let mut bytes = write_ply(&tetrahedron());
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    bytes[..end].iter_mut().filter(|b| **b == b'\n').for_each(|b| *b = b'\r');
    assert_eq!(read(&bytes), tetrahedron());
}

/// A text file with `vertices` vertices, more vertex properties, and `body`.
fn ply_with(vertices: &str, properties: &str, body: &str) -> String {
    format!(
        "ply\nformat ascii 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n\
         {properties}element face 1\nproperty list uchar int vertex_indices\nend_header\n{body}"
    )
}

#[test]
fn errors_name_line_or_element_and_remedy() {
    let three = "0 0 0\n1 0 0\n0 1 0\n";
    let header = |lines: &str| format!("ply\n{lines}\nend_header\n");
    let cases = [
        ("plyx\n".to_owned(), "line 1: is not a PLY file: its first line must be \"ply\""),
        ("solid\n".into(), "line 1: is not a PLY file: it must start with \"ply\""),
        ("ply\nformat ascii 1.0\n".into(), "line 3: the header has no \"end_header\""),
        (header("element vertex 0"), "line 3: the header has no \"format\""),
        (header("format ascii 2.0"), "line 2: format version \"2.0\": must be 1.0"),
        (
            header("format text 1.0"),
            "line 2: format \"text\": must be ascii, binary_little_endian or binary_big_endian",
        ),
        (header("format ascii 1.0\nproperty float x"), "line 3: a property before any element"),
        (header("element vertex -3"), "line 2: \"-3\" elements \"vertex\": must be an integer"),
        (
            header("element v 1\nproperty real x"),
            "line 3: type \"real\": must be char, uchar, short, ushort, int, uint, float, double, or int8 to float64",
        ),
        (
            header("element v 1\nproperty list float int x"),
            "line 3: the length of a list must be of an integer type",
        ),
        (
            header("element v 1\nproperty list int x"),
            "line 3: must be \"property TYPE NAME\" or \"property list TYPE TYPE NAME\"",
        ),
        (
            header("elements v 1"),
            "line 2: \"elements v 1\": must be format, element, property, comment, obj_info or end_header with its words",
        ),
        (header("format ascii 1.0"), "has no element \"vertex\""),
        (
            header("format ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y"),
            "line 3: vertices have no property \"z\"",
        ),
        (
            header(
                "format ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z",
            ),
            "has no element \"face\": points alone are not cloth",
        ),
        (
            header("format ascii 1.0\nelement tristrips 0\nproperty list int int v"),
            "line 3: has triangle strips (element \"tristrips\"), which are not supported: save it with faces",
        ),
        (
            ply_with("3", "", &format!("{three}3 0 1 3\n")),
            "face 0 (from 0): vertex 3: the file has 3, counted from 0",
        ),
        (
            ply_with("3", "", &format!("{three}3 0 1 -1\n")),
            "line 13: face 0 (from 0): vertex -1: must be an integer from 0",
        ),
        (
            ply_with("3", "", &format!("{three}3 0 1 1.5\n")),
            "line 13: face 0 (from 0): vertex 1.5: must be an integer from 0",
        ),
        (
            ply_with("3", "", &format!("{three}2 0 1    \n")),
            "line 13: face 0 (from 0): a face of 2 corners: at least 3 are required",
        ),
        (
            ply_with("3", "", &format!("{three}-1 0 1 2\n")),
            "line 13: face 0 (from 0): a list of -1 numbers: must be an integer from 0",
        ),
        (
            ply_with("3", "", &format!("{three}9 0 1 2\n")),
            "line 13: face 0 (from 0): a list of 9 numbers: the file ends before",
        ),
        (
            ply_with("3", "", "0 0 0\n1 x 0\n0 1 0\n3 0 1 2\n"),
            "line 11: vertex 1 (from 0): \"x\": must be a number",
        ),
        (
            ply_with("3", "", "0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n"),
            "line 11: vertex 1 (from 0): must have finite numbers below 3.4e38",
        ),
        (
            ply_with("4000000000", "", "0 0 0\n"),
            "line 3: 4000000000 elements \"vertex\" take at least 24000000000 bytes: 6 are left in the file",
        ),
        (ply_with("2", "", "0 0 0\n0         "), "line 11: vertex 1 (from 0): the file is truncated"),
    ];
    for (text, expected) in cases {
        assert_eq!(problem(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn binary_errors_name_the_element() {
    let mut bytes = write_ply(&tetrahedron());
    let whole = bytes.len();
    bytes.truncate(whole - 1);
    assert_eq!(problem(&bytes), "face 3 (from 0): a list of 3 numbers: the file ends before");
    bytes.truncate(whole - 60);
    let message = problem(&bytes);
    assert!(message.contains("4 elements \"vertex\" take at least 48 bytes"), "{message}");
    let mut bytes = write_ply(&tetrahedron());
    bytes[whole - 4..].copy_from_slice(&(-2i32).to_le_bytes());
    assert_eq!(problem(&bytes), "face 3 (from 0): vertex -2: must be an integer from 0");
}

#[test]
fn elements_without_properties_cost_nothing() {
    let text = ply_with("3", "element nothing 18446744073709551615\n", "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    assert_eq!(read(text.as_bytes()).triangles.len(), 1);
}
