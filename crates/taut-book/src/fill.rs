//! Inserts generated text into pages: a line `<!-- generated: NAME ARGUMENTS -->` is replaced by the text of
//! NAME.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use mdbook_driver::{
    book::{Book, Chapter},
    errors::{Error, Result},
};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

use crate::{figures, materials, parts, run_files, scene_reference::Reference, scenes};

/// The preprocessor of mdBook that fills pages.
pub struct Fill {
    /// The repository's folder, where scenes and pictures are.
    pub repository: PathBuf,
}

impl Preprocessor for Fill {
    fn name(&self) -> &'static str {
        "taut-fill"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let reference = self.reference(&book)?;
        let mut wrong = Vec::new();
        book.for_each_chapter_mut(|chapter| match self.fill(chapter, &reference) {
            Ok(text) => chapter.content = text,
            Err(error) => wrong.push(error),
        });
        if wrong.is_empty() { Ok(book) } else { Err(Error::msg(wrong.join("; "))) }
    }
}

impl Fill {
    /// The scene reference, with the page of each of its parts.
    fn reference(&self, book: &Book) -> Result<Reference> {
        let mut places = BTreeMap::new();
        for chapter in book.chapters() {
            let page = chapter.path.clone().unwrap_or_default();
            for (name, arguments) in chapter.content.lines().filter_map(marker) {
                let parts = arguments.into_iter().filter(|_| name == "scene-reference");
                for part in parts {
                    if let Some(other) = places.insert(part.to_owned(), page.clone()) {
                        let (part, other, page) = (part, other.display(), page.display());
                        return Err(Error::msg(format!(
                            "{part} of the scene file is on {other} and on {page}"
                        )));
                    }
                }
            }
        }
        Reference::new(taut_io::scene::schema(), places).map_err(Error::msg)
    }

    /// The text of a page with its marked lines filled.
    fn fill(&self, chapter: &Chapter, reference: &Reference) -> Result<String, String> {
        let page = chapter.path.as_deref().unwrap_or(Path::new(""));
        let mut text = String::new();
        for line in chapter.content.lines() {
            if let Some((name, arguments)) = marker(line) {
                let generated = self.generate(page, name, &arguments, reference);
                text += &generated.map_err(|error| format!("{}: {error}", page.display()))?;
            } else {
                text += line;
            }
            text.push('\n');
        }
        Ok(text)
    }

    fn generate(
        &self,
        page: &Path,
        name: &str,
        arguments: &[&str],
        reference: &Reference,
    ) -> Result<String, String> {
        match name {
            "scene-reference" => arguments.iter().map(|part| reference.section(part, page)).collect(),
            "scenes" => scenes::page(&self.repository),
            "parts" => arguments.iter().map(|letter| parts::table_of(letter)).collect(),
            "materials" => Ok(materials::table_of_all()),
            "solid-materials" => Ok(materials::table_of_solids()),
            "figures" => figures::side_by_side(arguments, page, &self.repository),
            "paper-table" => self.paper_table(),
            "formats" => Ok(run_files::formats()),
            "metrics" => Ok(run_files::metrics()),
            "outcome" => Ok(run_files::outcome()),
            _ => Err(format!(
                "unknown generator {name}; known: scene-reference, scenes, parts, figures, paper-table, materials, solid-materials, formats, metrics, outcome"
            )),
        }
    }
}

impl Fill {
    /// The table that `taut bench --paper --markdown` made, if it is there.
    fn paper_table(&self) -> Result<String, String> {
        let file = self.repository.join("docs/src/generated/paper-table.md");
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(format!("{}: {error}", file.display())),
        }
    }
}

/// Name and arguments of a marked line.
fn marker(line: &str) -> Option<(&str, Vec<&str>)> {
    let inside = line.trim().strip_prefix("<!-- generated:")?.strip_suffix("-->")?;
    let mut words = inside.split_whitespace();
    Some((words.next()?, words.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_lines_are_filled() {
        assert_eq!(
            marker("<!-- generated: scene-reference Cloth Pin -->"),
            Some(("scene-reference", vec!["Cloth", "Pin"]))
        );
        assert_eq!(marker("<!-- a remark -->"), None);
        assert_eq!(marker("text"), None);
    }

    #[test]
    fn a_book_without_the_scene_reference_is_an_error() {
        let fill = Fill { repository: PathBuf::new() };
        let error = fill.reference(&Book::new()).err().unwrap().to_string();
        assert!(error.contains("no page describes these parts"), "{error}");
    }
}
