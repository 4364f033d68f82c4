//! The picture that curves are drawn to.

use std::path::{Path, PathBuf};

use taut_io::{Problem, output::atomic};
use taut_render::{
    encode,
    plot::{self, Chart},
};

use crate::failure::Failure;

/// A picture that can be written.
pub struct Picture {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Svg,
    Png,
}

impl Picture {
    /// Finds out whether `path` can be written before hours are spent on what it is to show.
    pub fn planned(path: &Path, force: bool) -> Result<Self, Failure> {
        let refuse = |message: &str, hint: &str| {
            let problem = Problem { file: Some(path.into()), message: message.into(), ..Problem::default() };
            Failure::Input { problems: problem.into(), hint: Some(hint.into()) }
        };
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        let kind = match extension.as_str() {
            "svg" => Kind::Svg,
            "png" => Kind::Png,
            _ => return Err(refuse("taut cannot draw curves to such a file", "name it .svg or .png")),
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() {
            return Err(refuse("this is a folder", "name a file in it"));
        }
        if path.exists() && !force {
            return Err(refuse("this file is there already", "name another, or replace it with --force"));
        }
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(refuse(
                "its folder is not there",
                "make the folder first, or choose another with -o",
            ));
        }
        Ok(Self { path: path.into(), kind })
    }

    /// Draws charts to it: all of the file or nothing.
    pub fn write(&self, charts: &[Chart]) -> Result<(), Failure> {
        let bytes = match self.kind {
            Kind::Svg => plot::svg(charts).into_bytes(),
            Kind::Png => encode::png_small(&plot::png(charts)),
        };
        atomic::write(&self.path, &bytes)
            .map_err(|error| Failure::Write { message: error.to_string(), hint: None })
    }
}
