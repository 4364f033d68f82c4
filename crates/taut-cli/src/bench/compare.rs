//! `taut bench --compare`: all schemes on one scene.

use taut_io::scene;

use super::{
    PAPER, REPEATED, SCHEMES, effort, measure,
    measure::{Row, Subject},
};
use crate::{args::BenchArgs, failure::Failure};

/// Time after which a scheme skips the remaining frames \[s\].
pub const PATIENCE: f64 = 60.0;

/// All schemes on one scene, with the same number of steps per frame.
pub fn compare(args: &BenchArgs, name: &str) -> Result<Vec<Row>, Failure> {
    let shared = shared_settings(name, &args.set.set)?;
    let mut subjects = Vec::new();
    for (label, settings) in SCHEMES {
        let scene = scene::load(name, &with(&shared, settings))?;
        subjects.push(Subject::new(&scene, Some(label.into()), args.threads.count())?);
    }
    let mut rows = measure(subjects, &effort(args));
    add_ratios(&mut rows);
    Ok(rows)
}

/// Overrides that all schemes share: those given, and one step per frame, as published, unless the scene sets
/// it.
pub fn shared_settings(name: &str, overrides: &[String]) -> Result<Vec<String>, Failure> {
    let mut shared = overrides.to_vec();
    if scene::load(name, &shared)?.build()?.solver.steps_per_frame == 0 {
        shared.push("solver.steps_per_frame=1".into());
    }
    Ok(shared)
}

/// `shared` overrides and those of a scheme.
pub fn with(shared: &[String], settings: &[&str]) -> Vec<String> {
    shared.iter().cloned().chain(settings.iter().map(ToString::to_string)).collect()
}

/// Fills in the times of `paper`, one pass and repeated, divided by the row's own.
pub fn add_ratios(rows: &mut [Row]) {
    for (base, repeated) in [(PAPER, false), (REPEATED, true)] {
        let base = rows.iter().find(|row| row.label.as_deref() == Some(base));
        let base = base.map_or(Vec::new(), |row| row.frame_ms.clone());
        for row in &mut *rows {
            let frames = base.len().min(row.frame_ms.len());
            let [of_base, own] = [&base, &row.frame_ms].map(|times| times[..frames].iter().sum::<f64>());
            let ratio = (own > 0.0).then(|| of_base / own);
            if repeated {
                row.faster_than_paper_repeated = ratio;
            } else {
                row.faster_than_paper = ratio;
            }
        }
    }
}
