use glam::Vec3;

use super::*;
use crate::pattern::SewnPattern;

/// A file in the making.
#[derive(Clone)]
struct File(String);

impl File {
    fn new(header: &str) -> Self {
        Self(format!("0\nSECTION\n2\nHEADER\n{header}0\nENDSEC\n0\nSECTION\n2\nBLOCKS\n"))
    }

    fn block(self, name: &str, inside: &str) -> Self {
        Self(format!("{}0\nBLOCK\n8\n1\n2\n{name}\n70\n64\n10\n0\n20\n0\n{inside}0\nENDBLK\n", self.0))
    }

    fn end(self, entities: &str) -> String {
        format!("{}0\nENDSEC\n0\nSECTION\n2\nENTITIES\n{entities}0\nENDSEC\n0\nEOF\n", self.0)
    }
}

fn polyline(layer: &str, is_closed: bool, points: &[[f64; 2]]) -> String {
    let vertex = |[x, y]: &[f64; 2]| format!("0\nVERTEX\n8\n{layer}\n10\n{x}\n20\n{y}\n");
    let points: String = points.iter().map(vertex).collect();
    format!("0\nPOLYLINE\n8\n{layer}\n66\n1\n70\n{}\n{points}0\nSEQEND\n", u8::from(is_closed))
}

fn line(layer: &str, [a, b]: [f64; 2], [c, d]: [f64; 2]) -> String {
    format!("0\nLINE\n8\n{layer}\n10\n{a}\n20\n{b}\n11\n{c}\n21\n{d}\n")
}

fn text(words: &str) -> String {
    format!("0\nTEXT\n8\n1\n10\n0\n20\n0\n40\n5\n1\n{words}\n")
}

const MILLIMETRES: &str = "9\n$INSUNITS\n70\n4\n";
/// 300 by 200, clockwise.
const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [0.0, 200.0], [300.0, 200.0], [300.0, 0.0]];

fn sewn(file: &str) -> SewnPattern {
    parse(file.as_bytes(), None)
        .and_then(|pattern| pattern.sew(0.02))
        .unwrap_or_else(|found| panic!("{found}"))
}

fn one(header: &str, inside: &str) -> SewnPattern {
    sewn(&File::new(header).block("a", inside).end(""))
}

fn area(pattern: &SewnPattern) -> f32 {
    let mesh = &pattern.garment.mesh;
    let corner = |v: u32| mesh.positions[v as usize];
    mesh.triangles
        .iter()
        .map(|t| 0.5 * (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])).length())
        .sum()
}

#[track_caller]
fn refused(file: &str, line: Option<usize>, words: &[&str]) {
    let problems = parse(file.as_bytes(), None).unwrap_err();
    let shown = problems.to_string();
    assert!(words.iter().all(|word| shown.contains(word)), "{shown}");
    assert_eq!(problems.0[0].line, line, "{shown}");
}

#[test]
fn a_piece_lies_flat_as_it_is_drawn() {
    let inside = format!("{}{}", polyline("1", true, &SQUARE), text("Piece Name: FRONT"));
    let pattern = one(MILLIMETRES, &inside);
    assert!((area(&pattern) - 0.06).abs() < 1e-6);
    assert!(pattern.warnings.is_empty(), "{:?}", pattern.warnings);
    let start = &pattern.garment.start;
    let high = start.iter().fold(Vec3::MIN, |high, &x| high.max(x));
    let low = start.iter().fold(Vec3::MAX, |low, &x| low.min(x));
    assert!(low.distance(Vec3::new(0.0, 0.0, -0.2)) < 1e-6 && high.distance(Vec3::new(0.3, 0.0, 0.0)) < 1e-6);
    // Facing up, whichever way it is drawn.
    let mesh = &pattern.garment.mesh;
    let [a, b, c] = mesh.triangles[0].map(|v| start[v as usize]);
    assert!((b - a).cross(c - a).y > 0.0);
    assert_eq!(mesh.groups["panel:FRONT"].len(), mesh.positions.len());
    assert_eq!(mesh.groups["edge:FRONT:1"].len(), 16, "300 mm in parts of 20");
    assert_eq!(mesh.groups.keys().filter(|name| name.starts_with("edge:FRONT:")).count(), 4);
}

#[test]
fn the_grain_is_the_texture_coordinate_v() {
    let grain = |lines: &str| {
        let pattern = one(MILLIMETRES, &format!("{}{lines}", polyline("1", true, &SQUARE)));
        let (mesh, start) = (&pattern.garment.mesh, &pattern.garment.start);
        // How v changes along x and along −z, the drawing's y, over one triangle.
        let (t, uvs) = (mesh.triangles[0], mesh.uvs.as_ref().unwrap()[0]);
        let [a, b, c] = t.map(|v| start[v as usize]);
        let (p, q) = (b - a, c - a);
        let (dp, dq) = (uvs[1].y - uvs[0].y, uvs[2].y - uvs[0].y);
        let det = p.x * -q.z + p.z * q.x;
        let gradient = [(dp * -q.z + p.z * dq) / det, (p.x * dq - q.x * dp) / det];
        Vec3::new(gradient[0], gradient[1], 0.0).normalize()
    };
    assert!(grain("").distance(Vec3::X) < 1e-3, "along x where nothing is said");
    assert!(grain(&line("7", [10.0, 10.0], [10.0, 90.0])).distance(Vec3::Y) < 1e-3);
    assert!(
        grain(&line("7", [90.0, 10.0], [10.0, 90.0])).distance(Vec3::new(-1.0, 1.0, 0.0).normalize()) < 1e-3
    );
}

