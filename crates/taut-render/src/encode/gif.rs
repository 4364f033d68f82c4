//! GIF: 255 colours, the same for all frames.
//!
//! Frames are buffered as PNGs while their colours are counted; with the palette known they are read again,
//! several at a time. A frame stores the rectangle that changed, with unchanged pixels transparent.

use std::io::Read;

use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use png::{ColorType, Decoder};
use rayon::prelude::*;

use super::{
    EncodeError, Rate, Sink,
    apng::changed_rectangle,
    on_white,
    palette::{COLORS, Histogram, Mixer},
    part::Part,
    still::{self, Packing},
};
use crate::Picture;

/// Frames that are processed at a time.
const BATCH: usize = 8;
/// Index of the transparent colour.
const SAME: u8 = COLORS as u8;

/// A GIF that is being written.
pub struct Gif {
    part: Part,
    parked: Part,
    size: [usize; 2],
    /// Start time of each frame, and end of the last \[hundredths of a second\].
    starts: Vec<u64>,
    rate: Rate,
    frames: u64,
    histogram: Histogram,
}

impl Gif {
    /// Begins a file.
    pub fn create(path: &std::path::Path, size: [usize; 2], rate: Rate) -> Result<Self, EncodeError> {
        let (part, parked) = (Part::create(path, "")?, Part::create(path, ".frames")?);
        Ok(Self { part, parked, size, starts: Vec::new(), rate, frames: 0, histogram: Histogram::new() })
    }
}

impl Sink for Gif {
    fn add(&mut self, picture: &Picture) -> Result<(), EncodeError> {
        let start = self.rate.start(self.frames, 100);
        self.frames += 1;
        if self.starts.last().is_some_and(|last| start < last + 2) {
            return Ok(());
        }
        self.starts.push(start);
        let mut rgb = vec![0; picture.pixels().len() * 3];
        for (to, &pixel) in rgb.chunks_exact_mut(3).zip(picture.pixels()) {
            let color = on_white(pixel);
            to.copy_from_slice(&color);
            self.histogram.count(color);
        }
        let file = still::file(self.size, ColorType::Rgb, &rgb, Packing::Fast);
        self.parked.write(&(file.len() as u32).to_le_bytes())?;
        self.parked.write(&file)
    }

    fn finish(self: Box<Self>) -> Result<(), EncodeError> {
        let Self { mut part, mut parked, size, mut starts, rate, frames, histogram } = *self;
        // The last frame is shown as long as the others.
        let end = rate.start(frames, 100);
        starts.push(end.max(starts.last().map_or(2, |last| last + 2)));
        let palette = histogram.palette();
        let mixer = Mixer::new(&palette);
        let path = part.path().to_owned();
        let refused = |error: EncodingError| match error {
            EncodingError::Io(source) => EncodeError::Io { path: path.clone(), source },
            other => EncodeError::Encoder { path: path.clone(), message: other.to_string() },
        };
        let mut reading = std::io::BufReader::with_capacity(1 << 20, parked.read_back()?);
        let mut table = palette.into_flattened();
        table.resize(256 * 3, 0);
        let [width, height] = size.map(|n| n as u16);
        let mut file = Vec::new();
        let mut before: Vec<u8> = Vec::new();
        let mut encoder = Encoder::new(&mut file, width, height, &table).map_err(&refused)?;
        encoder.set_repeat(Repeat::Infinite).map_err(&refused)?;
        for times in starts.windows(2).collect::<Vec<_>>().chunks(BATCH) {
            let files: Vec<Vec<u8>> = times
                .iter()
                .map(|_| next_file(&mut reading))
                .collect::<Result<_, _>>()
                .map_err(|e| part.error(e))?;
            let decoded = files.par_iter().map(|file| indices(file, size, &mixer)).collect::<Result<_, _>>();
            let decoded: Vec<Vec<u8>> =
                decoded.map_err(|message| EncodeError::Encoder { path: path.clone(), message })?;
            let packed: Vec<Frame<'_>> = (0..decoded.len())
                .into_par_iter()
                .map(|i| {
                    let before = if i == 0 { &before } else { &decoded[i - 1] };
                    let mut frame = changes(&decoded[i], before, size);
                    frame.delay = u16::try_from(times[i][1] - times[i][0]).unwrap_or(u16::MAX);
                    frame.make_lzw_pre_encoded();
                    frame
                })
                .collect();
            for frame in &packed {
                encoder.write_lzw_pre_encoded_frame(frame).map_err(&refused)?;
                part.write(encoder.get_ref())?;
                encoder.get_mut().clear();
            }
            before = decoded.into_iter().next_back().unwrap_or(before);
        }
        // Writes the trailer.
        drop(encoder);
        part.write(&file)?;
        part.keep()
    }
}

/// The next buffered frame.
fn next_file(reading: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    reading.read_exact(&mut length)?;
    let mut file = vec![0; u32::from_le_bytes(length) as usize];
    reading.read_exact(&mut file)?;
    Ok(file)
}

/// A buffered frame as indices into the palette.
fn indices(file: &[u8], [width, height]: [usize; 2], mixer: &Mixer) -> Result<Vec<u8>, String> {
    let mut reader =
        Decoder::new(std::io::Cursor::new(file)).read_info().map_err(|error| error.to_string())?;
    let mut rgb = vec![0; width * height * 3];
    reader.next_frame(&mut rgb).map_err(|error| error.to_string())?;
    let pixels = rgb.as_chunks::<3>().0;
    Ok(pixels.iter().enumerate().map(|(i, &color)| mixer.index(color, i % width, i / width)).collect())
}

/// The rectangle that changed since `before`, which is empty for the first frame.
fn changes(now: &[u8], before: &[u8], [width, height]: [usize; 2]) -> Frame<'static> {
    let mut frame = Frame { dispose: DisposalMethod::Keep, transparent: Some(SAME), ..Frame::default() };
    let [left, top, right, bottom] =
        if before.is_empty() { [0, 0, width, height] } else { changed_rectangle(now, before, width) };
    let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
    for y in top..bottom {
        let row = y * width + left..y * width + right;
        if before.is_empty() {
            buffer.extend_from_slice(&now[row]);
        } else {
            buffer.extend(
                now[row.clone()].iter().zip(&before[row]).map(|(&n, &b)| if n == b { SAME } else { n }),
            );
        }
    }
    [frame.left, frame.top, frame.width, frame.height] =
        [left, top, right - left, bottom - top].map(|n| n as u16);
    frame.buffer = buffer.into();
    frame
}
