//! The tables of a crate file.

use super::{
    super::super::fault::{Fault, fault},
    packing,
};

/// Kinds of specs that are read.
pub(super) const ATTRIBUTE: u32 = 1;
pub(super) const PRIM: u32 = 6;
pub(super) const ROOT: u32 = 7;

/// Maximum entries of a table: packed ones take little of a file.
const MAX_ENTRIES: u64 = 1 << 24;
/// Maximum fields of a set: sets may overlap, and a file without ends would be read over and over.
const MAX_FIELDS: usize = 4096;
/// End of a set of fields.
const END_OF_SET: u32 = u32::MAX;

/// A path, as the place in the tree of prims.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// Index of the path that it is in.
    pub parent: u32,
    /// Token of its name.
    pub token: u32,
    pub is_property: bool,
}

/// What is said of a path.
#[derive(Clone, Copy)]
pub(super) struct Spec {
    pub path: u32,
    /// First field of its set.
    pub set: u32,
    pub kind: u32,
}

/// An open crate file.
pub(in crate::mesh::usd) struct Crate<'a> {
    pub(super) bytes: &'a [u8],
    /// Minor version: 8 of 0.8.
    pub(super) version: u8,
    /// All texts, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    pub(super) strings: Vec<u32>,
    /// Token of the name, and the value.
    fields: Vec<(u32, u64)>,
    sets: Vec<u32>,
    pub(super) paths: Vec<Option<Path>>,
    pub(super) specs: Vec<Spec>,
}

/// Reads numbers one after the other.
pub(super) struct Cursor<'a> {
    pub rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// From the byte `at` on.
    pub fn new(bytes: &'a [u8], at: u64) -> Result<Self, Fault> {
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
        rest.map(|rest| Self { rest })
            .ok_or_else(|| fault(format!("refers to byte {at}: the file has {}", bytes.len())))
    }

    pub fn take(&mut self, count: u64) -> Result<&'a [u8], Fault> {
        let split = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let Some((taken, rest)) = split else {
            return Err(fault(format!(
                "is truncated: {count} bytes are expected where {} are left",
                self.rest.len()
            )));
        };
        self.rest = rest;
        Ok(taken)
    }

    pub fn u32(&mut self) -> Result<u32, Fault> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub fn u64(&mut self) -> Result<u64, Fault> {
        let b = self.take(8)?;
        Ok(u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
    }

    /// Bytes with their number before them.
    pub fn block(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.u64()?;
        self.take(length)
    }

    /// The number of entries of a table.
    fn count(&mut self) -> Result<usize, Fault> {
        match self.u64()? {
            count @ 0..=MAX_ENTRIES => Ok(count as usize),
            count => Err(fault(format!("has {count} entries: at most {MAX_ENTRIES} are read"))),
        }
    }

    /// A packed column of `count` integers.
    fn column(&mut self, count: usize) -> Result<Vec<u32>, Fault> {
        let block = self.block()?;
        Ok(packing::integers(block, count)?.into_iter().map(|value| value as u32).collect())
    }
}

impl<'a> Crate<'a> {
    /// Reads the tables of a file that begins with `PXR-USDC`.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut head = Cursor::new(bytes, 8)?;
        let version = head.take(8)?;
        if version[0] != 0 || !(4..=13).contains(&version[1]) {
            return Err(fault(format!(
                "is a binary USD file of version {}.{}.{}: 0.4 to 0.13 are read; save it as .usda",
                version[0], version[1], version[2]
            )));
        }
        let contents = head.u64()?;
        let mut contents = Cursor::new(bytes, contents).map_err(|found| found.within("table of contents"))?;
        let mut sections = Vec::new();
        let count = contents.u64()?;
        // Six are needed; newer files may have some more.
        for _ in 0..count.min(64) {
            let name = contents.take(16).map_err(|found| found.within("table of contents"))?;
            let (start, length) = (contents.u64()?, contents.u64()?);
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            sections.push((name, start, length));
        }
        let section = |name: &'static str| {
            let found = sections.iter().find(|section| section.0 == name.as_bytes());
            let Some(&(_, start, length)) = found else {
                return Err(fault(format!("has no table {name}: a crate file must have it")));
            };
            let rest = Cursor::new(bytes, start)?.take(length).map_err(|found| found.within(name))?;
            Ok(Cursor { rest })
        };
        let named = |name: &'static str| move |found: Fault| found.within(&format!("table {name}"));
        let (text, ends) = read_tokens(section("TOKENS")?).map_err(named("TOKENS"))?;
        let mut tables = Self {
            bytes,
            version: version[1],
            text,
            ends,
            strings: read_strings(section("STRINGS")?).map_err(named("STRINGS"))?,
            fields: read_fields(section("FIELDS")?).map_err(named("FIELDS"))?,
            sets: Vec::new(),
            paths: read_paths(section("PATHS")?).map_err(named("PATHS"))?,
            specs: read_specs(section("SPECS")?).map_err(named("SPECS"))?,
        };
        let mut sets = section("FIELDSETS")?;
        let column = sets.count().and_then(|count| sets.column(count));
        tables.sets = column.map_err(named("FIELDSETS"))?;
        Ok(tables)
    }

    /// A text.
    pub(super) fn token(&self, index: u32) -> Result<&str, Fault> {
        let index = index as usize;
        let wrong = || fault(format!("refers to token {index} (from 0): the file has {}", self.ends.len()));
        let end = *self.ends.get(index).ok_or_else(wrong)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] + 1 };
        std::str::from_utf8(&self.text[start..end])
            .map_err(|_| fault(format!("token {index} (from 0) is not valid UTF-8")))
    }

    /// Names and values of the fields of a set.
    pub(super) fn fields_of(&self, set: u32) -> impl Iterator<Item = Result<(&str, u64), Fault>> {
        let fields = self.sets.get(set as usize..).unwrap_or_default();
        fields.iter().take(MAX_FIELDS).take_while(|&&field| field != END_OF_SET).map(|&field| {
            let count = self.fields.len();
            let (name, value) = self
                .fields
                .get(field as usize)
                .ok_or_else(|| fault(format!("refers to field {field} (from 0): the file has {count}")))?;
            Ok((self.token(*name)?, *value))
        })
    }
}

