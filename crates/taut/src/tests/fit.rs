//! Limits of coarser levels: closed form and fitted, and how far they push states that the base mesh allows.

use std::sync::Mutex;

use glam::{DVec3, Vec3};
use taut::{
    Limit,
    element::hinge::{NO_ANGLE, allowed_angles},
    exec::threads::Threads,
    hierarchy::{
        self, Hierarchy, Level, Site, Transfer,
        fit::{CoarseLimits, Method, Task, bounds, fit},
    },
    kernel::{
        dihedral::{dihedral, dihedral_angle},
        random::Random,
        svd2::{cauchy, deformation_gradient, rest_inverse},
    },
    limit::NO_LIMIT,
    mesh::{TriangleMesh, adjacency::Adjacency, generate},
};

const STRAIN: Limit = Limit { min: Some(-0.05), max: Some(0.05) };

fn both(degrees: f32) -> Limit {
    Limit { min: Some(-degrees), max: Some(degrees) }
}

fn sheet(cells: u32) -> (TriangleMesh, Hierarchy) {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let hierarchy = hierarchy::build(&mesh, &hierarchy::Options { coarsest: 40, ..Default::default() });
    (mesh, hierarchy)
}

fn fitted(mesh: &TriangleMesh, hierarchy: &Hierarchy, bend: Limit, method: Method) -> CoarseLimits {
    let task = Task { mesh, hierarchy, strain: STRAIN, bend, method };
    fit(&task, &Threads::new(2).unwrap(), &|_| {}).limits
}

/// Residuals of a state past limits: largest and mean, of stretches and angles \[rad\].
#[derive(Clone, Copy, Debug, Default)]
struct Excess {
    stretch: f64,
    shrink: f64,
    mean_strain: f64,
    bend: f64,
    mean_bend: f64,
}

impl Excess {
    fn of(
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        x: &[DVec3],
        strain: &[[f64; 2]],
        bend: &[[f64; 2]],
    ) -> Self {
        let mut found = Self::default();
        for (t, [min, max]) in triangles.iter().zip(strain) {
            let r = t.map(|v| rest[v as usize].as_dvec3().to_array());
            let f = deformation_gradient(&t.map(|v| x[v as usize].to_array()), rest_inverse(r).unwrap().0);
            let c = cauchy(&f);
            let (stretch, shrink) = (c.larger.sqrt() - max, min - c.smaller.sqrt());
            found.stretch = found.stretch.max(stretch);
            found.shrink = found.shrink.max(shrink);
            let residual = stretch.max(shrink).max(0.0);
            found.mean_strain += residual / triangles.len() as f64;
        }
        for (h, [min, max]) in Adjacency::new(triangles).hinges.iter().zip(bend) {
            let angle = dihedral_angle(&h.map(|v| x[v as usize].to_array()));
            let residual = (angle - max).max(min - angle).max(0.0);
            found.bend = found.bend.max(residual);
            found.mean_bend += residual / bend.len() as f64;
        }
        found
    }

    fn worse(self, other: Self) -> Self {
        Self {
            stretch: self.stretch.max(other.stretch),
            shrink: self.shrink.max(other.shrink),
            mean_strain: self.mean_strain.max(other.mean_strain),
            bend: self.bend.max(other.bend),
            mean_bend: self.mean_bend.max(other.mean_bend),
        }
    }
}

/// Excess of a state past the limits of the base mesh.
fn excess_of_base(mesh: &TriangleMesh, x: &[DVec3], bend: Limit) -> Excess {
    let strain = vec![[0.95, 1.05]; mesh.triangles.len()];
    let angles: Vec<[f64; 2]> = Adjacency::new(&mesh.triangles)
        .hinges
        .iter()
        .map(|h| {
            let d = dihedral(&h.map(|v| mesh.positions[v as usize].as_dvec3().to_array()));
            allowed_angles(bend, 2.0 * d.sin_half.atan2(d.cos_half), d.heights)
        })
        .collect();
    Excess::of(&mesh.positions, &mesh.triangles, x, &strain, &angles)
}

