//! The bytes of a crate file: a header with the offset of the table of contents, then values in sequence.

use std::io::{self, Seek, SeekFrom, Write};

const MAGIC: &[u8; 8] = b"PXR-USDC";
/// Version 0.8, which USD itself still writes by default: every current reader accepts it.
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Magic, version, offset of the table of contents, and eight reserved words.
const HEAD: usize = 8 + 8 + 8 + 64;
const ALIGNMENT: u64 = 8;

/// A file being written, with its current offset.
#[derive(Debug)]
pub struct File<W> {
    out: W,
    position: u64,
}

impl<W: Write + Seek> File<W> {
    /// Reserves space for the header.
    ///
    /// # Errors
    /// A write error.
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; HEAD])?;
        Ok(Self { out, position: HEAD as u64 })
    }

    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// A write error.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Aligns the next value so that readers can use it in place, and returns its offset.
    ///
    /// # Errors
    /// A write error.
    pub fn align(&mut self) -> io::Result<u64> {
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.put(&[0; ALIGNMENT as usize][..padding as usize])?;
        Ok(self.position)
    }

    /// Writes the header, once the offset of the table of contents is known.
    ///
    /// # Errors
    /// A write error.
    pub fn finish(&mut self, contents: u64) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(MAGIC)?;
        self.out.write_all(&VERSION)?;
        self.out.write_all(&contents.to_le_bytes())?;
        self.out.flush()
    }
}
