//! Terminal output: colours where supported (a terminal, no `NO_COLOR`), errors on standard error, and no
//! error when the reader of a pipe exits.

use std::{
    io::{self, Write},
    panic,
};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::failure::{Failure, code};

/// Headings and names.
pub const BOLD: Style = Style::new().bold();
/// Secondary text.
pub const DIM: Style = Style::new().dimmed();
/// Success.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Failure.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Warning.
pub const WARN: Style = AnsiColor::Yellow.on_default().bold();

/// `text` in a style.
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes `text` to standard output.
///
/// # Errors
/// If the pipe is closed, or the write fails.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::PipeClosed),
        Err(error) => {
            let message = format!("could not write to standard output: {error}");
            Err(Failure::Write { message, hint: None })
        }
    }
}

/// Writes `value` as JSON to standard output.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| Failure::Write { message: error.to_string(), hint: None })?;
    print(&format!("{text}\n"))
}

/// Writes a line to standard error. A failure to do so is ignored: it could not be reported.
pub fn note(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints an error.
pub fn error(message: &str) {
    note(&format!("{} {message}", styled(BAD, "error:")));
}

/// Prints a warning.
pub fn warning(message: &str) {
    note(&format!("{} {message}", styled(WARN, "warning:")));
}

/// Prints a hint: what the user can do.
pub fn hint(text: Option<&str>) {
    if let Some(text) = text {
        note(&format!("{} {text}", styled(BOLD, "hint:")));
    }
}

/// Last resort: a panic ends the program with a message. Frames already written are complete.
pub fn hide_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let payload = info.payload();
        let what = payload.downcast_ref::<&str>().copied().map(str::to_owned);
        let what = what.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        error(&format!("this is a bug in taut, not in your input{place}: {what}"));
        hint(Some(
            "please report it with the scene; frames written so far are complete, and --resume continues from them",
        ));
        std::process::exit(code::BUG.into());
    }));
}

/// A table: the first row is the heading, the first column is left-aligned, the others right-aligned.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cell = |(column, cell): (usize, &String)| {
            let fill = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            if column == 0 { format!("{cell}{fill}") } else { format!("{fill}{cell}") }
        };
        let line: Vec<String> = row.iter().enumerate().map(cell).collect();
        let line = line.join("  ");
        let line = line.trim_end();
        text.push_str(&if index == 0 { styled(BOLD, line) } else { line.into() });
        text.push('\n');
    }
    text
}
