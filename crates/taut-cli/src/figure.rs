//! The output file of charts.

use std::path::{Path, PathBuf};

use taut_io::{export::Target, output::atomic};
use taut_render::{
    encode,
    plot::{self, Chart},
};

use crate::failure::Failure;

/// A figure that is to be written.
pub struct Figure {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Svg,
    Png,
}

impl Figure {
    /// The figure `path`; its extension selects the format. An existing file is overwritten only with
    /// `force`.
    pub fn new(path: PathBuf, force: bool) -> Result<Self, Failure> {
        let kind = Kind::of(&path)?;
        Target::refuse_existing(&path, force).map_err(Failure::at_start)?;
        Ok(Self { path, kind })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Draws charts to it, atomically.
    pub fn write(&self, charts: &[Chart]) -> Result<(), Failure> {
        let bytes = match self.kind {
            Kind::Svg => plot::svg(charts).into_bytes(),
            Kind::Png => encode::png_small(&plot::png(charts)),
        };
        atomic::write(&self.path, &bytes)
            .map_err(|error| Failure::Write { message: error.to_string(), hint: None })
    }
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Failure::input(
                format!("{} does not end in .svg or .png", path.display()),
                "a figure is a .svg (vector) or a .png (raster) file",
            )),
        }
    }
}