/// All texts, and where each ends.
fn read_tokens(mut table: Cursor) -> Result<(Vec<u8>, Vec<usize>), Fault> {
    let count = table.count()?;
    let length = table.u64()?;
    let block = table.block()?;
    let most = (block.len() as u64).saturating_mul(255).min(length);
    let text = packing::unpack(block, usize::try_from(most).unwrap_or(0))?;
    let ends: Vec<usize> =
        text.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at).take(count).collect();
    if ends.len() < count {
        return Err(fault(format!("holds {} of {count} tokens", ends.len())));
    }
    Ok((text, ends))
}

fn read_strings(mut table: Cursor) -> Result<Vec<u32>, Fault> {
    let count = table.count()?;
    let bytes = table.take(4 * count as u64)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

fn read_fields(mut table: Cursor) -> Result<Vec<(u32, u64)>, Fault> {
    let count = table.count()?;
    let names = table.column(count)?;
    let values = packing::unpack(table.block()?, 8 * count)?;
    let values = values.as_chunks::<8>().0;
    if values.len() < count {
        return Err(fault(format!("holds {} of {count} values", values.len())));
    }
    Ok(names.into_iter().zip(values.iter().map(|value| u64::from_le_bytes(*value))).collect())
}

fn read_specs(mut table: Cursor) -> Result<Vec<Spec>, Fault> {
    let count = table.count()?;
    let (paths, sets, kinds) = (table.column(count)?, table.column(count)?, table.column(count)?);
    Ok((0..count).map(|k| Spec { path: paths[k], set: sets[k], kind: kinds[k] }).collect())
}

/// The tree of paths. Its rows are in depth-first order, each with a jump: how many rows on its next sibling
/// is, where it has children too; 0: its sibling is next; −1: it has children and no sibling; −2: neither.
fn read_paths(mut table: Cursor) -> Result<Vec<Option<Path>>, Fault> {
    let count = table.count()?;
    let rows = table.count()?;
    let (places, names, jumps) = (table.column(rows)?, table.column(rows)?, table.column(rows)?);
    let mut paths: Vec<Option<Path>> = vec![None; count];
    let mut stack = Vec::new();
    if rows > 0 {
        stack.push((0, None));
    }
    let mut visited = 0;
    while let Some((mut row, mut parent)) = stack.pop() {
        loop {
            visited += 1;
            if row >= rows || visited > rows {
                return Err(fault(format!("is not a tree of {rows} rows")));
            }
            let (place, name, jump) = (places[row], names[row] as i32, jumps[row] as i32);
            if place as usize >= count {
                return Err(fault(format!("refers to path {place} (from 0): the file has {count}")));
            }
            // The first row is the root, which has no name.
            if let Some(parent) = parent {
                let path = Path { parent, token: name.unsigned_abs(), is_property: name < 0 };
                paths[place as usize] = Some(path);
            }
            let (has_child, has_sibling) = (jump > 0 || jump == -1, jump >= 0);
            if has_child {
                if has_sibling {
                    stack.push((row + jump as usize, parent));
                }
                parent = Some(place);
            } else if !has_sibling {
                break;
            }
            row += 1;
        }
    }
    Ok(paths)
}
