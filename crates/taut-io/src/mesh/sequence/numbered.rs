//! Names of numbered files: `walk.####.obj`.

use std::path::{Path, PathBuf};

/// Maximum files of a sequence.
const MAX_FILES: usize = 100_000;

/// A file name with a number in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The folder, as it was written; may be empty.
    folder: PathBuf,
    before: String,
    /// Digits that the number has at least.
    digits: usize,
    after: String,
}

impl Numbered {
    /// Reads a name such as `folder/walk.####.obj`.
    ///
    /// # Errors
    /// If the file's name does not have one run of `#`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let wrong = || {
            Err(format!(
                "\"{text}\" must have one run of # in the file's name, where the number is: walk.####.obj"
            ))
        };
        let Some(first) = name.find('#') else { return wrong() };
        let digits = name[first..].bytes().take_while(|byte| *byte == b'#').count();
        let (before, after) = (&name[..first], &name[first + digits..]);
        if after.contains('#') || text.matches('#').count() != digits {
            return wrong();
        }
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Self { folder, before: before.into(), digits, after: after.into() })
    }

    /// The name of its files, with `#` where the number is.
    pub fn name(&self) -> String {
        format!("{}{}{}", self.before, "#".repeat(self.digits), self.after)
    }

    /// What comes before the number, without dots, lines and the like at its end; a word if nothing is left.
    pub fn stem(&self) -> &str {
        let stem = self.before.trim_end_matches(['.', '-', '_', ' ']);
        if stem.is_empty() { "sequence" } else { stem }
    }

    /// The number in a file's name, if it is one of these.
    fn number(&self, name: &str) -> Option<u32> {
        let digits = name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        // Longer than asked for only if it has to be.
        let fits = digits.len() == self.digits || digits.len() > self.digits && !digits.starts_with('0');
        if plain && fits { digits.parse().ok() } else { None }
    }

    /// The files that there are, relative names looked up below `base`, with numbers from `first` to `last`,
    /// by their number.
    ///
    /// # Errors
    /// If the folder cannot be read, or there is no such file, or there are too many.
    pub fn files(
        &self,
        base: &Path,
        first: Option<u32>,
        last: Option<u32>,
    ) -> Result<Vec<(u32, PathBuf)>, String> {
        let folder = base.join(&self.folder);
        let list = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let entries = std::fs::read_dir(list)
            .map_err(|error| format!("the folder {} cannot be read: {error}", list.display()))?;
        let range = first.unwrap_or(0)..=last.unwrap_or(u32::MAX);
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| self.number(name));
            files.extend(number.filter(|number| range.contains(number)).map(|n| (n, folder.join(&name))));
        }
        files.sort_unstable();
        match files.len() {
            0 => {
                Err(format!("file not found: {}{}", folder.join(self.name()).display(), between(first, last)))
            }
            count if count > MAX_FILES => {
                Err(format!("{count} files: at most {MAX_FILES} are read; choose with first and last"))
            }
            _ => Ok(files),
        }
    }
}

fn between(first: Option<u32>, last: Option<u32>) -> String {
    match (first, last) {
        (None, None) => String::new(),
        (Some(first), None) => format!(" with a number from {first} on"),
        (None, Some(last)) => format!(" with a number up to {last}"),
        (Some(first), Some(last)) => format!(" with a number from {first} to {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_asked_for_or_more() {
        let walk = Numbered::parse("in/walk.###.obj").unwrap();
        assert_eq!((walk.name().as_str(), walk.stem()), ("walk.###.obj", "walk"));
        for (name, number) in [
            ("walk.007.obj", Some(7)),
            ("walk.1234.obj", Some(1234)),
            ("walk.0123.obj", None),
            ("walk.07.obj", None),
            ("walk.-07.obj", None),
            ("walk.007.ply", None),
            ("run.007.obj", None),
            ("walk..obj", None),
            ("walk.99999999999.obj", None),
        ] {
            assert_eq!(walk.number(name), number, "{name}");
        }
        for bad in ["walk.obj", "#/walk.obj", "a#b#.obj", "", "#/a#.obj"] {
            assert!(Numbered::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Numbered::parse("#.obj").unwrap().stem(), "sequence");
    }
}
