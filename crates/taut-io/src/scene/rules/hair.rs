//! What must hold for hair beyond types and ranges.

use super::{one_of, pins};
use crate::scene::{
    pins::weight_map,
    report::{Path, Report},
    select::Selection,
    tree::{Node, Value},
};

/// Rules of one `[[hair]]`.
pub(super) fn check(hair: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let scale = hair.get("transform").and_then(|transform| transform.get("scale"));
    if let Some(scale) = scale.filter(|scale| scale.vector().is_some()) {
        let transform = Path::Key(path, "transform");
        let message = "is an array, must be one number: hair is as thick as it is wide";
        report.add(scale.origin, &Path::Key(&transform, "scale"), message);
    }
    pins::check(hair, path, report);
    let grow = hair.get("mesh").and_then(|mesh| mesh.get("grow"));
    check_guides(hair, grow, path, report);
    check_tear(hair, path, report);
    let Some(grow) = grow else { return };
    let mesh = Path::Key(path, "mesh");
    let own = Path::Key(&mesh, "grow");
    if matches!(grow.value, Value::Table(_)) {
        one_of(grow, &["on", "mesh"], &own, report);
        one_of(grow, &["count", "density"], &own, report);
    }
    // A run writes all placements, including those that change nothing.
    if let (Some(_), Some(transform)) = (grow.get("on"), hair.get("transform").filter(|t| places(t))) {
        let message = "cannot be combined with mesh.grow.on: the hair is where the obstacle is";
        report.add(transform.origin, &Path::Key(path, "transform"), message);
    }
    let text = |key| grow.get(key).and_then(|node| Some((node, node.text()?)));
    if let Some((node, text)) = text("select")
        && let Err(message) = Selection::parse(text)
    {
        report.add(node.origin, &Path::Key(&own, "select"), message);
    }
    if let Some((node, text)) = text("weight")
        && let Err(message) = weight_map(text)
    {
        report.add(node.origin, &Path::Key(&own, "weight"), message);
    }
}

/// Whether a placement changes anything.
fn places(transform: &Node) -> bool {
    let is = |key: &str, still: f64| {
        let node = transform.get(key);
        node.is_none_or(|node| {
            node.number() == Some(still) || node.vector().is_some_and(|v| v.iter().all(|x| *x == still))
        })
    };
    !(is("translate", 0.0) && is("rotate", 0.0) && is("scale", 1.0))
}

/// Strands between guides need a surface to grow on.
fn check_guides(hair: &Node, grow: Option<&Node>, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(wanted) = hair.get("guides").and_then(|guides| guides.get("interpolate")) else { return };
    let has_obstacle = hair.get("root").is_some_and(|root| root.get("obstacle").is_some());
    if grow.is_none() && !has_obstacle {
        let guides = Path::Key(path, "guides");
        let message = "requires root = { obstacle = NAME }: the strands between the guides grow on it";
        report.add(wanted.origin, &Path::Key(&guides, "interpolate"), message);
    }
}

/// What cannot tear.
fn check_tear(hair: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(tear) = hair.get("tear") else { return };
    let mut refuse = |message: &str| report.add(tear.origin, &Path::Key(path, "tear"), message);
    if hair.get("model").and_then(Node::text) == Some("springs") {
        refuse("cannot be combined with model = \"springs\": the lecture's springs do not tear");
    }
    if hair.get("guides").is_some() {
        refuse("cannot be combined with guides: strands that follow a guide would not tear with it");
    }
}
