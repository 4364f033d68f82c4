//! File names in a run folder.

use std::path::{Path, PathBuf};

use crate::Problem;

/// Paths of the files of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout of the folder `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The effective scene.
    pub fn scene(&self) -> PathBuf {
        self.root.join("scene.toml")
    }

    /// Folder of the files that the scene reads.
    pub fn inputs(&self) -> PathBuf {
        self.root.join("inputs")
    }

    /// Rest mesh of the body `name`.
    pub fn rest(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.rest.ply"))
    }

    /// Rest mesh of the soft body `name`: tetrahedra.
    pub fn rest_tetrahedra(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.rest.vtu"))
    }

    /// The display surface of the soft body `name`, at rest.
    pub fn skin(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.skin.ply"))
    }

    /// The points of developable cloth `name` at rest, with the triangles that are measured.
    pub fn points(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.points.ply"))
    }

    /// Folder of the frames.
    pub fn frames(&self) -> PathBuf {
        self.root.join("frames")
    }

    /// Positions of the body `name` at the end of frame `frame`.
    pub fn frame(&self, name: &str, frame: u32) -> PathBuf {
        self.frames().join(format!("{name}.{frame:04}.npy"))
    }

    /// Triangles of the body `name` from frame `frame` on, if its connectivity changes there.
    pub fn faces(&self, name: &str, frame: u32) -> PathBuf {
        self.frames().join(format!("{name}.{frame:04}.faces.npy"))
    }

    /// Strands of the hair `name` from frame `frame` on, if it is cut there.
    pub fn strands(&self, name: &str, frame: u32) -> PathBuf {
        self.frames().join(format!("{name}.{frame:04}.strands.npy"))
    }

    /// Metrics, one line per frame.
    pub fn metrics(&self) -> PathBuf {
        self.root.join("metrics.jsonl")
    }

    /// Outcome of the run.
    pub fn outcome(&self) -> PathBuf {
        self.root.join("outcome.json")
    }

    /// Folder of checkpoints.
    pub fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint")
    }

    /// The manifest of the run.
    pub fn manifest(&self) -> PathBuf {
        self.checkpoint().join("manifest.json")
    }

    /// Lock file, locked while a run writes to the folder.
    pub fn lock(&self) -> PathBuf {
        self.checkpoint().join("lock")
    }

    /// The body and number of the file `name` of triangles, the inverse of [`Layout::faces`].
    pub fn parse_faces(name: &str) -> Option<(&str, u32)> {
        Self::parse_numbered(name.strip_suffix(".faces.npy")?)
    }

    /// The same for a file of strands or of triangles: the inverse of [`Layout::strands`], too.
    pub fn parse_changes(name: &str) -> Option<(&str, u32)> {
        Self::parse_faces(name).or_else(|| Self::parse_numbered(name.strip_suffix(".strands.npy")?))
    }

    /// The body and number of the frame file `name`, the inverse of [`Layout::frame`].
    pub fn parse_frame(name: &str) -> Option<(&str, u32)> {
        Self::parse_numbered(name.strip_suffix(".npy")?)
    }

    fn parse_numbered(name: &str) -> Option<(&str, u32)> {
        let (body, digits) = name.rsplit_once('.')?;
        let canonical = digits.len() == 4 || (digits.len() > 4 && !digits.starts_with('0'));
        if !canonical || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some((body, digits.parse().ok()?))
    }
}

/// Whether a character is not allowed in file names on some system.
pub fn is_forbidden(c: char) -> bool {
    c.is_control() || "/\\:*?\"<>|".contains(c)
}

/// Checks that the `names` of bodies are valid and unique file names on every system.
///
/// # Errors
/// One problem for each name that is empty, invalid as a file name, or differs from another only in case.
pub fn check_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), crate::Problems> {
    let mut problems = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        let mut complain = |message: &str| {
            let key = Some(format!("body {name:?}"));
            problems.push(Problem { key, message: message.into(), ..Problem::default() });
        };
        if name.is_empty() || name.len() > 100 || name.starts_with('.') || name.contains(is_forbidden) {
            complain(
                "the name becomes part of file names, so it must have 1 to 100 bytes, must not start with a dot \
                 and must not contain / \\ : * ? \" < > |",
            );
        } else if !seen.insert(name.to_lowercase()) {
            complain(
                "another body has the same name (names are case-insensitive, because files are named after bodies)",
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(crate::Problems(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_names_are_read_back() {
        let layout = Layout::new("out");
        for (body, frame) in [("sheet", 0), ("a.b", 42), ("x", 123_456)] {
            let path = layout.frame(body, frame);
            assert_eq!(Layout::parse_frame(path.file_name().unwrap().to_str().unwrap()), Some((body, frame)));
        }
        for name in
            ["sheet.npy", "sheet.12.npy", "sheet.00012.npy", "sheet.000a.npy", "sheet.0001.npz", ".npy"]
        {
            assert_eq!(Layout::parse_frame(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_are_no_file_names_are_refused() {
        assert!(check_names(["sheet", "Fahne 2", "a.b"]).is_ok());
        for name in ["", "../x", "a/b", "a\\b", ".hidden", "a\nb", "c:"] {
            assert!(check_names([name]).is_err(), "{name:?}");
        }
        assert!(check_names(["Sheet", "sheet"]).unwrap_err().to_string().contains("same name"));
    }
}
