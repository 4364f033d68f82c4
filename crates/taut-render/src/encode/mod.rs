//! Image and video files: PNG stills; MP4, GIF and animated PNG, written frame by frame.
//!
//! A [`Clip`] is written under a temporary name and renamed when complete. Memory does not grow with the
//! number of frames: data that a format needs first (the palette of a GIF, the index of an MP4) are collected
//! on the way, with the frames buffered in a second temporary file.

mod apng;
mod gif;
#[cfg(feature = "h264")]
mod mp4;
mod palette;
mod part;
mod rate;
mod still;
#[cfg(feature = "h264")]
mod yuv;

use std::{
    io,
    path::{Path, PathBuf},
};

pub use rate::Rate;
pub use still::{png, png_small};

use crate::{Picture, picture::Rgba};

/// Why a clip could not be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Unknown extension.
    #[error("{}: the extension must be .mp4, .gif, .apng or .png (animated)", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// Built without MP4.
    #[error("{}: this taut was built without MP4 (cargo feature h264); use .gif or .apng", path.display())]
    NoMp4 {
        /// The file.
        path: PathBuf,
    },
    /// The size is not supported by the format.
    #[error("{}: {width} × {height} pixels; {format} takes {smallest} × {smallest} to {}", path.display(), most(*largest))]
    Size {
        /// The file.
        path: PathBuf,
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// The format.
        format: &'static str,
        /// Minimum of each side.
        smallest: usize,
        /// Maximum, the longer side first.
        largest: [usize; 2],
    },
    /// Invalid frame rate.
    #[error("{}: {frame_rate} frames per second; must be from 0.01 to 1000", path.display())]
    FrameRate {
        /// The file.
        path: PathBuf,
        /// Frames per second.
        frame_rate: f32,
    },
    /// A picture does not have the clip's size.
    #[error("{}: frame {frame} has {} × {} pixels, expected {} × {}", path.display(), found[0], found[1], wanted[0], wanted[1])]
    OtherSize {
        /// The file.
        path: PathBuf,
        /// Number of the frame, from 0.
        frame: u64,
        /// Width and height of the picture.
        found: [usize; 2],
        /// Width and height of the clip.
        wanted: [usize; 2],
    },
    /// No frames.
    #[error("{}: a clip requires at least one frame", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// An I/O error.
    #[error("could not write {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// An error of the encoder.
    #[error("could not encode {}: {message}", path.display())]
    Encoder {
        /// The file.
        path: PathBuf,
        /// The error.
        message: String,
    },
}

/// The text of a maximum size.
fn most([longer, shorter]: [usize; 2]) -> String {
    let swapped = if longer == shorter { String::new() } else { format!(" or {shorter} × {longer}") };
    format!("{longer} × {shorter}{swapped}")
}

/// Encoder of one format.
trait Sink: Send {
    /// Adds a frame of the right size.
    fn add(&mut self, picture: &Picture) -> Result<(), EncodeError>;
    /// Completes and renames the file. There is at least one frame.
    fn finish(self: Box<Self>) -> Result<(), EncodeError>;
}

/// A video or animation being written.
///
/// The extension chooses the format:
/// - `.mp4`: H.264, colours after BT.709. Translucent pixels show white underneath. 4:2:0 sampling takes even
///   numbers of pixels: the last column or row of odd pictures is repeated.
/// - `.gif`: 255 colours, the same for all frames, dithered in a pattern that stands still; plays forever.
///   Times are in hundredths of a second, and frames that would show for less than 0.02 s are left out,
///   because browsers slow those down.
/// - `.apng`, `.png`: animated PNG, without loss; plays forever.
///
/// Dropped before [`finish`](Clip::finish), it leaves nothing behind, and an existing file stays unchanged.
pub struct Clip {
    path: PathBuf,
    size: [usize; 2],
    frames: u64,
    sink: Box<dyn Sink>,
}

impl std::fmt::Debug for Clip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clip").field("path", &self.path).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Clip {
    /// Whether [`create`](Clip::create) supports the extension of `path`.
    ///
    /// # Errors
    /// If the extension is unknown, or not supported in this build.
    pub fn check_extension(path: &Path) -> Result<(), EncodeError> {
        match extension(path).as_str() {
            "mp4" if !cfg!(feature = "h264") => Err(EncodeError::NoMp4 { path: path.into() }),
            "mp4" | "gif" | "apng" | "png" => Ok(()),
            _ => Err(EncodeError::Extension { path: path.into() }),
        }
    }

    /// Begins the clip `path` with `width` × `height` pixels and `frame_rate` frames per second.
    ///
    /// # Errors
    /// If the extension, size or frame rate is not supported, or the folder is not writable.
    pub fn create(path: &Path, width: usize, height: usize, frame_rate: f32) -> Result<Self, EncodeError> {
        Self::check_extension(path)?;
        let rate = Rate::nearest(frame_rate)
            .ok_or_else(|| EncodeError::FrameRate { path: path.into(), frame_rate })?;
        let size = [width, height];
        let (format, smallest, largest) = match extension(path).as_str() {
            "mp4" => ("MP4", 16, [3840, 2160]),
            "gif" => ("GIF", 1, [65_535; 2]),
            _ => ("PNG", 1, [65_535; 2]),
        };
        if width.min(height) < smallest || width.max(height) > largest[0] || width.min(height) > largest[1] {
            return Err(EncodeError::Size { path: path.into(), width, height, format, smallest, largest });
        }
        let sink: Box<dyn Sink> = match extension(path).as_str() {
            #[cfg(feature = "h264")]
            "mp4" => Box::new(mp4::Mp4::create(path, size, rate)?),
            "gif" => Box::new(gif::Gif::create(path, size, rate)?),
            _ => Box::new(apng::Apng::create(path, size, rate)?),
        };
        Ok(Self { path: path.into(), size, frames: 0, sink })
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// If the picture has another size, or it cannot be written.
    pub fn add(&mut self, picture: &Picture) -> Result<(), EncodeError> {
        let found = [picture.width(), picture.height()];
        if found != self.size {
            let (path, frame, wanted) = (self.path.clone(), self.frames, self.size);
            return Err(EncodeError::OtherSize { path, frame, found, wanted });
        }
        self.sink.add(picture)?;
        self.frames += 1;
        Ok(())
    }

    /// Completes the file and renames it, overwriting an existing one.
    ///
    /// # Errors
    /// If there is no frame, or it cannot be written.
    pub fn finish(self) -> Result<(), EncodeError> {
        if self.frames == 0 {
            return Err(EncodeError::Empty { path: self.path });
        }
        self.sink.finish()
    }
}

/// The extension of `path` in lowercase.
fn extension(path: &Path) -> String {
    path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_ascii_lowercase())
}

/// The colour of a pixel on white.
fn on_white(pixel: Rgba) -> [u8; 3] {
    let [r, g, b, a] = pixel.map(u32::from);
    [r, g, b].map(|c| ((c * a + 255 * (255 - a) + 127) / 255) as u8)
}
