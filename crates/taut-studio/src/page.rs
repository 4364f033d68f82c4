//! The files of the page: embedded by the build script, or from a folder, for page development.

use std::path::{Component, Path, PathBuf};

use bytes::Bytes;

mod built {
    include!(concat!(env!("OUT_DIR"), "/page.rs"));
}

/// The files of the page.
#[derive(Clone, Debug)]
pub enum Page {
    /// Embedded in the program.
    Built,
    /// From a folder.
    Folder(PathBuf),
    /// A single file.
    Single(&'static str),
}

impl Page {
    /// What is missing, in one line, if the program was built without its page.
    pub fn missing() -> Option<&'static str> {
        built::MISSING
    }

    /// The file `name` and its type.
    pub fn file(&self, name: &str) -> Option<(&'static str, Bytes)> {
        let kind = kind(name);
        match self {
            Self::Built => {
                let (_, bytes) = built::FILES.iter().find(|(known, _)| *known == name)?;
                Some((kind, Bytes::from_static(bytes)))
            }
            Self::Folder(folder) => {
                let name = Path::new(name);
                let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
                let path = std::fs::canonicalize(folder.join(name)).ok().filter(|_| plain)?;
                let root = std::fs::canonicalize(folder).ok()?;
                let bytes = path.starts_with(root).then(|| std::fs::read(&path).ok())??;
                Some((kind, bytes.into()))
            }
            Self::Single(text) => (name == "index.html").then(|| (kind, Bytes::from_static(text.as_bytes()))),
        }
    }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
