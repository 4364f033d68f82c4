//! USD files: text and binary, placed and animated; refused in words, with line or prim.

use crate::{mesh_samples::*, scene_folder::Folder};

use glam::{Vec2, Vec3};
use taut::mesh::TriangleMesh;
use taut_io::mesh::{Format, parse, sequence::read_animation};

fn read(text: &str) -> TriangleMesh {
    parse(text.as_bytes(), Format::Usd, None).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A layer with one mesh in metres; `inside` is put after its attributes, and `fields` into its metadata.
fn layer(fields: &str, inside: &str) -> String {
    format!(
        "#usda 1.0\n(metersPerUnit = 1 {fields})\ndef Mesh \"m\"\n{{\nint[] faceVertexCounts = [3]\n\
         int[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(0,0,0), (1,0,0), (0,1,0)]\n{inside}\n}}\n"
    )
}

#[track_caller]
fn refused(text: &str, line: Option<usize>, words: &[&str]) {
    let problem = parse(text.as_bytes(), Format::Usd, None).unwrap_err();
    let shown = problem.to_string();
    assert!(words.iter().all(|word| shown.contains(word)), "{shown}");
    assert_eq!(problem.line, line, "{shown}");
}

fn near(positions: &[Vec3], expected: &[[f32; 3]]) {
    assert_eq!(positions.len(), expected.len());
    for (x, y) in positions.iter().zip(expected) {
        assert!(x.distance(Vec3::from(*y)) < 1e-5, "{positions:?}, not {expected:?}");
    }
}

#[test]
fn text_is_placed_in_metres_with_y_up() {
    let mesh = read(USD_TEXT);
    // (x, y, z) is turned about z, moved up by 1, and in tenths of metres with z up.
    let place = |x: f32, y: f32, z: f32| [-y / 10.0, (z + 1.0) / 10.0, -x / 10.0];
    near(
        &mesh.positions,
        &[
            place(0.0, 0.0, 0.0),
            place(1.0, 0.0, 0.0),
            place(1.0, 1.0, 0.0),
            place(0.0, 1.0, 0.0),
            place(2.0, 0.5, 0.1),
        ],
    );
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
    assert_eq!(mesh.uvs.unwrap()[2], [Vec2::new(1.0, 0.0), Vec2::ZERO, Vec2::ONE]);
    assert_eq!(mesh.groups["tip"], [1, 2, 4]);
    assert_eq!(mesh.groups["Sheet"], [0, 1, 2, 3, 4]);
}

#[test]
fn binary_is_read_as_written() {
    let mesh = parse(USD_BINARY, Format::Usd, None).unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (25, 32));
    // Point 7 is at (2, 1, 0.25): doubled, moved by (1, 0, 0.5), in tenths of metres, z up.
    near(&mesh.positions[7..8], &[[0.5, 0.1, -0.2]]);
    assert_eq!(mesh.groups["hem"], [0, 1, 2, 5, 6, 7]);
    assert_eq!(mesh.uvs.unwrap()[0][1], Vec2::new(0.25, 0.0));
}

