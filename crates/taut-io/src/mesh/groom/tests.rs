use super::*;

fn groom() -> Groom {
    Groom {
        positions: (0..7).map(|i| Vec3::new(i as f32 * 0.1, (i * i) as f32 * 0.01, -0.5)).collect(),
        counts: vec![4, 3],
        radii: (0..7).map(|i| 1e-5 * (7 - i) as f32).collect(),
    }
}

fn hair(bytes: &[u8]) -> Result<Groom, String> {
    parse_groom(bytes, GroomFormat::Hair, None).map_err(|problem| problem.to_string())
}

fn text(text: &str, format: GroomFormat) -> Result<Groom, String> {
    parse_groom(text.as_bytes(), format, None).map_err(|problem| problem.to_string())
}

#[test]
fn hair_files_come_back() {
    let bytes = write_hair(&groom()).unwrap();
    assert_eq!(bytes.len(), 128 + 2 * 2 + 7 * 12 + 7 * 4);
    assert_eq!(hair(&bytes).unwrap(), groom());
    let bare = Groom { radii: Vec::new(), ..groom() };
    assert_eq!(hair(&write_hair(&bare).unwrap()).unwrap(), bare);
    let long = Groom { positions: vec![Vec3::ZERO; 65_537], counts: vec![65_537], radii: Vec::new() };
    assert!(write_hair(&long).unwrap_err().contains("strand 0 (from 0) has 65536 segments"));
}

#[test]
fn defaults_of_hair_files_count_where_arrays_are_missing() {
    let mut bytes = write_hair(&groom()).unwrap();
    bytes[4] = 1; // One strand of six segments, which the header gives.
    bytes[12] = 2;
    bytes[16] = 6;
    bytes[20..24].copy_from_slice(&0.5f32.to_le_bytes());
    bytes.drain(128..132);
    let read = hair(&bytes).unwrap();
    assert_eq!((read.counts, read.positions), (vec![7], groom().positions));
    assert_eq!(read.radii, [0.25; 7]);
    bytes[20..24].copy_from_slice(&1f32.to_le_bytes());
    assert!(hair(&bytes).unwrap().radii.is_empty(), "1 is what writers put that know none");
}

#[test]
fn damaged_hair_files_are_refused_with_what_is_wrong() {
    let good = write_hair(&groom()).unwrap();
    let says = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        hair(&bytes).unwrap_err()
    };
    assert!(says(&|b| b[0] = b'h').contains("must begin with \"HAIR\""));
    assert!(says(&|b| b.truncate(100)).contains("the header of 128 × 1 bytes"));
    assert!(says(&|b| b.truncate(130)).contains("segments of 2 × 2 bytes begin at byte 128"));
    assert!(says(&|b| b.truncate(200)).contains("points of 7 × 12 bytes begin at byte 132"));
    assert!(says(&|b| b.truncate(230)).contains("thicknesses of 7 × 4 bytes"));
    assert!(says(&|b| b[12] = 1).contains("bit 1 must be set"));
    assert!(says(&|b| b[8] = 6).contains("7 points together, its header says 6"));
    assert!(says(&|b| b[4..12].fill(255)).contains("4294967295 strands and 4294967295 points"));
    let defaults = says(&|b| {
        b[12] = 2;
        b[16..20].fill(255);
    });
    assert!(defaults.contains("4294967295 segments in every strand"), "{defaults}");
    assert!(says(&|b| b.clear()).contains("empty"));
    // Whatever is cut off or changed: a message or a groom.
    for length in 0..good.len() {
        assert!(hair(&good[..length]).is_err(), "{length}");
    }
    for at in 0..good.len() {
        for value in [0, 1, 127, 255] {
            let mut bytes = good.clone();
            bytes[at] = value;
            let _ = hair(&bytes).map(|groom| groom.problems());
        }
    }
    // Numbers are checked later, with strand and point.
    let mut odd = groom();
    odd.positions[5].y = f32::NAN;
    let read = hair(&write_hair(&odd).unwrap()).unwrap();
    assert!(read.problems()[0].to_string().starts_with("strand 1, point 1 (from 0)"));
}

