//! Limits of coarser levels (Wang et al. 2010, section 4.2, W9): how far a coarse element can shrink, stretch
//! and bend while the base mesh keeps its own limits.
//!
//! Three methods, of which a caller chooses one ([`Method`]):
//! - **Bounds** in closed form, from the rest shape alone (`fit/bounds.rs`): milliseconds, and the default
//!   where nothing has been fitted.
//! - **Direct**: the paper's search (`fit/search.rs`). The base mesh around an element (`fit/patch.rs`) is
//!   deformed so that the element shrinks, stretches or bends while all limits of that patch are enforced;
//!   the furthest state that satisfied them is the limit.
//! - **Indirect**: the same on the next finer level with the limits fitted there. Patches are smaller.
//!
//! Different from the paper: each search runs from several starts at once, one in each SIMD lane, since the
//! paper's single start gets stuck far from the limit wherever cloth can curl up (`fit/starts.rs`); the
//! closed-form bounds give the curvature of those starts and cap the result. A search only finds reachable
//! states, so a fitted limit may still be tighter than the true one, and push states that the base mesh
//! allows; `tests/fit.rs` measures how far. Uniformly scaled rest shapes satisfy all limits, so no fitted
//! range is narrower than the base's own strain limits.
//!
//! Without bend limits cloth folds flat, and nothing limits how far a coarse triangle shrinks or a coarse
//! hinge bends: no search is needed.
//!
//! Elements are independent of each other: the result does not depend on the number of threads.

mod again;
mod bounds;
mod patch;
mod search;
mod starts;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use glam::DVec3;

use super::{Hierarchy, Level, Site};
use crate::{
    Limit,
    element::hinge::{NO_ANGLE, allowed_angles},
    exec::threads::Threads,
    kernel::{dihedral::dihedral, lanes::LaneKind, strain::Range},
    mesh::{TriangleMesh, adjacency::Adjacency},
};
use patch::{Element, Fine, Scratch};

pub use again::Refit;

/// Changes whenever the same task gives other limits: cached results are then invalid.
pub const VERSION: u32 = 1;

/// Limits of one level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelLimits {
    /// Allowed principal stretches of each triangle of the level's mesh.
    pub strain: Vec<Range<f32>>,
    /// Allowed dihedral angles \[rad\], smallest and largest, of each hinge of the level's mesh, in the order
    /// of
    /// [`Adjacency::hinges`]; ±4 rad where nothing limits them.
    pub bend: Vec<[f32; 2]>,
}

/// Limits of all coarser levels of a cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoarseLimits {
    /// One for each of [`Hierarchy::levels`].
    pub levels: Vec<LevelLimits>,
    /// How they were found: elements that pins change are fitted again by the same.
    pub method: Method,
}

/// How limits of coarser levels are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// By search on the base mesh.
    Direct,
    /// By search on the next finer level.
    Indirect,
    /// In closed form.
    #[default]
    Bounds,
}

/// Input of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The base mesh.
    pub mesh: &'a TriangleMesh,
    /// Its levels.
    pub hierarchy: &'a Hierarchy,
    /// Limits on the principal strains of its triangles.
    pub strain: Limit,
    /// Limits on the bend of its hinges \[°/cm\].
    pub bend: Limit,
    /// Method.
    pub method: Method,
}

/// Fitted limits, and the time that took.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The limits.
    pub limits: CoarseLimits,
    /// Time for each level.
    pub times: Vec<Duration>,
}

/// The closed-form bounds of all levels.
pub fn bounds(mesh: &TriangleMesh, hierarchy: &Hierarchy, strain: Limit, bend: Limit) -> CoarseLimits {
    let base = Fine::new(mesh, strain, bend);
    let level = |level: &Level| {
        let mut scratch = Scratch::new(&base);
        limits_of(&elements(level, &level.on_base), |element| {
            bounds::bounds(&base, scratch.patch(&base, element), element)
        })
    };
    let levels = hierarchy.levels.iter().map(level).collect();
    CoarseLimits { levels, method: Method::Bounds }
}

/// Fits the limits of all levels. `progress` is called with the completed fraction, from 0 to 1, by any of
/// the threads.
pub fn fit(task: &Task<'_>, threads: &Threads, progress: &(dyn Fn(f64) + Sync)) -> Fitted {
    let mut fitted = Fitted::default();
    fitted.limits.method = task.method;
    let base = Fine::new(task.mesh, task.strain, task.bend);
    let levels: Vec<Vec<Element>> =
        task.hierarchy.levels.iter().map(|level| elements(level, &level.on_base)).collect();
    let bar = Bar::new(task, &levels, progress);
    for (k, level) in task.hierarchy.levels.iter().enumerate() {
        let started = Instant::now();
        let limits = match task.method {
            Method::Direct => fit_level(&base, &base, &levels[k], &levels[k], threads, &bar.level(k)),
            Method::Indirect if k > 0 => {
                let below = &task.hierarchy.levels[k - 1].mesh;
                let finer = Fine::with_limits(below, &fitted.limits.levels[k - 1]);
                let on_finer = elements(level, &level.on_finer);
                fit_level(&base, &finer, &levels[k], &on_finer, threads, &bar.level(k))
            }
            Method::Indirect => fit_level(&base, &base, &levels[k], &levels[k], threads, &bar.level(k)),
            Method::Bounds => {
                let mut scratch = Scratch::new(&base);
                limits_of(&levels[k], |e| bounds::bounds(&base, scratch.patch(&base, e), e))
            }
        };
        fitted.limits.levels.push(limits);
        fitted.times.push(started.elapsed());
    }
    progress(1.0);
    fitted
}

