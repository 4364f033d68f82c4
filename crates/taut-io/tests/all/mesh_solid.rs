//! Tetrahedral meshes of every format, good, odd and broken.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
};

use taut_io::mesh::{SolidFormat, parse_tetrahedra, read_tetrahedra};

const MSH2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all of it\"\n$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n\
    3 0 1 0\n10 0 0 1\n7 1 1 1\n$EndNodes\n$Elements\n3\n1 2 2 0 1 1 2 3\n2 4 2 0 1 1 2 3 10\n3 4 2 0 1 2 3 10 7\n$EndElements\n";
const MSH4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n2 5 1 10\n2 1 0 3\n1\n2\n3\n0 0 0\n\
    1 0 0\n0 1 0\n3 1 0 2\n10\n7\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 1 2 3\n3 1 4 2\n2 1 2 3 10\n3 2 3 10 7\n$EndElements\n";
const MEDIT: &str = "MeshVersionFormatted 2\n# a comment\nDimension 3\nVertices\n5\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n1 1 1 1\nTriangles\n1\n1 2 3 7\n\
    Tetrahedra\n2\n1 2 3 4 1\n2 3 4 5 1\nEnd\n";
const VTK_OLD: &str = "# vtk DataFile Version 2.0\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1\n\
    CELLS 3 14\n4 0 1 2 3\n4 1 2 3 4\n3 0 1 2\nCELL_TYPES 3\n10\n10\n5\nPOINT_DATA 5\nSCALARS s float\n";
const VTK_NEW: &str = "# vtk DataFile Version 5.1\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTimeValue 1 1 double\n0.5\nPOINTS 5 float\n\
    0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1\nMETADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 2 3 4\nCELL_TYPES 2\n10\n10\n";
const NODE: &str =
    "# by hand\n5 3 1 1\n1 0 0 0 0.5 1\n2 1 0 0 0.5 1\n3 0 1 0 0.5 1\n4 0 0 1 0.5 1 # last\n5 1 1 1 0.5 1\n";
const ELE: &str = "2 4 1\n1 1 2 3 4 9\n2 2 3 4 5 9\n";

fn vtu(arrays: [&str; 4], attributes: [&str; 2], rest: &str) -> String {
    let [points, connectivity, offsets, types] = arrays;
    let [file, array] = attributes;
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\" {file}>\n<UnstructuredGrid><Piece \
         NumberOfPoints=\"5\" NumberOfCells=\"2\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" {array}{points}</DataArray></Points>\n<Cells>\
         <DataArray type=\"Int32\" Name=\"connectivity\" {array}{connectivity}</DataArray><DataArray type=\"Int32\" Name=\"offsets\" \
         {array}{offsets}</DataArray><DataArray type=\"UInt8\" Name=\"types\" {array}{types}</DataArray></Cells></Piece></UnstructuredGrid>{rest}</VTKFile>\n"
    )
}

fn vtu_text() -> String {
    let points = ">0 0 0 1 0 0 0 1 0 0 0 1 1 1 1";
    vtu([points, ">0 1 2 3 1 2 3 4", ">4 8", ">10 10"], ["", "format=\"ascii\""], "")
}

/// Bytes of the four arrays.
fn raw() -> [Vec<u8>; 4] {
    let points: [f64; 15] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1.];
    let ints = |numbers: &[i32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let points = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    [points, ints(&[0, 1, 2, 3, 1, 2, 3, 4]), ints(&[4, 8]), vec![10, 10]]
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().enumerate().fold(0u32, |bits, (k, &b)| bits | u32::from(b) << (16 - 8 * k));
        (0..4)
            .map(|k| {
                if k > group.len() { '=' } else { char::from(letters[(bits >> (18 - 6 * k) & 63) as usize]) }
            })
            .collect()
    };
    bytes.chunks(3).map(group).collect::<Vec<String>>().concat()
}

fn vtu_base64() -> String {
    let arrays = raw().map(|bytes| {
        let all: Vec<u8> = (bytes.len() as u32).to_le_bytes().into_iter().chain(bytes).collect();
        format!(">{}", base64(&all))
    });
    vtu(arrays.each_ref().map(String::as_str), ["", "format=\"binary\""], "")
}

/// Compressed, as meshio and ParaView write by default.
fn vtu_compressed() -> String {
    use std::io::Write;
    let arrays = raw().map(|bytes| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&bytes).unwrap();
        let packed = encoder.finish().unwrap();
        let header = [1, 32768, bytes.len() as u64, packed.len() as u64];
        let header: Vec<u8> = header.iter().flat_map(|n| n.to_le_bytes()).collect();
        format!("\n{}{}\n", base64(&header), base64(&packed))
    });
    let file = "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\"";
    let arrays = arrays.map(|text| format!(">{text}"));
    vtu(arrays.each_ref().map(String::as_str), [file, "format=\"binary\""], "")
}

