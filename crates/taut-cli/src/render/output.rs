//! Outputs of rendering: one image, an image sequence, or a clip. Each is written to a temporary name and
//! renamed when complete.

use std::{
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use taut_io::{export::Target, output::OutputError};
use taut_render::{
    Picture,
    encode::{self, Clip, EncodeError},
};

use crate::failure::Failure;

/// Kind and path of the output.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One PNG.
    Picture(PathBuf),
    /// MP4, GIF or animated PNG.
    Clip(PathBuf),
    /// A folder of PNGs.
    Folder(PathBuf),
    /// PNGs with a frame number in their name.
    Pattern(Pattern),
}

/// A file name with a placeholder for a frame number of at least `digits` digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    whole: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl Pattern {
    /// Parses a name with `%d` or `%04d`.
    fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (before, rest) = name.split_once('%')?;
        let (digits, after) = rest.split_once('d')?;
        let digits =
            if digits.is_empty() { 1 } else { digits.parse().ok().filter(|n| (1..=9).contains(n))? };
        let whole = path.to_path_buf();
        (!after.contains('%')).then(|| Self { whole, before: before.into(), digits, after: after.into() })
    }

    fn at(&self, frame: u32) -> PathBuf {
        let Self { whole, before, digits, after } = self;
        whole.with_file_name(format!("{before}{frame:0digits$}{after}"))
    }
}

impl Output {
    /// The kind of output by file name.
    pub fn of_path(path: &Path) -> Result<Self, Failure> {
        let kinds = "use .png (one image), .%04d.png (a sequence), .mp4, .gif or .apng (a clip), or a folder";
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match extension.as_deref() {
            Some("png") if name.contains('%') => Pattern::parse(path).map(Self::Pattern).ok_or_else(|| {
                Failure::input(
                    format!("{} needs exactly one %d placeholder", path.display()),
                    "for example frame.%04d.png",
                )
            }),
            Some("png") => Ok(Self::Picture(path.into())),
            Some("mp4" | "gif" | "apng") => {
                Clip::check_extension(path).map_err(failure)?;
                Ok(Self::Clip(path.into()))
            }
            None if !name.is_empty() => Ok(Self::Folder(path.into())),
            _ if path.is_dir() => Ok(Self::Folder(path.into())),
            _ => Err(Failure::input(format!("{}: unsupported image format", path.display()), kinds)),
        }
    }

    /// The default output of the run in `root`.
    pub fn default_for(root: &Path, still: bool) -> Self {
        if still {
            return Self::Picture(root.join("render.png"));
        }
        let mp4 = root.join("render.mp4");
        // A build without H.264 writes GIF, which every browser shows.
        if Clip::check_extension(&mp4).is_ok() {
            Self::Clip(mp4)
        } else {
            Self::Clip(root.join("render.gif"))
        }
    }

    /// The file, folder or pattern.
    pub fn path(&self) -> &Path {
        match self {
            Self::Picture(path) | Self::Clip(path) | Self::Folder(path) => path,
            Self::Pattern(pattern) => &pattern.whole,
        }
    }
}

/// Checks and reserves the output. Partial output is removed if this is dropped before it is finished.
pub struct Writer {
    kind: Kind,
    target: Target,
}

enum Kind {
    Picture(PathBuf),
    Folder(PathBuf),
    /// The clip manages its own temporary files; the target reserves the path.
    Clip(PathBuf),
    Pattern(Pattern),
}

impl Writer {
    /// Checks that `output` can be written for `frames`, before anything is drawn.
    pub fn open(output: &Output, frames: &RangeInclusive<u32>, force: bool) -> Result<Self, Failure> {
        let (kind, target) = match output {
            Output::Picture(path) => (Kind::Picture(path.clone()), Target::file(path, force)),
            Output::Folder(path) => (Kind::Folder(path.clone()), Target::folder(path, force)),
            Output::Clip(path) => (Kind::Clip(path.clone()), Target::file(path, force)),
            Output::Pattern(pattern) => {
                pattern.refuse_existing(frames, force).map_err(Failure::at_start)?;
                (Kind::Pattern(pattern.clone()), Target::folder(&pattern.whole, force))
            }
        };
        Ok(Self { kind, target: target.map_err(Failure::at_start)? })
    }

    /// Starts writing images of the given size.
    pub fn begin(self, width: usize, height: usize, fps: f32) -> Result<Writing, Failure> {
        let Self { kind, target } = self;
        let sink = match kind {
            Kind::Picture(path) => Sink::Picture(path),
            Kind::Folder(path) => {
                Sink::Folder(path, Pattern::parse(&target.temporary().join("frame.%04d.png")))
            }
            Kind::Clip(path) => {
                let clip = Clip::create(&path, width, height, fps).map_err(failure)?;
                Sink::Clip(path, Box::new(clip))
            }
            Kind::Pattern(pattern) => Sink::Pattern(pattern, Vec::new()),
        };
        Ok(Writing { sink, target })
    }
}

