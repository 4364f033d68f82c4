//! Collects problems: turns a place in the tree into file, line and key.

use std::{fmt, path::PathBuf};

use super::tree::{Node, Origin};
use crate::Problem;

/// A place in the scene, as a chain from the root: `cloth.sheet.strain.max`, `cloth[0].pin[1].select`.
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
    /// Item `index` of the array here: by its name where it has a usable one.
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

/// A key as TOML would have it: quoted where it must be, cut where it is absurdly long.
fn bare(key: &str) -> String {
    if is_name(key) { key.into() } else { format!("{:?}", key.chars().take(64).collect::<String>()) }
}

/// Whether a body may be called this: it becomes part of file names and of keys.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Most problems that are collected: a file with more is not a scene, and hints for all of it would take
/// long.
pub(crate) const MAX_PROBLEMS: usize = 200;

/// Problems found so far, and what it takes to say where they are.
pub(crate) struct Report<'a> {
    pub file: Option<PathBuf>,
    pub overrides: &'a [String],
    pub problems: Vec<Problem>,
}

impl<'a> Report<'a> {
    pub fn new(file: Option<PathBuf>, overrides: &'a [String]) -> Self {
        Self { file, overrides, problems: Vec::new() }
    }

    /// Whether there are so many problems that no more are collected.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Notes that what stands at `path`, written at `origin`, is wrong.
    pub fn add(&mut self, origin: Origin, path: &Path<'_>, message: impl Into<String>) {
        if !self.is_full() {
            let problem = self.problem(origin, path, message);
            self.problems.push(problem);
        }
    }

    /// The problem that [`add`](Self::add) notes.
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

    /// Notes that an override is wrong in itself.
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
            let message = format!("there may be more problems than these {MAX_PROBLEMS}");
            self.problems.push(Problem { file: self.file, message, ..Problem::default() });
        }
        self.problems
    }
}

/// An override in back quotes, cut where it is absurdly long.
fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(120).collect();
    if cut.len() < text.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
}