/// Excess of a state past the limits of each level, its vertices carried along by the base mesh.
fn excess_of_levels(
    mesh: &TriangleMesh,
    hierarchy: &Hierarchy,
    limits: &CoarseLimits,
    x: &[DVec3],
) -> Vec<Excess> {
    let at = |site: &Site| {
        let corners = mesh.triangles[site.triangle as usize];
        (0..3).map(|k| x[corners[k] as usize] * f64::from(site.weights[k])).sum::<DVec3>()
    };
    let of = |(level, limits): (&hierarchy::Level, &hierarchy::fit::LevelLimits)| {
        let coarse: Vec<DVec3> = level.on_base.iter().map(at).collect();
        let strain: Vec<_> = limits.strain.iter().map(|r| [r.min, r.max].map(f64::from)).collect();
        let bend: Vec<_> = limits.bend.iter().map(|b| b.map(f64::from)).collect();
        Excess::of(&level.mesh.positions, &level.mesh.triangles, &coarse, &strain, &bend)
    };
    hierarchy.levels.iter().zip(&limits.levels).map(of).collect()
}

/// How the tangent of a profile turns along its length, from 0 to 1, for unit amplitude.
#[derive(Clone, Copy, Debug)]
enum Bend {
    /// All the same way.
    Roll,
    /// To and fro, so many times.
    Wave(f64),
    /// Within a band about this place, of this width.
    Fold(f64, f64),
}

/// A flat sheet bent along one direction, without strain but for that of the triangulation.
fn bent(mesh: &TriangleMesh, bend: Bend, direction: f64, amplitude: f64, stretch: f64) -> Vec<DVec3> {
    const STEPS: usize = 4000;
    let (sin, cos) = direction.sin_cos();
    let angle = |s: f64| {
        amplitude
            * match bend {
                Bend::Roll => s - 0.5,
                Bend::Wave(count) => (std::f64::consts::TAU * count * s).sin(),
                Bend::Fold(place, width) => ((s - place) / width).clamp(-0.5, 0.5),
            }
    };
    // The profile as a table over a length of 2, which covers the sheet in any direction.
    let step = 2.0 / STEPS as f64;
    let mut profile = vec![(0.0, 0.0)];
    for k in 0..STEPS {
        let (x, z) = profile[k];
        let (s, c) = angle((k as f64 + 0.5) / STEPS as f64).sin_cos();
        profile.push((x + c * step, z + s * step));
    }
    let place = |p: &Vec3| {
        let p = p.as_dvec3() - DVec3::new(0.5, 0.0, 0.5);
        let (along, across) = (p.x * cos + p.z * sin, p.z * cos - p.x * sin);
        let at = ((along + 1.0) / step).clamp(0.0, STEPS as f64 - 1.0);
        let (k, part) = (at as usize, at.fract());
        let (x, height) = (
            profile[k].0 * (1.0 - part) + profile[k + 1].0 * part,
            profile[k].1 * (1.0 - part) + profile[k + 1].1 * part,
        );
        DVec3::new(x, height, across) * stretch
    };
    mesh.positions.iter().map(place).collect()
}

/// The state of a family that goes as far as the base mesh allows.
fn furthest(mesh: &TriangleMesh, bend: Bend, direction: f64, stretch: f64, limit: Limit) -> Vec<DVec3> {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..16 {
        let amplitude = 0.5 * (low + high);
        let excess = excess_of_base(mesh, &bent(mesh, bend, direction, amplitude, stretch), limit);
        if excess.stretch <= 1e-6 && excess.shrink <= 1e-6 && excess.bend <= 1e-6 {
            low = amplitude
        } else {
            high = amplitude
        }
    }
    bent(mesh, bend, direction, low, stretch)
}

