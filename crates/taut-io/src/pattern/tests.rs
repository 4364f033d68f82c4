use std::f64::consts::PI;

use glam::{DVec2, Vec3};
use taut::mesh::check::check;

use super::*;

/// A pattern of these panels and stitches, in centimetres.
fn text(panels: &str, stitches: &str) -> String {
    format!(
        r#"{{"pattern": {{"panels": {{{panels}}}, "stitches": [{stitches}]}}, "properties": {{"units_in_meter": 100}}}}"#
    )
}

/// A square of 20 cm at z = `z` cm, seen from the front or the back.
fn square(name: &str, z: i32, is_front: bool) -> String {
    let edges = if is_front { "[0, 1], [1, 2], [2, 3], [3, 0]" } else { "[1, 0], [0, 3], [3, 2], [2, 1]" };
    let edges = edges.replace("], [", "]}, {\"endpoints\": [");
    format!(
        r#""{name}": {{"vertices": [[0, 0], [20, 0], [20, 20], [0, 20]], "translation": [0, 0, {z}], "edges": [{{"endpoints": {edges}}}]}}"#
    )
}

/// A triangle with one edge of the given kind, from (0, 0) to (10, 0).
fn with_edge(curvature: &str) -> Pattern {
    let panel = format!(
        r#""p": {{"vertices": [[0, 0], [10, 0], [5, 30]], "edges": [{{"endpoints": [0, 1], "curvature": {curvature}}}, {{"endpoints": [1, 2]}}, {{"endpoints": [2, 0]}}]}}"#
    );
    parse(text(&panel, "").as_bytes(), None).unwrap_or_else(|problems| panic!("{problems}"))
}

fn curve(curvature: &str) -> Curve {
    with_edge(curvature).panels[0].edges[0].curve.clone()
}

#[track_caller]
fn near(a: DVec2, x: f64, y: f64) {
    assert!(a.distance(DVec2::new(x, y)) < 1e-9, "{a} is not ({x}, {y})");
}

