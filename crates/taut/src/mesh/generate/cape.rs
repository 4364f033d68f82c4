//! A cape for the [figure](super::figure): one flat piece, narrow at the shoulders and wide below, with a
//! notch for the neck.
//!
//! At the start its front edge lies on the shoulders, and it bends over them and hangs down behind the back.
//! It bends in one direction only, so that it starts without strain.

use std::{collections::BTreeMap, f64::consts::PI};

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::{Garment, GenerateError, pattern::fill::fill, require_range};
use crate::mesh::TriangleMesh;

/// Range of edge lengths of a cape \[m\].
const EDGE_RANGE: [f32; 2] = [0.003, 0.03];
/// Half the width at the shoulders and at the lower end \[m\].
const WIDTHS: [f64; 2] = [0.185, 0.46];
/// Length from the front edge to the lower end \[m\].
const LENGTH: f64 = 1.15;
/// Half the width and the depth of the notch for the neck \[m\].
const NOTCH: DVec2 = DVec2::new(0.105, 0.145);
/// Height of the front edge above the ground, and its distance in front of the figure's centre \[m\].
const FRONT: [f64; 2] = [1.485, 0.03];
/// Length of the part that lies on the shoulders, and the radius of its bend behind them \[m\].
const LEVEL: f64 = 0.06;
const RADIUS: f64 = 0.105;
/// Depth of the strip that the shoulders hold \[m\].
const HELD: f64 = 0.025;

/// A cape with edges of about `edge` \[m\]. In the pattern the front edge is up.
pub(super) fn generate(edge: f32) -> Result<Garment, GenerateError> {
    let edge = require_range("edge", edge, EDGE_RANGE)?;
    let boundary = outline(edge);
    let (points, triangles) = fill(&boundary, edge).unwrap_or_else(|| (boundary.clone(), Vec::new()));
    let held = |side: f64| -> Vec<u32> {
        let on = |v: &u32| points[*v as usize].y > -HELD && points[*v as usize].x * side > 0.0;
        (0..points.len() as u32).filter(on).collect()
    };
    let groups =
        BTreeMap::from([("shoulder:left".to_owned(), held(-1.0)), ("shoulder:right".to_owned(), held(1.0))]);
    let uv = |v: u32| {
        let p = points[v as usize];
        Vec2::new((0.5 + p.x / LENGTH) as f32, (1.0 + p.y / LENGTH) as f32)
    };
    let uvs = triangles.iter().map(|t| t.map(uv)).collect();
    let positions = points.iter().map(|p| Vec3::new(p.x as f32, 0.0, -p.y as f32)).collect();
    let start = points.iter().map(|p| hang(*p).as_vec3()).collect();
    let mesh = TriangleMesh { positions, triangles, uvs: Some(uvs), groups };
    Ok(Garment { mesh, start, seams: Vec::new() })
}

/// The boundary, counter-clockwise, in steps of about `edge` \[m\]; y is 0 at the front edge and negative
/// below it.
fn outline(edge: f64) -> Vec<DVec2> {
    let [top, low] = WIDTHS;
    let corners = [
        DVec2::new(-NOTCH.x, 0.0),
        DVec2::new(-top, 0.0),
        DVec2::new(-low, -LENGTH),
        DVec2::new(low, -LENGTH),
        DVec2::new(top, 0.0),
        DVec2::new(NOTCH.x, 0.0),
    ];
    let mut outline = Vec::new();
    for side in corners.windows(2) {
        let count = ((side[1] - side[0]).length() / edge).round().max(1.0);
        outline.extend((0..count as u64).map(|k| side[0].lerp(side[1], k as f64 / count)));
    }
    // The notch back to the first corner, at angles that divide its length evenly.
    let at = |angle: f64| NOTCH * DVec2::new(angle.cos(), -angle.sin());
    const FINE: usize = 1000;
    let mut lengths = vec![0.0];
    for k in 0..FINE {
        let [a, b] = [k, k + 1].map(|k| at(PI * k as f64 / FINE as f64));
        lengths.push(lengths[k] + (b - a).length());
    }
    let count = (lengths[FINE] / edge).round().max(1.0) as usize;
    outline.extend((0..count).map(|k| {
        let wanted = lengths[FINE] * k as f64 / count as f64;
        at(PI * lengths.partition_point(|&l| l < wanted) as f64 / FINE as f64)
    }));
    outline
}

/// Initial position of a point of the pattern; seen from behind, its left is the figure's.
fn hang(p: DVec2) -> DVec3 {
    let down = -p.y - LEVEL;
    let (y, z) = if down < 0.0 {
        (0.0, p.y)
    } else if down < RADIUS * PI / 2.0 {
        let (sin, cos) = (down / RADIUS).sin_cos();
        (RADIUS * (cos - 1.0), -LEVEL - RADIUS * sin)
    } else {
        (-RADIUS - (down - RADIUS * PI / 2.0), -LEVEL - RADIUS)
    };
    DVec3::new(-p.x, FRONT[0] + y, FRONT[1] + z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contact::{intersection::piercings, surface::Surface},
        mesh::{
            check::check,
            generate::{figure::Figure, fit::Fit},
        },
    };

    #[test]
    fn hangs_behind_the_figure_without_strain() {
        let cape = generate(0.02).unwrap();
        assert_eq!(check(&cape.mesh), []);
        let fit = Fit::measure(&cape, &Figure::new(0.02).unwrap());
        assert!(fit.clearance > 0.01, "{fit:?}");
        assert!(fit.least > -0.004 && fit.most < 0.004, "{} {}", fit.least, fit.most);
        let x: Vec<[f32; 3]> = cape.start.iter().map(|p| p.to_array()).collect();
        assert_eq!(piercings(&Surface::new(cape.mesh.triangles.clone()), &x), []);
        let left = &cape.mesh.groups["shoulder:left"];
        assert!(left.len() > 5 && left.iter().all(|&v| cape.start[v as usize].x > 0.1));
        assert_eq!(cape, generate(0.02).unwrap());
        assert!(generate(0.1).is_err());
    }

    #[test]
    fn triangles_are_even() {
        let cape = generate(0.011).unwrap();
        assert!((13_000..16_000).contains(&cape.mesh.triangles.len()), "{}", cape.mesh.triangles.len());
        for t in &cape.mesh.triangles {
            let p = t.map(|v| cape.mesh.positions[v as usize]);
            let sides = [0, 1, 2].map(|k| (p[(k + 1) % 3] - p[k]).length() / 0.011);
            assert!(sides.iter().all(|s| (0.55..1.7).contains(s)), "{sides:?} at {}", p[0]);
        }
    }
}
