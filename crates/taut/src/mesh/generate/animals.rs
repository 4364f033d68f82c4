//! Animals made of blobs, for soft solids and shells: standing at y = 0, facing +x, symmetric about z = 0
//! except for the tail.

use super::{GenerateError, blobs::Blobs, require_length};
use crate::mesh::TriangleMesh;

/// A creature like a small dragon: neck, four legs, tail, spines along its back, and short wings. It is
/// `length` \[m\] from snout to tail, half as high, and has about `triangles` triangles.
///
/// # Errors
/// If `length` or `triangles` is out of range.
pub fn creature(length: f32, triangles: u32) -> Result<TriangleMesh, GenerateError> {
    creature_blobs().surface(triangles, 0, require_length("length", length)?)
}

/// A rabbit with two long ears. It is `height` \[m\] high and has about `triangles` triangles.
///
/// # Errors
/// If `height` or `triangles` is out of range.
pub fn bunny(height: f32, triangles: u32) -> Result<TriangleMesh, GenerateError> {
    bunny_blobs().surface(triangles, 1, require_length("height", height)?)
}

/// A bath duck with a bill, wings and a tail. It is `length` \[m\] from bill to tail and has about
/// `triangles` triangles.
///
/// # Errors
/// If `length` or `triangles` is out of range.
pub fn duck(length: f32, triangles: u32) -> Result<TriangleMesh, GenerateError> {
    duck_blobs().surface(triangles, 0, require_length("length", length)?)
}

fn creature_blobs() -> Blobs {
    let mut b = Blobs::default();
    // Body, neck and head.
    b.chain(0.06, &[([-0.20, 0.31, 0.0], 0.105), ([-0.04, 0.30, 0.0], 0.115), ([0.14, 0.33, 0.0], 0.115)]);
    b.chain(
        0.07,
        &[
            ([0.18, 0.37, 0.0], 0.085),
            ([0.28, 0.47, 0.0], 0.062),
            ([0.33, 0.57, 0.0], 0.050),
            ([0.37, 0.64, 0.0], 0.050),
        ],
    );
    b.chain(0.03, &[([0.38, 0.655, 0.0], 0.060), ([0.50, 0.625, 0.0], 0.036)]);
    b.chain(0.015, &[([0.39, 0.615, 0.0], 0.036), ([0.475, 0.570, 0.0], 0.021)]);
    b.balls(0.012, [0.415, 0.695, 0.034], 0.023);
    b.balls(0.008, [0.520, 0.645, 0.018], 0.014);
    b.chains(
        0.012,
        &[([0.355, 0.695, 0.034], 0.025), ([0.29, 0.745, 0.055], 0.022), ([0.225, 0.760, 0.064], 0.018)],
    );
    // Tail, with a curl.
    b.chain(
        0.06,
        &[
            ([-0.24, 0.30, 0.0], 0.088),
            ([-0.40, 0.23, 0.02], 0.066),
            ([-0.56, 0.14, 0.06], 0.048),
            ([-0.70, 0.085, 0.06], 0.035),
            ([-0.82, 0.075, 0.00], 0.026),
            ([-0.90, 0.105, -0.06], 0.020),
        ],
    );
    b.chain(
        0.015,
        &[([-0.90, 0.105, -0.06], 0.018), ([-0.925, 0.120, -0.08], 0.034), ([-0.965, 0.150, -0.11], 0.017)],
    );
    // Legs, and three toes each.
    b.chains(
        0.05,
        &[
            ([0.15, 0.29, 0.085], 0.070),
            ([0.11, 0.17, 0.125], 0.046),
            ([0.15, 0.06, 0.13], 0.036),
            ([0.18, 0.036, 0.132], 0.036),
        ],
    );
    b.chains(
        0.05,
        &[
            ([-0.18, 0.28, 0.085], 0.085),
            ([-0.10, 0.17, 0.135], 0.058),
            ([-0.20, 0.075, 0.135], 0.037),
            ([-0.155, 0.036, 0.138], 0.036),
        ],
    );
    for (x, z) in [(0.18, 0.132), (-0.155, 0.138)] {
        for turn in [-1.0, 0.0, 1.0] {
            let tip = [x + 0.072 - 0.008 * f64::abs(turn), 0.017, z + 0.040 * turn];
            b.chains(0.015, &[([x + 0.01, 0.030, z + 0.016 * turn], 0.023), (tip, 0.017)]);
        }
    }
    // Wings: a shoulder, an arm, fingers, and skin between them.
    let [shoulder, wrist] = [[0.08, 0.42, 0.055], [0.02, 0.60, 0.16]];
    let tips = [[-0.26, 0.66, 0.27], [-0.26, 0.53, 0.22], [-0.19, 0.41, 0.13]];
    b.chains(0.03, &[(shoulder, 0.034), (wrist, 0.022)]);
    for tip in tips {
        b.chains(0.02, &[(wrist, 0.024), (tip, 0.019)]);
    }
    b.plates(0.02, [wrist, tips[0], tips[1]], 0.016);
    b.plates(0.02, [wrist, tips[1], tips[2]], 0.016);
    b.plates(0.02, [wrist, tips[2], shoulder], 0.017);
    // Spines from the neck to the tail: their position and length.
    let spines = [
        ([0.300, 0.665, 0.0], 0.050),
        ([0.255, 0.580, 0.0], 0.055),
        ([0.205, 0.505, 0.0], 0.060),
        ([0.125, 0.450, 0.0], 0.065),
        ([0.035, 0.425, 0.0], 0.065),
        ([-0.055, 0.415, 0.0], 0.065),
        ([-0.145, 0.412, 0.0], 0.065),
        ([-0.235, 0.388, 0.0], 0.062),
        ([-0.325, 0.338, 0.01], 0.058),
        ([-0.415, 0.284, 0.022], 0.052),
        ([-0.505, 0.226, 0.045], 0.046),
        ([-0.595, 0.172, 0.062], 0.040),
        ([-0.680, 0.132, 0.062], 0.034),
    ];
    for ([x, y, z], height) in spines {
        let tip = [x - 0.75 * height, y + 0.8 * height, z];
        b.chain(0.02, &[([x, y - 0.02, z], 0.58 * height), (tip, (0.3 * height).max(0.017))]);
    }
    b
}

