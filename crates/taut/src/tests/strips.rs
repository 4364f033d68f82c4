//! Strips of different meshes, clamped at one end, and how far the elastica sags.

use glam::{DVec2, Vec3};

use crate::{
    kernel::random::Random,
    mesh::{TriangleMesh, generate::triangulate},
};

/// How a strip is cut into triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A grid with parallel diagonals.
    Regular,
    /// A grid with alternating diagonals.
    Alternating,
    /// A grid with parallel diagonals whose vertices are moved by up to a quarter of a cell.
    Jittered,
    /// The Delaunay triangles of random points at even distances.
    Delaunay,
    /// A grid at 30° to the strip, cut out.
    Rotated,
    /// The same at another angle \[°\].
    Turned(u32),
}

pub(crate) const KINDS: [Kind; 5] =
    [Kind::Regular, Kind::Alternating, Kind::Jittered, Kind::Delaunay, Kind::Rotated];

/// Cells across a strip.
pub(crate) const ACROSS: u32 = 10;

/// A strip in x (across) and z (along), `ACROSS` by `cells` + 1 cells of length 1. The vertices of its first
/// two rows, z = 0 and z = 1, are to be held, and begin the list. Triangles between them bend too: the clamp
/// is at z = 1/2.
pub(crate) fn strip(kind: Kind, cells: u32, seed: u64) -> TriangleMesh {
    let (width, length) = (f64::from(ACROSS), f64::from(cells + 1));
    let mut random = Random::new(seed, 0);
    let mut unit = || f64::from(random.unit());
    let mut points = Vec::new();
    for j in 0..=cells + 1 {
        points.extend((0..=ACROSS).map(|i| DVec2::new(f64::from(i), f64::from(j))));
    }
    let is_inner = |p: &DVec2, margin: f64| {
        p.x > margin && p.x < width - margin && p.y > 1.0 + margin && p.y < length - margin
    };
    let triangles = if matches!(kind, Kind::Delaunay | Kind::Rotated | Kind::Turned(_)) {
        points.retain(|p| !is_inner(p, 0.0));
        let inner: Vec<DVec2> = match kind {
            Kind::Delaunay => scattered(&points, [width, length], &mut unit),
            _ => {
                let reach = i64::from(cells) + 20;
                let degrees = if let Kind::Turned(degrees) = kind { degrees } else { 30 };
                let turn = DVec2::from_angle(f64::from(degrees).to_radians());
                let at = |i, j| turn.rotate(DVec2::new(i as f64, j as f64)) + DVec2::new(0.123, 0.077);
                (-reach..reach).flat_map(|i| (-reach..reach).map(move |j| at(i, j))).collect()
            }
        };
        points.extend(inner.into_iter().filter(|p| is_inner(p, 0.4)));
        let triangles = triangulate(&points);
        // Along straight sides of the hull there are triangles without height.
        let height = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).perp_dot(c - a).abs()
        };
        triangles.into_iter().filter(|t| height(t) > 1e-6).map(|[a, b, c]| [a, c, b]).collect()
    } else {
        if kind == Kind::Jittered {
            for p in points.iter_mut().filter(|p| is_inner(p, 0.0)) {
                *p += 0.25 * unit().sqrt() * DVec2::from_angle(std::f64::consts::TAU * unit());
            }
        }
        grid_triangles(cells + 1, kind == Kind::Alternating)
    };
    let positions = points.iter().map(|p| Vec3::new(p.x as f32, 0.0, p.y as f32)).collect();
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}

fn grid_triangles(rows: u32, alternating: bool) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for j in 0..rows {
        for i in 0..ACROSS {
            let a = j * (ACROSS + 1) + i;
            let [b, d] = [a + 1, a + ACROSS + 1];
            let c = d + 1;
            let other = alternating && (i + j) % 2 == 1;
            triangles.extend(if other { [[a, d, b], [b, d, c]] } else { [[a, c, b], [a, d, c]] });
        }
    }
    triangles
}

/// Random points, each at least 0.8 from each other and from `points`.
fn scattered(points: &[DVec2], [width, length]: [f64; 2], unit: &mut impl FnMut() -> f64) -> Vec<DVec2> {
    let mut all = points.to_vec();
    for _ in 0..(40.0 * width * length) as u32 {
        let p = DVec2::new(width * unit(), length * unit());
        if all.iter().all(|q| q.distance_squared(p) > 0.64) {
            all.push(p);
        }
    }
    all.split_off(points.len())
}

/// How far the tip of a clamped elastica of length 1 drops under its own weight, with qL³/EI = `load`: θ'' =
/// −load (1 − s) cos θ with θ(0) = 0 and θ'(1) = 0, by shooting.
pub(crate) fn elastica(load: f64) -> f64 {
    const STEPS: u32 = 2000;
    let h = 1.0 / f64::from(STEPS);
    let shoot = |curvature: f64| {
        let (mut angle, mut curvature, mut drop) = (0.0f64, curvature, 0.0);
        for k in 0..STEPS {
            let s = (f64::from(k) + 0.5) * h;
            let half = angle + 0.5 * h * curvature;
            drop += h * half.sin();
            curvature -= h * load * (1.0 - s) * half.cos();
            angle = half + 0.5 * h * curvature;
        }
        (curvature, drop)
    };
    let (mut low, mut high) = (0.0, load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle).0 < 0.0 { low = middle } else { high = middle }
    }
    shoot(low).1
}