#[test]
fn half_a_piece_is_unfolded() {
    let fold = line("6", [0.0, 0.0], [0.0, 200.0]);
    let pattern = one(MILLIMETRES, &format!("{}{fold}", polyline("1", true, &SQUARE)));
    assert!((area(&pattern) - 0.12).abs() < 1e-6);
    assert_eq!(pattern.garment.mesh.groups.keys().filter(|name| name.starts_with("edge:")).count(), 4);
    let elsewhere = line("6", [100.0, 0.0], [100.0, 200.0]);
    let file = File::new(MILLIMETRES).block("a", &format!("{}{elsewhere}", polyline("1", true, &SQUARE)));
    refused(&file.end(""), Some(70), &["piece a", "layer 6"]);
}

#[test]
fn an_outline_may_be_several_lines_and_arcs() {
    let lines = [
        line("1", [0.0, 0.0], [300.0, 0.0]),
        polyline("1", false, &[[0.0, 200.0], [0.0, 100.0], [0.0, 0.0]]),
        polyline("1", false, &[[300.0, 0.0], [300.0, 200.0], [0.0, 200.0]]),
    ];
    assert!((area(&one(MILLIMETRES, &lines.concat())) - 0.06).abs() < 1e-6);
    // A disc of two half circles.
    let disc = "0\nLWPOLYLINE\n8\n1\n90\n2\n70\n1\n10\n0\n20\n0\n42\n1\n10\n200\n20\n0\n42\n1\n";
    let pattern = one(MILLIMETRES, disc);
    assert!((area(&pattern) - 0.01 * std::f32::consts::PI).abs() < 1e-3, "{}", area(&pattern));
    // The ends do not meet.
    let open = File::new(MILLIMETRES).block("a", &polyline("1", false, &SQUARE)).end("");
    refused(&open, Some(28), &["piece a", "is open", "(300.0000, 0.0000)"]);
    let apart = File::new(MILLIMETRES).block("a", &lines[..2].concat()).end("");
    refused(&apart, Some(28), &["no line goes on"]);
}

#[test]
fn corners_are_marked_or_found() {
    let arch: Vec<[f64; 2]> = (0..=20)
        .map(|k| f64::from(k) * std::f64::consts::PI / 20.0)
        .map(|angle| [100.0 * angle.cos(), 100.0 * angle.sin()])
        .collect();
    let count = |inside: &str| {
        let pattern = one(MILLIMETRES, &format!("{}{inside}", polyline("1", true, &arch)));
        pattern.garment.mesh.groups.keys().filter(|name| name.starts_with("edge:")).count()
    };
    assert_eq!(count(""), 2);
    let point = |x: f64, y: f64| format!("0\nPOINT\n8\n2\n10\n{x}\n20\n{y}\n");
    assert_eq!(count(&[point(100.0, 0.0), point(0.0, 100.0), point(-100.0, 0.0)].concat()), 3);
}

#[test]
fn units_are_said_or_guessed() {
    let width = |header: &str, entities: &str| {
        let file = File::new(header).block("a", &polyline("1", true, &SQUARE)).end(entities);
        let pattern = parse(file.as_bytes(), None).unwrap();
        ((300.0 / pattern.units_in_meter() * 1000.0).round(), pattern.notes)
    };
    assert_eq!(width("9\n$MEASUREMENT\n70\n0\n", "").0, 7620.0);
    assert_eq!(width("9\n$MEASUREMENT\n70\n1\n", "").0, 300.0);
    assert_eq!(width("9\n$INSUNITS\n70\n5\n9\n$MEASUREMENT\n70\n0\n", "").0, 3000.0);
    assert_eq!(width("", &text("Units: ENGLISH")).0, 7620.0);
    let (guess, notes) = width("", "");
    assert_eq!(guess, 300.0);
    assert!(notes[0].contains("millimetres are assumed") && notes[0].contains("0.30 m"), "{notes:?}");
    let file = File::new("").block("a", &polyline("1", true, &SQUARE)).end("");
    let given = parse(file.as_bytes(), None).unwrap().with_units(1000.0);
    assert!(given.notes.is_empty());
}

