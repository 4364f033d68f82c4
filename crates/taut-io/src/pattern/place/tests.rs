//! Tests on a body of revolution.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3, Vec3};
use taut::mesh::TriangleMesh;

use super::{
    Placed,
    body::{crossing, tape},
    over, shifts, tightest,
    tube::width,
};
use crate::pattern::{Pattern, parse};

/// A body of revolution, closed: hips, waist, chest, by height and radius \[m\].
fn body() -> TriangleMesh {
    let rings = [(0.0, 0.0), (0.02, 0.1), (0.6, 0.12), (0.85, 0.16), (1.1, 0.12), (1.3, 0.15), (1.5, 0.0)];
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    let heights: Vec<(f64, f64)> = rings
        .windows(2)
        .flat_map(|two| {
            (0..8).map(|k| {
                let part = f64::from(k) / 8.0;
                (two[0].0 + part * (two[1].0 - two[0].0), two[0].1 + part * (two[1].1 - two[0].1))
            })
        })
        .chain([(1.5, 0.0)])
        .collect();
    let around = 24u32;
    for (height, radius) in &heights {
        for k in 0..around {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / f64::from(around)).sin_cos();
            positions.push(DVec3::new(radius * sin, *height, radius * cos).as_vec3());
        }
    }
    for ring in 0..heights.len() as u32 - 1 {
        for k in 0..around {
            let [a, b] = [k, (k + 1) % around].map(|k| ring * around + k);
            triangles.extend([[a, b, b + around], [a, b + around, a + around]]);
        }
    }
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}

/// Two equal panels, `widths` \[cm\] at their hem and top, 40 cm tall, hem at `y`, at ± `z` \[cm\], sewn
/// along the sides.
fn tube_of(widths: [f64; 2], y: f64, z: f64) -> Pattern {
    let [hem, top] = widths.map(|width| 0.5 * width);
    let panel = |z: f64| {
        format!(
            r#"{{"translation": [0, {y}, {z}], "rotation": [0, 0, 0], "vertices": [[{}, 0], [{hem}, 0], [{top}, 40], [{}, 40]],
            "edges": [{{"endpoints": [0, 1]}}, {{"endpoints": [1, 2]}}, {{"endpoints": [2, 3]}}, {{"endpoints": [3, 0]}}]}}"#,
            -hem, -top
        )
    };
    let stitch = |edge: u32| {
        format!(
            r#"[{{"panel": "front", "edge": {edge}}}, {{"panel": "back", "edge": {edge}}}, "right_wrong"]"#
        )
    };
    let text = format!(
        r#"{{"pattern": {{"panels": {{"front": {}, "back": {}}}, "stitches": [{}, {}]}},
        "properties": {{"units_in_meter": 100, "curvature_coords": "relative"}}}}"#,
        panel(z),
        panel(-z),
        stitch(1),
        stitch(3)
    );
    parse(text.as_bytes(), None).unwrap()
}

#[test]
fn a_narrow_waist_starts_above_the_hips() {
    // 2π 0.12 m at the top, and wide enough for the hips 25 cm below.
    let around = 100.0 * std::f64::consts::TAU;
    let widths = [0.62 * around * 0.19, 0.5 * around * 0.12];
    let found = shifts(&tube_of(widths, 50.0, 25.0), &body());
    let [front, back] = ["front", "back"].map(|panel| found[panel]);
    assert_eq!(front, back);
    assert!((front.y - 0.2).abs() < 0.035 && front.z == 0.0, "{front}");
    // Where it fits, it stays.
    assert_eq!(shifts(&tube_of(widths, 70.0, 25.0), &body()), BTreeMap::new());
}

#[test]
fn panels_that_start_inside_are_moved_out() {
    let found = shifts(&tube_of([60.0, 60.0], 70.0, 3.0), &body());
    let [front, back] = ["front", "back"].map(|panel| found[panel]);
    assert!(front.z > 0.03 && front.z < 0.15 && back.z == -front.z && front.y == 0.0, "{front} {back}");
}

#[test]
fn tapes_and_darts() {
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]].map(DVec2::from);
    assert!((tape(&square) - 4.0).abs() < 1e-12);
    assert_eq!(tape(&[]), 0.0);
    let dart = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [3.0, 2.0], [2.5, 1.0], [2.0, 2.0], [0.0, 2.0]];
    let dart = dart.map(|[x, y]| DVec3::new(x, y, 0.0));
    assert!((width(&dart, 1.5) - 3.5).abs() < 1e-12 && width(&dart, 0.5) == 4.0 && width(&dart, 3.0) == 0.0);
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|p| p.as_dvec3());
    let [below, above] = [DVec3::new(0.2, 0.2, -1.0), DVec3::new(0.2, 0.2, 3.0)];
    assert_eq!(crossing(below, above, flat), Some(0.25));
    assert_eq!(crossing(below + DVec3::X, above + DVec3::X, flat), None);
}

