//! Whether a run may write to a folder, and which of its files belong to a run.
//!
//! A run first writes a manifest (`checkpoint/manifest.json`) with the names of its bodies and input files.
//! Only files listed in the manifest are ever removed, so `--force` in the wrong folder deletes nothing else:
//! existing files with names that a run would write, but not listed in a manifest, are refused even then. A
//! file lock of the operating system prevents two runs in one folder; it ends with its process, so a killed
//! run does not leave it locked.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{OutputError, atomic, checkpoint, layout::Layout};

/// Files that belong to the run of a folder, besides those with fixed names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of taut that wrote the folder.
    pub taut: String,
    /// Name of the scene.
    pub scene: String,
    /// Names of the bodies.
    pub bodies: Vec<String>,
    /// Files in `inputs/`, as paths relative to it.
    pub inputs: Vec<String>,
}

/// A run folder locked for writing by this process.
#[derive(Debug)]
pub struct RunFolder {
    layout: Layout,
    // Held for its lock, which ends when the file is closed.
    _lock: File,
}

impl RunFolder {
    /// Prepares `root` for a new run. With `force`, an earlier run is removed; other files are kept.
    ///
    /// # Errors
    /// If the folder contains another run or other files, is being written to, or an I/O error occurs.
    pub fn create(root: &Path, force: bool, manifest: &Manifest) -> Result<Self, OutputError> {
        let layout = Layout::new(root);
        if root.exists() && !root.is_dir() {
            let hint = "choose another name with -o";
            return Err(OutputError::refused(root, "is a file, expected a folder", hint));
        }
        fs::create_dir_all(root).map_err(OutputError::io("create", root))?;
        let earlier = judge(&layout, force)?;
        let folder = Self::lock(layout)?;
        if let Some(earlier) = earlier {
            folder.remove_run(&earlier)?;
        }
        let layout = &folder.layout;
        write_json(&layout.manifest(), manifest)?;
        for made in [layout.frames(), layout.inputs()] {
            if made != layout.inputs() || !manifest.inputs.is_empty() {
                fs::create_dir_all(&made).map_err(OutputError::io("create", made))?;
            }
        }
        atomic::sync_folder(root)?;
        Ok(folder)
    }

    /// Opens a run folder to resume it, and removes partially written files.
    ///
    /// # Errors
    /// If it contains no run, is being written to, or an I/O error occurs.
    pub fn resume(root: &Path) -> Result<Self, OutputError> {
        let layout = Layout::new(root);
        if !holds_run(root) {
            let hint = "name the folder of an earlier run with -o, or omit --resume to start one";
            return Err(OutputError::refused(root, "contains no resumable run", hint));
        }
        if !layout.scene().exists() {
            let hint = "start over with --force";
            return Err(OutputError::refused(root, "was interrupted before its scene was written", hint));
        }
        let folder = Self::lock(layout)?;
        let layout = &folder.layout;
        for swept in [root, &layout.frames(), &layout.inputs(), &layout.checkpoint()] {
            atomic::sweep(swept)?;
        }
        fs::create_dir_all(layout.frames()).map_err(OutputError::io("create", layout.frames()))?;
        Ok(folder)
    }

    /// Paths of its files.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn lock(layout: Layout) -> Result<Self, OutputError> {
        fs::create_dir_all(layout.checkpoint()).map_err(OutputError::io("create", layout.checkpoint()))?;
        let path = layout.lock();
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(OutputError::io("write", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let hint = "wait until it has ended, or choose another folder with -o";
                return Err(OutputError::refused(
                    layout.root(),
                    "another run is writing to this folder",
                    hint,
                ));
            }
            // Some network file systems do not support locks; a run is allowed there.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(OutputError::io("lock", path)(error)),
        }
        Ok(Self { layout, _lock: lock })
    }

    /// Removes the files of the run with `manifest`. The manifest is removed last, so that a partially
    /// removed run is still recognised.
    fn remove_run(&self, manifest: &Manifest) -> Result<(), OutputError> {
        let layout = &self.layout;
        for path in [layout.outcome(), layout.metrics(), layout.scene()] {
            remove_if_there(&path)?;
        }
        for body in &manifest.bodies {
            let own =
                [layout.rest(body), layout.rest_tetrahedra(body), layout.skin(body), layout.points(body)];
            for path in own {
                remove_if_there(&path)?;
            }
        }
        remove_frames(layout, |body, _| manifest.bodies.iter().any(|name| name == body))?;
        let mut folders = vec![layout.frames(), layout.inputs()];
        for name in manifest.inputs.iter().filter(|name| is_inside(name)) {
            let path = layout.inputs().join(name);
            remove_if_there(&path)?;
            folders
                .extend(path.ancestors().skip(1).take_while(|f| *f != layout.inputs()).map(Path::to_owned));
        }
        for folder in folders.iter().map(PathBuf::as_path).chain([layout.root(), &layout.checkpoint()]) {
            atomic::sweep(folder)?;
        }
        checkpoint::clear(&layout.checkpoint())?;
        // Deepest first.
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        for folder in folders {
            // Kept if it contains files of the user.
            let _ = fs::remove_dir(folder);
        }
        remove_if_there(&layout.manifest())
    }
}

