//! Runs the built program as a user would, in a folder of its own.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use glam::Vec3;
use taut_io::output::npy;

/// A scene that is small enough to run in a moment and meets its limits.
pub const SCENE: &str = r#"[scene]
frames = 12
[solver]
tolerance = { past = 0.01 }
[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [8, 8] } }
material = "polyester"
strain = { max = 0.05 }
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]
"#;

/// An empty folder with the scene above as `scene-in.toml`.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a command answered.
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("scene-in.toml", SCENE);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with `arguments`, separated by spaces, ready to start here.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.env("TAUT_CACHE", self.path("cache"));
        command
    }

    /// Runs the program with `arguments`, separated by spaces.
    pub fn taut(&self, arguments: &str) -> Answer {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs the program, which must succeed.
    pub fn good(&self, arguments: &str) -> Answer {
        let answer = self.taut(arguments);
        assert_eq!(answer.code, Some(0), "taut {arguments}\n{}\n{}", answer.out, answer.err);
        answer
    }

    /// Runs the program, which must end with `code` and say each of `words` on standard error.
    pub fn bad(&self, arguments: &str, code: i32, words: &[&str]) -> Answer {
        let answer = self.taut(arguments);
        assert_eq!(answer.code, Some(code), "taut {arguments}\n{}\n{}", answer.out, answer.err);
        for word in words {
            assert!(answer.err.contains(word), "taut {arguments}: {word:?} is not in\n{}", answer.err);
        }
        assert!(!answer.err.contains("panicked") && !answer.err.contains("bug in taut"), "{}", answer.err);
        answer
    }

    /// Names and contents of the files in a folder.
    pub fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_str().unwrap().into(), std::fs::read(&path).unwrap()))
            .collect()
    }

    /// Adds a body to the run in `out`, as another kind of simulation would write it.
    pub fn add_body(&self, name: &str, rest: &[u8], frames: impl Iterator<Item = Vec<Vec3>>) {
        self.change_bodies(|bodies| bodies.push(name.into()));
        std::fs::write(self.path(&format!("out/{name}.rest.ply")), rest).unwrap();
        for (frame, positions) in frames.enumerate() {
            self.write_frame(name, frame as u32, &positions);
        }
    }

    /// Writes positions of a body of the run in `out` over what is there.
    pub fn write_frame(&self, body: &str, frame: u32, positions: &[Vec3]) {
        let path = self.path(&format!("out/frames/{body}.{frame:04}.npy"));
        std::fs::write(path, npy::encode(positions)).unwrap();
    }

    /// Gives a body of the run in `out` other triangles from a frame on.
    pub fn write_triangles(&self, body: &str, frame: u32, triangles: &[[u32; 3]]) {
        let path = self.path(&format!("out/frames/{body}.{frame:04}.faces.npy"));
        std::fs::write(path, npy::encode_triangles(triangles)).unwrap();
    }

    /// Changes the list of bodies of the run in `out`.
    pub fn change_bodies(&self, change: impl FnOnce(&mut Vec<serde_json::Value>)) {
        let manifest = "out/checkpoint/manifest.json";
        let mut json: serde_json::Value = serde_json::from_str(&self.read(manifest)).unwrap();
        change(json["bodies"].as_array_mut().unwrap());
        self.write(manifest, &json.to_string());
    }

    /// The lines of `metrics.jsonl` in a folder, without times.
    pub fn metrics(&self, folder: &str) -> Vec<serde_json::Value> {
        let timeless = |line: &str| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["frame_ms"].take();
            for key in ["velocity_ms", "limit_ms", "contact_ms", "position_ms"] {
                if value["report"].is_object() {
                    value["report"][key].take();
                }
            }
            value
        };
        self.read(&format!("{folder}/metrics.jsonl")).lines().map(timeless).collect()
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Moves one number of a frame file by `by` \[m\].
pub fn nudge(path: &Path, vertex: usize, axis: usize, by: f32) {
    let mut bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let at = start + 12 * vertex + 4 * axis;
    let value = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    bytes[at..at + 4].copy_from_slice(&(value + by).to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}
