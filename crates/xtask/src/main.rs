//! `cargo xtask`: what the project does with itself. `cargo xtask test` is all of its tests.

mod bench;
mod command;
mod python;
mod scenes;
mod sizes;
mod source;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
The project's own commands.

Usage:
  cargo xtask test                     all tests, both tiers: installs what they need, and says so
  cargo xtask python                   the Python package alone: its wheel, tests and type checks
  cargo xtask scenes [NAME…]           run built-in scenes whole, and check what each expects of itself
  cargo xtask soak [--hair] [--scenes N] [--from NUMBER]
                                       random scenes and grooms, or grooms alone, a thousand by default; prints
                                       what fails
  cargo xtask sizes                    lengths of engine files, functions and comments, against their limits
  cargo xtask bench                    benches of the kernels and solvers, with the ratios that they promise
  cargo xtask bench --against BINARY   ten scenes with another build of taut and with this one, in turns
  cargo xtask hashes [OPTION…]         hash every frame of every built-in scene: see --help
  cargo xtask figures [NAME…]          make the pictures of the book and the README again: takes minutes";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::test(),
        ["python"] => python::test(),
        ["scenes", only @ ..] => command::taut().and_then(|taut| scenes::check(&taut, only)),
        ["soak", options @ ..] => test::soak(options),
        ["sizes"] => sizes::check(),
        ["bench"] => bench::bench(),
        ["bench", "--against", binary] => bench::against(binary),
        ["hashes", options @ ..] => hashes(options),
        ["figures", only @ ..] => figures(only),
        ["-h" | "--help" | "help"] => {
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
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Hashes of all frames, by the script that two builds are compared with.
fn hashes(options: &[&str]) -> Result<(), String> {
    let mut arguments = vec!["scripts/frame_hashes.py".to_owned()];
    if !options.contains(&"--taut") && !options.contains(&"--help") {
        arguments.extend(["--taut".to_owned(), command::taut()?.display().to_string()]);
    }
    arguments.extend(options.iter().map(|&option| option.to_owned()));
    command::run("python3", &arguments)
}

fn figures(only: &[&str]) -> Result<(), String> {
    let book = ["run", "--release", "--package", "taut-book", "--", "figures"];
    command::cargo(&[&book[..], only].concat())
}
