//! Why a command failed, and its exit code.

use std::{io, process::ExitCode};

use taut_io::{Problem, Problems, output::OutputError};

use crate::terminal;

/// Exit codes other than 0.
pub mod code {
    /// A check failed: a limit is violated, or an expectation of the scene is not met.
    pub const CHECK_FAILED: u8 = 1;
    /// Bad input.
    pub const BAD_INPUT: u8 = 2;
    /// Write error.
    pub const CANNOT_WRITE: u8 = 3;
    /// A bug in taut.
    pub const BUG: u8 = 70;
    /// Interrupted by the user, by shell convention.
    pub const INTERRUPTED: u8 = 130;
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Bad input.
    Input {
        /// All problems.
        problems: Problems,
        /// What the user can do.
        hint: Option<String>,
    },
    /// A file could not be written, or read while writing.
    Write {
        /// What happened.
        message: String,
        /// What the user can do.
        hint: Option<String>,
    },
    /// The reader of standard output closed the pipe.
    PipeClosed,
}

impl Failure {
    /// A single problem with the input.
    pub fn input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let problem = Problem { message: message.into(), ..Problem::default() };
        Self::Input { problems: problem.into(), hint: Some(hint.into()) }
    }

    /// Prints the failure and returns the exit code.
    pub fn report(&self) -> ExitCode {
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
            Self::PipeClosed => ExitCode::SUCCESS,
        }
    }

    /// A folder that cannot be opened is bad input; a full disk is a write error.
    pub fn at_start(error: OutputError) -> Self {
        match error {
            OutputError::Refused { problem, hint } => {
                Self::Input { problems: problem.into(), hint: Some(hint) }
            }
            OutputError::Io { action, path, source } if !is_full(&source) => {
                let message = format!("could not {action}: {source}");
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

impl From<taut::SimulationError> for Failure {
    fn from(error: taut::SimulationError) -> Self {
        Problem { message: error.to_string(), ..Problem::default() }.into()
    }
}
