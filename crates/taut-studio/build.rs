//! Embeds the page in the program: the files of `web/dist`, built with npm if they are missing or older than
//! their sources.
//!
//! npm works in a copy, so that nothing is written beside the sources. Without npm, or if it fails, the
//! program is built without its page and records the reason. Builds without `--release` do not run npm:
//! `cargo test` needs nothing but Rust and installs nothing.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

/// What lies beside the sources of the page and is none.
const OTHERS: [&str; 5] = ["node_modules", "dist", "test", "test-out", "test-build"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to build"));
    let web =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is")).join("web");
    println!("cargo:rerun-if-changed=build.rs");
    let sources = sources(&web);
    for path in &sources {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    // New files, too.
    for folder in parts(&web).iter().filter(|path| path.is_dir()) {
        println!("cargo:rerun-if-changed={}", folder.display());
    }
    let page = page(&web, &sources, &out);
    let (files, missing) = match page {
        Ok(dist) => (list(&dist, &dist), None),
        Err(why) if !is_release() => (Vec::new(), Some(why)),
        Err(why) => {
            println!("cargo:warning=building without the page of `taut view`: {why}");
            (Vec::new(), Some(format!("{why}; then run `touch crates/taut-studio/build.rs` and build again")))
        }
    };
    let mut table = String::from("pub const FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in &files {
        table.push_str(&format!("    ({name:?}, include_bytes!({:?})),\n", path.display().to_string()));
    }
    table.push_str(&format!("];\npub const MISSING: Option<&str> = {missing:?};\n"));
    write_if_new(&out.join("page.rs"), &table).expect("the table of files can be written");
}

/// The folder with the built page.
fn page(web: &Path, sources: &[PathBuf], out: &Path) -> Result<PathBuf, String> {
    let built = web.join("dist");
    if built.join("index.html").is_file() {
        println!("cargo:rerun-if-changed={}", built.display());
        let newest = sources.iter().filter_map(|path| changed(path)).max();
        if newest <= changed(&built.join("index.html")) {
            return Ok(built);
        }
    }
    if !web.join("package.json").is_file() {
        return Err("crates/taut-studio/web is missing: clone the whole repository".into());
    }
    if !is_release() {
        return Err("only a build with --release has the page of the studio: build with --release".into());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let found = Command::new(npm).arg("--version").stdin(Stdio::null()).output();
    if !found.is_ok_and(|found| found.status.success()) {
        // It may be there next time.
        println!("cargo:rerun-if-env-changed=PATH");
        return Err("building the page requires npm, which was not found: install Node.js 20 or later".into());
    }
    let copy = out.join("web");
    copy_sources(web, sources, &copy).map_err(|error| format!("the page could not be copied: {error}"))?;
    let lock = fs::read_to_string(copy.join("package-lock.json")).unwrap_or_default();
    let installed = copy.join(".installed.lock");
    if fs::read_to_string(&installed).ok().as_ref() != Some(&lock) {
        let install =
            ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"];
        run(npm, &install, &copy)?;
        fs::write(&installed, &lock).map_err(|error| format!("npm's lock could not be noted: {error}"))?;
    }
    let dist = copy.join("dist");
    let _ = fs::remove_dir_all(&dist);
    run(npm, &["run", "build"], &copy)?;
    if dist.join("index.html").is_file() { Ok(dist) } else { Err("npm built no page".into()) }
}

/// Whether this is a build with `--release`, or of a profile that is made like it.
fn is_release() -> bool {
    env::var_os("PROFILE").is_some_and(|profile| profile == "release")
}

fn run(npm: &str, args: &[&str], folder: &Path) -> Result<(), String> {
    let done = Command::new(npm)
        .args(args)
        .current_dir(folder)
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .env("npm_config_update_notifier", "false")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm could not be started: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    // The whole story is in cargo's log of the build script.
    let _ = io::stderr().write_all(&done.stdout).and_then(|()| io::stderr().write_all(&done.stderr));
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").trim();
    Err(format!("`npm {}` failed ({first}): it needs a network the first time", args[0]))
}

/// What the page is made of: files and folders at the top.
fn parts(web: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(web).into_iter().flatten().flatten();
    let fine = |name: &str| (!name.starts_with('.') || name == ".npmrc") && !OTHERS.contains(&name);
    entries.filter(|entry| fine(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// Files that the page is made of.
fn sources(web: &Path) -> Vec<PathBuf> {
    let (folders, mut files): (Vec<_>, Vec<_>) = parts(web).into_iter().partition(|path| path.is_dir());
    for folder in folders {
        files.extend(list(&folder, web).into_iter().map(|(_, path)| path));
    }
    files
}

/// All files below a folder, by their names relative to `root`, with `/`, in order.
fn list(folder: &Path, root: &Path) -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(list(&path, root));
        } else if let Ok(name) = path.strip_prefix(root) {
            let parts: Vec<_> = name.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            all.push((parts.join("/"), path.clone()));
        }
    }
    all.sort();
    all
}

/// Makes `copy` hold the sources and what npm made, and nothing else.
fn copy_sources(web: &Path, sources: &[PathBuf], copy: &Path) -> io::Result<()> {
    for old in parts(copy) {
        let _ = if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
    }
    for path in sources {
        let Ok(name) = path.strip_prefix(web) else { continue };
        let to = copy.join(name);
        fs::create_dir_all(to.parent().unwrap_or(copy))?;
        fs::copy(path, to)?;
    }
    Ok(())
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

fn write_if_new(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text)
}
