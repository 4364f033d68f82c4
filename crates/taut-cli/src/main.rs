//! The `taut` program: one file per command.
//!
//! The work is done in the libraries; here are arguments, progress, tables and messages. Exit codes:
//! 0 success, 1 a check failed, 2 bad input, 3 write error, 70 a bug in taut, 130 interrupted.

mod args;
mod bench;
mod check;
mod dress;
mod export;
mod fabric;
mod failure;
mod figure;
mod fit;
mod interrupt;
mod materials;
mod plot;
mod progress;
mod render;
mod run;
mod scenes;
mod summary;
mod sweep;
mod terminal;
mod verify;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::{
    args::{Cli, Command},
    failure::Failure,
};

fn main() -> ExitCode {
    terminal::hide_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and usage errors; a failure to print them could not be reported.
            let _ = error.print();
            return if error.use_stderr() { failure::code::BAD_INPUT.into() } else { ExitCode::SUCCESS };
        }
    };
    let done = match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Verify(args) => verify::verify(args),
        Command::Export(args) => export::export(args),
        Command::View(args) => view::view(args),
        Command::Plot(args) => plot::plot(args),
        Command::Render(args) => render::render(args),
        Command::Check(args) => check::check(args),
        Command::Dress(args) => dress::dress(args),
        Command::Sweep(args) => sweep::sweep(args),
        Command::Scenes(args) => scenes::scenes(args),
        Command::Bench(args) => bench::bench(args),
        Command::Fit(args) => fit::fit(args),
        Command::Materials(args) => materials::materials(args),
        Command::TestFabric(args) => fabric::test(args),
        Command::FitFabric(args) => fabric::fit(args),
        Command::Completions(args) => completions(args.shell),
    };
    done.unwrap_or_else(|failure| failure.report())
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "taut", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
