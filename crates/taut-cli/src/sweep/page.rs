//! The page of a sweep: pictures of the last frames side by side, with values and figures.

use std::path::Path;

use serde_json::Value;

use super::{Row, write as write_file};
use crate::failure::Failure;

const STYLE: &str = "body{font:14px/1.4 system-ui,sans-serif;margin:2rem;color:#222}\
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:1rem}\
figure{margin:0;border:1px solid #ddd;border-radius:6px;overflow:hidden}img{width:100%;display:block}\
figcaption{padding:.5rem .75rem}td{padding-right:1rem}.expectation-failed,.unfinished{color:#b00}";

/// The text of the page.
fn html(name: &str, keys: &[String], rows: &[Row]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title><style>{STYLE}</style>\n<h1>{0}</h1>\n<main>\n",
        escape(name)
    );
    for row in rows {
        html += &format!("<figure><img src=\"{0}.png\" alt=\"run {0}\"><figcaption><table>\n", row.folder);
        let values = keys.iter().filter_map(|key| Some((key.clone(), row.values.get(key)?)));
        let figures = row.figures.iter().map(|(key, value)| (key.replace('_', " "), value));
        for (key, value) in values.chain(figures) {
            html += &format!("<tr><td>{}<td>{}</tr>\n", escape(&key), escape(&shown(value)));
        }
        html += &format!(
            "</table><p class=\"{0}\">run {1}: {0}</p></figcaption></figure>\n",
            escape(&row.status),
            row.folder
        );
    }
    html + "</main></html>\n"
}

/// Writes `index.html` into `root`.
pub fn write(root: &Path, name: &str, keys: &[String], rows: &[Row]) -> Result<(), Failure> {
    write_file(&root.join("index.html"), &html(name, keys, rows))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.6}", number.as_f64().unwrap_or(f64::NAN))
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        other => other.to_string(),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
