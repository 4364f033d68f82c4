//! The scene folder: the only folder that pages can read or write.
//!
//! Files are given by name, never by path: a name with anything but letters, digits, `-`, `_`, spaces and
//! dots is refused, and so is a link. Scenes that a page chooses may read files only inside the folder.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;
use taut_io::scene::{self, LoadedScene, built_in};

/// Maximum number of listed files.
const MOST: usize = 500;
/// Maximum size of a scene file \[bytes\].
const LONGEST: u64 = 1 << 20;

/// An available scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Name to choose it by.
    pub name: String,
    /// Description.
    pub description: String,
    /// `built-in` or `file`.
    pub source: &'static str,
}

/// A chosen scene.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The scene.
    pub scene: LoadedScene,
    /// Its source text, with comments.
    pub text: String,
    /// Its path, if it is not built in.
    pub file: Option<PathBuf>,
}

/// The scene folder.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its path, with links resolved.
    root: PathBuf,
}

impl Folder {
    /// The folder at `path`.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn new(path: &Path) -> std::io::Result<Self> {
        Ok(Self { root: fs::canonicalize(path)? })
    }

    /// Its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All available scenes: the built-in ones, then the scene files of the folder.
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
    /// Why it cannot be opened.
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
                    "{name} reads {input}, which is not in the scene folder; open it directly with `taut view {name}`"
                ));
            }
        }
        Ok(Chosen { scene, text, file: Some(path) })
    }

    /// Path of the file `name` of the folder.
    ///
    /// # Errors
    /// If the name is invalid, or it does not exist, or is not a regular file.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        check_name(name)?;
        let path = self.root.join(name);
        let found = fs::symlink_metadata(&path).map_err(|_| {
            format!("no scene {name} in the scene folder, and no built-in scene with that name")
        })?;
        if !found.is_file() {
            return Err(format!("{name} is not a regular file: links and folders are not followed"));
        }
        if found.len() > LONGEST {
            return Err(format!("{name} is larger than 1 MiB, the limit for scene files"));
        }
        Ok(path)
    }

    /// Writes a scene to the file `name`, with or without its extension. An existing file is overwritten only
    /// if `may_replace` allows it.
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
                return Err(format!("{name} is not a regular file: links and folders are not written to"));
            }
            Ok(_) if !may_replace(&path) => {
                return Err(format!("{name} already exists: choose another name"));
            }
            _ => {}
        }
        // Written to a temporary file and renamed, so that nothing is lost if the disk is full; a rename over
        // a link replaces the link itself.
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

/// Whether `name` is a valid name of a scene file.
fn check_name(name: &str) -> Result<(), String> {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.');
    let stem = name.strip_suffix(".toml").unwrap_or_default();
    if stem.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(fine) {
        return Err(format!(
            "{name:?} is not a valid scene file name: use letters, digits, - and _, and .toml at the end; only files of the scene folder can be used"
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
