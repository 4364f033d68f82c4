//! Rules of the model "pbd": one solver for all bodies of a scene, which knows no schemes, integrators,
//! seams, particles and springs with an end on vertices.

use crate::scene::{
    report::{Path, Report},
    tree::Node,
};

fn is_pbd(body: &Node) -> bool {
    body.get("model").and_then(Node::text) == Some("pbd")
}

/// Rules of a scene with bodies of the model.
pub(super) fn check_scene(scene: &Node, report: &mut Report<'_>) {
    let root = Path::Root;
    let kinds = ["cloth", "solid"];
    if !kinds.iter().any(|kind| scene.items_of(kind).iter().any(is_pbd)) {
        return;
    }
    for kind in kinds {
        let list = Path::Key(&root, kind);
        for (index, body) in scene.items_of(kind).iter().enumerate().filter(|(_, body)| !is_pbd(body)) {
            let (origin, is) = match body.get("model") {
                Some(model) => (model.origin, format!("is {}", model.describe())),
                None => (body.origin, "is \"fem\" by default".to_owned()),
            };
            let message =
                format!("{is}, must be \"pbd\" in a scene with a \"pbd\" body: all share one solver");
            report.add(origin, &Path::Key(&list.item(index, body), "model"), message);
        }
    }
    let message = "cannot be combined with model = \"pbd\"; use model = \"fem\"";
    let has_vertices = |spring: &Node| {
        ["from", "to"].iter().any(|key| spring.get(key).is_some_and(|end| end.get("select").is_some()))
    };
    for kind in ["seam", "spring", "particles"] {
        let list = Path::Key(&root, kind);
        let items = scene.items_of(kind).iter().enumerate();
        for (index, item) in items.filter(|(_, item)| kind != "spring" || has_vertices(item)) {
            report.add(item.origin, &list.item(index, item), message);
        }
    }
    let Some(solver) = scene.get("solver") else { return };
    let path = Path::Key(&root, "solver");
    let allowed = [("scheme", &["nearest", "sweep"][..]), ("integrator", &[])];
    for (key, allowed) in allowed {
        let given = solver.get(key).and_then(|node| Some((node, node.text()?)));
        if let Some((node, name)) = given.filter(|(_, name)| !allowed.contains(name)) {
            let message = format!("is \"{name}\", must be omitted: model \"pbd\" has a solver of its own");
            report.add(node.origin, &Path::Key(&path, key), message);
        }
    }
}

/// Rules of one body.
pub(super) fn check_body(body: &Node, is_solid: bool, path: &Path<'_>, report: &mut Report<'_>) {
    if is_pbd(body) && is_solid {
        let preserved = body.get("volume").filter(|volume| volume.text() == Some("preserve"));
        if let Some(volume) = preserved {
            let message = "is \"preserve\", must be omitted with model = \"pbd\"; see pbd.volume";
            report.add(volume.origin, &Path::Key(path, "volume"), message);
        }
    }
    let Some(pbd) = body.get("pbd") else { return };
    let own = Path::Key(path, "pbd");
    if !is_pbd(body) {
        return report.add(pbd.origin, &own, "is for model = \"pbd\" only");
    }
    let compliance = pbd.get("compliance");
    for key in ["stretch", "bend", "volume"] {
        let tables = [(Some(pbd), Path::Key(path, "pbd")), (compliance, Path::Key(&own, "compliance"))];
        let given = tables.map(|(table, path)| Some((table?.get(key)?, path)));
        if key == "bend" && is_solid {
            for (node, path) in given.into_iter().flatten() {
                let message = "is for cloth; soft bodies have stretch and volume";
                report.add(node.origin, &Path::Key(&path, key), message);
            }
        } else if let [Some((stiffness, _)), Some((node, path))] = given {
            let message = format!(
                "is {}, must be omitted: pbd.{key} = {} is given",
                node.describe(),
                stiffness.describe()
            );
            report.add(node.origin, &Path::Key(&path, key), message);
        }
    }
}