/// Worst excess past the limits of each level over random states of a kind that go as far as the base mesh
/// allows.
fn pushed(
    kind: &str,
    mesh: &TriangleMesh,
    hierarchy: &Hierarchy,
    limit: Limit,
    all: &[CoarseLimits],
) -> Vec<Vec<Excess>> {
    let mut random = Random::new(3, 0);
    let mut worst = vec![vec![Excess::default(); hierarchy.levels.len()]; all.len()];
    for _ in 0..3 {
        let mut unit = || f64::from(random.unit());
        let bend = match kind {
            "roll" => Bend::Roll,
            "wave" => Bend::Wave(1.0 + 4.0 * unit()),
            "fold" => Bend::Fold(0.3 + 0.4 * unit(), 0.02 + 0.1 * unit()),
            _ => Bend::Wave(10.0 + 10.0 * unit()),
        };
        let stretch = 0.96 + 0.08 * unit();
        let x = furthest(mesh, bend, 3.2 * unit(), stretch, limit);
        for (limits, worst) in all.iter().zip(&mut worst) {
            let found = excess_of_levels(mesh, hierarchy, limits, &x);
            worst.iter_mut().zip(found).for_each(|(w, f)| *w = w.worse(f));
        }
    }
    worst
}

#[test]
#[ignore = "full tier: long"]
fn how_far_coarse_limits_push_states_that_the_base_mesh_allows() {
    const METHODS: [Method; 3] = [Method::Bounds, Method::Direct, Method::Indirect];
    let (mesh, hierarchy) = sheet(24);
    let limit = both(6.0);
    let all = METHODS.map(|method| fitted(&mesh, &hierarchy, limit, method));
    for kind in ["roll", "wave", "fold", "accordion"] {
        let worst = pushed(kind, &mesh, &hierarchy, limit, &all);
        for (method, levels) in METHODS.iter().zip(&worst) {
            for (k, e) in levels.iter().enumerate() {
                println!(
                    "{kind}, {method:?}, level {}: stretched by {:.3} too much, shrunk by {:.3}, mean {:.4}; bent by {:.1}° too much, mean {:.2}°",
                    k + 1,
                    e.stretch,
                    e.shrink,
                    e.mean_strain,
                    e.bend.to_degrees(),
                    e.mean_bend.to_degrees()
                );
                // Chords over a fold stretch a coarse triangle by up to √2: the upper limit is known to push
                // those.
                assert!(e.stretch < 0.3, "{kind} {method:?} {e:?}");
                match method {
                    Method::Bounds => assert!(e.shrink < 1e-4 && e.bend < 1e-4, "{kind} {e:?}"),
                    _ => assert!(e.shrink < 0.04 && e.bend.to_degrees() < 6.0, "{kind} {method:?} {e:?}"),
                }
            }
        }
    }
}

#[test]
fn smooth_bends_are_hardly_pushed() {
    let (mesh, hierarchy) = sheet(24);
    let all = [Method::Bounds, Method::Direct].map(|method| fitted(&mesh, &hierarchy, both(6.0), method));
    let mut random = Random::new(5, 0);
    for _ in 0..6 {
        // The sheet turns by 60 degrees from edge to edge, elements of the coarsest level by about 15.
        let mut unit = || f64::from(random.unit());
        let x = bent(&mesh, Bend::Roll, 3.2 * unit(), 2.1, 0.96 + 0.08 * unit());
        let base = excess_of_base(&mesh, &x, both(6.0));
        assert!(base.stretch.max(base.shrink).max(base.bend) < 1e-6);
        for e in all.iter().flat_map(|limits| excess_of_levels(&mesh, &hierarchy, limits, &x)) {
            assert!(e.stretch < 0.005 && e.shrink < 1e-4 && e.bend < 1e-4, "{e:?}");
        }
    }
}

