//! The book builds without a warning, its links lead somewhere, and what is wrong with a book is found.

use std::{fs, path::Path};

use taut_book::{build, repository};

#[test]
fn the_book_builds_without_warnings_and_its_links_hold() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("book");
    if let Err(wrong) = build(&repository(), &out) {
        panic!("{}", wrong.join("\n"));
    }
    let read = |page: &str| fs::read_to_string(out.join(page)).unwrap();
    assert!(read("index.html").contains("holds its limits"));
    for (page, words) in [
        ("scene/cloth.html", "Largest allowed stretch in any direction"),
        ("scene/material.html", "11oz-black-denim"),
        ("scenes.html", "id=\"bend-tight\""),
        ("commands.html", "id=\"taut-verify\""),
        ("run-folder.html", "certificate.bodies[].max_penetration"),
        ("export.html", "<code>pc2</code>"),
        ("papers/wang.html", "strain limit of a triangle"),
        ("papers/tang.html", "only corrections are prolonged"),
        ("papers/lecture.html", "overpressure (balloons)"),
        ("papers/english.html", "ghost conforming mesh"),
    ] {
        assert!(read(page).contains(words), "{words} is not on {page}");
        assert!(!read(page).contains("generated:"), "{page} was not filled");
    }
}

/// A book with one page of this text, and what is wrong with it.
fn wrong(page: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir_all(docs.join("src")).unwrap();
    let write = |name: &str, text: &str| fs::write(docs.join(name), text).unwrap();
    write("book.toml", "[book]\ntitle = \"a book\"\n");
    write("src/SUMMARY.md", "# Summary\n\n- [Page](page.md)\n");
    let schema = taut_io::scene::schema();
    let parts: Vec<&str> = schema["$defs"].as_object().unwrap().keys().map(String::as_str).collect();
    write(
        "src/page.md",
        &format!("# Page\n\n{page}\n\n<!-- generated: scene-reference Scene {} -->\n", parts.join(" ")),
    );
    let built = build(Path::new(folder.path()), &folder.path().join("out"));
    built.err().map(|lines| lines.join("\n")).unwrap_or_default()
}

#[test]
fn what_is_wrong_with_a_book_is_found() {
    assert_eq!(wrong("All is well."), "");
    assert!(wrong("[x](nowhere.md)").contains("nowhere"));
    assert!(wrong("[x](#nowhere)").contains("#nowhere"));
    assert!(wrong("![x](nowhere.png)").contains("nowhere.png"));
    assert!(
        wrong("`crates/taut/src/step.rs`").contains("not in the repository"),
        "there is none around this book"
    );
    assert!(wrong("{{#include nowhere.md}}").contains("nowhere.md"));
    assert!(wrong("<!-- generated: nothing -->").contains("unknown generator nothing"));
    assert!(wrong("<div>").contains("div"), "mdBook warns of it");
}
