//! Rules of the model "pbd": one solver for all bodies of a scene, which knows no schemes and integrators.

use crate::scene::{
    report::{Path, Report},
    tree::Node,
};

/// What kind of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `[[cloth]]`.
    Cloth,
    /// `[[solid]]`.
    Solid,
    /// `[[particles]]`.
    Particles,
}

impl Kind {
    /// What constraints it has.
    fn constraints(self) -> &'static [&'static str] {
        match self {
            Self::Cloth => &["stretch", "bend", "volume"],
            Self::Solid => &["stretch", "volume"],
            Self::Particles => &["stretch"],
        }
    }

    /// Why it has no others.
    fn has_only(self) -> &'static str {
        match self {
            Self::Cloth => "",
            Self::Solid => "is for cloth; soft bodies have stretch and volume",
            Self::Particles => "is for cloth and soft bodies; particles have stretch",
        }
    }
}

fn is_pbd(body: &Node) -> bool {
    body.get("model").and_then(Node::text) == Some("pbd")
}

/// Rules of a scene with bodies of the model.
pub(super) fn check_scene(scene: &Node, report: &mut Report<'_>) {
    let root = Path::Root;
    let kinds = ["cloth", "solid", "particles"];
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
pub(super) fn check_body(body: &Node, kind: Kind, path: &Path<'_>, report: &mut Report<'_>) {
    if is_pbd(body) && kind == Kind::Solid {
        let preserved = body.get("volume").filter(|volume| volume.text() == Some("preserve"));
        if let Some(volume) = preserved {
            let message = "is \"preserve\", must be omitted with model = \"pbd\"; see pbd.volume";
            report.add(volume.origin, &Path::Key(path, "volume"), message);
        }
    }
    if is_pbd(body) && kind == Kind::Particles {
        check_springs(body, path, report);
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
        if !kind.constraints().contains(&key) {
            for (node, path) in given.into_iter().flatten() {
                report.add(node.origin, &Path::Key(&path, key), kind.has_only());
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

/// Segments are springs or constraints; only springs know forces.
fn check_springs(particles: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(spring) = particles.get("spring") else { return };
    let own = Path::Key(path, "spring");
    let has_stiffness = spring.get("stiffness").and_then(Node::number).is_some_and(|k| k > 0.0);
    if let Some(force) = spring.get("breaking_force").filter(|_| !has_stiffness) {
        let message = "needs a stiffness above 0 with model = \"pbd\": the force of segments that keep their length is not known";
        report.add(force.origin, &Path::Key(&own, "breaking_force"), message);
    }
    let Some(pbd) = particles.get("pbd").filter(|_| has_stiffness) else { return };
    let pbd_path = Path::Key(path, "pbd");
    let tables =
        [(Some(pbd), Path::Key(path, "pbd")), (pbd.get("compliance"), Path::Key(&pbd_path, "compliance"))];
    for (table, path) in tables {
        if let Some(stretch) = table.and_then(|table| table.get("stretch")) {
            let message = format!(
                "is {}, must be omitted: segments are springs by spring.stiffness",
                stretch.describe()
            );
            report.add(stretch.origin, &Path::Key(&path, "stretch"), message);
        }
    }
}