#[test]
fn strands_of_ply_files_come_in_any_order_with_radii() {
    let bytes = crate::mesh::write_strands(&groom().positions, &groom().counts);
    let read = parse_groom(&bytes, GroomFormat::Ply, None).unwrap();
    assert_eq!(read, Groom { radii: Vec::new(), ..groom() });
    let head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                property float width\nelement edge 2\nproperty int vertex1\nproperty int vertex2\nend_header\n\
                0 0 0 2\n1 0 0 4\n2 0 0 6\n9 9 9 8\n";
    let read = text(&format!("{head}1 0\n2 1\n"), GroomFormat::Ply).unwrap();
    assert_eq!((read.counts, read.radii), (vec![3], vec![3.0, 2.0, 1.0]));
    let outside = text(&format!("{head}1 0\n2 4\n"), GroomFormat::Ply).unwrap_err();
    assert!(outside.contains("edge 1 (from 0): vertex 4"), "{outside}");
    assert!(text(&format!("{head}1 0\n2 -1.5\n"), GroomFormat::Ply).is_err());
    let cut = text(&format!("{head}1 0\n"), GroomFormat::Ply).unwrap_err();
    assert!(cut.contains("2 elements \"edge\" take at least 8 bytes: 5 are left"), "{cut}");
}

#[test]
fn strands_of_obj_files() {
    let read =
        text("v 0 0 0\nv 0 1 0\nv 0 2 0\nv 5 0 0\nv 5 1 0\nl 1 2 3\nl 5 4\n", GroomFormat::Obj).unwrap();
    assert_eq!(read.counts, [3, 2]);
    assert_eq!(read.positions[3], Vec3::new(5.0, 1.0, 0.0));
    assert!(text("v 0 0 0\nf 1 1 1\n", GroomFormat::Obj).unwrap_err().contains("no strands"));
    let branch = text("v 0 0 0\nv 0 1 0\nv 0 2 0\nv 1 1 0\nl 1 2 3\nl 2 4\n", GroomFormat::Obj).unwrap_err();
    assert!(branch.contains("must not branch"), "{branch}");
}

const CURVES: &str = r##"#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "head"
{
    double3 xformOp:translate = (0, 100, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def BasisCurves "hair"
    {
        uniform token type = "linear"
        int[] curveVertexCounts = [3, 2]
        point3f[] points = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0)]
        float[] widths = [0.01] (interpolation = "constant")
    }
}
"##;

fn usd(change: &[(&str, &str)]) -> Result<Groom, String> {
    let mut file = CURVES.to_owned();
    for (from, to) in change {
        assert!(file.contains(from), "{from}");
        file = file.replace(from, to);
    }
    text(&file, GroomFormat::Usd)
}

#[test]
fn linear_curves_of_usd_files_with_widths_of_every_kind() {
    let read = usd(&[]).unwrap();
    assert_eq!(read.counts, [3, 2]);
    assert_eq!(
        (read.positions[2], read.positions[4]),
        (Vec3::new(0.0, 1.02, 0.0), Vec3::new(0.01, 1.01, 0.0))
    );
    assert!(read.radii.iter().all(|r| (r - 5e-5).abs() < 1e-10) && read.radii.len() == 5);
    let constant = "[0.01] (interpolation = \"constant\")";
    let read = usd(&[(constant, "[1, 2, 3, 4, 5]")]).unwrap();
    assert!((read.radii[4] - 0.025).abs() < 1e-9, "vertex is what it is if it is not said");
    let read = usd(&[(constant, "[1, 2] (interpolation = \"uniform\")")]).unwrap();
    assert!((read.radii[2] - 0.005).abs() < 1e-9 && (read.radii[3] - 0.01).abs() < 1e-9);
    let wrong = usd(&[(constant, "[1, 2, 3]")]).unwrap_err();
    assert!(wrong.contains("prim /head/hair") && wrong.contains("must have 5 (vertex)"), "{wrong}");
    assert!(usd(&[(constant, "[]")]).unwrap().radii.is_empty());
}

