//! The scene folder: the only place that pages can have read or written.
//!
//! Files are named, never given by path: a name with anything but letters, digits, `-`, `_`, blanks and dots
//! is refused, and so is one that stands for a link. Scenes that a page chooses may read files inside the
//! folder alone.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;
use taut_io::scene::{self, LoadedScene, built_in};

/// Most files that are listed.
const MOST: usize = 500;
/// Longest file that is taken for a scene \[bytes\].
const LONGEST: u64 = 1 << 20;

/// A scene that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// What it is chosen by.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// `built-in` or `file`.
    pub source: &'static str,
}

/// A scene that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The scene.
    pub scene: LoadedScene,
    /// What was written, with comments.
    pub text: String,
    /// Where, if it is not built in.
    pub file: Option<PathBuf>,
}

/// The scene folder.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Where it is, without links.
    root: PathBuf,
}

impl Folder {
    /// The folder at `path`.
    ///
    /// # Errors
    /// If it is not there.
    pub fn new(path: &Path) -> std::io::Result<Self> {
        Ok(Self { root: fs::canonicalize(path)? })
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All scenes that can be chosen: those that are built in, then the files of the folder that are scenes.
    pub fn choices(&self) -> Vec<Choice> {
        let known = built_in().iter().filter_map(|scene| {
            let loaded = scene::load(scene.name, &[]).ok()?;
            Some(Choice {
                name: scene.name.into(),
                description: loaded.description().into(),
                source: "built-in",
            })
        });
        let mut choices: Vec<Choice> = known.collect();
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| name.ends_with(".toml"));
        names.sort();
        for name in names.into_iter().take(MOST) {
            let Ok(path) = self.find(&name) else { continue };
            let Ok(loaded) = scene::load(&path.to_string_lossy(), &[]) else { continue };
            choices.push(Choice { name, description: loaded.description().into(), source: "file" });
        }
        choices
    }

    /// Reads the scene that a page chooses.
    ///
    /// # Errors
    /// Why it cannot be shown.
    pub fn choose(&self, name: &str) -> Result<Chosen, String> {
        if let Some(known) = built_in().iter().find(|scene| scene.name == name) {
            let scene = scene::load(known.name, &[]).map_err(|problems| problems.to_string())?;
            return Ok(Chosen { scene, text: known.text.into(), file: None });
        }
        let path = self.find(name)?;
        let text = fs::read_to_string(&path).map_err(|error| format!("{name} could not be read: {error}"))?;
        let scene = scene::load(&path.to_string_lossy(), &[]).map_err(|problems| problems.to_string())?;
        for (input, at) in scene.inputs() {
            let inside = fs::canonicalize(&at).is_ok_and(|at| at.starts_with(&self.root));
            if !inside {
                return Err(format!(
                    "{name} reads {input}, which is not in the scene folder; start it by itself, with `taut view {name}`"
                ));
            }
        }
        Ok(Chosen { scene, text, file: Some(path) })
    }

    /// Where the file `name` of the folder is.
    ///
    /// # Errors
    /// If it is no name of a scene, is not there, or is no plain file.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        check_name(name)?;
        let path = self.root.join(name);
        let found = fs::symlink_metadata(&path).map_err(|_| {
            format!("there is no scene {name} in the scene folder, and none is built in by that name")
        })?;
        if !found.is_file() {
            return Err(format!("{name} is no plain file: links and folders are not followed"));
        }
        if found.len() > LONGEST {
            return Err(format!("{name} is longer than 1 MiB, which no scene file is"));
        }
        Ok(path)
    }

    /// Writes a scene to the file `name`, with or without its ending. A file that is there is replaced where
    /// `may_replace` says so.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn save(
        &self,
        name: &str,
        text: &str,
        may_replace: impl Fn(&Path) -> bool,
    ) -> Result<PathBuf, String> {
        let name = if name.ends_with(".toml") { name.to_owned() } else { format!("{name}.toml") };
        check_name(&name)?;
        let path = self.root.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => {
                return Err(format!("{name} is no plain file: links and folders are not written to"));
            }
            Ok(_) if !may_replace(&path) => {
                return Err(format!("{name} is there already: choose another name"));
            }
            _ => {}
        }
        // Written beside it and moved, so that nothing is lost if the disk is full; what is moved over a link
        // replaces the link itself.
        let draft = self.root.join(format!(".{name}.{}.part", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&draft)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&draft);
            format!("{name} could not be written: {error}")
        })?;
        Ok(path)
    }
}

