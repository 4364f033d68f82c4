//! What must hold for pins beyond types and ranges.

use super::check_times;
use crate::scene::{
    pins::weight_map,
    report::{Path, Report},
    select::Selection,
    tree::{Node, show},
};

/// Checks the pins of a body.
pub(super) fn check(body: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let pins = Path::Key(path, "pin");
    for (index, pin) in body.items_of("pin").iter().enumerate() {
        let path = Path::Item(&pins, index);
        if let Some((node, text)) = pin.get("select").and_then(|node| Some((node, node.text()?)))
            && let Err(message) = Selection::parse(text)
        {
            report.add(node.origin, &Path::Key(&path, "select"), message);
        }
        check_times(pin.items_of("motion"), &Path::Key(&path, "motion"), report);
        check_until(pin, &path, report);
        check_attach(pin, &path, report);
        check_spring(pin, &path, report);
    }
}

/// A pin must have a duration, also after rounding to the engine's f32.
fn check_until(pin: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let number = |key| pin.get(key).and_then(|node| Some((node, node.number()?)));
    let from = number("from").map_or(0.0, |(_, from)| from);
    if let Some((node, until)) = number("until")
        && until as f32 <= from as f32
    {
        let message = format!("is {}, must be later than from, which is {}", show(until), show(from));
        report.add(node.origin, &Path::Key(path, "until"), message);
    }
}

/// An attached pin has no other motion, and follows its obstacle from the start unless a spring pulls it.
fn check_attach(pin: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    if pin.get("attach").is_none() {
        if let Some(node) = pin.get("shape") {
            let message = "requires attach, the obstacle that the vertices follow";
            report.add(node.origin, &Path::Key(path, "shape"), message);
        }
        return;
    }
    let is_held = pin.get("stiffness").is_none();
    let begins_later = |node: &&Node| is_held && node.number().is_some_and(|from| from > 0.0);
    let wrong = [
        ("motion", pin.get("motion").filter(|node| !node.items().is_empty()), "which moves the vertices"),
        ("pivot", pin.get("pivot"), "which moves the vertices"),
        (
            "from",
            pin.get("from").filter(begins_later),
            "which pins the vertices from the start; set stiffness to draw them there",
        ),
    ];
    for (key, node, why) in wrong {
        if let Some(node) = node {
            report.add(node.origin, &Path::Key(path, key), format!("cannot be combined with attach, {why}"));
        }
    }
}

/// Keys that only springs have require a stiffness.
fn check_spring(pin: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    if let Some((node, text)) = pin.get("weight").and_then(|node| Some((node, node.text()?)))
        && let Err(message) = weight_map(text)
    {
        report.add(node.origin, &Path::Key(path, "weight"), message);
    }
    let needs = [
        ("weight", "stiffness", "which it multiplies"),
        ("fade_in", "stiffness", "which it lets grow"),
        ("fade_out", "stiffness", "which it lets fall"),
        ("fade_out", "until", "before which the stiffness falls"),
    ];
    for (key, other, why) in needs {
        if let (Some(node), None) = (pin.get(key), pin.get(other)) {
            report.add(node.origin, &Path::Key(path, key), format!("requires {other}, {why}"));
        }
    }
}
