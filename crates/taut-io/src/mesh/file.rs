//! Reads the bytes of a file, or reports why not.

use std::{
    fs,
    io::{ErrorKind, Read},
    path::Path,
};

use super::fault::{Fault, fault};

/// Largest file that is read: 4 GiB.
pub(super) const MAX_BYTES: u64 = 4 << 30;

/// Reads a whole regular file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => fault("no such file"),
        ErrorKind::PermissionDenied => fault("permission denied"),
        _ => fault(format!("cannot be read: {error}")),
    };
    let about = fs::metadata(path).map_err(cannot)?;
    if about.is_dir() {
        return Err(fault("is a folder: expected a mesh file"));
    }
    // Pipes and devices may be endless, or block forever.
    if !about.is_file() {
        return Err(fault("is not a regular file"));
    }
    if about.len() > MAX_BYTES {
        return Err(too_large(about.len()));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    // One byte more than allowed, in case the file grows while it is read.
    fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    Ok(bytes)
}

/// The refusal of a file of `bytes` bytes.
pub(super) fn too_large(bytes: u64) -> Fault {
    fault(format!("has {bytes} bytes: files of up to {MAX_BYTES} bytes (4 GiB) are read"))
}
