//! ZIP archives without compression, written in one pass.
//!
//! The length of every member is known before it is written; its checksum is not, and is written to its
//! header afterwards. Members of 4 GiB and more, or beyond that offset, have 64-bit sizes and offsets
//! (ZIP64).

use std::path::Path;

use super::{ExportError, sink::Sink};

/// Value of 32-bit fields that are stored in the ZIP64 part.
const ELSEWHERE: u32 = u32::MAX;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// 1 January 1980, the first day of ZIP: the same run gives the same file.
const DATE: u16 = (1 << 5) | 1;
/// Of a header before its checksum.
const BEFORE_CHECKSUM: u64 = 14;

/// An archive being written.
pub(super) struct Archive {
    file: Sink,
    members: Vec<Member>,
}

struct Member {
    name: String,
    offset: u64,
    length: u64,
    checksum: u32,
}

/// A member being written.
pub(super) struct Entry<'a> {
    archive: &'a mut Archive,
    member: Member,
    checksum: crc32fast::Hasher,
    left: u64,
}

impl Archive {
    /// Creates the file `path`.
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        Ok(Self { file: Sink::create(path)?, members: Vec::new() })
    }

    /// Begins the member `name`, which will have `length` bytes.
    pub fn begin(&mut self, name: String, length: u64) -> Result<Entry<'_>, ExportError> {
        let member = Member { name, offset: self.file.length(), length, checksum: 0 };
        self.file.put(&member.local_header())?;
        Ok(Entry { archive: self, member, checksum: crc32fast::Hasher::new(), left: length })
    }

    /// Writes a whole member.
    pub fn put(&mut self, name: String, bytes: &[u8]) -> Result<(), ExportError> {
        let mut entry = self.begin(name, bytes.len() as u64)?;
        entry.put(bytes)?;
        entry.finish()
    }

    /// Writes the list of members.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let start = self.file.length();
        for member in &self.members {
            self.file.put(&member.central_header())?;
        }
        let end = self.file.length();
        let count = self.members.len() as u64;
        let short = |value: u64| u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes();
        if count >= u64::from(u16::MAX) || end >= u64::from(ELSEWHERE) {
            let mut record = b"PK\x06\x06".to_vec();
            record.extend_from_slice(&44_u64.to_le_bytes());
            record.extend_from_slice(&[45, 3, 45, 0]);
            record.extend_from_slice(&[0; 8]);
            for value in [count, count, end - start, start] {
                record.extend_from_slice(&value.to_le_bytes());
            }
            record.extend_from_slice(b"PK\x06\x07\0\0\0\0");
            record.extend_from_slice(&end.to_le_bytes());
            record.extend_from_slice(&1_u32.to_le_bytes());
            self.file.put(&record)?;
        }
        let mut record = b"PK\x05\x06\0\0\0\0".to_vec();
        record.extend_from_slice(&short(count));
        record.extend_from_slice(&short(count));
        record.extend_from_slice(&saturated(end - start).to_le_bytes());
        record.extend_from_slice(&saturated(start).to_le_bytes());
        record.extend_from_slice(&[0; 2]);
        self.file.put(&record)?;
        self.file.finish()
    }
}

impl Entry<'_> {
    /// Appends `bytes`.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.checksum.update(bytes);
        self.left -= bytes.len() as u64;
        self.archive.file.put(bytes)
    }

    /// Ends the member, which must be whole.
    pub fn finish(mut self) -> Result<(), ExportError> {
        debug_assert_eq!(self.left, 0, "{} was to be longer", self.member.name);
        self.member.checksum = self.checksum.finalize();
        let at = self.member.offset + BEFORE_CHECKSUM;
        self.archive.file.patch(at, &self.member.checksum.to_le_bytes())?;
        self.archive.members.push(self.member);
        Ok(())
    }
}

impl Member {
    fn local_header(&self) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04".to_vec();
        let extra = if self.length >= u64::from(ELSEWHERE) { zip64(&[self.length; 2]) } else { Vec::new() };
        self.put_shared(&mut bytes, extra.len());
        bytes.extend_from_slice(self.name.as_bytes());
        bytes.extend_from_slice(&extra);
        bytes
    }

    fn central_header(&self) -> Vec<u8> {
        let mut bytes = b"PK\x01\x02".to_vec();
        // Made on a Unix system, where the attributes below are permissions.
        bytes.extend_from_slice(&[45, 3]);
        let mut large = Vec::new();
        if self.length >= u64::from(ELSEWHERE) {
            large.extend([self.length; 2]);
        }
        if self.offset >= u64::from(ELSEWHERE) {
            large.push(self.offset);
        }
        let extra = if large.is_empty() { Vec::new() } else { zip64(&large) };
        self.put_shared(&mut bytes, extra.len());
        bytes.extend_from_slice(&[0; 6]);
        bytes.extend_from_slice(&(0o100_644_u32 << 16).to_le_bytes());
        bytes.extend_from_slice(&saturated(self.offset).to_le_bytes());
        bytes.extend_from_slice(self.name.as_bytes());
        bytes.extend_from_slice(&extra);
        bytes
    }

    /// What both headers have in common.
    fn put_shared(&self, bytes: &mut Vec<u8>, extra: usize) {
        let (method, time) = (0_u16, 0_u16);
        for value in [45, UTF8, method, time, DATE] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.checksum, saturated(self.length), saturated(self.length)] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.name.len(), extra] {
            bytes.extend_from_slice(&(value as u16).to_le_bytes());
        }
    }
}

fn saturated(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(ELSEWHERE)
}

/// The part of a header with 64-bit values.
fn zip64(values: &[u64]) -> Vec<u8> {
    let mut bytes = vec![1, 0];
    bytes.extend_from_slice(&(8 * values.len() as u16).to_le_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_beyond_4_gib_have_their_sizes_in_64_bits() {
        let small = Member { name: "a.npy".into(), offset: 7, length: 9, checksum: 1 };
        assert_eq!(small.local_header().len(), 30 + 5);
        assert_eq!(small.central_header().len(), 46 + 5);
        let large = Member { name: "a.npy".into(), offset: 6 << 32, length: 5 << 32, checksum: 1 };
        let local = large.local_header();
        assert_eq!(local[18..26], [0xff; 8]);
        assert_eq!(local[35..39], [1, 0, 16, 0]);
        assert_eq!(local[39..], [0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]);
        let central = large.central_header();
        assert_eq!(central[42..46], [0xff; 4]);
        assert_eq!(central[central.len() - 8..], (6_u64 << 32).to_le_bytes());
        assert_eq!(central[51..55], [1, 0, 24, 0]);
    }
}