/// A right triangle with legs of 2 cm, cut into four, as the base; and itself as the only level. Midpoints of
/// edges are raised by `height` \[cm\].
fn right_triangle(height: f32) -> (TriangleMesh, Hierarchy) {
    let p = |x: f32, y: f32, z: f32| 0.01 * Vec3::new(x, y, z);
    let base = TriangleMesh {
        positions: vec![
            p(0.0, 0.0, 0.0),
            p(1.0, 0.0, height),
            p(2.0, 0.0, 0.0),
            p(0.0, 1.0, height),
            p(1.0, 1.0, height),
            p(0.0, 2.0, 0.0),
        ],
        triangles: vec![[0, 1, 3], [1, 4, 3], [1, 2, 4], [3, 4, 5]],
        ..TriangleMesh::default()
    };
    let corner = |triangle: u32, corner: usize| {
        let mut weights = [0.0; 3];
        weights[corner] = 1.0;
        Site { triangle, weights }
    };
    let sites = vec![corner(0, 0), corner(2, 1), corner(3, 2)];
    let level = Level {
        mesh: TriangleMesh {
            positions: vec![base.positions[0], base.positions[2], base.positions[5]],
            triangles: vec![[0, 1, 2]],
            ..TriangleMesh::default()
        },
        transfer: Transfer::default(),
        on_base: sites.clone(),
        on_finer: sites,
    };
    (base, Hierarchy { levels: vec![level] })
}

#[test]
fn bounds_of_a_triangle_by_hand() {
    let (base, hierarchy) = right_triangle(0.0);
    let range = |bend: Limit| bounds(&base, &hierarchy, STRAIN, bend).levels[0].strain[0];
    // Along the longest edge two hinges are crossed, each of 1 cm + 1 cm: 40 degrees in all.
    let half = 20f64.to_radians();
    let found = range(both(10.0));
    assert!((f64::from(found.min) - 0.95 * half.sin() / half).abs() < 1e-5, "{found:?}");
    assert_eq!(found.max, 1.05);
    // Without bend limits it folds flat, and so it does with loose ones, and with one on one side only.
    assert_eq!(range(Limit::default()).min, 0.0);
    assert_eq!(range(both(100.0)).min, 0.0);
    assert_eq!(range(Limit { min: None, max: Some(1.0) }).min, 0.0);
}

#[test]
fn a_curved_rest_shape_can_be_flattened() {
    let (base, hierarchy) = right_triangle(0.5);
    let found = bounds(&base, &hierarchy, STRAIN, both(10.0)).levels[0].strain[0];
    // The way over the raised middle of a leg.
    let detour = 1.25f32.sqrt();
    assert!((found.max - 1.05 * detour).abs() < 2e-3, "{found:?}");
    let none = bounds(&base, &hierarchy, Limit::default(), Limit::default()).levels[0].strain[0];
    assert_eq!((none.min, none.max), (0.0, NO_LIMIT));
}

#[test]
fn bounds_of_hinges_add_up_what_is_crossed() {
    let mesh = generate::grid([0.04, 0.04], [4, 4], generate::Diagonals::Alternating, 0);
    let hierarchy = hierarchy::build(&mesh, &hierarchy::Options { coarsest: 10, ..Default::default() });
    assert!(!hierarchy.levels.is_empty());
    for degrees in [1.0, 2.0] {
        let limits = bounds(&mesh, &hierarchy, STRAIN, both(degrees));
        for [low, high] in &limits.levels[0].bend {
            // At least one hinge of 1/√2 + 1/√2 cm; at most all that 4 cm can cross.
            let [least, most] = [1.41, 30.0].map(|cm: f32| (degrees * cm).to_radians());
            assert!((least..most).contains(high) && (low + high).abs() < 1e-5, "{low} {high}");
        }
    }
    let free = bounds(&mesh, &hierarchy, STRAIN, Limit::default());
    assert!(free.levels[0].bend.iter().all(|b| *b == [-NO_ANGLE, NO_ANGLE]));
}

