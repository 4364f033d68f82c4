//! The words of the book and of the README about the program are true: every command line that they show
//! runs, and the page of commands is what the program says of itself.
//!
//! A block of code marked `sh` is run line by line where the line starts with `taut` or with
//! `cargo run --release --`, which is the same; other lines (`cargo install`, `pip`, `cmp` of files that were
//! just written) only if they need nothing but the shell. Pages have a folder each, in which their lines run
//! in order. `sh,fails` must fail with words; `sh,norun=REASON` is not run, and the reason is printed.
#![cfg(unix)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// All pages: the README, and those of the book.
fn pages() -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    let mut found = vec![repository().join("README.md")];
    below(&repository().join("docs/src"), &mut found);
    found
}

/// What is to happen with the lines of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Works,
    Fails,
    NotRun(String),
}

/// Lines of a page's blocks of shell commands, with their line numbers.
fn lines(text: &str) -> Vec<(usize, String, Wanted)> {
    let mut found = Vec::new();
    let mut block = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            let mut words = info.splitn(2, ',');
            block = match (block, words.next(), words.next()) {
                (None, Some("sh"), None) => Some(Some(Wanted::Works)),
                (None, Some("sh"), Some("fails")) => Some(Some(Wanted::Fails)),
                (None, Some("sh"), Some(other)) => {
                    let reason = other.strip_prefix("norun=").unwrap_or_else(|| panic!("sh,{other}?"));
                    Some(Some(Wanted::NotRun(reason.into())))
                }
                (None, ..) => Some(None),
                (Some(_), ..) => None,
            };
        } else if let Some(Some(wanted)) = &block
            && !line.trim().is_empty()
        {
            found.push((number + 1, line.trim().to_owned(), wanted.clone()));
        }
    }
    found
}

/// The command as the shell is given it, if it is one of taut's or needs nothing but the shell.
fn command(line: &str) -> Option<String> {
    let same = line.strip_prefix("cargo run --release -- ").map(|rest| format!("taut {rest}"));
    let line = same.unwrap_or_else(|| line.to_owned());
    ["taut ", "cmp "].iter().any(|start| line.starts_with(start)).then_some(line)
}

#[test]
#[ignore = "full tier: runs for minutes"]
fn every_command_line_of_the_book_and_the_readme_runs() {
    let program = Path::new(env!("CARGO_BIN_EXE_taut"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut count = 0;
    for page in pages() {
        let name = page.strip_prefix(repository()).unwrap().display().to_string();
        let folder = tempfile::tempdir().unwrap();
        for (number, line, wanted) in lines(&fs::read_to_string(&page).unwrap()) {
            let Some(text) = command(&line) else { continue };
            if let Wanted::NotRun(reason) = &wanted {
                println!("{name}:{number}: not run, {reason}: {line}");
                continue;
            }
            let start = Instant::now();
            let mut shell = Command::new("sh");
            shell.args(["-c", &text]).current_dir(folder.path()).env("PATH", &path).stdin(Stdio::null());
            shell.env("TAUT_CACHE", folder.path().join("cache")).env("NO_COLOR", "1");
            let output = shell.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                (output.status.success(), said.contains("panicked")),
                (wanted == Wanted::Works, false),
                "{name}:{number}: {line}\n{}\n{said}",
                String::from_utf8_lossy(&output.stdout)
            );
            assert!(
                wanted == Wanted::Works || !said.is_empty(),
                "{name}:{number}: it does not say why it fails"
            );
            println!("{:6.2} s  {name}:{number}: {line}", start.elapsed().as_secs_f64());
            count += 1;
        }
    }
    assert!(count > 30, "only {count} commands were found");
}

#[test]
fn scenes_that_the_book_and_the_readme_show_can_be_run() {
    let taut = |folder: &Path, words: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_taut"));
        program.args(words.split_whitespace()).current_dir(folder).output().unwrap()
    };
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for scene in text.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)) {
            if scene.contains("file = \"sample/") {
                // What the page's own commands leave.
                assert!(taut(folder.path(), "run flag -o sample --frames 1 --force").status.success());
            }
            fs::write(folder.path().join("scene.toml"), scene).unwrap();
            let output = taut(folder.path(), "check scene.toml");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}\n{scene}\n{said}", page.display());
            count += 1;
        }
    }
    assert!(count > 1, "only {count} scenes were found");
}

#[test]
fn the_page_of_commands_is_what_the_program_says() {
    let page = fs::read_to_string(repository().join("docs/src/generated/help.md")).unwrap();
    let help = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_taut"));
        program.args(words).env_remove("COLUMNS").stdin(Stdio::null());
        String::from_utf8(program.output().unwrap().stdout).unwrap()
    };
    let mut told = Vec::new();
    for section in page.split("## taut").skip(1) {
        let (title, rest) = section.split_once("\n\n```text\n").unwrap();
        let text = rest.split_once("\n```\n").unwrap().0;
        let words: Vec<&str> = title.split_whitespace().chain(["--help"]).collect();
        let says: Vec<String> = help(&words).trim_end().lines().map(|line| line.trim_end().into()).collect();
        let stale = "is not what the program says; `cargo run --release -p taut-book -- help` writes it anew";
        assert_eq!(text, says.join("\n"), "docs/src/generated/help.md: taut{title} {stale}");
        told.push(title.trim().to_owned());
    }
    // Every command that the program lists has a section.
    let list = help(&["--help"]);
    let list =
        list.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for line in list.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let command = line.split_whitespace().next().unwrap();
        assert!(
            command == "help" || told.iter().any(|t| t == command),
            "the book does not tell of taut {command}"
        );
    }
}

#[test]
fn blocks_are_told_apart() {
    let text = "```sh\ntaut a\n```\n```toml\ntaut b\n```\n```sh,fails\ntaut c\n\n```\n```sh,norun=it is long\ncargo run --release -- d\n```\n";
    let found = lines(text);
    let expected = [
        (2, "taut a", Wanted::Works),
        (8, "taut c", Wanted::Fails),
        (12, "cargo run --release -- d", Wanted::NotRun("it is long".into())),
    ];
    assert_eq!(found, expected.map(|(number, line, wanted)| (number, line.to_owned(), wanted)));
    assert_eq!(command("cargo run --release -- d"), Some("taut d".into()));
    assert_eq!(command("cargo test"), None);
}
