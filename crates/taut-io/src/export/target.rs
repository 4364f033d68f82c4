//! Output files and folders that are renamed when complete.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::output::{OutputError, atomic};

/// A file or folder being written under a temporary name. Dropped before [`finish`](Self::finish), it leaves
/// nothing, not even the folders created for it.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    temporary: PathBuf,
    is_folder: bool,
    finished: bool,
    claim: Claim,
    /// Parent folders created for it, outermost first.
    made: Vec<PathBuf>,
}

impl Target {
    /// Refuses to overwrite an existing file without `force`.
    ///
    /// # Errors
    /// If it already exists.
    pub fn refuse_existing(path: &Path, force: bool) -> Result<(), OutputError> {
        if path.exists() && !force {
            let hint = "overwrite it with --force, or choose another name with -o";
            return Err(OutputError::refused(path, "already exists", hint));
        }
        Ok(())
    }

    /// Refuses a folder instead of a file.
    ///
    /// # Errors
    /// If it is one.
    pub fn refuse_folder(path: &Path) -> Result<(), OutputError> {
        if path.is_dir() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            let message = "is a folder, expected a file";
            return Err(OutputError::refused(path, message, "choose another name with -o"));
        }
        Ok(())
    }

    /// A file to be written to [`temporary`](Self::temporary). With `force`, an existing one is overwritten
    /// at the end.
    ///
    /// # Errors
    /// If it already exists, is a folder, is being written by another process, or its folder cannot be
    /// created.
    pub fn file(path: &Path, force: bool) -> Result<Self, OutputError> {
        Self::refuse_folder(path)?;
        Self::refuse_existing(path, force)?;
        let target = Self::new(path, false)?;
        // Leftovers of a killed process.
        let _ = fs::remove_file(&target.temporary);
        Ok(target)
    }

    /// A folder whose files are to be written to [`temporary`](Self::temporary), which exists and is empty.
    /// With `force`, files of the same names in an existing folder are overwritten at the end, others are
    /// kept.
    ///
    /// # Errors
    /// If it already exists and is not empty, is a file, is being written by another process, or cannot be
    /// created.
    pub fn folder(path: &Path, force: bool) -> Result<Self, OutputError> {
        if path.exists() && !path.is_dir() {
            return Err(OutputError::refused(
                path,
                "is a file, expected a folder",
                "choose another name with -o",
            ));
        }
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if path.exists() && !force && !is_empty() {
            let hint = "overwrite files of the same names with --force, or choose another folder with -o";
            return Err(OutputError::refused(path, "already exists and is not empty", hint));
        }
        let target = Self::new(path, true)?;
        // Leftovers of a killed process.
        let _ = fs::remove_dir_all(&target.temporary);
        fs::create_dir(&target.temporary).map_err(OutputError::io("create", path))?;
        Ok(target)
    }

    fn new(path: &Path, is_folder: bool) -> Result<Self, OutputError> {
        if path.file_name().is_none() {
            return Err(OutputError::refused(path, "has no file name", "choose a name with -o"));
        }
        let made = make_parent(path)?;
        let mut lock = path.file_name().unwrap_or_default().to_owned();
        lock.push(".lock");
        let lock = atomic::temporary_name(&path.with_file_name(lock));
        let claim = Claim::take(path, lock).inspect_err(|_| remove_made(&made))?;
        let temporary = atomic::temporary_name(path);
        Ok(Self { path: path.into(), temporary, is_folder, finished: false, claim, made })
    }

    /// The temporary path to write to.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Replaces the temporary path in an error by the final one.
    pub fn told(&self, error: OutputError) -> OutputError {
        match error {
            OutputError::Io { action, path, source } => {
                let path = match path.strip_prefix(&self.temporary) {
                    Ok(inside) if inside.as_os_str().is_empty() => self.path.clone(),
                    Ok(inside) => self.path.join(inside),
                    Err(_) => path,
                };
                OutputError::Io { action, path, source }
            }
            other @ OutputError::Refused { .. } => other,
        }
    }

    /// Renames the output to its final name.
    ///
    /// # Errors
    /// An I/O error.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let given = if self.is_folder && self.path.is_dir() {
            self.move_files()
        } else {
            fs::rename(&self.temporary, &self.path)
        };
        given.map_err(OutputError::io("write", &self.path))?;
        self.finished = true;
        Ok(())
    }

    fn move_files(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.temporary)? {
            let entry = entry?;
            fs::rename(entry.path(), self.path.join(entry.file_name()))?;
        }
        fs::remove_dir(&self.temporary)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.finished {
            // It may not exist; the error that led here is the one to report.
            let _ = if self.is_folder {
                fs::remove_dir_all(&self.temporary)
            } else {
                fs::remove_file(&self.temporary)
            };
        }
        self.claim.release();
        // Those that hold something stay.
        remove_made(&self.made);
    }
}

