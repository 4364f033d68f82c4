//! Atomic writes: a file is either complete or absent.
//!
//! Bytes are written to a hidden temporary file in the same folder, synced to disk, and then renamed: a
//! rename within a folder is atomic, so neither a reader nor a later run sees a partial file. A run that is
//! killed in between leaves a temporary file, which [`sweep`] removes.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::OutputError;

const SUFFIX: &str = ".taut-part";

/// Writes `bytes` to the file `path`, overwriting it, or leaves `path` unchanged.
///
/// The data is on disk when this returns; the name may still be lost in a power cut until [`sync_folder`].
///
/// # Errors
/// An I/O error, with `path`; no temporary file is left behind.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let temporary = temporary_name(path);
    let written = write_and_sync(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| {
        // The temporary file is useless, and takes space on a full disk. It may not exist; the first error is
        // reported.
        let _ = fs::remove_file(&temporary);
        OutputError::Io { action: "write", path: path.into(), source }
    })
}

fn write_and_sync(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The hidden temporary name, beside `path`, until the file is complete.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or(OsStr::new("file")));
    name.push(SUFFIX);
    path.with_file_name(name)
}

/// Syncs the names in `folder` to disk, so that they survive a power cut.
///
/// # Errors
/// If the folder cannot be opened or synchronised.
pub fn sync_folder(folder: &Path) -> Result<(), OutputError> {
    // Windows cannot open a folder as a file, and its journal keeps renames in order.
    if cfg!(unix) {
        File::open(folder).and_then(|f| f.sync_all()).map_err(OutputError::io("synchronise", folder))?;
    }
    Ok(())
}

/// Removes temporary files that a killed run left in `folder`; a missing folder has none.
///
/// # Errors
/// If a temporary file cannot be removed.
pub fn sweep(folder: &Path) -> Result<(), OutputError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(OutputError::io("read", folder)(error)),
    };
    for entry in entries {
        let path = entry.map_err(OutputError::io("read", folder))?.path();
        if is_temporary(&path) {
            fs::remove_file(&path).map_err(OutputError::io("remove", path))?;
        }
    }
    Ok(())
}

/// Whether `path` has a [`temporary_name`].
pub fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .and_then(OsStr::to_str)
        .is_some_and(|name| name.starts_with('.') && name.ends_with(SUFFIX) && name.len() > SUFFIX.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_names_the_file_and_keeps_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "x").unwrap();
        let error = write(&path, b"bytes").unwrap_err().to_string();
        assert!(error.contains("could not write") && error.contains("a.txt"), "{error}");
        assert!(path.join("inside").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary is left");
    }

    #[test]
    fn sweeps_temporaries_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".sheet.0003.npy.taut-part", ".hidden", "part", ".taut-part"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        sweep(folder.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".hidden", ".taut-part", "part"]);
        sweep(&folder.path().join("missing")).unwrap();
    }
}
