//! Checks that all targets of links in the built book exist: pages, anchors, images, and paths into the
//! repository.
//!
//! The rendered pages are checked, including generated text. External links are not followed. A code span
//! that looks like a path into the repository (`crates/…`, `scenes/…`) is one, and must exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

/// Folders of the repository: code spans that begin with one of these are paths.
const FOLDERS: [&str; 5] = ["crates/", "scenes/", "scripts/", "docs/", ".ci/"];

/// All broken links of the book in `out`, and all paths that are not in `repository`, one line each.
pub fn check(out: &Path, repository: &Path) -> Vec<String> {
    let mut pages = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in html_files(out, &mut wrong) {
        match std::fs::read_to_string(&file) {
            Ok(text) => drop(pages.insert(file, Page::read(&text))),
            Err(error) => wrong.push(format!("{}: {error}", file.display())),
        }
    }
    for (file, page) in &pages {
        let name = file.strip_prefix(out).unwrap_or(file).display();
        for link in &page.links {
            if let Some(why) = broken(file, link, &pages) {
                wrong.push(format!("{name}: {link} {why}"));
            }
        }
        for path in page.code.iter().filter_map(|code| repository_path(code)) {
            if !repository.join(path).exists() {
                wrong.push(format!("{name}: `{path}` is not in the repository"));
            }
        }
    }
    wrong
}

/// Pages of the book: not what mdBook adds for printing, for the sidebar and for missing pages.
fn html_files(folder: &Path, wrong: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            wrong.push(format!("{}: {error}", folder.display()));
            return Vec::new();
        }
    };
    let mut files = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(html_files(&path, wrong));
        } else if name.ends_with(".html") && !["404.html", "print.html", "toc.html"].contains(&name.as_str())
        {
            files.push(path);
        }
    }
    files
}

/// What one page offers and asks for.
#[derive(Debug, Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
    code: Vec<String>,
}

impl Page {
    /// Reads the part of a page that its author wrote.
    fn read(html: &str) -> Self {
        let main = html.split_once("<main>").map_or(html, |(_, rest)| rest);
        let main = main.split_once("</main>").map_or(main, |(main, _)| main);
        let mut page = Self::default();
        let mut fenced = false;
        let mut rest = main;
        while let Some((_, after)) = rest.split_once('<') {
            let (tag, after) = after.split_once('>').unwrap_or((after, ""));
            match tag.split_whitespace().next().unwrap_or_default() {
                "pre" => fenced = true,
                "/pre" => fenced = false,
                "code" if !fenced => {
                    let text = after.split_once("</code>").map_or("", |(text, _)| text);
                    page.code.push(unescape(text));
                }
                _ => {}
            }
            page.anchors.extend(attribute(tag, "id"));
            page.links.extend(attribute(tag, "href").into_iter().chain(attribute(tag, "src")));
            rest = after;
        }
        page
    }
}

/// The value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescape(rest.split_once('"')?.0))
}

fn unescape(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&amp;", "&")
}

/// Why a link on the page `file` leads nowhere, if it does.
fn broken(file: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> Option<String> {
    if ["http://", "https://", "mailto:"].iter().any(|start| link.starts_with(start)) {
        return None;
    }
    let (target, anchor) =
        link.split_once('#').map_or((link, None), |(target, anchor)| (target, Some(anchor)));
    let there =
        if target.is_empty() { file.to_owned() } else { clean(&file.parent().unwrap_or(file).join(target)) };
    if !there.is_file() {
        return Some("leads to no file".into());
    }
    let anchor = anchor.filter(|anchor| !anchor.is_empty())?;
    let found = pages.get(&there).is_some_and(|page| page.anchors.contains(anchor));
    (!found).then(|| format!("leads to a page without #{anchor}"))
}

/// A path without `..`.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            clean.pop();
        } else {
            clean.push(part);
        }
    }
    clean
}

/// The path into the repository that a code span is, if it is one: without a wildcard, a placeholder or a
/// space.
fn repository_path(code: &str) -> Option<&str> {
    let path = FOLDERS.iter().any(|folder| code.starts_with(folder)) || code.starts_with("README.md");
    let plain = !code.contains([' ', '*', '…', '<', '{']) && !code.contains("NAME");
    (path && plain).then_some(code.split_once("::").map_or(code, |(file, _)| file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(pages: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        for (name, text) in pages {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn wrong(pages: &[(&str, &str)]) -> Vec<String> {
        let folder = book(pages);
        check(folder.path(), &crate::repository())
    }

    #[test]
    fn what_is_there_is_fine() {
        let one = r##"<a href="nowhere.html"></a><main><h1 id="top">One</h1><a href="sub/two.html#end">x</a><a href="#top"></a>
            <a href="https://example.org"></a><code>crates/taut/src/step.rs</code><code>crates/NAME.rs</code>
            <pre><code>crates/nowhere.rs</code></pre></main>"##;
        let found = wrong(&[
            ("one.html", one),
            ("sub/two.html", r#"<main><p id="end"><a href="../one.html">x</a></main>"#),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn what_is_not_is_named() {
        for (text, word) in [
            (r#"<a href="three.html">"#, "three.html leads to no file"),
            (r##"<a href="#middle">"##, "without #middle"),
            (r#"<img src="images/gone.png">"#, "images/gone.png leads to no file"),
            ("<code>crates/taut/src/gone.rs</code>", "`crates/taut/src/gone.rs` is not in the repository"),
        ] {
            let found = wrong(&[("one.html", &format!("<main>{text}</main>"))]);
            assert!(
                found.len() == 1 && found[0].contains(word) && found[0].contains("one.html"),
                "{found:?}"
            );
        }
    }
}
