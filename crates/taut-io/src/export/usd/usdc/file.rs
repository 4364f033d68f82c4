//! The bytes of a crate file: a head that says where the table of contents is, then values one after the
//! other.

use std::io::{self, Seek, SeekFrom, Write};

const MAGIC: &[u8; 8] = b"PXR-USDC";
/// Version 0.8, which USD itself still writes by default: every reader of today takes it.
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Magic, version, place of the table of contents, and eight words that are reserved.
const HEAD: usize = 8 + 8 + 8 + 64;
const ALIGNMENT: u64 = 8;

/// A file that is being written; knows how far.
#[derive(Debug)]
pub struct File<W> {
    out: W,
    position: u64,
}

impl<W: Write + Seek> File<W> {
    /// Leaves room for the head.
    ///
    /// # Errors
    /// If the system refuses to write.
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; HEAD])?;
        Ok(Self { out, position: HEAD as u64 })
    }

    /// How many bytes there are so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the system refuses to write.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Starts a value where readers can use it in place, and says where that is.
    ///
    /// # Errors
    /// If the system refuses to write.
    pub fn align(&mut self) -> io::Result<u64> {
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.put(&[0; ALIGNMENT as usize][..padding as usize])?;
        Ok(self.position)
    }

    /// Writes the head, now that the place of the table of contents is known.
    ///
    /// # Errors
    /// If the system refuses to write.
    pub fn finish(&mut self, contents: u64) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(MAGIC)?;
        self.out.write_all(&VERSION)?;
        self.out.write_all(&contents.to_le_bytes())?;
        self.out.flush()
    }
}
