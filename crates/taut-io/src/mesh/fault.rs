//! Errors of readers, before the file is known.

use std::path::{Path, PathBuf};

use crate::Problem;

/// One problem of a file. Boxed, so that results of the inner loops stay small.
#[derive(Debug)]
pub(super) struct Fault(Box<Problem>);

/// A problem of the whole file.
pub(super) fn fault(message: impl Into<String>) -> Fault {
    Fault(Box::new(Problem { message: message.into(), ..Problem::default() }))
}

impl Fault {
    /// In this line, from 1.
    pub fn at_line(mut self, line: usize) -> Self {
        self.0.line = Some(line);
        self
    }

    /// In this line, unless a line is known.
    pub fn or_line(mut self, line: usize) -> Self {
        self.0.line.get_or_insert(line);
        self
    }

    /// In this element of the mesh, such as `face 12`.
    pub fn at(mut self, element: impl Into<String>) -> Self {
        self.0.key = Some(element.into());
        self
    }

    /// The same with `element` prepended to the message, where the key names something larger.
    pub fn within(mut self, element: &str) -> Self {
        self.0.message = format!("{element}: {}", self.0.message);
        self
    }

    /// In another file than the one that is read.
    pub fn in_file(mut self, file: PathBuf) -> Self {
        self.0.file = Some(file);
        self
    }

    /// The problem, in `file` unless it is in another.
    pub fn into_problem(mut self, file: Option<&Path>) -> Problem {
        if self.0.file.is_none() {
            self.0.file = file.map(PathBuf::from);
        }
        *self.0
    }
}