#[test]
fn edges_of_every_kind() {
    // Control points: along the edge, and to its left, in lengths of the edge.
    let quadratic = curve(r#"{"type": "quadratic", "params": [[0.5, -0.4]]}"#);
    near(quadratic.at(0.5), 5.0, -2.0);
    // A parabola with the control point (5, −4): s/2 √(1 + s²) + asinh(s)/2 with s = 0.8, of 10/0.8.
    let s: f64 = 0.8;
    let exact = 10.0 / s * (s / 2.0 * (1.0 + s * s).sqrt() + s.asinh() / 2.0);
    assert!((quadratic.length() / exact - 1.0).abs() < 1e-5, "{} {exact}", quadratic.length());
    // Old files have the control point alone.
    assert_eq!(curve("[0.5, -0.4]"), quadratic);
    let cubic = curve(r#"{"type": "cubic", "params": [[0.2, -0.3], [0.7, -0.6]]}"#);
    near(cubic.at(0.5), (0.0 + 3.0 * 2.0 + 3.0 * 7.0 + 10.0) / 8.0, 3.0 * (-3.0 - 6.0) / 8.0);
    // To the right of an edge along x is below it.
    let half = curve(r#"{"type": "circle", "params": [5, 0, 1]}"#);
    near(half.at(0.5), 5.0, -5.0);
    assert!((half.length() - 5.0 * PI).abs() < 1e-9);
    let quarter = curve(r#"{"type": "circle", "params": [7.0710678118654755, false, true]}"#);
    assert!((quarter.length() - 50f64.sqrt() * PI / 2.0).abs() < 1e-9);
    near(quarter.at(0.5), 5.0, 5.0 - 50f64.sqrt());
    let large = curve(r#"{"type": "circle", "params": [7.0710678118654755, 1, 1]}"#);
    assert!((large.length() - 50f64.sqrt() * 3.0 * PI / 2.0).abs() < 1e-9);
    near(large.at(0.5), 5.0, -5.0 - 50f64.sqrt());
    let left = curve(r#"{"type": "circle", "params": [7.0710678118654755, 0, 0]}"#);
    near(left.at(0.5), 5.0, 50f64.sqrt() - 5.0);
    // A radius that is too small is taken as the smallest possible.
    near(curve(r#"{"type": "circle", "params": [1, 0, 1]}"#).at(0.5), 5.0, -5.0);
    for curve in [quadratic, cubic, half, large] {
        let points = curve.points(10);
        let steps: Vec<f64> = points.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
        let (least, most) = steps.iter().fold((f64::MAX, 0.0f64), |(a, b), s| (a.min(*s), b.max(*s)));
        assert!(points[0] == DVec2::ZERO && points[10] == DVec2::new(10.0, 0.0) && most / least < 1.03);
    }
}

#[test]
fn absolute_control_points_and_other_units() {
    let panel = r#""p": {"vertices": [[0, 0], [0.1, 0], [0.05, 0.3]], "edges": [{"endpoints": [0, 1], "curvature": [0.05, -0.04]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}"#;
    let text = text(panel, "").replace("100", r#"1, "curvature_coords": "absolute""#);
    let pattern = parse(text.as_bytes(), None).unwrap();
    near(pattern.panels[0].edges[0].curve.at(0.5), 0.05, -0.02);
    let sewn = pattern.sew(0.02).unwrap();
    let width = sewn.garment.start.iter().map(|p| p.x).fold(0.0, f32::max);
    assert!((width - 0.1).abs() < 1e-6, "{width}");
    let [low, high] = pattern.with_units(100.0).bounds();
    assert!(((high - low).y - 0.0032).abs() < 1e-4, "{low} {high}");
}

#[test]
fn panels_are_placed_as_pygarment_does() {
    // About x, then y, then z.
    let panel =
        square("p", 30, true).replace("\"translation\"", "\"rotation\": [90, 0, 90], \"translation\"");
    let garment = parse(text(&panel, "").as_bytes(), None).unwrap().sew(0.05).unwrap().garment;
    let at = |x: f32, y: f32| {
        let found =
            garment.mesh.positions.iter().position(|p| (p.x - x).abs() < 1e-6 && (p.z + y).abs() < 1e-6);
        garment.start[found.unwrap()]
    };
    // (20, 0) goes to y, (0, 20) to z.
    assert!(at(0.2, 0.0).distance(Vec3::new(0.0, 0.2, 0.3)) < 1e-6, "{}", at(0.2, 0.0));
    assert!(at(0.0, 0.2).distance(Vec3::new(0.0, 0.0, 0.5)) < 1e-6, "{}", at(0.0, 0.2));
}

/// The normal of the panels in space, by vertex 0 of each.
fn normal(garment: &Garment, group: &str) -> Vec3 {
    let members = &garment.mesh.groups[group];
    let t = garment.mesh.triangles.iter().find(|t| t.iter().all(|v| members.contains(v))).unwrap();
    let [a, b, c] = t.map(|v| garment.start[v as usize]);
    (b - a).cross(c - a).normalize()
}

#[test]
fn two_squares_are_sewn_to_a_tube() {
    // Edges 1 and 3 of the front with 3 and 1 of the back: the edges at x = 20 and at x = 0.
    let stitches = r#"[{"panel": "front", "edge": 1}, {"panel": "back", "edge": 3}], [{"panel": "front", "edge": 3}, {"panel": "back", "edge": 1}]"#;
    let panels = format!("{}, {}", square("front", 10, true), square("back", -10, false));
    let sewn = parse(text(&panels, stitches).as_bytes(), None).unwrap().sew(0.02).unwrap();
    let garment = &sewn.garment;
    assert!(check(&garment.mesh).is_empty(), "{:?}", check(&garment.mesh));
    assert_eq!((sewn.contents.panels, sewn.contents.stitches), (2, 2));
    assert!(sewn.warnings.is_empty(), "{:?}", sewn.warnings);
    // Both face outward, at rest and in space.
    assert!(normal(garment, "panel:front").z > 0.99 && normal(garment, "panel:back").z < -0.99);
    let up = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| garment.mesh.positions[v as usize]);
        (b - a).cross(c - a).y > 0.0
    };
    assert!(garment.mesh.triangles.iter().all(up));
    // Eleven pairs a side, 20 cm apart, straight across.
    assert_eq!(garment.seams.len(), 22);
    for pair in &garment.seams {
        let [a, b] = pair.map(|v| garment.start[v as usize]);
        assert!(
            (a - b - Vec3::new(0.0, 0.0, 0.2)).length().min((b - a - Vec3::new(0.0, 0.0, 0.2)).length())
                < 1e-6
        );
    }
    // Rest lengths are those in space, and v runs up.
    for t in &garment.mesh.triangles {
        let length = |x: &[Vec3]| x[t[0] as usize].distance(x[t[1] as usize]);
        assert!((length(&garment.mesh.positions) / length(&garment.start) - 1.0).abs() < 1e-4);
    }
    let uvs = garment.mesh.uvs.as_ref().unwrap();
    for (t, uv) in garment.mesh.triangles.iter().zip(uvs) {
        let rise = garment.start[t[1] as usize].y - garment.start[t[0] as usize].y;
        assert!(((uv[1].y - uv[0].y) * rise) >= 0.0);
    }
}

#[test]
fn right_wrong_stitches_join_start_to_start() {
    let stitch = r#"[{"panel": "a", "edge": 1}, {"panel": "b", "edge": 1}, "right_wrong"]"#;
    let panels = format!("{}, {}", square("a", 1, true), square("b", -1, true));
    let pattern = parse(text(&panels, stitch).as_bytes(), None).unwrap();
    let sewn = pattern.sew(0.05).unwrap();
    assert!(sewn.warnings.is_empty());
    for pair in &sewn.garment.seams {
        let [a, b] = pair.map(|v| sewn.garment.start[v as usize]);
        assert_eq!((a.x, a.y), (b.x, b.y));
    }
    // Without the mark, its ends are crossed, which is worth a warning.
    let plain = parse(text(&panels, &stitch.replace(", \"right_wrong\"", "")).as_bytes(), None).unwrap();
    let warnings = plain.sew(0.05).unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("stitch 0 (a edge 1, b edge 1)"), "{warnings:?}");
}

#[test]
fn sides_of_different_length_and_chains_are_sampled_alike() {
    // A side of 20 cm, one of 30, and a third on the same edge: all get the number of their mean.
    let tall = square("tall", 0, true).replace("20, 20", "20, 30").replace("[0, 20]", "[0, 30]");
    let panels = format!("{}, {tall}, {}", square("a", 10, true), square("c", -10, false));
    let stitches = r#"[{"panel": "a", "edge": 1}, {"panel": "tall", "edge": 3}], [{"panel": "tall", "edge": 3}, {"panel": "c", "edge": 3}]"#;
    let pattern = parse(text(&panels, stitches).as_bytes(), None).unwrap();
    let counts = sew::segments(&pattern, 0.01);
    let of =
        |name: &str, edge: usize| counts[pattern.panels.iter().position(|p| p.name == name).unwrap()][edge];
    assert_eq!((of("a", 1), of("tall", 3), of("c", 3)), (23, 23, 23));
    assert_eq!((of("a", 0), of("tall", 1)), (20, 30));
    let sewn = pattern.sew(0.01).unwrap();
    assert_eq!(sewn.garment.seams.len(), 48);
    let worst = sewn.contents.worst_stitch.unwrap();
    assert_eq!((worst.stitch, worst.sides[1].as_str()), (0, "tall edge 3"));
    assert!((worst.lengths[1] - 0.3).abs() < 1e-9);
    assert!(sewn.warnings.iter().any(|w| w.contains("three layers")), "{:?}", sewn.warnings);
}

#[test]
fn darts_and_cones_keep_their_triangles() {
    // A dart in the upper edge; then a cone, whose straight sides meet at a corner.
    let dart = r#""p": {"vertices": [[0, 0], [20, 0], [20, 20], [11, 20], [10, 5], [9, 20], [0, 20]], "edges": [
        {"endpoints": [0, 1], "label": "hem"}, {"endpoints": [1, 2]}, {"endpoints": [2, 3]}, {"endpoints": [3, 4]},
        {"endpoints": [4, 5]}, {"endpoints": [5, 6]}, {"endpoints": [6, 0]}], "label": "skirt"}"#;
    let stitch = r#"[{"panel": "p", "edge": 3}, {"panel": "p", "edge": 4}]"#;
    let cone = r#""p": {"vertices": [[0, 0], [20, 0], [14, 14]], "edges": [{"endpoints": [0, 1]},
        {"endpoints": [1, 2], "curvature": {"type": "circle", "params": [20, 0, 1]}}, {"endpoints": [2, 0]}]}"#;
    let sides = r#"[{"panel": "p", "edge": 0}, {"panel": "p", "edge": 2}]"#;
    for (panel, stitch, edge) in [(dart, stitch, 0.01), (cone, sides, 0.02), (cone, sides, 0.05)] {
        let sewn = parse(text(panel, stitch).as_bytes(), None).unwrap().sew(edge).unwrap();
        let Garment { mesh, seams, .. } = &sewn.garment;
        assert!(check(mesh).is_empty(), "{:?}", check(mesh));
        assert!(seams.iter().all(|[a, b]| a != b) && !seams.is_empty());
        let joins = |t: &[u32; 3]| seams.iter().any(|pair| pair.iter().all(|v| t.contains(v)));
        assert!(!mesh.triangles.iter().any(joins));
        if panel == dart {
            assert_eq!(mesh.groups["hem"].len(), 21);
            assert_eq!(mesh.groups["skirt"].len(), mesh.positions.len());
            let area: f32 = mesh
                .triangles
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                    (b - a).cross(c - a).length() / 2.0
                })
                .sum();
            assert!((area - (0.04 - 0.5 * 0.02 * 0.15)).abs() < 1e-6, "{area}");
        }
    }
}