#[test]
fn time_samples_are_played() {
    let folder = Folder::new();
    let path = folder.write("a.usda", USD_TEXT);
    let sequence = read_animation(&path, None, 0.5).unwrap();
    // Time codes 1 to 5 at 25 a second; points hold after 3.
    assert_eq!(sequence.positions.len(), 5);
    assert!(sequence.times.iter().zip([0.5, 0.54, 0.58, 0.62, 0.66]).all(|(a, b)| (a - b).abs() < 1e-9));
    for (frame, height) in [1.0, 3.0, 5.0, 6.0, 7.0].into_iter().enumerate() {
        near(&sequence.positions[frame][..2], &[[0.0, height / 10.0, 0.0], [0.0, height / 10.0, -0.1]]);
    }
    assert_eq!(sequence.triangles, [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
    let between = read_animation(&path, 50.0, 0.0).unwrap();
    assert_eq!(between.positions.len(), 9);
    near(&between.positions[1][..1], &[[0.0, 0.2, 0.0]]);
    let path = folder.write("b.usd", USD_BINARY);
    let sequence = read_animation(&path, None, 0.0).unwrap();
    assert_eq!(sequence.positions.len(), 4);
    // Time code 3 is between the samples at 2 and 4.
    near(&sequence.positions[2][..1], &[[0.3, (2.0 * 0.75 + 0.5) / 10.0, 0.0]]);
}

#[test]
fn transforms_stack_invert_and_reset() {
    let text = "#usda 1.0\n(metersPerUnit = 1)\ndef Xform \"a\" {\ndouble3 xformOp:translate = (5, 0, 0)\n\
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\ndef Mesh \"m\" {\n\
         int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n\
         point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]\n\
         float3 xformOp:translate:pivot = (1, 0, 0)\nfloat xformOp:rotateZ = 90\nORDER\n}\n}\n";
    let pivot = "uniform token[] xformOpOrder = [RESET\"xformOp:translate:pivot\", \"xformOp:rotateZ\", \"!invert!xformOp:translate:pivot\"]";
    let placed = |order: &str| read(&text.replace("ORDER", order)).positions;
    near(&placed(""), &[[5.0, 0.0, 0.0], [6.0, 0.0, 0.0], [5.0, 1.0, 0.0]]);
    near(&placed(&pivot.replace("RESET", "")), &[[6.0, -1.0, 0.0], [6.0, 0.0, 0.0], [5.0, -1.0, 0.0]]);
    let reset = pivot.replace("RESET", "\"!resetXformStack!\", ");
    near(&placed(&reset), &[[1.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
    refused(
        &text.replace("ORDER", "double xformOp:spin = 1\nuniform token[] xformOpOrder = [\"xformOp:spin\"]"),
        Some(13),
        &["prim /a/m", "xformOpOrder", "xformOp:spin"],
    );
}

#[test]
fn fronts_stay_fronts() {
    assert_eq!(read(&layer("", "")).triangles, [[0, 1, 2]]);
    let left = "uniform token orientation = \"leftHanded\"";
    assert_eq!(read(&layer("", left)).triangles, [[0, 2, 1]]);
    let mirror = "float3 xformOp:scale = (-1, 1, 1)\nuniform token[] xformOpOrder = [\"xformOp:scale\"]";
    assert_eq!(read(&layer("", mirror)).triangles, [[0, 2, 1]]);
    assert_eq!(read(&layer("", &format!("{left}\n{mirror}"))).triangles, [[0, 1, 2]]);
}

#[test]
fn units_and_axes_have_defaults() {
    let text = layer("", "").replace("metersPerUnit = 1 ", "");
    near(&read(&text).positions[1..2], &[[0.01, 0.0, 0.0]]);
    near(&read(&layer("\nupAxis = \"Z\"", "")).positions[2..], &[[0.0, 0.0, -1.0]]);
    refused(&layer("\nupAxis = \"X\"", ""), None, &["upAxis", "\"Y\" or \"Z\""]);
    refused(&text.replace("()", "(metersPerUnit = 0)"), None, &["metersPerUnit", "must be positive"]);
}

#[test]
fn what_is_not_shown_is_left_out() {
    for (hidden, why) in [
        ("token visibility = \"invisible\"", "is invisible"),
        ("uniform token purpose = \"guide\"", "is a guide"),
    ] {
        refused(&layer("", hidden), Some(3), &["prim /m", why]);
        let two = format!(
            "{}{}",
            layer("", ""),
            layer("", hidden).split_once(")\n").unwrap().1.replace("\"m\"", "\"n\"")
        );
        assert_eq!(read(&two).positions.len(), 3);
    }
    for (word, why) in [("class", "is a class"), ("over", "is an over")] {
        refused(&layer("", "").replace("def", word), Some(3), &[why]);
    }
    refused(&layer("", "").replace("\"m\"", "\"m\" (active = false)"), Some(3), &["is not active"]);
    assert_eq!(read(&layer("", "int[] holeIndices = []")).triangles.len(), 1);
}

#[test]
fn files_that_only_refer_to_others_say_so() {
    let of = |fields: &str| format!("#usda 1.0\n\ndef \"a\" (\n    {fields}\n)\n{{\n}}\n");
    refused(
        &of("prepend references = @b.usd@</b> (offset = 1)"),
        Some(3),
        &["prim /a", "by references", "flatten"],
    );
    refused(&of("payload = [@b.usd@, @c.usd@]"), Some(3), &["by payload"]);
    refused(
        "#usda 1.0\ndef \"a\" {\nvariantSet \"v\" = {\n\"x\" { def Mesh \"m\" {} }\n}\n}\n",
        Some(2),
        &["by variants"],
    );
    refused("#usda 1.0\n(subLayers = [@a.usd@ (offset = 2)])\n", None, &["subLayers", "flatten"]);
    refused("#usda 1.0\ndef Xform \"a\" {}\n", None, &["contains no Mesh (1 prims)"]);
}

#[test]
fn broken_text_names_its_line() {
    refused("#usda 1.0\ndef Mesh \"m\" {\n", Some(3), &["prim /m", "} is missing"]);
    refused("#usda 1.0\ndef Mesh m {}\n", Some(2), &["name of a prim"]);
    refused("#usda 1.0\n\n}\n", Some(3), &["\"}\" is not expected", "def, over or class"]);
    refused("#usda 1.0\n(\nupAxis \"Y\"\n)\n", Some(3), &["must be '='"]);
    refused("#usda 1.0\ndef \"a\" ( doc = \"no end\n) {}", Some(2), &["quote is missing"]);
    refused(&layer("", "int[] a = [1, 2"), Some(8), &["has no end"]);
    refused(&layer("", "float a ="), Some(9), &["must be a value"]);
    refused(&layer("", "point3f[] points.timeSamples = { x: [] }"), Some(8), &["\"x:\" is not a time"]);
    refused("#usda 1.0\ndef \"a\" {\nrel b = <c\n}\n", Some(3), &["> is missing"]);
    refused("usda", None, &["#usda 1.0", "PXR-USDC"]);
}

#[test]
fn broken_meshes_name_their_prim_and_attribute() {
    let with = |from: &str, to: &str| layer("", "").replace(from, to);
    refused(
        &with("[0, 1, 2]", "[0, 1, 3]"),
        Some(6),
        &["prim /m", "faceVertexIndices", "entry 2 (from 0) is 3", "there are 3"],
    );
    refused(&with("[0, 1, 2]", "[0, 1, -1]"), Some(6), &["is -1"]);
    refused(&with("[3]", "[4]"), Some(5), &["faceVertexCounts", "add up to 4", "has 3"]);
    refused(&with("[3]", "[2, 1]"), Some(3), &["face 0 (from 0)", "at least 3"]);
    refused(&with("(0,1,0)]", "(0,1)]"), Some(7), &["points", "8 numbers"]);
    refused(&with("(0,1,0)]", "(0,nan,0)]"), Some(7), &["point 2 (from 0)", "finite"]);
    refused(&with("(0,1,0)]", "(0,one,0)]"), Some(7), &["\"one\": must be a number"]);
    refused(&with("point3f[] points", "point3f[] pts"), Some(3), &["points: is missing"]);
    let uv = "texCoord2f[] primvars:st = [(0,0)] (interpolation = \"vertex\")";
    refused(&layer("", uv), Some(8), &["primvars:st", "1 values", "must have 3"]);
}

#[test]
fn sequences_that_cannot_be_played_say_why() {
    let folder = Folder::new();
    let says = |text: &str, words: &[&str]| {
        let path = folder.write("a.usda", text);
        let problem = read_animation(&path, None, 0.0).unwrap_err().to_string();
        assert!(problem.contains("a.usda") && words.iter().all(|word| problem.contains(word)), "{problem}");
    };
    says(&layer("", ""), &["no time samples"]);
    let moving =
        "point3f[] points.timeSamples = { 0: [(0,0,0), (1,0,0), (0,1,0)], 9: [(0,0,1), (1,0,1), (0,1,1)] }";
    says(
        &layer("", &format!("{moving}\nint[] primvars:skel:jointIndices = [0]")),
        &["prim /m", "is skinned", "baked"],
    );
    let changing = "int[] faceVertexIndices.timeSamples = { 0: [0, 1, 2], 5: [0, 2, 1] }";
    says(&layer("", &format!("{moving}\n{changing}")), &["faceVertexIndices", "time code 5", "same faces"]);
    let more = moving.replace("(0,1,1)]", "(0,1,1), (2,2,2)]");
    says(&layer("", &more), &["has 4 points at time code 9", "3 at first"]);
    says(&layer("\ntimeCodesPerSecond = 1e-9", moving), &["frames", "choose another rate"]);
}

#[test]
fn samples_may_be_blocked_unordered_or_one() {
    let folder = Folder::new();
    let play = |inside: &str| {
        let path = folder.write("a.usda", layer("", inside));
        read_animation(&path, 24.0, 0.0).map(|sequence| sequence.positions)
    };
    let unordered =
        "point3f[] points.timeSamples = { 2: [(0,0,2), (1,0,2), (0,1,2)], 0: [(0,0,0), (1,0,0), (0,1,0)] }";
    let frames = play(unordered).unwrap();
    assert_eq!(frames.iter().map(|frame| frame[0].z).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    let one = "point3f[] points.timeSamples = { 2: [(0,0,2), (1,0,2), (0,1,2)] }";
    assert_eq!(play(one).unwrap().len(), 1);
    let blocked = unordered.replace("2: [(0,0,2), (1,0,2), (0,1,2)]", "2: None");
    let problem = play(&blocked).unwrap_err().to_string();
    assert!(problem.contains("points: is missing"), "{problem}");
}

#[test]
fn packages_hold_a_layer() {
    let zip = |name: &str, method: u8, content: &[u8]| {
        let mut bytes = b"PK\x03\x04\x0a\0\0\0".to_vec();
        bytes.extend([method, 0]);
        bytes.extend([0; 8]);
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([3, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend([0; 3]);
        bytes.extend(content);
        bytes
    };
    let package = [zip("a.png", 0, b"x"), zip("b.usdc", 0, USD_BINARY)].concat();
    assert_eq!(parse(&package, Format::Usd, None).unwrap().positions.len(), 25);
    let problem = |bytes: &[u8]| parse(bytes, Format::Usd, None).unwrap_err().to_string();
    assert!(problem(&zip("b.usdc", 8, USD_BINARY)).contains("is compressed"));
    assert!(problem(&zip("a.png", 0, b"x")).contains("without a layer"));
    assert!(problem(&package[..package.len() - 9]).contains("truncated"));
}

#[test]
fn any_part_of_a_file_is_refused_or_read() {
    let folder = Folder::new();
    for bytes in [USD_BINARY, USD_TEXT.as_bytes()] {
        for end in 0..bytes.len() {
            let _ = parse(&bytes[..end], Format::Usd, None);
        }
        let mut accepted = 0;
        for k in 0..8 * bytes.len() {
            let mut flipped = bytes.to_vec();
            flipped[k / 8] ^= 1 << (k % 8);
            accepted += usize::from(parse(&flipped, Format::Usd, None).is_ok());
            if k % 61 == 0 {
                let _ = read_animation(&folder.write("a.usd", &flipped), 10.0, 0.0);
            }
        }
        assert!(accepted > 0);
    }
}

#[test]
fn binary_files_of_other_versions_are_named() {
    let mut bytes = USD_BINARY.to_vec();
    bytes[9] = 99;
    let problem = parse(&bytes, Format::Usd, None).unwrap_err().to_string();
    assert!(problem.contains("version 0.99.0: 0.4 to 0.13"), "{problem}");
}
