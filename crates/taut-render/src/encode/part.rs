//! Incomplete files.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use taut_io::output::atomic;

use super::EncodeError;

/// A temporary file next to `path` with a hidden name, removed unless it is [kept](Part::keep).
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Part {
    /// Begins the file that will be `path`; `kind` distinguishes several for the same path.
    pub fn create(path: &Path, kind: &str) -> Result<Self, EncodeError> {
        let mut name = path.as_os_str().to_owned();
        name.push(kind);
        let temporary = atomic::temporary_name(Path::new(&name));
        // Also readable: buffered frames are read again.
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&temporary);
        let file = file.map_err(|source| EncodeError::Io { path: path.into(), source })?;
        Ok(Self { path: path.into(), temporary, file: Some(BufWriter::with_capacity(1 << 20, file)) })
    }

    /// Its final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The system's error, with the file name.
    pub fn error(&self, source: io::Error) -> EncodeError {
        EncodeError::Io { path: self.path.clone(), source }
    }

    /// Runs an operation on the file.
    pub fn with<T>(
        &mut self,
        work: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T, EncodeError> {
        let path = &self.path;
        let file = self.file.as_mut().ok_or_else(|| io::Error::other("the file is closed"));
        file.and_then(work).map_err(|source| EncodeError::Io { path: path.clone(), source })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.with(|file| file.write_all(bytes))
    }

    /// Ends writing and begins to read from the start.
    pub fn read_back(&mut self) -> Result<File, EncodeError> {
        self.with(|file| {
            file.flush()?;
            let mut reading = file.get_ref().try_clone()?;
            reading.seek(SeekFrom::Start(0))?;
            Ok(reading)
        })
    }

    /// Renames the complete file to its final name.
    pub fn keep(mut self) -> Result<(), EncodeError> {
        self.with(|file| {
            file.flush()?;
            file.get_ref().sync_all()
        })?;
        // Closed first: not every system renames open files.
        self.file = None;
        fs::rename(&self.temporary, &self.path).map_err(|source| self.error(source))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.file = None;
        // Gone already if it was kept.
        let _ = fs::remove_file(&self.temporary);
    }
}
