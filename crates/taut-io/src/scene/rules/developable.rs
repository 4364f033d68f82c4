//! What cloth of the model "developable" cannot be combined with.

use super::{Node, Path, Report, Value};

/// The tightest limits on strain that it can hold.
const TIGHTEST: f64 = 1e-4;

/// Checks all cloth of the model, and the keys that are for it alone.
pub(super) fn check_scene(scene: &Node, report: &mut Report<'_>) {
    let root = Path::Root;
    let list = Path::Key(&root, "cloth");
    for (index, cloth) in scene.items_of("cloth").iter().enumerate() {
        let path = list.item(index, cloth);
        let model = cloth.get("model").filter(|model| model.text() == Some("developable"));
        let Some(model) = model else {
            if let Some(jump) = cloth.get("jump") {
                let message = "is for model = \"developable\" only: other triangles do not come apart";
                report.add(jump.origin, &Path::Key(&path, "jump"), message);
            }
            continue;
        };
        check_cloth(cloth, &path, report);
        let solver = scene.get("solver");
        let setting = |key: &str| solver.and_then(|solver| solver.get(key)).and_then(Node::text);
        let mut refuse = |needs: String| {
            report.add(
                model.origin,
                &Path::Key(&path, "model"),
                format!("is \"developable\", which {needs}"),
            );
        };
        if let Some(scheme) = setting("scheme").filter(|scheme| *scheme != "nearest") {
            refuse(format!("needs solver.scheme = \"nearest\", not \"{scheme}\""));
        }
        if setting("integrator") == Some("leap-frog") {
            refuse("needs solver.integrator = \"bdf2\" or \"euler\", not \"leap-frog\"".into());
        }
        if !scene.items_of("seam").is_empty() {
            refuse("does not support seams; use \"fem\" in a scene with [[seam]]".into());
        }
        if let Some(mesh) = ["shirt", "pattern"].iter().find(|kind| has(cloth, "mesh", kind)) {
            refuse(format!("does not support seams, which mesh.{mesh} has; use \"fem\""));
        }
    }
}

fn has(cloth: &Node, key: &str, part: &str) -> bool {
    cloth.get(key).is_some_and(|node| node.get(part).is_some())
}

/// Keys of the cloth itself.
fn check_cloth(cloth: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    // A run writes all tables, including empty ones.
    let given = |node: &&Node| !matches!(&node.value, Value::Table(keys) if keys.is_empty());
    for (key, instead) in [
        ("bend", "limits hinges, which model = \"developable\" does not have; use a stiffer material"),
        ("edge", "limits edges, which model = \"developable\" does not have; use strain = { … }"),
        ("tear", "cannot be combined with model = \"developable\", which does not tear"),
        ("pressure", "cannot be combined with model = \"developable\", which supports no pressure"),
    ] {
        if let Some(node) = cloth.get(key).filter(given) {
            report.add(node.origin, &Path::Key(path, key), instead);
        }
    }
    let Some(strain) = cloth.get("strain") else { return };
    let path = Path::Key(path, "strain");
    check_limits(strain, &path, report);
    for part in ["warp", "weft", "bias"] {
        if let Some(limits) = strain.get(part) {
            check_limits(limits, &Path::Key(&path, part), report);
        }
    }
}

fn check_limits(limits: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    for key in ["min", "max"] {
        let Some(limit) = limits.get(key) else { continue };
        if limit.number().is_some_and(|number| number.abs() < TIGHTEST) {
            let message = format!(
                "is {}, which model = \"developable\" cannot hold: limits of 0.0001 (0.01 %) or more are feasible, 0.001 by default",
                limit.describe()
            );
            report.add(limit.origin, &Path::Key(path, key), message);
        }
    }
}