#[test]
fn pieces_are_placed_by_inserts_and_never_on_top_of_each_other() {
    let square = polyline("1", true, &SQUARE);
    let file = File::new(MILLIMETRES).block("a", &square).block("b", &square);
    let pattern = sewn(&file.clone().end(""));
    assert!(pattern.warnings[0].contains("side by side"), "{:?}", pattern.warnings);
    let first = |pattern: &SewnPattern, name: &str| {
        let members = &pattern.garment.mesh.groups[name];
        let points = members.iter().map(|&v| pattern.garment.start[v as usize]);
        points.fold(Vec3::MAX, |low, x| low.min(x)).x
    };
    assert!((first(&pattern, "panel:b") - 0.35).abs() < 1e-6);
    let inserts = "0\nINSERT\n8\n1\n2\na\n10\n0\n20\n0\n0\nINSERT\n8\n1\n2\nb\n10\n1000\n20\n0\n50\n90\n";
    let pattern = sewn(&file.end(inserts));
    assert!(pattern.warnings.is_empty(), "{:?}", pattern.warnings);
    assert!((first(&pattern, "panel:b") - 0.8).abs() < 1e-6, "turned to the left of its place");
    assert!((area(&pattern) - 0.12).abs() < 1e-6);
}

#[test]
fn a_scene_says_what_is_sewn() {
    let square = polyline("1", true, &SQUARE);
    let file = File::new(MILLIMETRES).block("a", &square).block("b", &square).end("");
    let mut pattern = parse(file.as_bytes(), None).unwrap();
    // The right side of one and the left side of the other, 5 cm apart.
    pattern.stitch(["a:0", "b:2"]).unwrap();
    let sewn = pattern.sew(0.02).unwrap();
    assert_eq!(sewn.garment.seams.len(), 11);
    assert!((sewn.contents.opening - 0.05).abs() < 1e-6, "{}", sewn.contents.opening);
    for (edges, words) in [
        (["a", "b:2"], "PANEL:EDGE"),
        (["a:0", "c:2"], "no panel \"c\"; panels: a, b"),
        (["a:4", "b:2"], "no edge 4: it has 4"),
        (["a:1", "a:1"], "to itself"),
    ] {
        let message = pattern.stitch(edges).unwrap_err();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_drawing_without_blocks_has_its_outlines() {
    let pattern = sewn(&File::new(MILLIMETRES).end(&polyline("1", true, &SQUARE)));
    assert!(pattern.garment.mesh.groups.contains_key("panel:piece-1"));
}

#[test]
fn what_is_wrong_is_said() {
    let block = |inside: &str| File::new(MILLIMETRES).block("a", inside).end("");
    refused(&block(&polyline("8", true, &SQUARE)), None, &["no outline on layer 1", "found layers 8"]);
    refused(&block(""), None, &["nothing is drawn"]);
    refused(&block("0\nSPLINE\n8\n1\n"), Some(28), &["piece a", "SPLINE", "polylines"]);
    refused(&block(&polyline("1", true, &SQUARE[..2])), Some(28), &["2 points", "at least 3"]);
    refused(&block(&line("1", [0.0, 0.0], [f64::NAN, 1.0])), Some(36), &["\"NaN\" (code 11)"]);
    refused("0\nSECTION\nx\nHEADER\n", Some(3), &["\"x\" must be a group code"]);
    refused("0\nSECTION\n2\n", Some(3), &["without its value"]);
    refused("AutoCAD Binary DXF\r\n", Some(1), &["binary DXF"]);
    let sizes = |size: &str| format!("{}{}", polyline("1", true, &SQUARE), text(&format!("Size: {size}")));
    let nest = File::new(MILLIMETRES).block("a", &sizes("S")).block("b", &sizes("M")).end("");
    refused(&nest, None, &["sizes M, S", "save one size"]);
    let sew = one(MILLIMETRES, &format!("{}{}", polyline("1", true, &SQUARE), polyline("14", true, &SQUARE)));
    assert!(sew.warnings[0].contains("layer 14"));
    let crossed = [[0.0, 0.0], [300.0, 200.0], [300.0, 0.0], [0.0, 150.0]];
    let crossed = parse(block(&polyline("1", true, &crossed)).as_bytes(), None).unwrap();
    assert!(crossed.sew(0.02).unwrap_err().to_string().contains("crosses itself"));
}

#[test]
fn any_part_of_a_file_is_refused_or_read() {
    let inside = [
        polyline("1", true, &SQUARE),
        line("6", [0.0, 0.0], [0.0, 200.0]),
        line("7", [0.0, 0.0], [9.0, 9.0]),
        text("Piece Name: x"),
        "0\nPOINT\n8\n2\n10\n0\n20\n0\n".into(),
    ];
    let file = File::new(MILLIMETRES).block("a", &inside.concat()).end("0\nINSERT\n2\na\n41\n-1\n50\n30\n");
    assert!(parse(file.as_bytes(), None).is_ok());
    for end in 0..file.len() {
        if let Ok(pattern) = parse(&file.as_bytes()[..end], None) {
            let _ = pattern.sew(0.05);
        }
    }
    let mut read = 0;
    for k in 0..file.len() {
        for swap in [b'9', b'-', b'\n', 0xff] {
            let mut bytes = file.clone().into_bytes();
            bytes[k] = swap;
            if let Ok(pattern) = parse(&bytes, None) {
                read += 1;
                let _ = pattern.sew(0.1);
            }
        }
    }
    assert!(read > 100);
}
