//! Files and folders that get their name when they are whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::output::{OutputError, atomic};

/// A file or folder that is being written under another name. Dropped before [`finish`](Self::finish), it leaves nothing.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    temporary: PathBuf,
    is_folder: bool,
    finished: bool,
}

impl Target {
    /// Refuses a file that would replace one, unless `force` says that it may.
    ///
    /// # Errors
    /// If it is there already.
    pub fn refuse_existing(path: &Path, force: bool) -> Result<(), OutputError> {
        if path.exists() && !force {
            let hint = "replace it with --force, or choose another name with -o";
            return Err(OutputError::refused(path, "exists already", hint));
        }
        Ok(())
    }

    /// Refuses a folder, where a file is to be written.
    ///
    /// # Errors
    /// If it is one.
    pub fn refuse_folder(path: &Path) -> Result<(), OutputError> {
        if path.is_dir() {
            let message = "is a folder, where a file is to be written";
            return Err(OutputError::refused(path, message, "choose another name with -o"));
        }
        Ok(())
    }

    /// A file to be written to [`temporary`](Self::temporary). One that is there already is replaced in the end, if `force` says so.
    ///
    /// # Errors
    /// If it is there already, is a folder, or its folder cannot be made.
    pub fn file(path: &Path, force: bool) -> Result<Self, OutputError> {
        Self::refuse_folder(path)?;
        Self::refuse_existing(path, force)?;
        let target = Self::new(path, false)?;
        // Whatever a killed process left.
        let _ = fs::remove_file(&target.temporary);
        Ok(target)
    }

    /// A folder whose files are to be written into [`temporary`](Self::temporary), which is there and empty. If there is one
    /// already, and `force` says so, files of the same names are replaced in the end and others kept.
    ///
    /// # Errors
    /// If it is there already and not empty, is a file, or cannot be made.
    pub fn folder(path: &Path, force: bool) -> Result<Self, OutputError> {
        if path.exists() && !path.is_dir() {
            return Err(OutputError::refused(
                path,
                "is a file, where a folder is to be written",
                "choose another name with -o",
            ));
        }
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if path.exists() && !force && !is_empty() {
            let hint = "replace files of the same names in it with --force, or choose another folder with -o";
            return Err(OutputError::refused(path, "exists already and holds files", hint));
        }
        let target = Self::new(path, true)?;
        // Whatever a killed process left.
        let _ = fs::remove_dir_all(&target.temporary);
        fs::create_dir(&target.temporary).map_err(OutputError::io("create", &target.temporary))?;
        Ok(target)
    }

    fn new(path: &Path, is_folder: bool) -> Result<Self, OutputError> {
        if path.file_name().is_none() {
            return Err(OutputError::refused(path, "has no name to write to", "choose a name with -o"));
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(OutputError::io("create", parent))?;
        }
        Ok(Self { path: path.into(), temporary: atomic::temporary_name(path), is_folder, finished: false })
    }

    /// What to write to.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives what was written its name.
    ///
    /// # Errors
    /// If the system refuses.
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
            // It may never have been made; the error that led here is the one to tell.
            let _ = if self.is_folder {
                fs::remove_dir_all(&self.temporary)
            } else {
                fs::remove_file(&self.temporary)
            };
        }
    }
}
