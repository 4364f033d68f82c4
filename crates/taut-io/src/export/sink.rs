//! A file that is written sequentially, and numbers as bytes.

use std::{
    fs::File,
    io::{BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use glam::Vec3;

use super::{ExportError, Job};

/// A file being written; its errors contain its path.
pub(super) struct Sink {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl Sink {
    /// Creates the file `path`.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, ExportError> {
        let path = path.into();
        let file = File::create(&path).map_err(Job::failed(&path))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), path, length: 0 })
    }

    /// Bytes written so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends `bytes`.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.length += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Job::failed(&self.path))
    }

    /// Overwrites existing bytes from `at` on with `bytes`.
    pub fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), ExportError> {
        debug_assert!(at + bytes.len() as u64 <= self.length);
        let mut patch = || {
            self.file.seek(SeekFrom::Start(at))?;
            self.file.write_all(bytes)?;
            self.file.seek(SeekFrom::Start(self.length)).map(|_| ())
        };
        patch().map_err(Job::failed(&self.path))
    }

    /// Flushes everything to the system.
    pub fn finish(mut self) -> Result<(), ExportError> {
        self.file.flush().map_err(Job::failed(&self.path))
    }
}

/// Writes a whole file.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    std::fs::write(path, bytes).map_err(Job::failed(path))
}

/// Appends vectors as float32, little-endian.
pub(super) fn put_vectors(bytes: &mut Vec<u8>, vectors: &[Vec3]) {
    bytes.reserve(12 * vectors.len());
    for v in vectors {
        bytes.extend_from_slice(v.to_array().map(f32::to_le_bytes).as_flattened());
    }
}

/// Appends numbers as float32, little-endian.
pub(super) fn put_floats(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = f32>) {
    bytes.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
}

/// Appends indices as 32-bit integers, little-endian. They are below 2³¹, so readers may treat them as signed
/// or unsigned.
pub(super) fn put_indices<'a>(bytes: &mut Vec<u8>, indices: impl IntoIterator<Item = &'a u32>) {
    bytes.extend(indices.into_iter().flat_map(|i| i.to_le_bytes()));
}
