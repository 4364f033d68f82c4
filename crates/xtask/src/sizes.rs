//! `cargo xtask sizes`: how long files, functions and comments are, against their limits.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    command::root,
    source::{Measured, measure},
};

/// Lines of a file of the engine, tests aside.
const FILE: usize = 500;

/// Lines of a function of the engine.
const FUNCTION: usize = 80;

/// Lines of the ADMM loop: all functions of its file.
const ADMM: usize = 150;
const ADMM_FILE: &str = "crates/taut/src/solve/nearest/admm.rs";

/// Characters of a line with a comment, in all crates.
const COMMENT: usize = 110;

/// Files of the engine that are tables: numbers and names, and no code to speak of.
const TABLES: [&str; 1] = ["crates/taut/src/mesh/generate/animals.rs"];

/// Files and functions that are over and wait to be split, with the lines that they may have until then: none
/// may grow, and no other may join them.
const TO_SPLIT: [(&str, usize); 4] = [
    ("crates/taut/src/schedule.rs", 520),
    ("crates/taut/src/contact/patches/build.rs", 511),
    ("crates/taut/src/measure/ruler.rs: assemble", 92),
    ("crates/taut/src/body/cloth/tear.rs: tear", 82),
];

/// Whether what has this name and so many lines waits to be split.
fn is_to_be_split(name: &str, lines: usize) -> bool {
    TO_SPLIT.iter().any(|(known, most)| {
        let is_it = match known.split_once(": ") {
            Some((file, function)) => {
                name.starts_with(file) && name.rsplit_once(": ").is_some_and(|(_, own)| own == function)
            }
            None => name == *known,
        };
        is_it && lines <= *most
    })
}

/// Prints the largest of each, and fails on what is over.
pub fn check() -> Result<(), String> {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files)?;
    let mut measured = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        measured.push((name, measure(&text, COMMENT)));
    }
    let over = report(&measured);
    if over.is_empty() { Ok(()) } else { Err(format!("{} over their limits", over.len())) }
}

/// Prints the figures, then what is over; gives that.
fn report(files: &[(String, Measured)]) -> Vec<String> {
    let mut over = Vec::new();
    let engine: Vec<_> = files.iter().filter(|(name, _)| is_engine(name)).collect();
    let counts = |(lines, name): &(usize, String)| !is_to_be_split(name, *lines);
    let mut long: Vec<_> =
        engine.iter().map(|(name, file)| (file.lines, name.clone())).filter(counts).collect();
    figure("longest file of the engine", "lines", FILE, &mut long, &mut over);
    let mut long: Vec<_> = engine
        .iter()
        .flat_map(|(name, file)| {
            file.functions.iter().map(move |f| (f.lines, format!("{name}:{}: {}", f.line, f.name)))
        })
        .filter(counts)
        .collect();
    figure("longest function of the engine", "lines", FUNCTION, &mut long, &mut over);
    match engine.iter().find(|(name, _)| name == ADMM_FILE) {
        Some((name, file)) => {
            let lines = file.functions.iter().map(|function| function.lines).sum();
            figure("ADMM loop", "lines", ADMM, &mut [(lines, name.clone())], &mut over);
        }
        None => over.push(format!("{ADMM_FILE}, which has the ADMM loop, is not there")),
    }
    let mut long: Vec<_> = files
        .iter()
        .flat_map(|(name, file)| {
            file.long_comments.iter().map(move |(line, length)| (*length, format!("{name}:{line}")))
        })
        .collect();
    figure("longest comment over its limit", "characters", COMMENT, &mut long, &mut over);
    over.iter().for_each(|line| println!("over: {line}"));
    over
}

/// Prints the largest of a figure, and notes those over the limit.
fn figure(what: &str, unit: &str, limit: usize, all: &mut [(usize, String)], over: &mut Vec<String>) {
    all.sort_by(|a, b| b.cmp(a));
    match all.first() {
        Some((size, name)) => println!("{what}: {size} {unit} of {limit} ({name})"),
        None => println!("{what}: none of {limit} {unit}"),
    }
    let past = all.iter().filter(|(size, _)| *size > limit);
    over.extend(past.map(|(size, name)| format!("{name}: {size} {unit} of {limit}")));
}

/// Whether it is a source file of the engine: no test, no table.
fn is_engine(name: &str) -> bool {
    name.strip_prefix("crates/taut/src/").is_some_and(|inside| {
        let test = inside.split('/').any(|part| part == "tests" || part == "tests.rs");
        !test && !TABLES.contains(&name)
    })
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "node_modules" && name != "target" {
            rust_files(&path, found)?;
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_is_found_and_tests_are_not() {
        let function = format!("fn f() {{\n{}}}\n", "\n".repeat(79));
        let loop_of = format!("fn f() {{\n{}}}\nfn g() {{\n{}}}\n", "\n".repeat(74), "\n".repeat(74));
        let file = |name: &str, text: &str| (name.to_owned(), measure(text, COMMENT));
        let comment = format!("// {}\n", "é".repeat(108));
        let found = report(&[
            file("crates/taut/src/step.rs", &function),
            file("crates/taut/src/tests/step.rs", &function),
            file("crates/taut/src/world/tests.rs", &"\n".repeat(501)),
            file("crates/taut/src/world.rs", &"\n".repeat(501)),
            file("crates/taut-io/src/lib.rs", &comment),
            file(ADMM_FILE, &loop_of),
        ]);
        assert_eq!(
            found,
            [
                "crates/taut/src/world.rs: 501 lines of 500".to_owned(),
                "crates/taut/src/step.rs:1: f: 81 lines of 80".into(),
                format!("{ADMM_FILE}: 152 lines of 150"),
                "crates/taut-io/src/lib.rs:1: 111 characters of 110".into(),
            ]
        );
    }
}
