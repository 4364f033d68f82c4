//! STL files, text and binary.

use crate::mesh_samples;

use mesh_samples::{stl_binary, stl_text, tetrahedron};
use taut::mesh::{TriangleMesh, check::check, generate::Generator};
use taut_io::mesh::{Format, parse};

fn read(bytes: &[u8]) -> TriangleMesh {
    parse(bytes, Format::Stl, None).unwrap_or_else(|problem| panic!("{problem}"))
}

fn problem(bytes: &[u8]) -> String {
    parse(bytes, Format::Stl, None).unwrap_err().to_string()
}

/// Corner positions of each triangle, which welding must keep.
fn corners(mesh: &TriangleMesh) -> Vec<[glam::Vec3; 3]> {
    mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize])).collect()
}

#[test]
fn both_kinds_are_welded() {
    for mesh in
        [tetrahedron(), Generator::Torus { major: 1.0, minor: 0.3, segments: [20, 9] }.generate().unwrap()]
    {
        for bytes in [stl_text(&mesh), stl_binary(&mesh)] {
            let back = read(&bytes);
            assert_eq!(corners(&back), corners(&mesh));
            assert_eq!(back.positions.len(), mesh.positions.len());
            assert_eq!(check(&back), []);
        }
    }
}

#[test]
fn zero_and_minus_zero_are_the_same_place() {
    let text = String::from_utf8(stl_text(&tetrahedron())).unwrap().replacen("vertex 0e0", "vertex -0e0", 3);
    assert_eq!(read(text.as_bytes()).positions.len(), 4);
}

#[test]
fn solids_are_groups() {
    let one = String::from_utf8(stl_text(&tetrahedron())).unwrap();
    let two = one.replace("part one", "").replace("vertex 0e0", "vertex 7e0");
    let mesh = read(format!("{one}\r\n\r\n{}", two.to_uppercase()).as_bytes());
    assert_eq!(mesh.triangles.len(), 8);
    assert_eq!(mesh.groups.len(), 1);
    assert_eq!(mesh.groups["part one"], [0, 1, 2, 3]);
}

#[test]
fn errors_name_line_and_remedy() {
    let good = String::from_utf8(stl_text(&tetrahedron())).unwrap();
    let cut = |lines: usize| good.lines().take(lines).collect::<Vec<_>>().join("\n");
    for (text, expected) in [
        ("hello".to_owned(), "is not an STL file: 5 bytes, and does not start with \"solid\""),
        (cut(5), "line 5: the file ends here: expected \"vertex\" or \"endloop\""),
        (cut(8), "line 8: the file ends here: expected \"facet\" or \"endsolid\""),
        (good.replacen("    vertex 0e0 0e0 0e0\n", "", 1), "line 6: a facet of 2 vertices: must have 3"),
        (good.replacen("vertex 0e0 0e0 0e0", "vertex 0 0", 1), "line 4: a vertex must have 3 coordinates"),
        (
            good.replacen("vertex 0e0 0e0 0e0", "vertex 0 0 0 0", 1),
            "line 4: \"0\" after a vertex's 3 coordinates",
        ),
        (
            good.replacen("vertex 0e0", "vertex inf", 1),
            "line 4: \"inf\": must be a finite number below 3.4e38",
        ),
        (good.replacen("endloop", "end", 1), "line 7: \"end\": expected \"vertex\" or \"endloop\""),
        ("solid\nendsolid\n".into(), "contains no faces (0 vertices): at least one triangle is required"),
    ] {
        assert_eq!(problem(text.as_bytes()), expected, "{text}");
    }
    let mut bytes = stl_binary(&tetrahedron());
    bytes[0] = b'x';
    bytes.pop();
    assert_eq!(
        problem(&bytes),
        "is neither text (which starts with \"solid\") nor complete: its header declares 4 triangles, which take 284 bytes, \
         and it has 283"
    );
    bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(problem(&bytes).contains("4294967295 triangles, which take 214748364834 bytes"));
}