/// Whether `name` can name a scene file of the folder.
fn check_name(name: &str) -> Result<(), String> {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.');
    let stem = name.strip_suffix(".toml").unwrap_or_default();
    if stem.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(fine) {
        return Err(format!(
            "{name:?} is no name of a scene file: letters, digits, - and _, and .toml at its end; files of the scene folder alone can be used"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "[[cloth]]\nmesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }\n";

    fn folder() -> (tempfile::TempDir, Folder) {
        let at = tempfile::tempdir().unwrap();
        fs::create_dir(at.path().join("scenes")).unwrap();
        fs::write(at.path().join("secret.toml"), SCENE).unwrap();
        fs::write(at.path().join("scenes/mine.toml"), SCENE).unwrap();
        fs::write(at.path().join("scenes/other.toml"), "[package]\nname = \"x\"\n").unwrap();
        let folder = Folder::new(&at.path().join("scenes")).unwrap();
        (at, folder)
    }

    #[test]
    fn scenes_of_the_folder_are_listed() {
        let (_at, folder) = folder();
        let choices = folder.choices();
        assert!(
            choices.iter().any(|c| c.name == "flag" && c.source == "built-in" && !c.description.is_empty())
        );
        let files: Vec<&str> =
            choices.iter().filter(|c| c.source == "file").map(|c| c.name.as_str()).collect();
        assert_eq!(files, ["mine.toml"], "what is no scene is not listed");
        assert!(folder.choose("mine.toml").is_ok() && folder.choose("flag").is_ok());
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let (at, folder) = folder();
        let secret = at.path().join("secret.toml");
        for name in [
            "../secret.toml",
            "..\\secret.toml",
            secret.to_str().unwrap(),
            "./mine.toml",
            "scenes/../../secret.toml",
            "..",
            "",
            ".toml",
            "%2e%2e/secret.toml",
            "mine.toml\0",
            ".hidden.toml",
            "mine",
        ] {
            assert!(folder.choose(name).is_err(), "{name}");
        }
        for name in ["../new", "/tmp/new", "a/b", "..", ".x", "", "new.toml/../../x"] {
            assert!(folder.save(name, SCENE, |_| true).is_err(), "{name}");
        }
        assert!(!at.path().join("new.toml").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (at, folder) = folder();
        let link = at.path().join("scenes/link.toml");
        std::os::unix::fs::symlink(at.path().join("secret.toml"), &link).unwrap();
        assert!(folder.choose("link.toml").unwrap_err().contains("links"));
        assert!(folder.save("link", "changed", |_| true).unwrap_err().contains("links"));
        assert_eq!(fs::read_to_string(at.path().join("secret.toml")).unwrap(), SCENE);
        assert!(!folder.choices().iter().any(|c| c.name == "link.toml"));
    }

    #[test]
    fn scenes_that_read_files_elsewhere_are_refused() {
        let (at, folder) = folder();
        let mesh = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
        fs::write(at.path().join("out.obj"), mesh).unwrap();
        fs::write(at.path().join("scenes/in.obj"), mesh).unwrap();
        fs::write(at.path().join("scenes/a.toml"), "[[cloth]]\nmesh = { file = \"../out.obj\" }\n").unwrap();
        fs::write(at.path().join("scenes/b.toml"), "[[cloth]]\nmesh = { file = \"in.obj\" }\n").unwrap();
        assert!(folder.choose("a.toml").unwrap_err().contains("not in the scene folder"));
        assert!(folder.choose("b.toml").is_ok());
    }

    #[test]
    fn what_is_there_is_not_replaced_unasked() {
        let (at, folder) = folder();
        assert!(folder.save("mine", "x", |_| false).unwrap_err().contains("another name"));
        let path = folder.save("new", "x", |_| false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        folder.save("new.toml", "y", |at| at == path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "y");
        assert_eq!(fs::read_dir(at.path().join("scenes")).unwrap().count(), 3, "no drafts are left");
    }
}