/// Fitted limits lie between the base's own and the closed-form bounds.
fn lie_in_order(mesh: &TriangleMesh, hierarchy: &Hierarchy, bend: Limit, limits: &CoarseLimits) {
    let bounds = bounds(mesh, hierarchy, STRAIN, bend);
    for ((level, limits), bounds) in hierarchy.levels.iter().zip(&limits.levels).zip(&bounds.levels) {
        for (found, bound) in limits.strain.iter().zip(&bounds.strain) {
            assert!(bound.min <= found.min && found.min <= 0.95, "{found:?} {bound:?}");
            assert!(1.05 <= found.max && found.max <= bound.max, "{found:?} {bound:?}");
        }
        let hinges = Adjacency::new(&level.mesh.triangles).hinges;
        for ((hinge, found), bound) in hinges.iter().zip(&limits.bend).zip(&bounds.bend) {
            let rest = dihedral_angle(&hinge.map(|v| level.mesh.positions[v as usize].as_dvec3().to_array()));
            assert!(bound[0] <= found[0] && f64::from(found[0]) <= rest + 1e-5, "{found:?} {bound:?} {rest}");
            assert!(found[1] <= bound[1] && rest - 1e-5 <= f64::from(found[1]), "{found:?} {bound:?} {rest}");
        }
    }
}

fn median(values: impl Iterator<Item = f32>) -> f32 {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values[values.len() / 2]
}

#[test]
fn fitted_limits_lie_between_the_base_and_the_bounds() {
    let (mesh, hierarchy) = sheet(16);
    for method in [Method::Direct, Method::Indirect] {
        let limits = fitted(&mesh, &hierarchy, both(4.0), method);
        lie_in_order(&mesh, &hierarchy, both(4.0), &limits);
        // Coarser elements can shrink and bend further, and further than the base's: 4 °/cm on cells of 6.25
        // cm.
        let shrink: Vec<f32> = limits.levels.iter().map(|l| median(l.strain.iter().map(|r| r.min))).collect();
        let bend: Vec<f32> = limits.levels.iter().map(|l| median(l.bend.iter().map(|b| b[1]))).collect();
        assert!(shrink[0] < 0.94 && shrink.windows(2).all(|w| w[1] < w[0]), "{shrink:?}");
        assert!(bend[0] > 50f32.to_radians() && bend.windows(2).all(|w| w[1] > w[0]), "{bend:?}");
    }
}

#[test]
fn shells_are_fitted_too() {
    let mesh = generate::Generator::Sphere { radius: 0.1, frequency: 6 }.generate().unwrap();
    let hierarchy = hierarchy::build(&mesh, &hierarchy::Options { coarsest: 40, ..Default::default() });
    let limits = fitted(&mesh, &hierarchy, both(6.0), Method::Direct);
    assert!(!limits.levels.is_empty());
    lie_in_order(&mesh, &hierarchy, both(6.0), &limits);
}

#[test]
fn one_sided_limits_leave_the_other_side_open() {
    let (mesh, hierarchy) = sheet(16);
    let strain = Limit { min: None, max: Some(0.01) };
    let task = Task { mesh: &mesh, hierarchy: &hierarchy, strain, bend: both(4.0), method: Method::Direct };
    let limits = fit(&task, &Threads::new(1).unwrap(), &|_| {}).limits;
    assert!(limits.levels[0].strain.iter().all(|r| r.min == 0.0 && r.max == 1.01));
}

#[test]
fn the_number_of_threads_changes_no_bit_and_progress_reaches_the_end() {
    let (mesh, hierarchy) = sheet(16);
    for method in [Method::Direct, Method::Indirect] {
        let task = Task { mesh: &mesh, hierarchy: &hierarchy, strain: STRAIN, bend: both(8.0), method };
        let of = |threads: usize| {
            let told = Mutex::new(Vec::new());
            let fitted = fit(&task, &Threads::new(threads).unwrap(), &|part| told.lock().unwrap().push(part));
            let told = told.into_inner().unwrap();
            assert!(told.len() > 100 && told.iter().all(|part| (0.0..=1.0 + 1e-9).contains(part)));
            assert_eq!((told.last(), fitted.times.len()), (Some(&1.0), hierarchy.levels.len()));
            fitted.limits
        };
        let one = of(1);
        assert!(one == of(2) && one == of(5));
    }
}