fn vtu_appended() -> Vec<u8> {
    let mut data = Vec::new();
    let offsets = raw().map(|bytes| {
        let offset = data.len();
        data.extend((bytes.len() as u32).to_le_bytes());
        data.extend(bytes);
        format!("offset=\"{offset}\">")
    });
    let text = vtu(
        offsets.each_ref().map(String::as_str),
        ["", "format=\"appended\" "],
        "<AppendedData encoding=\"raw\">_@</AppendedData>",
    );
    let (before, after) = text.split_once('@').unwrap();
    [before.as_bytes(), &data, after.as_bytes()].concat()
}

fn vtk_binary() -> Vec<u8> {
    let mut file =
        b"# vtk DataFile Version 5.1\ntitle\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n".to_vec();
    let points: [f32; 15] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1.];
    file.extend(points.iter().flat_map(|x| x.to_be_bytes()));
    file.extend(b"\nCELLS 3 8\nOFFSETS vtktypeint64\n");
    file.extend([0i64, 4, 8].iter().flat_map(|x| x.to_be_bytes()));
    file.extend(b"\nCONNECTIVITY vtktypeint64\n");
    file.extend([0i64, 1, 2, 3, 1, 2, 3, 4].iter().flat_map(|x| x.to_be_bytes()));
    file.extend(b"\nCELL_TYPES 2\n");
    file.extend([10i32, 10].iter().flat_map(|x| x.to_be_bytes()));
    file
}

/// Bytes of Gmsh's binary files, in either order.
struct GmshBytes {
    file: Vec<u8>,
    big_endian: bool,
}

impl GmshBytes {
    fn new(version: &str, big_endian: bool) -> Self {
        let mut bytes = Self { file: format!("$MeshFormat\n{version} 1 8\n").into_bytes(), big_endian };
        bytes.ints(&[1]);
        bytes.text("\n$EndMeshFormat\n");
        bytes
    }

    fn text(&mut self, text: &str) {
        self.file.extend(text.as_bytes());
    }

    fn ints(&mut self, numbers: &[u32]) {
        let bytes = |n: &u32| if self.big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
        self.file.extend(numbers.iter().flat_map(bytes));
    }

    fn sizes(&mut self, numbers: &[u64]) {
        let bytes = |n: &u64| if self.big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
        self.file.extend(numbers.iter().flat_map(bytes));
    }

    fn point(&mut self, x: [f64; 3]) {
        self.sizes(&x.map(f64::to_bits));
    }
}

const POINTS: [(u32, [f64; 3]); 5] =
    [(1, [0., 0., 0.]), (2, [1., 0., 0.]), (3, [0., 1., 0.]), (10, [0., 0., 1.]), (7, [1., 1., 1.])];

/// Version 2.2, with a triangle before the tetrahedra.
fn msh2_binary(big_endian: bool) -> Vec<u8> {
    let mut bytes = GmshBytes::new("2.2", big_endian);
    bytes.text("$PhysicalNames\n1\n3 1 \"$Nodes\"\n$EndPhysicalNames\n$Nodes\n5\n");
    for (number, x) in POINTS {
        bytes.ints(&[number]);
        bytes.point(x);
    }
    bytes.text("\n$EndNodes\n$Elements\n3\n");
    bytes.ints(&[2, 1, 2, 1, 0, 1, 1, 2, 3]);
    bytes.ints(&[4, 2, 2, 2, 0, 1, 1, 2, 3, 10, 3, 0, 1, 2, 3, 10, 7]);
    bytes.text("\n$EndElements\n");
    bytes.file
}

/// Version 4.1, with a block of nodes that have parameters on their surface.
fn msh4_binary() -> Vec<u8> {
    let mut bytes = GmshBytes::new("4.1", false);
    bytes.text("$Entities\n");
    bytes.sizes(&[0, 0, 0, 1, u64::MAX]);
    bytes.text("\n$EndEntities\n$Nodes\n");
    bytes.sizes(&[2, 5, 1, 10]);
    for (dimension, parametric, points) in [(2, 1, &POINTS[..3]), (3, 0, &POINTS[3..])] {
        bytes.ints(&[dimension, 1, parametric]);
        bytes.sizes(&[points.len() as u64]);
        points.iter().for_each(|&(number, _)| bytes.sizes(&[number.into()]));
        for &(_, x) in points {
            bytes.point(x);
            (0..dimension * parametric).for_each(|_| bytes.sizes(&[0.25f64.to_bits()]));
        }
    }
    bytes.text("\n$EndNodes\n$Elements\n");
    bytes.sizes(&[2, 3, 1, 3]);
    bytes.ints(&[2, 1, 2]);
    bytes.sizes(&[1, 1, 1, 2, 3]);
    bytes.ints(&[3, 1, 4]);
    bytes.sizes(&[2, 2, 1, 2, 3, 10, 3, 2, 3, 10, 7]);
    bytes.text("\n$EndElements\n");
    bytes.file
}

