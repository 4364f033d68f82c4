//! Other programs, started in the root of the repository.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/xtask is two folders down")
}

/// Shows the command line and runs it; it must succeed.
pub fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Result<(), String> {
    let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    let line = format!("{program} {}", words.join(" "));
    println!("+ {line}");
    let status = Command::new(program).args(arguments).current_dir(root()).stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{line}: {status}")),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}

/// Runs the cargo that runs this.
pub fn cargo(arguments: &[&str]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    run(&cargo, arguments)
}

/// A program that cargo has built beside this one.
pub fn built(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
    let program = own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() { Ok(program) } else { Err(format!("{} was not built", program.display())) }
}

/// Builds the program `taut`, and says where it is.
pub fn taut() -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // With the features of the whole workspace, as the tests build it, so that what they built is used.
    let build = ["build", "--release", "--workspace", "--bin", "taut"];
    let mut command = Command::new(cargo);
    command.args(build).arg("--message-format=json-render-diagnostics").current_dir(root());
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cargo could not be started: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = messages.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.filter(|_| output.status.success()).ok_or_else(|| "taut could not be built".into())
}

/// What a command of `taut` prints as JSON; exit code 1, for expectations that do not hold, is no failure.
pub fn json(taut: &Path, arguments: &[&str]) -> Result<serde_json::Value, String> {
    let line = format!("{} {}", taut.display(), arguments.join(" "));
    let output = Command::new(taut).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{line}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(format!("{line}: {}\n{said}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{line}: {error}\n{said}"))
}
