//! Other people's programs that read what taut writes, as an independent check: a Python of our own with their packages.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

const REQUIREMENTS: &str = include_str!("requirements.txt");

/// Runs the Python `script` with `arguments`, which must succeed; gives what it printed.
pub fn python(script: &str, arguments: &[&Path]) -> String {
    let mut command = Command::new(interpreter());
    command.arg("-c").arg(script).args(arguments);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "python failed:\n{out}\n{err}");
    out.into_owned()
}

/// A Python interpreter with the packages of `requirements.txt`, installed once into the target folder.
fn interpreter() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = place.join("python");
    let python = if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python3") };
    // Tests run side by side, and one of them installs.
    let lock = File::create(place.join("python.lock")).unwrap();
    lock.lock().unwrap();
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == REQUIREMENTS) {
        return python;
    }
    let _ = fs::remove_dir_all(&folder);
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    let requirements = place.join("requirements.txt");
    fs::write(&requirements, REQUIREMENTS).unwrap();
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(requirements));
    fs::write(installed, REQUIREMENTS).unwrap();
    python
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
