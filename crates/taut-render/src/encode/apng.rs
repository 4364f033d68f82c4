//! Animated PNG: a PNG with further frames after its first, in separate chunks.
//!
//! A frame stores the rectangle that changed, with unchanged pixels transparent, which compresses well. The
//! number of frames is at the front and is written last.

use std::io::{Seek, SeekFrom, Write};

use png::ColorType;

use super::{
    EncodeError, Rate, Sink,
    part::Part,
    still::{self, Packing},
};
use crate::{Picture, picture::Rgba};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Offset of the chunk that counts frames: after the signature and the header.
const COUNT_AT: u64 = 8 + 25;

/// An animated PNG that is being written.
pub struct Apng {
    part: Part,
    size: [usize; 2],
    delay: [u16; 2],
    before: Vec<Rgba>,
    frames: u32,
    /// Chunks that belong to frames are numbered.
    sequence: u32,
}

impl Apng {
    /// Begins a file.
    pub fn create(path: &std::path::Path, size: [usize; 2], rate: Rate) -> Result<Self, EncodeError> {
        let mut part = Part::create(path, "")?;
        part.write(&SIGNATURE)?;
        let [width, height] = size.map(|n| (n as u32).to_be_bytes());
        let mut header = [width, height].concat();
        // 8 bits, RGBA, and the only defined methods.
        header.extend([8, 6, 0, 0, 0]);
        part.write(&chunk(*b"IHDR", &header))?;
        part.write(&count(0))?;
        part.write(&chunk(*b"sRGB", &[0]))?;
        Ok(Self { part, size, delay: delay(rate), before: Vec::new(), frames: 0, sequence: 0 })
    }

    fn next(&mut self) -> [u8; 4] {
        self.sequence += 1;
        (self.sequence - 1).to_be_bytes()
    }
}

impl Sink for Apng {
    fn add(&mut self, picture: &Picture) -> Result<(), EncodeError> {
        let (rectangle, samples, over) = changes(picture, &self.before);
        let [left, top, width, height] = rectangle;
        let mut control = self.next().to_vec();
        control.extend([width, height, left, top].iter().flat_map(|&n| (n as u32).to_be_bytes()));
        control.extend(self.delay.iter().flat_map(|n| n.to_be_bytes()));
        // The frame stays; the next is blended over it, or replaces it where it is translucent.
        control.extend([0, u8::from(over)]);
        self.part.write(&chunk(*b"fcTL", &control))?;

        let file = still::file([width, height], ColorType::Rgba, samples.as_flattened(), Packing::Small);
        for data in image_data(&file) {
            if self.frames == 0 {
                self.part.write(&chunk(*b"IDAT", data))?;
            } else {
                let numbered = [&self.next(), data].concat();
                self.part.write(&chunk(*b"fdAT", &numbered))?;
            }
        }
        self.before.clear();
        self.before.extend_from_slice(picture.pixels());
        debug_assert_eq!(self.before.len(), self.size[0] * self.size[1]);
        self.frames += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), EncodeError> {
        self.part.write(&chunk(*b"IEND", &[]))?;
        let count = count(self.frames);
        self.part.with(|file| {
            file.seek(SeekFrom::Start(COUNT_AT))?;
            file.write_all(&count)
        })?;
        self.part.keep()
    }
}

/// Left, top, width and height of the region of `picture` that differs from `before`, its pixels, and whether
/// these are to be blended over `before`: unchanged pixels are transparent then.
fn changes(picture: &Picture, before: &[Rgba]) -> ([usize; 4], Vec<Rgba>, bool) {
    let (width, height) = (picture.width(), picture.height());
    let pixels = picture.pixels();
    if before.is_empty() {
        return ([0, 0, width, height], pixels.to_vec(), false);
    }
    let [left, top, right, bottom] = changed_rectangle(pixels, before, width);
    let mut samples = Vec::with_capacity((right - left) * (bottom - top));
    let mut opaque = true;
    for y in top..bottom {
        for i in y * width + left..y * width + right {
            let changed = pixels[i] != before[i];
            opaque &= !changed || pixels[i][3] == 255;
            samples.push(if changed { pixels[i] } else { [0; 4] });
        }
    }
    if !opaque {
        samples.clear();
        (top..bottom).for_each(|y| samples.extend(&pixels[y * width + left..y * width + right]));
    }
    ([left, top, right - left, bottom - top], samples, opaque)
}

/// Left, top, right and bottom of the region where rows of `width` differ; one pixel where they do not.
pub(super) fn changed_rectangle<T: PartialEq>(now: &[T], before: &[T], width: usize) -> [usize; 4] {
    let (mut left, mut top, mut right, mut bottom) = (usize::MAX, usize::MAX, 0, 0);
    for (y, (a, b)) in now.chunks_exact(width).zip(before.chunks_exact(width)).enumerate() {
        if a == b {
            continue;
        }
        let differs = |(p, q): (&T, &T)| p != q;
        left = left.min(a.iter().zip(b).position(differs).unwrap_or(width));
        right = right.max(a.iter().zip(b).rposition(differs).map_or(0, |x| x + 1));
        top = top.min(y);
        bottom = y + 1;
    }
    if right == 0 { [0, 0, 1, 1] } else { [left, top, right, bottom] }
}

/// Duration of a frame, as a fraction of seconds in 16 bits.
fn delay(rate: Rate) -> [u16; 2] {
    let most = f64::from(u16::MAX);
    let scale = (most / f64::from(rate.frames.max(rate.seconds))).min(1.0);
    [rate.seconds, rate.frames].map(|n| ((f64::from(n) * scale).round() as u16).max(1))
}

fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let mut bytes = (data.len() as u32).to_be_bytes().to_vec();
    bytes.extend(kind);
    bytes.extend(data);
    let check = crc32fast::hash(&bytes[4..]);
    bytes.extend(check.to_be_bytes());
    bytes
}

/// The chunk that counts frames; it plays forever.
fn count(frames: u32) -> Vec<u8> {
    chunk(*b"acTL", &[frames.to_be_bytes(), [0; 4]].concat())
}

/// The compressed pixels of a PNG file written by taut.
fn image_data(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = SIGNATURE.len();
    std::iter::from_fn(move || {
        let length = file.get(at..at + 4)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let found = file.get(at + 4..at + 8 + length)?;
        at += length + 12;
        Some(found)
    })
    .filter_map(|found| found.strip_prefix(b"IDAT"))
}