/// Creates the parent folder of `path`; returns the folders that were created, outermost first.
fn make_parent(path: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(Vec::new());
    };
    let outward = parent.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = outward.take_while(|folder| !folder.exists()).map(Into::into).collect();
    missing.reverse();
    let first = parent.ancestors().find(|folder| folder.exists());
    if let Some(file) = first.filter(|folder| !folder.is_dir()) {
        let hint = "choose another folder with -o";
        return Err(OutputError::refused(file, "is a file, expected a folder", hint));
    }
    fs::create_dir_all(parent).map_err(|error| {
        remove_made(&missing);
        OutputError::io("create", parent)(error)
    })?;
    Ok(missing)
}

/// Removes empty folders, innermost first.
fn remove_made(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // Non-empty folders are refused, as intended.
        let _ = fs::remove_dir(folder);
    }
}

/// Prevents other processes from writing to the same path: a lock of the operating system on a hidden file
/// beside it. It ends with the process, so a killed one leaves nothing locked.
#[derive(Debug)]
struct Claim {
    path: PathBuf,
    /// Held for its lock.
    file: Option<File>,
}

impl Claim {
    fn take(wanted: &Path, path: PathBuf) -> Result<Self, OutputError> {
        let cannot = |error| OutputError::io("write", wanted)(error);
        loop {
            let file =
                File::options().create(true).truncate(false).write(true).open(&path).map_err(cannot)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let hint = "wait until it has finished, or choose another name with -o";
                    return Err(OutputError::refused(wanted, "is being written by another process", hint));
                }
                // Some network file systems do not support locks; an export is allowed there.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
            // The previous holder may have removed the file in between: the lock would then be on a file that
            // others do not see.
            if is_still_at(&file, &path) {
                return Ok(Self { path, file: Some(file) });
            }
        }
    }

    fn release(&mut self) {
        if let Some(file) = self.file.take() {
            // Removed while it is locked. If it cannot be, it is an empty hidden file.
            let _ = fs::remove_file(&self.path);
            drop(file);
        }
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|m| (m.dev(), m.ino()));
    place(file.metadata()).is_some_and(|here| place(fs::metadata(path)) == Some(here))
}

#[cfg(not(unix))]
fn is_still_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_not_finished_leaves_no_folders() {
        let folder = tempfile::tempdir().unwrap();
        drop(Target::file(&folder.path().join("a/b/c.usd"), false).unwrap());
        drop(Target::folder(&folder.path().join("a/b/c"), false).unwrap());
        assert_eq!(left(folder.path()), [""; 0]);

        let target = Target::file(&folder.path().join("a/b/c.usd"), false).unwrap();
        fs::write(target.temporary(), "x").unwrap();
        target.finish().unwrap();
        assert_eq!(left(&folder.path().join("a/b")), ["c.usd"]);
        drop(Target::file(&folder.path().join("a/d.usd"), false).unwrap());
        assert_eq!(left(&folder.path().join("a")), ["b"], "folders from before stay");
    }

    #[test]
    fn one_place_is_written_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.usd");
        let first = Target::file(&path, false).unwrap();
        fs::write(first.temporary(), "first").unwrap();
        let error = Target::file(&path, true).unwrap_err().to_string();
        assert!(error.contains("x.usd") && error.contains("is being written"), "{error}");
        first.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        // Leftovers of a killed process do not interfere.
        fs::write(folder.path().join(".x.usd.lock.taut-part"), "").unwrap();
        fs::write(folder.path().join(".x.usd.taut-part"), "half").unwrap();
        drop(Target::file(&path, true).unwrap());
        assert_eq!(left(folder.path()), ["x.usd"]);
    }

    #[test]
    fn errors_tell_the_name_that_the_user_gave() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::folder(&folder.path().join("frames"), false).unwrap();
        let failed = |path: PathBuf| target.told(OutputError::io("write", path)(io::Error::other("full")));
        let inside = failed(target.temporary().join("1.obj")).to_string();
        assert!(inside.ends_with("frames/1.obj: full") && !inside.contains("part"), "{inside}");
        assert!(failed(target.temporary().into()).to_string().ends_with("/frames: full"));
        assert!(failed("elsewhere".into()).to_string().contains("write elsewhere"));
    }

    #[test]
    fn files_in_the_way_are_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for path in ["file/x.usd", "file/deep/x.usd"] {
            let error = Target::file(&folder.path().join(path), true).unwrap_err().to_string();
            assert!(error.contains("file: is a file, expected a folder"), "{error}");
        }
        let error = Target::file(&folder.path().join("new.usd/"), true).unwrap_err().to_string();
        assert!(error.contains("is a folder, expected a file"), "{error}");
    }
}