#[test]
fn cubic_curves_of_usd_files_are_evaluated() {
    let four = [("\"linear\"", "\"cubic\""), ("[3, 2]", "[5]"), ("[(0, 0, 0), ", "[(0, -1, 0), (0, 0, 0), ")];
    let basis = |basis: &str, points: &str| {
        let set = format!("\"cubic\"\n        uniform token basis = \"{basis}\"");
        usd(&[
            ("\"linear\"", &set),
            ("[3, 2]", "[4]"),
            ("[(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0)]", points),
        ])
    };
    let line = "[(0, 0, 0), (0, 3, 0), (0, 6, 0), (0, 9, 0)]";
    let read = basis("bezier", line).unwrap();
    let heights: Vec<f32> = read.positions.iter().map(|x| (100.0 * x.y - 100.0).round()).collect();
    assert_eq!((read.counts, heights), (vec![4], vec![0.0, 3.0, 6.0, 9.0]));
    // Between the second and the second last; the second derivative of a B-spline is that of its controls.
    assert_eq!(basis("catmullRom", line).unwrap().counts, [2]);
    let bent = basis("bspline", "[(0, 0, 0), (0, 6, 0), (0, 0, 0), (0, 0, 0)]").unwrap();
    assert!((bent.positions[0].y - 1.04).abs() < 1e-6 && (bent.positions[1].y - 1.01).abs() < 1e-6);
    let pinned = basis("bspline\"\n        uniform token wrap = \"pinned", line).unwrap();
    assert_eq!(pinned.counts, [4]);
    assert!((pinned.positions[3].y - 1.09).abs() < 1e-6);
    assert!(
        basis("bezier\"\n        uniform token wrap = \"periodic", line).unwrap_err().contains("periodic")
    );
    assert!(basis("hermite", line).unwrap_err().contains("must be \"bezier\""));
    assert!(usd(&four[..2]).unwrap_err().contains("curve 0 (from 0) has 5 points"));
    assert!(usd(&[("[3, 2]", "[3, 3]")]).unwrap_err().contains("add up to 6: there are 5 points"));
    assert!(usd(&[("[3, 2]", "[1, 4]")]).unwrap_err().contains("at least 2"));
    assert!(usd(&[("BasisCurves", "Mesh")]).unwrap_err().contains("contains no BasisCurves"));
    // Cut off anywhere: a message or a groom.
    for length in (0..CURVES.len()).step_by(7) {
        let _ = parse_groom(&CURVES.as_bytes()[..length], GroomFormat::Usd, None);
    }
}

fn gltf(mode: u32, indices: &[u8]) -> Result<Groom, String> {
    let positions: [f32; 12] = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0];
    let bytes: Vec<u8> =
        positions.iter().flat_map(|x| x.to_le_bytes()).chain(indices.iter().copied()).collect();
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{"mesh":0,"translation":[0,10,0]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"mode":{mode}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
        {{"bufferView":1,"componentType":5121,"count":{n},"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":{n}}}],
        "buffers":[{{"byteLength":{all}}}]}}"#,
        n = indices.len(),
        all = bytes.len()
    );
    let mut file = b"glTF\x02\0\0\0".to_vec();
    let chunks = [(json.as_bytes(), b"JSON"), (&bytes[..], b"BIN\0")];
    let length: usize = 12 + chunks.iter().map(|(chunk, _)| 8 + chunk.len()).sum::<usize>();
    file.extend_from_slice(&(length as u32).to_le_bytes());
    for (chunk, kind) in chunks {
        file.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
        file.extend_from_slice(kind);
        file.extend_from_slice(chunk);
    }
    parse_groom(&file, GroomFormat::Gltf, None).map_err(|problem| problem.to_string())
}

#[test]
fn lines_and_strips_of_gltf_files() {
    let strip = gltf(3, &[0, 1, 2]).unwrap();
    assert_eq!((strip.counts, strip.positions[2]), (vec![3], Vec3::new(0.0, 12.0, 0.0)));
    assert_eq!(gltf(1, &[0, 1, 1, 2]).unwrap().counts, [3]);
    assert_eq!(gltf(1, &[0, 1, 3, 2]).unwrap().counts, [2, 2]);
    assert!(gltf(1, &[0, 1, 1]).unwrap_err().contains("multiple of 2"));
    assert!(gltf(2, &[0, 1, 2]).unwrap_err().contains("root and a tip"));
    assert!(gltf(3, &[0, 1, 9]).unwrap_err().contains("index 9"));
    assert!(gltf(3, &[0, 1, 0]).unwrap_err().contains("closed loop") || gltf(3, &[0, 1, 0]).is_err());
    assert!(gltf(4, &[0, 1, 2]).unwrap_err().contains("contains no lines"));
}

#[test]
fn files_are_grooms_if_they_have_strands_and_no_faces() {
    let folder = tempfile::tempdir().unwrap();
    let is = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        is_groom(&path)
    };
    assert!(is("a.hair", b"") && is("a.usda", CURVES.as_bytes()));
    assert!(is("a.obj", b"v 0 0 0\nv 1 0 0\nl 1 2\n") && !is("b.obj", b"v 0 0 0\nv 1 0 0\nl 1 2\nf 1 2 1\n"));
    assert!(is("a.ply", &crate::mesh::write_strands(&groom().positions, &groom().counts)));
    assert!(!is("a.stl", b"") && !is("b.ply", b"ply\n") && !is("b.usda", b"#usda 1.0\n"));
    let none = read_groom(&folder.path().join("missing.hair")).unwrap_err().to_string();
    assert!(none.contains("missing.hair: no such file"), "{none}");
    assert!(read_groom(Path::new("a.abc")).unwrap_err().to_string().contains(".hair"));
}