/// The same two tetrahedra, in every way in which they can be written.
fn samples() -> Vec<(SolidFormat, Vec<u8>, Vec<u8>)> {
    use SolidFormat::*;
    let one = |format, bytes: &[u8]| (format, bytes.to_vec(), Vec::new());
    vec![
        one(Gmsh, MSH2.as_bytes()),
        one(Gmsh, MSH4.as_bytes()),
        one(Gmsh, &msh2_binary(false)),
        one(Gmsh, &msh2_binary(true)),
        one(Gmsh, &msh4_binary()),
        one(Medit, MEDIT.as_bytes()),
        one(Vtk, VTK_OLD.as_bytes()),
        one(Vtk, VTK_NEW.as_bytes()),
        one(Vtk, &vtk_binary()),
        one(Vtu, vtu_text().as_bytes()),
        one(Vtu, vtu_base64().as_bytes()),
        one(Vtu, vtu_compressed().as_bytes()),
        one(Vtu, &vtu_appended()),
        (TetGen, NODE.into(), ELE.into()),
    ]
}

#[test]
fn the_same_tetrahedra_come_from_every_format() {
    for (format, bytes, cells) in samples() {
        let read = parse_tetrahedra(&bytes, &cells, format);
        let read = read
            .unwrap_or_else(|problem| panic!("{format:?}: {problem}: {}", String::from_utf8_lossy(&bytes)));
        assert_eq!(read.notes, Vec::<String>::new(), "{format:?}");
        assert_eq!(read.mesh.positions.len(), 5);
        assert_eq!(read.mesh.tetrahedra, [[0, 1, 2, 3], [1, 2, 3, 4]], "{format:?}");
        assert!(
            (read.mesh.volume(0) - 1.0 / 6.0).abs() < 1e-9 && (read.mesh.volume(1) - 1.0 / 3.0).abs() < 1e-9
        );
    }
}

#[test]
fn files_are_told_apart_by_their_names_and_tetgen_s_two_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("a.msh", MSH2), ("a.mesh", MEDIT), ("a.VTK", VTK_OLD), ("t.node", NODE), ("t.ele", ELE)]
    {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for name in ["a.msh", "a.mesh", "a.VTK", "t.node", "t.ele"] {
        assert_eq!(read_tetrahedra(&folder.path().join(name)).unwrap().mesh.tetrahedra.len(), 2, "{name}");
    }
    fs::write(folder.path().join("alone.node"), NODE).unwrap();
    let problem = read_tetrahedra(&folder.path().join("alone.node")).unwrap_err().to_string();
    assert!(problem.contains("alone.ele") && problem.contains("no such file"), "{problem}");
    let problem = read_tetrahedra(&folder.path().join("a.obj")).unwrap_err().to_string();
    assert!(problem.contains(".msh"), "{problem}");
}

#[test]
fn inverted_ones_are_turned_unused_vertices_dropped_and_both_are_said() {
    let turned = MEDIT.replace("2\n1 2 3 4 1\n2 3 4 5 1", "1\n2 1 3 4 1");
    let read = parse_tetrahedra(turned.as_bytes(), &[], SolidFormat::Medit).unwrap();
    assert!(read.mesh.volume(0) > 0.0);
    assert_eq!(read.mesh.positions.len(), 4);
    assert!(
        read.notes[0].contains("1 tetrahedra are inverted") && read.notes[1].contains("1 vertices"),
        "{:?}",
        read.notes
    );
    let ten = "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 10 float\n0 0 0 2 0 0 0 2 0 0 0 2\n1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 0 1 1\n\
        CELLS 1 11\n10 0 1 2 3 4 5 6 7 8 9\nCELL_TYPES 1\n24\n";
    let read = parse_tetrahedra(ten.as_bytes(), &[], SolidFormat::Vtk).unwrap();
    assert!(read.mesh.positions.len() == 4 && read.notes[0].contains("corners are used"), "{read:?}");
}

