//! The Python package, as its users have it: a wheel, installed into a virtual environment of its own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::command::{root, run};

/// What the tests need beside the wheel.
const PACKAGES: [&str; 5] = ["maturin>=1.9,<2", "numpy>=1.22", "mypy==2.4.1", "pyright==1.1.414", "tqdm"];

/// Random calls of the fuzzing script.
const CALLS: &str = "20000";

/// Builds the wheel, installs it, and runs its tests, its README, and type checkers over both.
pub fn test() -> Result<(), String> {
    let place = root().join("target/tmp/python-package");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let own = place.join("environment");
    if !interpreter(&own).is_file() {
        run("python3", &["-m".as_ref(), "venv".as_ref(), own.as_os_str()])?;
    }
    let python = interpreter(&own).display().to_string();
    let mut install = vec!["-m", "pip", "install", "--quiet"];
    install.extend(PACKAGES);
    run(&python, &install)?;
    let wheels = place.join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    let package = root().join("crates/taut-py");
    let paths = [&package.join("Cargo.toml"), &wheels].map(|path| path.display().to_string());
    run(&python, &["-m", "maturin", "build", "--release", "--manifest-path", &paths[0], "--out", &paths[1]])?;
    let wheel = only_file(&wheels)?.display().to_string();
    run(&python, &["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", &wheel])?;

    let tests = package.join("tests").display().to_string();
    run(&python, &["-m", "unittest", "discover", "--start-directory", &tests])?;
    run(&python, &[&format!("{tests}/fuzz.py"), CALLS])?;
    let example = readme_example(&package.join("README.md"), &place)?;
    let in_place = ["-c", "import os, runpy, sys; os.chdir(sys.argv[1]); runpy.run_path(sys.argv[2])"];
    run(&python, &[in_place[0], in_place[1], &place.display().to_string(), &example])?;
    run(&python, &["-m", "mypy", "--strict", &example, "-p", "taut"])?;
    run(&python, &["-m", "pyright", "--pythonpath", &python, &example])
}

/// The interpreter of a virtual environment.
fn interpreter(environment: &Path) -> PathBuf {
    let name = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python3" };
    environment.join(name)
}

/// The one file in a folder.
fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    match files.as_slice() {
        [one] => Ok(one.clone()),
        all => Err(format!("{}: {} files instead of one wheel", folder.display(), all.len())),
    }
}

/// Writes the Python code of the README into a file of `place`; gives its path.
fn readme_example(readme: &Path, place: &Path) -> Result<String, String> {
    let text = fs::read_to_string(readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let code = text.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let code = code.ok_or_else(|| format!("{} shows no Python", readme.display()))?;
    let path = place.join("readme.py");
    fs::write(&path, code).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path.display().to_string())
}