impl Pattern {
    /// Refuses to overwrite existing images of `frames` without `force`.
    fn refuse_existing(&self, frames: &RangeInclusive<u32>, force: bool) -> Result<(), OutputError> {
        for path in frames.clone().map(|frame| self.at(frame)) {
            if path.is_dir() {
                let message = "is a folder, expected a file";
                return Err(OutputError::refused(path, message, "choose another name with -o"));
            }
            if path.exists() && !force {
                let hint = "choose another name with -o, or overwrite it with --force";
                return Err(OutputError::refused(path, "already exists", hint));
            }
        }
        Ok(())
    }
}

/// Output in progress.
pub struct Writing {
    // Dropped first: its temporary files are in a folder that the target may have created.
    sink: Sink,
    target: Target,
}

enum Sink {
    Picture(PathBuf),
    /// Its final path, and the names of its files until it is complete.
    Folder(PathBuf, Option<Pattern>),
    Clip(PathBuf, Box<Clip>),
    /// Files in the target's temporary folder, with their final names.
    Pattern(Pattern, Vec<[PathBuf; 2]>),
}

impl Writing {
    /// Writes the image of a frame.
    pub fn add(&mut self, frame: u32, picture: &Picture) -> Result<(), Failure> {
        let temporary = self.target.temporary();
        let (path, bytes) = match &mut self.sink {
            Sink::Clip(_, clip) => return clip.add(picture).map_err(failure),
            Sink::Folder(_, Some(pattern)) => (pattern.at(frame), encode::png(picture)),
            // A single image is compressed well; the images of a sequence are compressed fast.
            Sink::Picture(_) | Sink::Folder(_, None) => (temporary.to_path_buf(), encode::png_small(picture)),
            Sink::Pattern(pattern, written) => {
                let path = temporary.join(format!("{frame}.png"));
                written.push([path.clone(), pattern.at(frame)]);
                return fs::write(path, encode::png(picture))
                    .map_err(|e| cannot_write(OutputError::io("write", pattern.at(frame))(e)));
            }
        };
        fs::write(&path, bytes).map_err(|e| cannot_write(self.target.told(OutputError::io("write", path)(e))))
    }

    /// Renames everything to its final name, and returns the paths.
    pub fn finish(self) -> Result<Vec<PathBuf>, Failure> {
        let Self { sink, target } = self;
        match sink {
            Sink::Picture(path) | Sink::Folder(path, _) => {
                target.finish().map_err(cannot_write)?;
                Ok(vec![path])
            }
            Sink::Clip(path, clip) => {
                clip.finish().map_err(failure)?;
                Ok(vec![path])
            }
            Sink::Pattern(_, written) => {
                let rename = |[from, to]: [PathBuf; 2]| {
                    fs::rename(from, &to).map_err(|e| cannot_write(OutputError::io("write", &to)(e)))?;
                    Ok(to)
                };
                // The target is dropped afterwards, with its folder, which is empty by then.
                written.into_iter().map(rename).collect()
            }
        }
    }
}

fn cannot_write(error: OutputError) -> Failure {
    Failure::Write { message: error.to_string(), hint: Some("the partial output was removed".into()) }
}

fn failure(error: EncodeError) -> Failure {
    match error {
        EncodeError::Io { .. } | EncodeError::Encoder { .. } => {
            Failure::Write { message: error.to_string(), hint: Some("the partial output was removed".into()) }
        }
        _ => Failure::input(error.to_string(), "choose another size, frame rate or format"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_select_the_output() {
        let of = |name: &str| Output::of_path(Path::new(name));
        assert_eq!(of("a/b.png").unwrap(), Output::Picture("a/b.png".into()));
        assert_eq!(of("b.GIF").unwrap(), Output::Clip("b.GIF".into()));
        assert_eq!(of("frames").unwrap(), Output::Folder("frames".into()));
        let Output::Pattern(pattern) = of("a/b.%04d.png").unwrap() else { panic!("a pattern") };
        assert_eq!(pattern.at(42), Path::new("a/b.0042.png"));
        assert_eq!(pattern.at(12345), Path::new("a/b.12345.png"));
        for name in ["a.%s.png", "a.%04d.%d.png", "a.jpeg", "a.%99d.png"] {
            assert!(of(name).is_err(), "{name}");
        }
    }
}