/// Two legs of a front and a back each, 20 cm wide, 60 cm tall, sewn along their sides and to each other.
fn trousers(y: f64) -> Pattern {
    let panel = |x: f64, z: f64| {
        format!(
            r#"{{"translation": [{x}, {y}, {z}], "rotation": [0, 0, 0], "vertices": [[-15, 0], [15, 0], [15, 30], [15, 60], [-15, 60]],
            "edges": [{{"endpoints": [0, 1]}}, {{"endpoints": [1, 2]}}, {{"endpoints": [2, 3]}}, {{"endpoints": [3, 4]}}, {{"endpoints": [4, 0]}}]}}"#
        )
    };
    let mirrored = |x: f64, z: f64| {
        panel(x, z).replace(
            "[-15, 0], [15, 0], [15, 30], [15, 60], [-15, 60]",
            "[15, 0], [-15, 0], [-15, 30], [-15, 60], [15, 60]",
        )
    };
    let stitch = |a: &str, b: &str, edge: u32| {
        format!(r#"[{{"panel": "{a}", "edge": {edge}}}, {{"panel": "{b}", "edge": {edge}}}, "right_wrong"]"#)
    };
    let stitches = [
        stitch("rf", "rb", 1),
        stitch("rf", "rb", 4),
        stitch("lf", "lb", 1),
        stitch("lf", "lb", 4),
        stitch("rf", "lf", 2),
        stitch("rb", "lb", 2),
    ];
    let text = format!(
        r#"{{"pattern": {{"panels": {{"rf": {}, "rb": {}, "lf": {}, "lb": {}}}, "stitches": [{}]}},
        "properties": {{"units_in_meter": 100, "curvature_coords": "relative"}}}}"#,
        panel(-20.0, 25.0),
        panel(-20.0, -25.0),
        mirrored(20.0, 25.0),
        mirrored(20.0, -25.0),
        stitches.join(", ")
    );
    parse(text.as_bytes(), None).unwrap()
}

#[test]
fn legs_of_trousers_are_moved_together() {
    for y in [20.0, 60.0, 90.0] {
        let found = shifts(&trousers(y), &body());
        let up = |panel: &str| found.get(panel).map_or(0.0, |shift| shift.y);
        assert_eq!([up("rf"), up("rb"), up("lf")], [up("lb"); 3], "{found:?}");
    }
}

#[test]
fn panels_over_others_start_further_out() {
    let mut below = Placed::default();
    let pattern = tube_of([60.0, 60.0], 70.0, 25.0);
    assert!(over(&pattern, &below, DVec3::ZERO).is_empty());
    below.add(&pattern);
    let found = over(&tube_of([70.0, 70.0], 70.0, 24.0), &below, DVec3::ZERO);
    assert_eq!(found["front"], DVec3::new(0.0, 0.015, 0.06));
    assert_eq!(found["back"], DVec3::new(0.0, 0.015, -0.06));
    // What is beside it stays in its plane.
    let mut beside = tube_of([60.0, 60.0], 70.0, 24.0);
    for panel in ["front", "back"] {
        beside.shift(panel, DVec3::X);
    }
    assert_eq!(over(&beside, &below, DVec3::ZERO)["front"].z, 0.0);
}

#[test]
fn the_tightest_ring_is_found() {
    // Around the waist, at a height of 1.1 m, radius 12 cm.
    let around = 100.0 * std::f64::consts::TAU * 0.12;
    let ring = |part: f64| {
        let pattern = tube_of([0.8 * around, 0.5 * part * around], 70.0, 25.0);
        tightest(&pattern, &body(), 0.0).unwrap()
    };
    let found = ring(0.95);
    assert!(
        (found.height - 1.1).abs() < 1e-9 && (found.length - 0.95 * 0.01 * around).abs() < 1e-9,
        "{found:?}"
    );
    assert!((found.strain() - (1.0 / 0.95 - 1.0)).abs() < 0.02, "{found:?}");
    assert!(ring(1.2).strain() < 0.0 && ring(0.5).strain() > 0.8);
    // The legs of trousers have rings of their own, and together one at the waist.
    assert!((tightest(&trousers(40.0), &body(), 0.0).unwrap().length - 1.2).abs() < 1e-9);
}
