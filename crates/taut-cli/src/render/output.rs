//! Where pictures go: one file, a numbered sequence, or a clip. Each is written under another name and gets its own when whole.

use std::{
    fs,
    path::{Path, PathBuf},
};

use taut_io::{
    export::Target,
    output::{OutputError, atomic},
};
use taut_render::{
    Picture,
    encode::{self, Clip, EncodeError},
};

use crate::failure::Failure;

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One PNG.
    Picture(PathBuf),
    /// MP4, GIF or animated PNG.
    Clip(PathBuf),
    /// A folder of PNGs.
    Folder(PathBuf),
    /// PNGs with a number in their name.
    Pattern(Pattern),
}

/// The name of a file with a place for a number of at least that many digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    whole: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl Pattern {
    /// Reads a name with `%d` or `%04d` in it.
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
    /// What the name of a file or folder asks for.
    pub fn of_path(path: &Path) -> Result<Self, Failure> {
        let kinds = "names end in .png (one picture), .%04d.png (a sequence), .mp4, .gif or .apng (a clip), or name a folder";
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match extension.as_deref() {
            Some("png") if name.contains('%') => Pattern::parse(path).map(Self::Pattern).ok_or_else(|| {
                Failure::input(
                    format!("{} has no place for one number", path.display()),
                    "write it as frame.%04d.png",
                )
            }),
            Some("png") => Ok(Self::Picture(path.into())),
            Some("mp4" | "gif" | "apng") => {
                Clip::check_extension(path).map_err(failure)?;
                Ok(Self::Clip(path.into()))
            }
            None if !name.is_empty() => Ok(Self::Folder(path.into())),
            _ if path.is_dir() => Ok(Self::Folder(path.into())),
            _ => Err(Failure::input(
                format!("{} is no kind of picture that taut writes", path.display()),
                kinds,
            )),
        }
    }

    /// Where pictures of the run in `root` go unless something else is asked for.
    pub fn usual(root: &Path, still: bool) -> Self {
        if still {
            return Self::Picture(root.join("render.png"));
        }
        let mp4 = root.join("render.mp4");
        // A build without H.264 writes what every browser shows.
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

/// Writes pictures; what it wrote is removed if it is dropped before it is finished.
pub struct Writer {
    kind: Kind,
    force: bool,
}

enum Kind {
    Target { target: Target, path: PathBuf, pattern: Option<Pattern> },
    Clip { path: PathBuf },
    Pattern(Pattern),
}

impl Writer {
    /// Makes sure that `output` can be written, before anything is drawn.
    pub fn open(output: &Output, force: bool) -> Result<Self, Failure> {
        let kind = match output {
            Output::Picture(path) => {
                let target = Target::file(path, force).map_err(Failure::at_start)?;
                Kind::Target { target, path: path.clone(), pattern: None }
            }
            Output::Folder(path) => {
                let target = Target::folder(path, force).map_err(Failure::at_start)?;
                let pattern = Pattern::parse(&target.temporary().join("frame.%04d.png"));
                Kind::Target { target, path: path.clone(), pattern }
            }
            Output::Clip(path) => {
                // Looked at for its refusals; the clip has a temporary name of its own.
                drop(Target::file(path, force).map_err(Failure::at_start)?);
                Kind::Clip { path: path.clone() }
            }
            Output::Pattern(pattern) => {
                let folder = pattern.whole.parent().filter(|p| !p.as_os_str().is_empty());
                if let Some(folder) = folder {
                    let unusable = OutputError::io("make", folder);
                    fs::create_dir_all(folder).map_err(|e| Failure::at_start(unusable(e)))?;
                }
                Kind::Pattern(pattern.clone())
            }
        };
        Ok(Self { kind, force })
    }

    /// Begins to write pictures of a size.
    pub fn begin(self, width: usize, height: usize, fps: f32) -> Result<Writing, Failure> {
        let sink = match self.kind {
            Kind::Target { target, path, pattern } => Sink::Target { target, path, pattern },
            Kind::Clip { path } => {
                let clip = Clip::create(&path, width, height, fps).map_err(failure)?;
                Sink::Clip { clip: Box::new(clip), path }
            }
            Kind::Pattern(pattern) => Sink::Pattern { pattern, force: self.force },
        };
        Ok(Writing { sink, written: Vec::new(), finished: false })
    }
}

/// Pictures that are being written.
pub struct Writing {
    sink: Sink,
    /// Files that already have their names.
    written: Vec<PathBuf>,
    finished: bool,
}

enum Sink {
    Target { target: Target, path: PathBuf, pattern: Option<Pattern> },
    Clip { clip: Box<Clip>, path: PathBuf },
    Pattern { pattern: Pattern, force: bool },
    Done,
}

impl Writing {
    /// Writes the picture of a frame.
    pub fn add(&mut self, frame: u32, picture: &Picture) -> Result<(), Failure> {
        match &mut self.sink {
            Sink::Clip { clip, .. } => clip.add(picture).map_err(failure)?,
            Sink::Target { target, pattern, .. } => {
                let path = pattern.as_ref().map_or_else(|| target.temporary().to_path_buf(), |p| p.at(frame));
                // One picture may take its time; of many, each should be quick.
                let bytes = if pattern.is_none() { encode::png_small(picture) } else { encode::png(picture) };
                fs::write(&path, bytes).map_err(|e| cannot_write(OutputError::io("write", path)(e)))?;
            }
            Sink::Pattern { pattern, force } => {
                let path = pattern.at(frame);
                Target::refuse_existing(&path, *force).map_err(Failure::at_start)?;
                atomic::write(&path, &encode::png(picture)).map_err(cannot_write)?;
                self.written.push(path);
            }
            Sink::Done => {}
        }
        Ok(())
    }

    /// Gives everything its name, and says which.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, Failure> {
        match std::mem::replace(&mut self.sink, Sink::Done) {
            Sink::Target { target, path, .. } => {
                target.finish().map_err(cannot_write)?;
                self.written.push(path);
            }
            Sink::Clip { clip, path } => {
                clip.finish().map_err(failure)?;
                self.written.push(path);
            }
            Sink::Pattern { .. } | Sink::Done => {}
        }
        self.finished = true;
        Ok(std::mem::take(&mut self.written))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if !self.finished {
            for path in &self.written {
                // It was written a moment ago; if it cannot be removed, the error that led here matters more.
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn cannot_write(error: OutputError) -> Failure {
    Failure::Write { message: error.to_string(), hint: Some("nothing of the pictures is left".into()) }
}

fn failure(error: EncodeError) -> Failure {
    match error {
        EncodeError::Io { .. } | EncodeError::Encoder { .. } => Failure::Write {
            message: error.to_string(),
            hint: Some("nothing of the pictures is left".into()),
        },
        _ => Failure::input(error.to_string(), "choose another size, frame rate or kind of file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_wanted() {
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
