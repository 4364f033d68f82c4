//! The book of taut, built by mdBook as a library, so that a clone and cargo are all that it takes.
//!
//! [`build`] makes `docs/` into a folder of HTML. On the way, what can be derived from the code is: a page
//! says `<!-- generated: NAME -->`, and [`fill`] puts there what NAME stands for, from the types of the scene
//! file ([`scene_reference`]), the built-in scenes ([`scenes`]), the materials ([`materials`]) and the files
//! of a run ([`run_files`]). Any warning of mdBook ([`warnings`]) and any link, anchor, picture or path that
//! leads nowhere ([`links`]) is an error.
//!
//! What needs the program itself is made by it and committed: pictures ([`figures`]) and the help of every
//! command ([`help`]); a test of taut-cli compares the latter.

pub mod examples;
pub mod figures;
pub mod fill;
pub mod help;
pub mod links;
pub mod materials;
pub mod run_files;
pub mod scene_reference;
pub mod scenes;
pub mod warnings;

use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;

/// The folder of the repository that this crate was built in.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Builds the book in `repository`/docs into the folder `out`, which is emptied first.
///
/// # Errors
/// All that mdBook warned of, and all links that lead nowhere, one line each.
pub fn build(repository: &Path, out: &Path) -> Result<(), Vec<String>> {
    let (built, told) = warnings::gather(|| {
        let mut book = MDBook::load(repository.join("docs"))?;
        book.config.build.build_dir = out.to_owned();
        book.with_preprocessor(fill::Fill { repository: repository.to_owned() });
        book.build()
    });
    let mut wrong = told;
    if let Err(error) = built {
        wrong.push(error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": "));
    } else {
        wrong.extend(links::check(out, repository));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
