//! Recomputes the certificates of a run from the files in its folder alone.
//!
//! The scene in the folder is built again as rest tables ([`Ruler`]), without any table of the solver; for
//! every frame the positions are read back and measured as during the run. Three kinds of failure are
//! reported: a violated limit (with the worst triangle), figures that differ from `metrics.jsonl` (files were
//! changed afterwards; with the vertex, see `locate.rs`), and missing or damaged files. Frames are checked in
//! parallel; the result does not depend on the number of threads.

mod contact;
mod frame;
mod locate;

use std::{collections::BTreeMap, path::Path};

use glam::Vec3;
use rayon::prelude::*;
use serde::Serialize;
use taut::{Body, Ruler, measure::Examiner};

use super::{
    layout::Layout,
    metrics::{self, FrameLine},
    outcome::{BodySize, Figures, Tally},
    recorder::{body_sizes, rest_files},
    tears::Tears,
};
use crate::{Problem, Problems, mesh, recording::ShownLines, scene};

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A file, a frame or a line is missing.
    Missing,
    /// A frame or line that the scene does not have.
    Extra,
    /// A file exists but has invalid contents.
    Damaged,
    /// A position is not finite.
    NotFinite,
    /// A strain exceeds its limit by more than the tolerance, though the run reported convergence.
    Limit,
    /// A strain exceeds its limit by more than the tolerance, as the run itself reported.
    LimitNotReached,
    /// A vertex is inside an obstacle.
    Penetration,
    /// An intersection that does not stem from a tangled initial state.
    Intersection,
    /// A pinned vertex is not at its target.
    Pin,
    /// The figures differ from the recorded ones.
    Changed,
    /// An expectation of the scene is not met.
    Expectation,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Kind.
    pub kind: Kind,
    /// Frame.
    pub frame: Option<u32>,
    /// Body.
    pub body: Option<String>,
    /// Element, as in `triangle 12`.
    pub element: Option<String>,
    /// Message.
    pub message: String,
}

impl Failure {
    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, frame: None, body: None, element: None, message: message.into() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(frame) = self.frame {
            write!(f, "frame {frame}: ")?;
        }
        if let Some(body) = &self.body {
            write!(f, "{body}: ")?;
        }
        if let Some(element) = &self.element {
            write!(f, "{element}: ")?;
        }
        write!(f, "{}", self.message)
    }
}

/// Result of a verification.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// Whether all checks pass.
    pub ok: bool,
    /// Frames of the scene, without frame 0.
    pub frames: u32,
    /// Bodies of the scene.
    pub bodies: Vec<BodySize>,
    /// All failures, by frame.
    pub failures: Vec<Failure>,
    /// Recomputed extremes over all frames; those that need velocities or timing are 0.
    pub figures: Figures,
}

