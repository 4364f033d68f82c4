//! Why a command could not do what was asked, and which exit code says so.

use std::{io, process::ExitCode};

use taut_io::{Problem, Problems, output::OutputError};

use crate::terminal;

/// Exit codes other than 0.
pub mod code {
    /// A check failed: a limit is broken, or what a scene expects does not hold.
    pub const CHECK_FAILED: u8 = 1;
    /// Bad input.
    pub const BAD_INPUT: u8 = 2;
    /// Something could not be written.
    pub const CANNOT_WRITE: u8 = 3;
    /// A bug in taut.
    pub const BUG: u8 = 70;
    /// Interrupted by the user, as shells have it.
    pub const INTERRUPTED: u8 = 130;
}

/// Why a command could not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong.
    Input {
        /// All that is wrong.
        problems: Problems,
        /// What the user can do.
        hint: Option<String>,
    },
    /// A file could not be written, or not read while writing.
    Write {
        /// What happened.
        message: String,
        /// What the user can do.
        hint: Option<String>,
    },
    /// Whoever read standard output has seen enough.
    Unheard,
}

impl Failure {
    /// A single thing wrong with the input.
    pub fn input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let problem = Problem { message: message.into(), ..Problem::default() };
        Self::Input { problems: problem.into(), hint: Some(hint.into()) }
    }

    /// Tells the user, and returns the exit code.
    pub fn tell(&self) -> ExitCode {
        match self {
            Self::Input { problems, hint } => {
                for problem in &problems.0 {
                    terminal::error(&problem.to_string());
                }
                terminal::hint(hint.as_deref());
                code::BAD_INPUT.into()
            }
            Self::Write { message, hint } => {
                terminal::error(message);
                terminal::hint(hint.as_deref());
                code::CANNOT_WRITE.into()
            }
            Self::Unheard => ExitCode::SUCCESS,
        }
    }

    /// A folder that cannot even be started is a bad choice of folder; a full disk is nobody's choice.
    pub fn at_start(error: OutputError) -> Self {
        match error {
            OutputError::Refused { problem, hint } => {
                Self::Input { problems: problem.into(), hint: Some(hint) }
            }
            OutputError::Io { action, path, source } if !is_full(&source) => {
                let message = format!("could not {action} it: {source}");
                let problem = Problem { file: Some(path), message, ..Problem::default() };
                Self::Input { problems: problem.into(), hint: Some("choose another folder with -o".into()) }
            }
            error @ OutputError::Io { .. } => Self::Write { message: error.to_string(), hint: None },
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Input { problems, hint: None }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Problems::from(problem).into()
    }
}

impl From<taut::WorldError> for Failure {
    fn from(error: taut::WorldError) -> Self {
        Problem { message: error.to_string(), ..Problem::default() }.into()
    }
}