/// Searches for the limits of one level: `on_base` are its elements on the base mesh, for the bounds;
/// `on_finer` on the mesh that is deformed.
fn fit_level(
    base: &Fine,
    finer: &Fine,
    on_base: &[Element],
    on_finer: &[Element],
    threads: &Threads,
    done: &(dyn Fn() + Sync),
) -> LevelLimits {
    let lanes = LaneKind::detect();
    let one = |scratch: &mut (Scratch, Scratch, search::Memory), k: usize| {
        let bounds = bounds::bounds(base, scratch.0.patch(base, &on_base[k]), &on_base[k]);
        let element = &on_finer[k];
        let found =
            search::search(finer, scratch.1.patch(finer, element), element, bounds, lanes, &mut scratch.2);
        done();
        found
    };
    let fresh = || (Scratch::new(base), Scratch::new(finer), search::Memory::default());
    let mut found = vec![[0.0f32; 2]; on_base.len()];
    threads.each_piece(&mut found, 16, |first, found| {
        let mut scratch = fresh();
        for (k, found) in found.iter_mut().enumerate() {
            *found = one(&mut scratch, first + k);
        }
    });
    let mut found = found.into_iter();
    limits_of(on_base, |_| found.next().unwrap_or_default())
}

/// Elements of a level, triangles first, then hinges; their corners lie at `sites` of the finer mesh.
fn elements(level: &Level, sites: &[Site]) -> Vec<Element> {
    let p = |v: u32| level.mesh.positions[v as usize].as_dvec3();
    let triangles = level.mesh.triangles.iter().map(|corners| Element {
        points: corners.map(p).to_vec(),
        sites: corners.map(|v| sites[v as usize]).to_vec(),
    });
    let hinges = Adjacency::new(&level.mesh.triangles).hinges;
    let hinges = hinges.iter().map(|corners| Element {
        points: corners.map(p).to_vec(),
        sites: corners.map(|v| sites[v as usize]).to_vec(),
    });
    triangles.chain(hinges).collect()
}

/// Limits of a level from the results of `find` for each element.
fn limits_of(elements: &[Element], mut find: impl FnMut(&Element) -> [f32; 2]) -> LevelLimits {
    let mut limits = LevelLimits::default();
    for element in elements {
        let [min, max] = find(element);
        if element.is_triangle() {
            limits.strain.push(Range { min, max });
        } else {
            limits.bend.push([min, max]);
        }
    }
    limits
}

/// Reports progress: elements are weighted by the area that they cover, which is the cost of their search.
struct Bar<'a> {
    progress: &'a (dyn Fn(f64) + Sync),
    /// Work of an element of each level, and total work before that level.
    work: Vec<(f64, f64)>,
    total: f64,
}

impl<'a> Bar<'a> {
    fn new(task: &Task<'_>, levels: &[Vec<Element>], progress: &'a (dyn Fn(f64) + Sync)) -> Self {
        let mut total = 0.0;
        let mut finer = task.mesh.triangles.len() as f64;
        let work = levels.iter().zip(&task.hierarchy.levels).map(|(elements, level)| {
            let count = level.mesh.triangles.len() as f64;
            // The ring around an element counts too.
            let work = finer / count + 4.0 * (finer / count).sqrt() + 4.0;
            if task.method == Method::Indirect {
                finer = count;
            }
            let before = total;
            total += work * elements.len() as f64;
            (work, before)
        });
        let work = work.collect();
        Self { progress, work, total }
    }

    /// Called when an element of level `k` is done.
    fn level(&self, k: usize) -> impl Fn() + Sync + '_ {
        let done = AtomicUsize::new(0);
        let (work, before) = self.work[k];
        move || {
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)((before + work * count as f64) / self.total);
        }
    }
}

/// Angle of a hinge \[rad\] and heights of its wings \[m\].
fn angle_and_heights(x: [DVec3; 4]) -> (f64, [f64; 2]) {
    let d = dihedral(&x.map(|p| p.to_array()));
    (2.0 * d.sin_half.atan2(d.cos_half), d.heights)
}

/// Allowed angles of every hinge of a mesh \[rad\], from limits in degrees per centimetre, and its rest
/// angle.
fn angles(mesh: &TriangleMesh, hinges: &[[u32; 4]], bend: Limit) -> Vec<([f32; 2], f32)> {
    let of = |hinge: &[u32; 4]| {
        let (rest, heights) = angle_and_heights(hinge.map(|v| mesh.positions[v as usize].as_dvec3()));
        (allowed_angles(bend, rest, heights).map(|a| a as f32), rest as f32)
    };
    hinges.iter().map(of).collect()
}

/// An angle \[rad\], or none if it exceeds half a turn.
fn within_half_turn(angle: f64) -> f32 {
    if angle.abs() < std::f64::consts::PI { angle as f32 } else { NO_ANGLE.copysign(angle as f32) }
}