/// The problems of a pattern, as text.
fn refused(text: &str) -> String {
    match parse(text.as_bytes(), Some(Path::new("it.json"))).and_then(|pattern| pattern.sew(0.02)) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn bad_patterns_are_refused_by_name() {
    let one = square("p", 0, true);
    let cases: &[(String, &[&str])] = &[
        ("{\n\"pattern\": [1, NaN]}".into(), &["it.json:2", "not valid JSON"]),
        ("[]".into(), &["pattern: is missing"]),
        (text("", ""), &["pattern.panels", "empty"]),
        (
            text(&one, r#"[{"panel": "p", "edge": 1}, {"panel": "q", "edge": 1}]"#),
            &["stitch 0", "\"q\"", "known: p"],
        ),
        (
            text(&one, r#"[{"panel": "p", "edge": 1}, {"panel": "p", "edge": 4}]"#),
            &["stitch 0", "edge 4 of panel p", "0 to 3"],
        ),
        (text(&one, r#"[{"panel": "p", "edge": 1}, {"panel": "p", "edge": 1}]"#), &["stitch 0", "to itself"]),
        (text(&one, r#"[{"panel": "p", "edge": 1}]"#), &["stitch 0", "two sides"]),
        (text(&one, r#"[{"panel": "p", "edge": 1}, {"panel": "p", "edge": -1}]"#), &["stitch 0", "NUMBER"]),
        (
            text(&one, r#"[{"panel": "p", "edge": 1}, {"panel": "p", "edge": 2}, "wrong"]"#),
            &["stitch 0", "right_wrong"],
        ),
        (text(&one.replace("[20, 20]", "[20, 0]"), ""), &["panel p, edge 1", "no length", "(20, 0)"]),
        (
            text(&one.replace("[20, 20], [0, 20]", "[0, 20], [20, 20]"), ""),
            &["panel p", "crosses itself", "edges 1 and 3"],
        ),
        (text(&one.replace("[2, 3]", "[2, 7]"), ""), &["panel p, edge 2", "vertex 7", "0 to 3"]),
        (text(&one.replace("[2, 3]", "[3, 2]"), ""), &["panel p, edge 3", "loop"]),
        (text(&one.replace("[3, 0]", "[3, 1]"), ""), &["panel p, edge 3", "must end at vertex 0"]),
        (text(&one.replace("[20, 20]", "[20, 1e300]"), ""), &["panel p", "vertex 2", "two numbers"]),
        (text(&one.replace("[20, 20]", "[20, null]"), ""), &["panel p", "vertex 2"]),
        (text(&one.replace("[0, 0, 0]", "[0, \"a\", 0]"), ""), &["panel p", "translation", "three numbers"]),
        (text(&one, "").replace("100", "0"), &["units_in_meter", "100 for centimetres"]),
        (
            text(
                &one.replace(
                    "\"endpoints\": [0, 1]",
                    "\"endpoints\": [0, 1], \"curvature\": {\"type\": \"spline\"}",
                ),
                "",
            ),
            &["panel p, edge 0", "spline", "cubic"],
        ),
        (
            text(
                &one.replace(
                    "\"endpoints\": [0, 1]",
                    "\"endpoints\": [0, 1], \"curvature\": {\"type\": \"circle\", \"params\": [-3, 0, 0]}",
                ),
                "",
            ),
            &["panel p, edge 0", "radius"],
        ),
        // Off by 100: 20 m with a hole of 2 cm between vertices.
        (text(&one.replace("20", "2000000"), ""), &["at most 4e6", "20000.00 m", "units"]),
        (
            text(
                &(0..=MAX_PANELS).map(|k| square(&format!("p{k}"), 0, true)).collect::<Vec<_>>().join(", "),
                "",
            ),
            &["has 1001 panels", "at most 1000"],
        ),
    ];
    for (text, words) in cases {
        let message = refused(text);
        assert!(words.iter().all(|word| message.contains(word)), "{message}\n{words:?}");
    }
}

#[test]
fn nothing_in_a_file_is_fatal() {
    // Every byte of a small pattern in turn replaced by others, and cut off there.
    let stitch = r#"[{"panel": "p", "edge": 1}, {"panel": "p", "edge": 3}]"#;
    let good = text(&square("p", 0, true), stitch);
    for at in 0..good.len() {
        for byte in *b"0-9e\"[]{},." {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = byte;
            if let Ok(pattern) = parse(&bytes, None)
                && let Ok(sewn) = pattern.sew(0.05)
            {
                assert!(sewn.garment.mesh.triangles.len() > 1);
            }
        }
        let _ = parse(&good.as_bytes()[..at], None);
    }
}