#[test]
fn what_is_wrong_is_named() {
    use SolidFormat::*;
    for (format, text, words) in [
        (Medit, MEDIT.replace("2 3 4 5 1", "2 3 4 6 1"), "tetrahedron 1 (from 0): uses vertex 5"),
        (Medit, MEDIT.replace("2 3 4 5 1", "2 3 4 4 1"), "tetrahedron 1 (from 0): has a volume of 0"),
        (Medit, MEDIT.replace("2 3 4 5 1", "2 3 x 5 1"), "line 17: \"x\""),
        (Medit, MEDIT.replace("Dimension 3", "Dimension 2"), "line 3"),
        (Gmsh, MSH2.replace("2.2 0 8", "2.2 1 8"), "the byte order"),
        (Gmsh, MSH2.replace("2.2 0 8", "2.2 2 8"), "0 (text) or 1 (binary)"),
        (Gmsh, MSH2.replace("2.2 0 8", "2.2 1 4"), "numbers of 4 bytes"),
        (Gmsh, MSH2.replace("2.2 0 8", "3.7 0 8"), "2.2 and 4.1"),
        (Gmsh, MSH2.replace("10 7\n$EndE", "10 8\n$EndE"), "element 3: uses vertex 8"),
        (Vtk, VTK_OLD.replace("UNSTRUCTURED_GRID", "POLYDATA"), "UNSTRUCTURED_GRID"),
        (Vtk, VTK_OLD.replace("CELL_TYPES 3\n10", "CELL_TYPES 3\n24"), "cell 0 (from 0): has 4 nodes"),
        (Vtu, vtu_compressed().replace("vtkZLib", "vtkLZ4"), "zlib"),
        (Vtu, vtu_text().replace("1 1 1<", "1 1 x<"), "array \"points\" of Points: \"x\""),
        (Vtu, vtu_text().replace("4 8<", "4 9<"), "cell 1 (from 0)"),
    ] {
        let problem = parse_tetrahedra(text.as_bytes(), &[], format).unwrap_err().to_string();
        assert!(problem.contains(words), "{words}: {problem}");
    }
}

#[test]
fn garbage_never_panics_or_gives_a_broken_mesh() {
    let samples = samples();
    let mut seed = 11u64;
    let mut random = move |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n.max(1)
    };
    let numbers = [
        "nan",
        "inf",
        "1e39",
        "-1",
        "0",
        "1",
        "4",
        "9",
        "10",
        "65536",
        "4294967296",
        "18446744073709551615",
        "1.5",
    ];
    let (mut accepted, cases) = (0, 60_000);
    for _ in 0..cases {
        let (format, bytes, cells) = &samples[random(samples.len())];
        let (mut bytes, mut cells) = (bytes.clone(), cells.clone());
        for _ in 0..1 + random(3) {
            let target = if !cells.is_empty() && random(2) == 0 { &mut cells } else { &mut bytes };
            let at = random(target.len());
            match random(6) {
                0 if !target.is_empty() => target[at] ^= 1 << random(8),
                1 => target.truncate(at.max(target.len().saturating_sub(60))),
                2 => drop(target.drain(at..(at + random(9)).min(target.len()))),
                3 => {
                    let copy = target[at..(at + random(40)).min(target.len())].to_vec();
                    let to = random(target.len());
                    target.splice(to..to, copy);
                }
                _ => {
                    if let Some(start) = target[at..].iter().position(|b| b.is_ascii_digit()).map(|p| at + p)
                    {
                        let end = target[start..]
                            .iter()
                            .position(|b| !b.is_ascii_digit())
                            .map_or(target.len(), |p| start + p);
                        target.splice(start..end, numbers[random(numbers.len())].bytes());
                    }
                }
            }
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| parse_tetrahedra(&bytes, &cells, *format)));
        let shown = || format!("{format:?}: {:?}", String::from_utf8_lossy(&bytes));
        match outcome.unwrap_or_else(|_| panic!("panic; {}", shown())) {
            Ok(read) => {
                accepted += 1;
                let count = read.mesh.positions.len();
                assert!(!read.mesh.tetrahedra.is_empty(), "{}", shown());
                assert!(read.mesh.tetrahedra.iter().flatten().all(|&v| (v as usize) < count), "{}", shown());
                assert!((0..read.mesh.tetrahedra.len()).all(|t| read.mesh.volume(t) > 0.0), "{}", shown());
            }
            Err(problem) => assert!(!problem.message.is_empty(), "{}", shown()),
        }
    }
    assert!(accepted > cases / 20 && accepted < cases * 19 / 20, "{accepted}");
}