fn bunny_blobs() -> Blobs {
    let mut b = Blobs::default();
    // Body, chest, neck and head.
    b.chain(0.08, &[([-0.10, 0.155, 0.0], 0.135), ([0.05, 0.165, 0.0], 0.105)]);
    b.chain(0.06, &[([0.07, 0.20, 0.0], 0.085), ([0.115, 0.285, 0.0], 0.070)]);
    b.chain(0.03, &[([0.125, 0.325, 0.0], 0.082), ([0.19, 0.300, 0.0], 0.056)]);
    b.balls(0.03, [0.175, 0.285, 0.030], 0.040);
    b.balls(0.010, [0.180, 0.345, 0.050], 0.020);
    b.ball(0.010, [0.242, 0.312, 0.0], 0.016);
    // Ears, hollow in front.
    b.chains(
        0.02,
        &[
            ([0.110, 0.385, 0.034], 0.026),
            ([0.085, 0.450, 0.050], 0.034),
            ([0.060, 0.515, 0.062], 0.032),
            ([0.040, 0.570, 0.068], 0.017),
        ],
    );
    b.carve(
        0.025,
        &[([0.142, 0.430, 0.054], 0.014), ([0.121, 0.470, 0.068], 0.026), ([0.094, 0.535, 0.076], 0.018)],
    );
    // Thighs, hind feet, fore legs, tail.
    b.chains(0.03, &[([-0.125, 0.125, 0.085], 0.082), ([-0.065, 0.105, 0.105], 0.068)]);
    b.chains(
        0.025,
        &[([-0.120, 0.036, 0.110], 0.036), ([-0.01, 0.032, 0.120], 0.036), ([0.045, 0.028, 0.122], 0.028)],
    );
    b.chains(
        0.035,
        &[
            ([0.09, 0.15, 0.055], 0.048),
            ([0.130, 0.055, 0.062], 0.032),
            ([0.170, 0.030, 0.064], 0.030),
            ([0.195, 0.026, 0.064], 0.026),
        ],
    );
    b.ball(0.02, [-0.245, 0.165, 0.0], 0.052);
    b
}