/// Whether `root` is a run folder.
pub fn holds_run(root: &Path) -> bool {
    Layout::new(root).manifest().is_file()
}

/// The manifest of the run folder `root`.
///
/// # Errors
/// If the manifest cannot be read.
pub fn read_manifest(root: &Path) -> Result<Manifest, OutputError> {
    let path = Layout::new(root).manifest();
    let text = fs::read(&path).map_err(OutputError::io("read", &path))?;
    serde_json::from_slice(&text).map_err(|error| {
        let hint = "remove the folder manually, or choose another with -o";
        OutputError::refused(path, format!("is not a valid manifest: {error}"), hint)
    })
}

/// Decides whether a new run may use the folder: an error, or the earlier run to remove first.
fn judge(layout: &Layout, force: bool) -> Result<Option<Manifest>, OutputError> {
    let root = layout.root();
    if holds_run(root) {
        if !force {
            let hint = "--resume continues it, --force deletes it and starts over, -o chooses another folder";
            return Err(OutputError::refused(root, "already contains a run", hint));
        }
        return read_manifest(root).map(Some);
    }
    let mut others = Vec::new();
    for entry in fs::read_dir(root).map_err(OutputError::io("read", root))? {
        let path = entry.map_err(OutputError::io("read", root))?.path();
        if !(path == layout.checkpoint() && holds_only_lock(&path)) {
            others.push(path);
        }
    }
    others.sort();
    let reserved = [
        layout.scene(),
        layout.metrics(),
        layout.outcome(),
        layout.frames(),
        layout.inputs(),
        layout.checkpoint(),
    ];
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(taken) = others.iter().find(|path| reserved.contains(path)) {
        let message =
            format!("contains {:?}, which was not written by taut and would be overwritten", name(taken));
        return Err(OutputError::refused(root, message, "choose another folder with -o"));
    }
    match others.first() {
        Some(first) if !force => {
            let message = format!("contains other files, for example {:?}", name(first));
            let hint = "choose another folder with -o, or use this one with --force (other files are kept)";
            Err(OutputError::refused(root, message, hint))
        }
        _ => Ok(None),
    }
}

/// Whether a run is currently writing to the folder `root`, as far as this can be determined.
pub fn is_being_written(root: &Path) -> bool {
    let lock = File::open(Layout::new(root).lock());
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether a checkpoint folder is the only trace of a run that was stopped before it wrote anything.
fn holds_only_lock(folder: &Path) -> bool {
    let is_ours = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name() == "lock" || atomic::is_temporary(&entry.path()))
    };
    fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_ours))
}

/// Removes the frame files whose body and number satisfy `which`.
///
/// # Errors
/// An I/O error.
pub fn remove_frames(layout: &Layout, which: impl Fn(&str, u32) -> bool) -> Result<(), OutputError> {
    let frames = layout.frames();
    let entries = match fs::read_dir(&frames) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(OutputError::io("read", frames)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(OutputError::io("read", &frames))?;
        let name = entry.file_name();
        // A folder with that name does not belong to the run.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir())
            && name
                .to_str()
                .and_then(|name| Layout::parse_frame(name).or(Layout::parse_changes(name)))
                .is_some_and(|(body, frame)| which(body, frame))
        {
            remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file if it exists.
///
/// # Errors
/// An I/O error.
pub fn remove_if_there(path: &Path) -> Result<(), OutputError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(OutputError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Writes `value` as indented JSON.
///
/// # Errors
/// An I/O error.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), OutputError> {
    let text =
        serde_json::to_vec_pretty(value).map_err(|e| OutputError::io("write", path)(io::Error::other(e)))?;
    atomic::write(path, &[text.as_slice(), b"\n"].concat())
}

/// Whether a relative `path` stays inside its folder, even in an edited manifest.
pub(super) fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}
