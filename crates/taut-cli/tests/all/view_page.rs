//! The page of `taut view` in a real Chromium: runs the tests of `crates/taut-studio/web` against this
//! program. Needs Node, and brings its own browser on Debian if there is none.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What lies beside the sources of the page and is none.
const OTHERS: [&str; 4] = ["node_modules", "dist", "test-out", "test-build"];

#[test]
#[ignore = "full tier: needs Node and Chromium"]
fn the_page_holds_in_a_real_browser() {
    let chromium = chromium();
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../taut-studio/web");
    // In a copy, so that nothing is written beside the sources; what npm installed is kept from run to run.
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("studio-page");
    fs::create_dir_all(&copy).unwrap();
    for entry in fs::read_dir(&copy).unwrap().flatten().filter(|entry| entry.file_name() != "node_modules") {
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    copy_folder(&web, &copy);
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let installed = copy.join("node_modules/.package-lock.json").is_file()
        && Command::new(npm)
            .args(["ls", "--all"])
            .current_dir(&copy)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
    if !installed {
        must(Command::new(npm).args(["ci", "--no-audit", "--no-fund"]).current_dir(&copy));
    }
    let mut tests = Command::new(npm);
    tests.arg("test").current_dir(&copy);
    must(tests.env("TAUT", env!("CARGO_BIN_EXE_taut")).env("CHROMIUM", chromium));
    assert!(fs::read_dir(copy.join("test-out")).is_ok_and(|mut shots| shots.next().is_some()), "no pictures");
}

/// CHROMIUM, or one that is in PATH, or that of Debian, which is installed.
fn chromium() -> PathBuf {
    if let Some(path) = env::var_os("CHROMIUM") {
        return path.into();
    }
    if let Some(path) = in_path() {
        return path;
    }
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        apt.status().is_ok_and(|status| status.success())
    };
    let tried =
        apt(&["-qq", "update"]) && apt(&["-qq", "install", "-y", "--no-install-recommends", "chromium"]);
    in_path().unwrap_or_else(|| {
        panic!("no Chromium (apt-get installed it: {tried}): install it, or set CHROMIUM to where it is")
    })
}

fn in_path() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.is_file())
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name();
        if OTHERS.iter().any(|other| name == *other) {
            continue;
        }
        let (path, to) = (entry.path(), to.join(&name));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

fn must(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed:\n{out}\n{err}");
}