fn duck_blobs() -> Blobs {
    let mut b = Blobs::default();
    // Body, wider than high, and tail.
    b.chains(0.10, &[([-0.20, 0.20, 0.05], 0.19), ([0.12, 0.20, 0.05], 0.20)]);
    b.chain(0.08, &[([-0.34, 0.30, 0.0], 0.11), ([-0.52, 0.43, 0.0], 0.045)]);
    // Neck, head and bill.
    b.chain(0.08, &[([0.15, 0.32, 0.0], 0.14), ([0.20, 0.46, 0.0], 0.115)]);
    b.ball(0.05, [0.22, 0.56, 0.0], 0.155);
    b.chains(0.03, &[([0.35, 0.55, 0.015], 0.055), ([0.48, 0.535, 0.040], 0.032)]);
    b.balls(0.015, [0.31, 0.615, 0.085], 0.028);
    // Wings.
    b.chains(
        0.03,
        &[([0.04, 0.25, 0.215], 0.055), ([-0.10, 0.27, 0.235], 0.065), ([-0.27, 0.33, 0.225], 0.030)],
    );
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{
        check::check,
        stuff::{StuffOptions, stuff},
    };

    fn smallest_angle(mesh: &TriangleMesh) -> (f32, f32) {
        let mut all: Vec<f32> = Vec::new();
        for t in &mesh.triangles {
            let x = t.map(|v| mesh.positions[v as usize]);
            let angle = |k: usize| (x[(k + 1) % 3] - x[k]).angle_between(x[(k + 2) % 3] - x[k]).to_degrees();
            all.push(angle(0).min(angle(1)).min(angle(2)));
        }
        all.sort_unstable_by(f32::total_cmp);
        (all[0], all[all.len() / 100])
    }

    /// Euler characteristic: 2 for every closed component without handles.
    fn euler(mesh: &TriangleMesh) -> i64 {
        mesh.positions.len() as i64 - mesh.triangles.len() as i64 / 2
    }

    #[test]
    fn animals_are_closed_even_and_of_the_size_that_was_asked_for() {
        for (mesh, wanted, extent) in [
            (creature(1.5, 37_000).unwrap(), 37_000.0, 1.5),
            (bunny(0.6, 20_000).unwrap(), 20_000.0, 0.6),
            (duck(0.3, 4100).unwrap(), 4100.0, 0.3),
        ] {
            assert!(check(&mesh).is_empty(), "{:?}", check(&mesh).first());
            assert!((mesh.triangles.len() as f64 / wanted - 1.0).abs() < 0.03, "{}", mesh.triangles.len());
            let (least, hundredth) = smallest_angle(&mesh);
            println!(
                "{} triangles, smallest angle {least}, 1 % under {hundredth}, euler {}",
                mesh.triangles.len(),
                euler(&mesh)
            );
            assert!(least > 5.0 && hundredth > 20.0, "{least} {hundredth}");
            let all = [glam::Vec3::INFINITY, glam::Vec3::NEG_INFINITY];
            let [low, high] = mesh.positions.iter().fold(all, |[l, h], &x| [l.min(x), h.max(x)]);
            let size = high - low;
            assert!((size.max_element() / extent - 1.0).abs() < 0.05, "{size}");
            assert!(low.y.abs() < 0.01 * extent, "{low}");
        }
        assert!(creature(1.0, 3).is_err() && bunny(f32::NAN, 5000).is_err() && duck(0.3, 3).is_err());
        // Without holes or handles.
        assert_eq!(euler(&duck(0.3, 4100).unwrap()), 2);
    }

    #[test]
    fn the_creature_is_filled_with_74k_tetrahedra_that_reach_every_part() {
        let surface = creature(1.5, 37_000).unwrap();
        let options = StuffOptions::for_count(&surface, 74_000).unwrap();
        let stuffed = stuff(&surface, &options).unwrap();
        let count = stuffed.mesh.tetrahedra.len();
        assert!((72_500..75_500).contains(&count), "{count}");
        println!("{count} tetrahedra at {} m: {:?}", options.spacing, stuffed.warnings);
        assert!(!stuffed.warnings.iter().any(|w| w.contains("came off")), "{:?}", stuffed.warnings);
    }
}