/// Verifies the run folder `root` with `threads` threads (0: one per core).
///
/// # Errors
/// If the folder contains no valid scene to compare with.
pub fn verify(root: &Path, threads: usize) -> Result<Verification, Problems> {
    let files = Layout::new(root);
    let complain =
        |path: &Path, message: String| Problem { file: Some(path.into()), message, ..Problem::default() };
    if !root.is_dir() {
        return Err(complain(root, "is not a run folder".into()).into());
    }
    if !files.scene().is_file() {
        return Err(complain(root, "is not a run folder: scene.toml is missing".into()).into());
    }
    let scene = scene::load(&files.scene().to_string_lossy(), &[])?;
    let rule =
        |description| Ruler::new(description).map_err(|error| complain(&files.scene(), error.to_string()));
    let ruler = rule(scene.build()?)?;

    let mut failures = check_rest(&files, &ruler);
    let (lines, complaints) = read_lines(&files, scene.frames);
    failures.extend(complaints);
    failures.extend(find_extra(&files, &ruler, scene.frames));

    let (tears, complaints) = Tears::read(&files, ruler.description(), scene.frames);
    failures.extend(complaints.into_iter().map(|complaint| Failure {
        frame: Some(complaint.frame),
        body: Some(ruler.description().bodies[complaint.body].name().into()),
        ..Failure::new(Kind::Damaged, complaint.problem.to_string())
    }));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| complain(root, format!("could not start threads: {error}")))?;
    let mut checked: Vec<_> = Vec::new();
    // Torn cloth is measured by rest tables of its own.
    for span in tears.spans(scene.frames) {
        let torn =
            if span.start == 0 { None } else { Some(rule(tears.at(ruler.description(), span.start))?) };
        let ruler = torn.as_ref().unwrap_or(&ruler);
        let caught = frame::caught(&files, ruler, &tears, span.start);
        checked.extend(pool.install(|| {
            let examiner = Examiner::new(ruler);
            let check = |examiner: &mut Option<Examiner>, number| {
                let (line, is_last) = (lines.get(&number), number == scene.frames);
                frame::check(&files, ruler, &caught, examiner.as_mut(), number, line, is_last)
            };
            span.into_par_iter().map_init(|| examiner.clone(), check).collect::<Vec<_>>()
        }));
    }
    let mut tally = Tally::default();
    let mut last: Option<Vec<Vec<Vec3>>> = None;
    for result in checked {
        failures.extend(result.failures);
        if let Some(mut line) = result.line {
            tally.carry_tangle(&mut line.certificate);
            failures.extend(contact::judge(&line, lines.get(&line.frame)));
            tally.add(&line);
        }
        last = last.or(result.last);
    }
    failures = summarise_missing(failures, scene.frames);
    // Expectations can be checked only if the run is complete.
    if let Some(last) =
        last.filter(|_| !failures.iter().any(|f| matches!(f.kind, Kind::Missing | Kind::Damaged)))
    {
        let unmet = scene.unmet(&tally.extremes(last.iter().map(Vec::as_slice)));
        failures.extend(unmet.into_iter().map(|line| Failure::new(Kind::Expectation, line)));
    }
    failures.sort_by_key(|failure| failure.frame.map_or(0, |frame| frame + 1));
    Ok(Verification {
        ok: failures.is_empty(),
        frames: scene.frames,
        bodies: body_sizes(&ruler),
        failures,
        figures: tally.figures(),
    })
}

/// Compares the rest mesh of each body with that of the scene.
fn check_rest(files: &Layout, ruler: &Ruler) -> Vec<Failure> {
    let mut failures = Vec::new();
    for body in ruler.description().bodies.iter() {
        let mut fail = |kind, element, message: String| {
            let body = Some(body.name().into());
            failures.push(Failure { body, element, ..Failure::new(kind, message) });
        };
        for (path, wanted) in rest_files(files, body) {
            match std::fs::read(&path) {
                Ok(bytes) if bytes == wanted => {}
                Ok(_) => match first_difference(&path, body) {
                    Err(problem) => fail(Kind::Damaged, None, problem.to_string()),
                    Ok(element) => {
                        let message = format!("{} is not the rest mesh of the scene", path.display());
                        fail(Kind::Changed, element, message);
                    }
                },
                Err(error) => {
                    fail(Kind::Missing, None, format!("{} could not be read: {error}", path.display()));
                }
            }
        }
    }
    failures
}

