//! `taut fit`: fits the limits of coarser levels before a run and caches them. `run` and `bench` call the
//! same code before they build a world.

use std::{process::ExitCode, time::Duration};

use serde::Serialize;
use taut::{
    Description, World,
    low_level::{Threads, fit::LevelLimits, fit::Method},
};
use taut_io::{
    cache::{
        self,
        fit::{Cache, Fit, fit_scene},
    },
    scene::{self, LoadedScene},
};

use crate::{args::FitArgs, failure::Failure, progress::Share, terminal};

/// Limits of one cloth.
#[derive(Serialize)]
struct ClothRow {
    cloth: String,
    method: &'static str,
    from_cache: bool,
    seconds: f64,
    levels: Vec<LevelRow>,
}

/// Limits of one level; each range is smallest, median and largest.
#[derive(Serialize)]
struct LevelRow {
    level: usize,
    triangles: usize,
    hinges: usize,
    /// Allowed stretches.
    lower: Option<[f32; 3]>,
    upper: Option<[f32; 3]>,
    /// Allowed angles; none past a half turn \[degrees\].
    bend_lower: Option<[f32; 3]>,
    bend_upper: Option<[f32; 3]>,
    /// `None` if they came from the cache.
    seconds: Option<f64>,
}

/// Fits the limits of a scene.
pub fn fit(args: &FitArgs) -> Result<ExitCode, Failure> {
    let scene = scene::load(&args.scene, &args.set.set)?;
    let mut description = scene.build()?;
    let fits = fit_with(&scene, &mut description, args.threads.count(), args.force, false)?;
    let rows: Vec<ClothRow> = fits.iter().map(|fit| ClothRow::new(fit, scene.fit_method())).collect();
    if args.json {
        terminal::print_json(&rows)?;
    } else if rows.is_empty() {
        terminal::print("no cloth of this scene has limits: nothing to fit\n")?;
    } else {
        terminal::print(&rows.iter().map(ClothRow::table).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The world of a scene, with fitted limits of levels where its scheme uses them.
pub fn build_world(scene: &LoadedScene, threads: usize, quiet: bool) -> Result<World, Failure> {
    let mut description = scene.build()?;
    if scene.fits_levels() {
        fit_with(scene, &mut description, threads, false, quiet)?;
    }
    Ok(World::new(description)?)
}

/// Fits the limits of levels or reads them from the cache, with progress and warnings.
fn fit_with(
    scene: &LoadedScene,
    description: &mut Description,
    threads: usize,
    force: bool,
    quiet: bool,
) -> Result<Vec<Fit>, Failure> {
    let folder = cache::folder();
    let cache = Cache { folder: folder.as_deref(), force };
    let progress = Share::new(quiet, "fitting limits of levels");
    let threads = Threads::new(threads)?;
    let fits = fit_scene(description, scene.fit_method(), cache, &threads, &|part| progress.show(part));
    progress.finish();
    fits.iter().flat_map(|fit| &fit.warnings).for_each(|warning| terminal::warning(warning));
    Ok(fits)
}

fn name(method: Method) -> &'static str {
    match method {
        Method::Direct => "direct",
        Method::Indirect => "indirect",
        Method::Bounds => "bounds",
    }
}

impl ClothRow {
    fn new(fit: &Fit, method: Method) -> Self {
        let levels = fit.limits.levels.iter().enumerate();
        Self {
            cloth: fit.cloth.clone(),
            method: name(method),
            from_cache: fit.from_cache,
            seconds: fit.time.as_secs_f64(),
            levels: levels
                .map(|(k, limits)| LevelRow::new(k + 1, limits, fit.times.get(k).copied()))
                .collect(),
        }
    }

    fn table(&self) -> String {
        let from = if self.from_cache { "from the cache" } else { "fitted" };
        let mut text = format!("{}: {} ({}), {:.2} s\n", self.cloth, from, self.method, self.seconds);
        let heading = ["level", "triangles", "hinges", "lower", "upper", "bend lower", "bend upper", "s"];
        let mut lines = vec![heading.map(String::from).to_vec()];
        for level in &self.levels {
            lines.push(vec![
                level.level.to_string(),
                level.triangles.to_string(),
                level.hinges.to_string(),
                stretches(level.lower),
                stretches(level.upper),
                angles(level.bend_lower),
                angles(level.bend_upper),
                level.seconds.map_or("-".into(), |s| format!("{s:.2}")),
            ]);
        }
        if self.levels.is_empty() {
            text.push_str("  too small for coarser levels\n");
        } else {
            text.push_str(&terminal::table(&lines));
        }
        text
    }
}

impl LevelRow {
    fn new(level: usize, limits: &LevelLimits, time: Option<Duration>) -> Self {
        let degrees = |end: usize| limits.bend.iter().map(move |range| range[end].to_degrees());
        Self {
            level,
            triangles: limits.strain.len(),
            hinges: limits.bend.len(),
            lower: spread(limits.strain.iter().map(|range| range.min)),
            upper: spread(limits.strain.iter().map(|range| range.max)),
            bend_lower: spread(degrees(0)),
            bend_upper: spread(degrees(1)),
            seconds: time.map(|time| time.as_secs_f64()),
        }
    }
}

/// Smallest, median and largest.
fn spread(values: impl Iterator<Item = f32>) -> Option<[f32; 3]> {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    Some([*values.first()?, *values.get(values.len() / 2)?, *values.last()?])
}

fn stretches(range: Option<[f32; 3]>) -> String {
    let word =
        |value: f32| if value < taut::low_level::NO_LIMIT { format!("{value:.3}") } else { "none".into() };
    range.map_or("-".into(), |range| range.map(word).join(" "))
}

fn angles(range: Option<[f32; 3]>) -> String {
    let word = |value: f32| if value.abs() < 180.0 { format!("{value:.0}°") } else { "none".into() };
    range.map_or("-".into(), |range| range.map(word).join(" "))
}
