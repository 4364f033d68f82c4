//! Collects problems: maps a position in the tree to file, line and key.

use std::{fmt, path::PathBuf};

use super::tree::{Node, Origin};
use crate::Problem;

/// A position in the scene, as a path from the root: `cloth.sheet.strain.max`, `cloth[0].pin[1].select`.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The scene itself.
    Root,
    /// A key of a table.
    Key(&'a Path<'a>, &'a str),
    /// An item of an array.
    Item(&'a Path<'a>, usize),
    /// An item of an array that has a name.
    Named(&'a Path<'a>, &'a str),
}

impl<'a> Path<'a> {
    /// Item `index` of the array: by its name if it has a valid one.
    pub fn item(&'a self, index: usize, node: &'a Node) -> Path<'a> {
        match node.get("name").and_then(Node::text) {
            Some(name) if is_name(name) => Path::Named(self, name),
            _ => Path::Item(self, index),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
            Path::Key(Path::Root, key) => f.write_str(&bare(key)),
            Path::Key(parent, key) => write!(f, "{parent}.{}", bare(key)),
            Path::Named(parent, name) => write!(f, "{parent}.{name}"),
        }
    }
}

/// A key in TOML syntax: quoted if needed, truncated if very long.
fn bare(key: &str) -> String {
    if is_name(key) { key.into() } else { format!("{:?}", key.chars().take(64).collect::<String>()) }
}

/// Whether this is a valid name of a body: it becomes part of file names and of keys.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Maximum number of collected problems: a file with more is not a scene, and hints for all would take long.
pub(crate) const MAX_PROBLEMS: usize = 200;

/// Problems found so far, and the data to locate them.
pub(crate) struct Report<'a> {
    pub file: Option<PathBuf>,
    pub overrides: &'a [String],
    pub problems: Vec<Problem>,
}

impl<'a> Report<'a> {
    pub fn new(file: Option<PathBuf>, overrides: &'a [String]) -> Self {
        Self { file, overrides, problems: Vec::new() }
    }

    /// Whether the maximum number of problems is reached.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Adds a problem with the value at `path`, written at `origin`.
    pub fn add(&mut self, origin: Origin, path: &Path<'_>, message: impl Into<String>) {
        if !self.is_full() {
            let problem = self.problem(origin, path, message);
            self.problems.push(problem);
        }
    }

    /// The problem that [`add`](Self::add) adds.
    pub fn problem(&self, origin: Origin, path: &Path<'_>, message: impl Into<String>) -> Problem {
        let key = path.to_string();
        let key = (!key.is_empty()).then_some(key);
        let message = message.into();
        match origin {
            Origin::File => Problem { file: self.file.clone(), line: None, key, message },
            Origin::Line(line) => Problem { file: self.file.clone(), line: Some(line), key, message },
            Origin::Override(index) => {
                let text = self.overrides.get(index).map_or("", String::as_str);
                let message = format!("{message} (from the override {})", quoted(text));
                Problem { file: None, line: None, key, message }
            }
        }
    }

    /// Adds a problem with an override itself.
    pub fn add_override(&mut self, text: &str, message: impl fmt::Display) {
        let key = text.split('=').next().unwrap_or_default().trim();
        let key = (!key.is_empty() && key.len() <= 200).then(|| key.to_owned());
        let message = format!("{message} (in the override {})", quoted(text));
        self.problems.push(Problem { key, message, ..Problem::default() });
    }

    /// All problems, in the order of the file, those of overrides last.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        if self.is_full() {
            let message = format!("more than {MAX_PROBLEMS} problems; the rest are not shown");
            self.problems.push(Problem { file: self.file, message, ..Problem::default() });
        }
        self.problems
    }
}

/// An override in backquotes, truncated if very long.
fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(120).collect();
    if cut.len() < text.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
}