/// The first vertex or element in which the file `path` differs from the rest mesh of `body`, if it can be
/// named.
fn first_difference(path: &Path, body: &Body) -> Result<Option<String>, Problem> {
    fn name<E: PartialEq>(
        [wanted, there]: [&[Vec3]; 2],
        [elements, others]: [&[E]; 2],
        kind: &str,
    ) -> Option<String> {
        let differs = |a: &Vec3, b: &Vec3| a.to_array().map(f32::to_bits) != b.to_array().map(f32::to_bits);
        let vertex = wanted.iter().zip(there).position(|(a, b)| differs(a, b));
        let element = elements.iter().zip(others).position(|(a, b)| a != b);
        vertex.map(|v| format!("vertex {v}")).or(element.map(|e| format!("{kind} {e}")))
    }
    let is_surface = mesh::Format::of_path(path).is_some();
    Ok(match body {
        Body::Solid(solid) if !is_surface => {
            let (wanted, there) = (&solid.mesh, mesh::read_tetrahedra(path)?.mesh);
            let positions = [&wanted.positions[..], &there.positions];
            name(positions, [&wanted.tetrahedra, &there.tetrahedra], "tetrahedron")
        }
        Body::Particles(particles) => {
            let shown = ShownLines::new(&particles.mesh);
            let wanted = shown.points(&particles.mesh.positions);
            let (there, counts) = mesh::read_strands(path)?;
            name([&wanted, &there], [&shown.counts, &counts], "strand")
        }
        Body::Hair(hair) => {
            let (there, counts) = mesh::read_strands(path)?;
            name([&hair.groom.positions, &there], [&hair.groom.counts, &counts], "strand")
        }
        Body::Solid(_) | Body::Cloth(_) => {
            let wanted = match body {
                Body::Cloth(cloth) => &cloth.mesh,
                Body::Solid(solid) => &solid.shown_surface(),
                Body::Particles(_) | Body::Hair(_) => return Ok(None),
            };
            let there = mesh::read(path)?;
            let positions = [&wanted.positions[..], &there.positions];
            name(positions, [&wanted.triangles, &there.triangles], "triangle")
        }
    })
}

/// The lines of `metrics.jsonl` by frame, and their failures.
fn read_lines(files: &Layout, frames: u32) -> (BTreeMap<u32, FrameLine>, Vec<Failure>) {
    let mut failures = Vec::new();
    let mut lines = BTreeMap::new();
    let read = metrics::read(&files.metrics()).unwrap_or_else(|problem| {
        failures.push(Failure::new(Kind::Missing, problem.to_string()));
        Vec::new()
    });
    let unreadable = read.is_empty() && !failures.is_empty();
    for (index, line) in read.into_iter().enumerate() {
        match line {
            Err(problem) => failures.push(Failure::new(Kind::Damaged, problem.to_string())),
            Ok(line) if line.frame > frames || lines.contains_key(&line.frame) => failures.push(Failure {
                frame: Some(line.frame),
                ..Failure::new(Kind::Extra, format!("line {} of metrics.jsonl is unexpected", index + 1))
            }),
            Ok(line) => {
                lines.insert(line.frame, line);
            }
        }
    }
    if !unreadable {
        let missing = (0..=frames).filter(|frame| !lines.contains_key(frame));
        failures.extend(missing.map(|frame| Failure {
            frame: Some(frame),
            ..Failure::new(Kind::Missing, "metrics.jsonl has no line for this frame")
        }));
    }
    (lines, failures)
}

/// Frame files that the scene does not have.
fn find_extra(files: &Layout, ruler: &Ruler, frames: u32) -> Vec<Failure> {
    let Ok(entries) = std::fs::read_dir(files.frames()) else { return Vec::new() };
    let mut failures = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let numbered = |name| Layout::parse_frame(name).or_else(|| Layout::parse_changes(name));
        let Some((body, frame)) = name.to_str().and_then(numbered) else { continue };
        if frame > frames || ruler.description().body(body).is_none() {
            failures.push(Failure {
                frame: Some(frame),
                body: Some(body.into()),
                ..Failure::new(Kind::Extra, "the scene has no such frame")
            });
        }
    }
    failures
}

/// A stopped run lacks every frame from some point on: one message replaces hundreds.
fn summarise_missing(failures: Vec<Failure>, frames: u32) -> Vec<Failure> {
    let is_missing = |f: &Failure| f.kind == Kind::Missing && f.frame.is_some();
    let lacking: std::collections::BTreeSet<u32> =
        failures.iter().filter(|f| is_missing(f)).filter_map(|f| f.frame).collect();
    let first = (0..=frames).rev().take_while(|frame| lacking.contains(frame)).last();
    let Some(first) = first.filter(|first| frames - first >= 3) else { return failures };
    let mut kept: Vec<_> = failures.into_iter().filter(|f| !is_missing(f) || f.frame < Some(first)).collect();
    let message = format!(
        "missing, and all frames after it: the run has not reached frame {frames} \
         (resume it with `taut run --resume`)"
    );
    kept.push(Failure { frame: Some(first), ..Failure::new(Kind::Missing, message) });
    kept
}
