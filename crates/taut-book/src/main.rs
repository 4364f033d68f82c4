//! `taut-book`: builds the book, and generates the parts that need the program `taut`.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use taut_book::{build, figures, help, repository};

const USAGE: &str = "\
Builds the book of taut.

Usage:
  cargo run --release -p taut-book                 build it to target/book; open target/book/index.html
  cargo run --release -p taut-book -- -o FOLDER    to another folder, which is emptied first
  cargo run --release -p taut-book -- figures      render the images of the book and the README: runs scenes, takes minutes
  cargo run --release -p taut-book -- figures NAME…  only those with these file names
  cargo run --release -p taut-book -- help         regenerate the page of commands from the help of taut";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = repository();
    let done = match words.as_slice() {
        [] => book(&root, &root.join("target/book")),
        ["-o" | "--out", out] => book(&root, Path::new(out)),
        ["figures", only @ ..] => make_figures(&root, only),
        ["help"] => write_help(&root),
        ["-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(lines) => {
            lines.iter().for_each(|line| eprintln!("error: {line}"));
            ExitCode::FAILURE
        }
    }
}

fn book(root: &Path, out: &Path) -> Result<(), Vec<String>> {
    build(root, out)?;
    println!("the book is in {}; open {}", out.display(), out.join("index.html").display());
    Ok(())
}

fn make_figures(root: &Path, only: &[&str]) -> Result<(), Vec<String>> {
    // Plots do not need it.
    let mut built = None;
    figures::make(root, only, |arguments| {
        println!("taut {}", arguments.join(" "));
        let taut = match &built {
            Some(taut) => taut,
            None => built.insert(program(root).map_err(|lines| lines.join("; "))?),
        };
        let status = Command::new(taut).args(arguments).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("taut {}: {status}", arguments.join(" "))),
            Err(error) => Err(format!("{}: {error}", taut.display())),
        }
    })
    .map_err(|error| vec![error])
}

fn write_help(root: &Path) -> Result<(), Vec<String>> {
    let taut = program(root)?;
    let page = help::page(|arguments| {
        // Not as wide as the terminal, but as where there is none.
        let output = Command::new(&taut).args(arguments).env_remove("COLUMNS").stdin(Stdio::null()).output();
        let output = output.map_err(|error| vec![format!("{}: {error}", taut.display())])?;
        String::from_utf8(output.stdout).map_err(|error| vec![error.to_string()])
    })?;
    let file = root.join("docs/src/generated/help.md");
    std::fs::write(&file, page).map_err(|error| vec![format!("{}: {error}", file.display())])?;
    println!("wrote {}", file.display());
    Ok(())
}

/// Builds the program `taut`, and says where it is.
fn program(root: &Path) -> Result<PathBuf, Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // With the features of the whole workspace, as the tests build it, so that what they built is used.
    command.args([
        "build",
        "--release",
        "--workspace",
        "--bin",
        "taut",
        "--message-format=json-render-diagnostics",
    ]);
    let output = command.current_dir(root).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| vec![format!("could not start cargo: {error}")])?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = messages.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.filter(|_| output.status.success()).ok_or_else(|| vec!["could not build taut-cli".into()])
}
