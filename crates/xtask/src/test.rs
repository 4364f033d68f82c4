//! `cargo xtask test`: every test there is. `cargo test` is the first tier and needs nothing but Rust; the
//! second, tests marked `#[ignore]`, takes minutes or other people's programs.

use std::{fs, process::Command, time::Instant};

use crate::{
    command::{built, cargo, root, run},
    python, scenes, sizes,
};

/// What the second tier needs beside Rust, how to see that it is there, and what happens to it.
const NEEDED: [(&str, &str, &str); 3] = [
    ("python3", "Python 3", "virtual environments with numpy, trimesh, maturin and others, in target/tmp"),
    (
        "node",
        "Node.js 20",
        "the Khronos validator of glTF and the packages of the studio's page, in target/tmp",
    ),
    ("chromium", "Chromium", "the browser, by apt-get, if neither PATH nor $CHROMIUM has one"),
];

/// A test that sees how smoothly a page runs, and is not to share the machine with others.
const ALONE: &str = "the_page_holds_in_a_real_browser";

/// Both tiers, the examples, what built-in scenes expect, and the sizes.
pub fn test() -> Result<(), String> {
    let begun = Instant::now();
    for (program, name, what) in NEEDED {
        let found = Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success());
        let has = if found { "is here" } else { "is not here" };
        println!("{name} {has}; installed on the first run: {what}");
    }
    step(begun, "tests, both tiers");
    // Without documentation tests: they have their own reasons to be ignored.
    let all = ["test", "--release", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
    cargo(&[&all[..], &["--", "--include-ignored", "--skip", ALONE]].concat())?;
    step(begun, "the studio's page in a browser, with nothing beside it");
    cargo(&["test", "--release", "--workspace", "--test", "all", "--", "--ignored", ALONE])?;
    step(begun, "tests in the documentation");
    cargo(&["test", "--release", "--workspace", "--doc"])?;
    step(begun, "examples");
    // All at once: on their own they would be built with other features than the tests, and the engine again.
    cargo(&["build", "--release", "--workspace", "--examples", "--bins"])?;
    for example in examples()? {
        run(&built(&format!("examples/{example}"))?.display().to_string(), &[""; 0])?;
    }
    step(begun, "what built-in scenes expect of themselves");
    scenes::check(&built("taut")?, &[])?;
    step(begun, "the Python package");
    python::test()?;
    step(begun, "sizes");
    sizes::check()?;
    step(begun, "all tests pass");
    Ok(())
}

/// Random scenes, as many as `options` say.
pub fn soak(options: &[&str]) -> Result<(), String> {
    // With the features of the whole workspace, as the tests build it, so that what they built is used.
    cargo(&["build", "--release", "--workspace", "--example", "soak"])?;
    run(&built("examples/soak")?.display().to_string(), options)
}

fn step(begun: Instant, what: &str) {
    println!("== {:5.0} s  {what}", begun.elapsed().as_secs_f64());
}

/// Names of the engine's examples.
fn examples() -> Result<Vec<String>, String> {
    let folder = root().join("crates/taut/examples");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}
