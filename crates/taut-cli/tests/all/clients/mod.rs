//! Other people's programs that read what taut writes, as an independent check: a Python of our own with
//! their packages, and the Khronos validator of glTF, which needs Node.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

const REQUIREMENTS: &str = include_str!("requirements.txt");
const PACKAGE: &str = include_str!("gltf/package.json");
const PACKAGE_LOCK: &str = include_str!("gltf/package-lock.json");
const VALIDATE: &str = include_str!("gltf/validate.js");

/// Runs the Python `script` with `arguments`, which must succeed; gives what it printed.
pub fn python(script: &str, arguments: &[&Path]) -> String {
    let mut command = Command::new(interpreter());
    command.arg("-c").arg(script).args(arguments);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "python failed:\n{out}\n{err}");
    out.into_owned()
}

/// A program that comes with one of those packages.
pub fn program(name: &str) -> PathBuf {
    let name = if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() };
    interpreter().with_file_name(name)
}

/// What the Khronos validator says of a glTF file.
pub fn validate_gltf(path: &Path) -> serde_json::Value {
    let folder = gltf_validator();
    let output = Command::new("node").arg(folder.join("validate.js")).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A Python interpreter with the packages of `requirements.txt`, installed once into the target folder.
fn interpreter() -> PathBuf {
    let folder = installed("python", REQUIREMENTS, |folder| {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder));
        let requirements = folder.join("requirements.txt");
        fs::write(&requirements, REQUIREMENTS).unwrap();
        let mut pip = Command::new(python_in(folder));
        run(pip.args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(requirements));
    });
    python_in(&folder)
}

fn python_in(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python3") }
}

/// A folder with the validator of `package-lock.json`, installed once.
fn gltf_validator() -> PathBuf {
    installed("gltf-validator", &[PACKAGE_LOCK, VALIDATE].concat(), |folder| {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("package.json"), PACKAGE).unwrap();
        fs::write(folder.join("package-lock.json"), PACKAGE_LOCK).unwrap();
        fs::write(folder.join("validate.js"), VALIDATE).unwrap();
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        run(Command::new(npm).args(["ci", "--no-audit", "--no-fund"]).current_dir(folder));
    })
}

/// The folder `name` under the target folder, made by `install` unless it holds what `wanted` says already.
fn installed(name: &str, wanted: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = place.join(name);
    // Tests run side by side, and one of them installs.
    let lock = File::create(place.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let note = folder.join("installed.txt");
    if fs::read_to_string(&note).is_ok_and(|text| text == wanted) {
        return folder;
    }
    let _ = fs::remove_dir_all(&folder);
    install(&folder);
    fs::write(note, wanted).unwrap();
    folder
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
