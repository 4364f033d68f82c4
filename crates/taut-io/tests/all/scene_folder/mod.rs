//! A folder for the files of one test, gone when the test ends.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use taut_io::{
    Problem, Problems,
    scene::{self, LoadedScene},
};

/// A scene with nothing wrong; tests change it.
pub const GOOD: &str = r#"[scene]
frames = 3

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }
"#;

pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("taut-scene-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and returns where.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes `scene.toml` and loads it.
    pub fn load(&self, text: impl AsRef<[u8]>) -> Result<LoadedScene, Problems> {
        scene::load(self.write("scene.toml", text).to_str().unwrap(), &[])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Loads (and builds) a scene that must have a problem with this line, key and all these words.
#[track_caller]
pub fn refused(text: impl AsRef<[u8]>, line: Option<usize>, key: Option<&str>, words: &[&str]) {
    refused_in(&Folder::new(), text, line, key, words);
}

#[track_caller]
pub fn refused_in(
    folder: &Folder,
    text: impl AsRef<[u8]>,
    line: Option<usize>,
    key: Option<&str>,
    words: &[&str],
) {
    let problems = match folder.load(text) {
        Ok(scene) => scene.build().expect_err("it should not load or not build"),
        Err(problems) => problems,
    };
    let fits = |problem: &Problem| {
        problem.file.as_deref() == Some(&folder.path().join("scene.toml"))
            && problem.line == line
            && problem.key.as_deref() == key
            && words.iter().all(|word| problem.message.contains(word))
    };
    assert!(problems.0.iter().any(fits), "wanted line {line:?}, key {key:?}, {words:?} among:\n{problems}");
}
