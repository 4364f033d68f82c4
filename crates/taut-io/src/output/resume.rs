//! Resumes a stopped run, to the same bits as an uninterrupted one.
//!
//! The scene is the one in the folder. A scene given by the user must be the same; only the number of frames
//! may differ, since it does not change existing frames. The run resumes from the newest checkpoint whose
//! frames and lines of metrics all exist; otherwise from the start.

use std::path::{Path, PathBuf};

use taut::{State, World};

use super::{
    OutputError, atomic,
    checkpoint::{self, Store},
    folder::{self, RunFolder},
    layout::Layout,
    metrics::{self, FrameLine, MetricsWriter},
    outcome::Tally,
    recorder::{Recorder, certifier, connection_counts},
    tears::{Tears, may_tear},
};
use crate::{
    Problems,
    scene::{self, LoadedScene},
};

/// The text that identifies a scene: its effective form without the number of frames, with its files in
/// `root/inputs`.
pub fn identity(scene: &LoadedScene, root: &Path) -> String {
    let mut one = scene.clone();
    one.frames = 1;
    one.with_inputs_in(root).to_toml()
}

/// The text that identifies the scene in the run folder `root`.
///
/// # Errors
/// All problems of the scene file.
pub fn stored_identity(root: &Path) -> Result<String, Problems> {
    let path = Layout::new(root).scene();
    Ok(scene::load(&path.to_string_lossy(), &["scene.frames=1".into()])?.to_toml())
}

/// The first difference between the scene given by the user and the one in the folder `root`, if any: a line
/// of its text, or the contents of a file that it reads.
///
/// # Errors
/// All problems of the scene in the folder.
pub fn difference(scene: &LoadedScene, root: &Path) -> Result<Option<String>, Problems> {
    let given = identity(scene, root);
    let stored = stored_identity(root)?;
    if given != stored {
        let mut lines = given.lines().zip(stored.lines());
        let differs = lines.find(|(given, stored)| given != stored);
        return Ok(Some(match differs {
            Some((given, stored)) => format!("it has `{}`, the run has `{}`", given.trim(), stored.trim()),
            None => "one has more bodies or keys than the other".into(),
        }));
    }
    let copies = scene.with_inputs_in(root).inputs();
    for ((name, from), (_, copy)) in scene.inputs().into_iter().zip(copies) {
        let read = |path: &PathBuf| std::fs::read(path).ok();
        if from != copy && read(&from) != read(&copy) {
            return Ok(Some(format!("its file {name:?} has changed since the start of the run")));
        }
    }
    Ok(None)
}

/// A resumed run.
#[derive(Debug)]
pub struct Resumed {
    /// Records the next frames.
    pub recorder: Recorder,
    /// What to go on with in place of the world of the scene, if cloth or hair has torn.
    pub torn: Option<World>,
    /// State to resume from; `None` if nothing is recorded yet, not even frame 0.
    pub state: Option<State>,
    /// Warnings: damaged checkpoints, missing frames.
    pub warnings: Vec<String>,
}

/// Opens the folder `root` of a stopped run to resume its `scene`, loaded from there, whose engine is
/// `world`. `scene.frames` may be larger than before; the scene in the folder is then updated. Frames are
/// measured with `threads` threads (0: one per core).
///
/// # Errors
/// If there is no resumable run, more frames exist than `scene` has, another process is writing, or an I/O
/// error occurs.
pub fn resume(
    root: &Path,
    scene: &LoadedScene,
    identity: &str,
    world: &World,
    threads: usize,
) -> Result<Resumed, OutputError> {
    let folder = RunFolder::resume(root)?;
    let files = folder.layout().clone();
    let lines = metrics::scan(&files.metrics())?;
    let (snapshots, mut warnings) = checkpoint::load(&files.checkpoint(), checkpoint::hash(identity));
    let usable = snapshots.iter().find_map(|snapshot| {
        let frame = snapshot.frame;
        let complaint = match lines.get(frame as usize) {
            None => Some("metrics.jsonl ends before it".to_string()),
            Some(_) => first_missing(&files, world, frame),
        };
        let torn = if complaint.is_none() { torn_world(&files, world, frame) } else { Ok(None) };
        let complaint = complaint.or_else(|| torn.as_ref().err().cloned());
        let torn = torn.ok().flatten();
        let of = torn.as_ref().unwrap_or(world);
        let state = if complaint.is_none() { State::restore(of, snapshot) } else { None };
        if state.is_none() {
            let why = complaint.unwrap_or_else(|| "it does not match the scene".into());
            warnings.push(format!("the checkpoint of frame {frame} cannot be used: {why}"));
        }
        state.map(|state| (torn, state))
    });
    let (torn, usable) = usable.map_or((None, None), |(torn, state)| (torn, Some(state)));
    let frame = usable.as_ref().map_or(0, State::frame);
    if frame > scene.frames {
        let message = format!("already contains {frame} frames, more than the requested {}", scene.frames);
        return Err(OutputError::refused(
            root,
            message,
            "request more with --frames, or start over with --force",
        ));
    }
    folder::remove_if_there(&files.outcome())?;
    folder::remove_frames(&files, |body, number| number > frame && is_body(world, body))?;
    bring_up_to_date(&files, scene)?;

    let recorder = if usable.is_some() {
        let kept: &[(FrameLine, u64)] = lines.get(..=frame as usize).unwrap_or(&[]);
        let mut tally = Tally::default();
        kept.iter().for_each(|(line, _)| tally.add(line));
        Recorder {
            metrics: MetricsWriter::open(files.metrics(), kept.last().map_or(0, |(_, end)| *end))?,
            checkpoints: Store::new(files.checkpoint(), checkpoint::hash(identity)),
            tally,
            frame_rate: scene.frame_rate,
            certifier: certifier(torn.as_ref().unwrap_or(world), threads, root)?,
            threads,
            counts: connection_counts(torn.as_ref().unwrap_or(world)),
            folder,
        }
    } else {
        Recorder::begin(folder, scene, identity, world, threads)?
    };
    Ok(Resumed { recorder, torn, state: usable, warnings })
}

/// The world of frame `frame`, if cloth or hair had torn by then.
///
/// # Errors
/// What is wrong with the files of torn triangles and strands.
fn torn_world(files: &Layout, whole: &World, frame: u32) -> Result<Option<World>, String> {
    if !whole.description().bodies.iter().any(may_tear) {
        return Ok(None);
    }
    let (tears, complaints) = Tears::read(files, whole.description(), frame);
    if let Some(complaint) = complaints.first() {
        return Err(complaint.problem.to_string());
    }
    if tears.spans(frame).len() == 1 {
        return Ok(None);
    }
    World::new(tears.at(whole.description(), frame)).map(Some).map_err(|error| error.to_string())
}

fn is_body(world: &World, name: &str) -> bool {
    world.description().body(name).is_some()
}

/// The first missing file of the frames up to `frame`, if any.
fn first_missing(files: &Layout, world: &World, frame: u32) -> Option<String> {
    let bodies = || world.description().bodies.iter();
    let mut paths = (0..=frame).flat_map(|f| bodies().map(move |body| files.frame(body.name(), f)));
    paths.find(|path| !path.is_file()).map(|path| format!("{} is missing", path.display()))
}

/// Updates the number of frames in the folder's scene.
fn bring_up_to_date(files: &Layout, scene: &LoadedScene) -> Result<(), OutputError> {
    let text = scene.to_toml();
    if std::fs::read(files.scene()).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    atomic::write(&files.scene(), text.as_bytes())?;
    atomic::sync_folder(files.root())
}
