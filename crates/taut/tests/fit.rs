//! Limits of coarser levels: closed form and fitted, and how far they push states that the base mesh allows.

use glam::{DVec3, Vec3};
use taut::{
    Limit,
    hierarchy::{
        self, Hierarchy, Site,
        fit::{CoarseLimits, Method, Task, bounds, fit},
    },
    kernel::{
        dihedral::{dihedral, dihedral_angle},
        random::Random,
        svd2::{cauchy, deformation_gradient, rest_inverse},
    },
    limit::bend::{NO_ANGLE, allowed_angles},
    mesh::{TriangleMesh, adjacency::Adjacency, generate},
    parallel::Threads,
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
    for _ in 0..20 {
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

#[test]
fn how_far_coarse_limits_push_states_that_the_base_mesh_allows() {
    let (mesh, hierarchy) = sheet(32);
    for degrees in [3.0, 12.0] {
        let limit = both(degrees);
        let all = [Method::Bounds, Method::Direct, Method::Indirect]
            .map(|method| (method, fitted(&mesh, &hierarchy, limit, method)));
        let mut random = Random::new(3, 0);
        for kind in ["roll", "wave", "fold", "accordion"] {
            let mut worst: Vec<Vec<Excess>> = vec![Vec::new(); 3];
            for _ in 0..6 {
                let mut unit = || f64::from(random.unit());
                let bend = match kind {
                    "roll" => Bend::Roll,
                    "wave" => Bend::Wave(1.0 + 4.0 * unit()),
                    "fold" => Bend::Fold(0.3 + 0.4 * unit(), 0.02 + 0.1 * unit()),
                    _ => Bend::Wave(12.0 + 12.0 * unit()),
                };
                let stretch = 0.96 + 0.08 * unit();
                let x = furthest(&mesh, bend, 3.2 * unit(), stretch, limit);
                for ((_, limits), worst) in all.iter().zip(&mut worst) {
                    let found = excess_of_levels(&mesh, &hierarchy, limits, &x);
                    worst.resize(found.len(), Excess::default());
                    worst.iter_mut().zip(found).for_each(|(w, f)| *w = w.worse(f));
                }
            }
            for ((method, _), worst) in all.iter().zip(&worst) {
                for (k, e) in worst.iter().enumerate() {
                    println!(
                        "{degrees} deg/cm {kind} {method:?} level {}: stretch {:.4} shrink {:.4} mean {:.5}, bend {:.2} mean {:.3} deg",
                        k + 1,
                        e.stretch,
                        e.shrink,
                        e.mean_strain,
                        e.bend.to_degrees(),
                        e.mean_bend.to_degrees()
                    );
                }
            }
        }
    }
    let _ = (NO_ANGLE, bounds);
}
