//! Rules that a schema cannot express: unique names, ordered limits, ordered keyframes, non-zero directions.
//!
//! The rules work on the tree and skip values that the schema refuses, so that one run reports the problems
//! of both.

mod developable;
mod hair;
mod pbd;
mod pins;

use super::{
    names,
    report::{Path, Report, is_name},
    select::Selection,
    tree::{Node, Value, show},
};
use crate::mesh::{
    Format, SolidFormat,
    sequence::{CacheFormat, Numbered},
};

/// Minimum length of a direction or an axis \[m\]; below, it is degenerate in f32.
const MIN_LENGTH: f64 = 1e-6;

/// Adds all violated rules to `report`.
pub(crate) fn check(scene: &Node, report: &mut Report<'_>) {
    let root = Path::Root;
    if let Some(wind) = scene.get("air").and_then(|air| air.get("wind")) {
        let path = Path::Key(&root, "air");
        check_times(wind.items(), &Path::Key(&path, "wind"), report);
    }
    if let Some(solver) = scene.get("solver") {
        check_passes(solver, &Path::Key(&root, "solver"), report);
        check_scheme_keys(solver, &Path::Key(&root, "solver"), report);
        check_integrator(scene, solver, &Path::Key(&root, "solver"), report);
    }
    check_bodies(scene, report);
    check_levels_of_solids(scene, report);
    check_neighbours_of_edges(scene, report);
    pbd::check_scene(scene, report);
    developable::check_scene(scene, report);
    let kinds = [
        ("cloth", check_cloth as fn(&Node, &Path<'_>, &mut Report<'_>)),
        ("solid", check_solid),
        ("particles", check_particles),
        ("hair", hair::check),
        ("spring", check_nothing),
        ("seam", check_seam),
        ("obstacle", check_obstacle),
    ];
    for (kind, check) in kinds {
        let list = Path::Key(&root, kind);
        let bodies = scene.items_of(kind);
        check_names(kind, bodies, &list, report);
        for (index, body) in bodies.iter().enumerate() {
            check(body, &list.item(index, body), report);
        }
    }
    if let Some(expect) = scene.get("expect") {
        check_order(expect, "min_strain", "max_strain", &Path::Key(&root, "expect"), report);
    }
}

/// Only some schemes make passes over levels; the others would ignore the number.
fn check_passes(solver: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let scheme = solver.get("scheme").and_then(Node::text);
    let Some(passes) = solver.get("passes").filter(|node| node.number().is_some_and(|n| n > 0.0)) else {
        return;
    };
    if !matches!(scheme, Some("cycle" | "paper")) {
        let message = format!(
            "is {}, must be 0 unless scheme is \"cycle\" or \"paper\": other schemes have no passes over levels",
            passes.describe()
        );
        report.add(passes.origin, &Path::Key(path, "passes"), message);
    }
}

/// Keys that only some schemes read; the others would ignore them.
fn check_scheme_keys(solver: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let scheme = solver.get("scheme").and_then(Node::text).unwrap_or("nearest");
    let keys = [
        ("levels", matches!(scheme, "cycle" | "paper"), 0.0, "0 unless scheme is \"cycle\" or \"paper\""),
        ("level_iterations", scheme == "paper", 128.0, "128, its default, unless scheme is \"paper\""),
        ("detect_every", scheme != "nearest", 64.0, "64, its default, with scheme \"nearest\""),
    ];
    for (key, is_read, default, allowed) in keys {
        let given = solver.get(key).filter(|node| node.number().is_some_and(|n| n != default));
        if let (Some(given), false) = (given, is_read) {
            let message = format!("is {}, must be {allowed}, which does not use it", given.describe());
            report.add(given.origin, &Path::Key(path, key), message);
        }
    }
}

/// Only some schemes limit coarser tetrahedra; the others would ignore how these are made.
fn check_levels_of_solids(scene: &Node, report: &mut Report<'_>) {
    let scheme = scene.get("solver").and_then(|solver| solver.get("scheme")).and_then(Node::text);
    if matches!(scheme, Some("cycle" | "paper")) {
        return;
    }
    let root = Path::Root;
    let list = Path::Key(&root, "solid");
    for (index, solid) in scene.items_of("solid").iter().enumerate() {
        if let Some(levels) = solid.get("levels") {
            let message = format!(
                "is {}, which needs solver.scheme = \"cycle\" or \"paper\": other schemes do not limit coarser levels",
                levels.describe()
            );
            report.add(levels.origin, &Path::Key(&list.item(index, solid), "levels"), message);
        }
    }
}

/// Implicit integrators need a scheme that solves stiffness and limits together.
fn check_integrator(scene: &Node, solver: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(integrator) = solver.get("integrator") else { return };
    let Some(name @ ("bdf2" | "euler")) = integrator.text() else { return };
    let scheme = solver.get("scheme").and_then(Node::text).unwrap_or("nearest");
    let of_edges = |cloth: &Node| {
        let model = cloth.get("model");
        model.is_some_and(|model| model.text() == Some("edge") || model.get("edge").is_some())
    };
    let problem = if scheme != "nearest" {
        format!("is \"{name}\", which needs scheme \"nearest\"; scheme \"{scheme}\" supports \"leap-frog\"")
    } else if scene.items_of("cloth").iter().any(of_edges) {
        format!("is \"{name}\", which cannot be combined with model \"edge\"; that supports \"leap-frog\"")
    } else {
        return;
    };
    report.add(integrator.origin, &Path::Key(path, "integrator"), problem);
}

/// The model "edge" supports cloth and obstacles without mass only.
fn check_neighbours_of_edges(scene: &Node, report: &mut Report<'_>) {
    let has = |kind: &str, key: &str| scene.items_of(kind).iter().any(|item| item.get(key).is_some());
    let others = [
        (has("obstacle", "mass"), "obstacles with a mass"),
        (!scene.items_of("solid").is_empty(), "soft bodies"),
        (!scene.items_of("particles").is_empty(), "particles"),
        (!scene.items_of("hair").is_empty(), "hair"),
        (!scene.items_of("seam").is_empty(), "seams"),
    ];
    let (root, mut others) = (Path::Root, others.into_iter().filter(|(there, _)| *there));
    let Some((_, other)) = others.next() else { return };
    let list = Path::Key(&root, "cloth");
    for (index, cloth) in scene.items_of("cloth").iter().enumerate() {
        if let Some(model) = cloth.get("model").filter(|model| model.text() == Some("edge")) {
            let message = format!(
                "is \"edge\", must be \"fem\" in a scene with {other}, which \"edge\" does not support"
            );
            report.add(model.origin, &Path::Key(&list.item(index, cloth), "model"), message);
        }
    }
}

/// The model "edge" limits edges, and only it has its own levels and iterations.
fn check_model(cloth: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    if cloth.get("model").and_then(Node::text) == Some("edge") {
        // A run writes all limits, including empty ones.
        let limits = |strain: &&Node| !matches!(&strain.value, Value::Table(keys) if keys.is_empty());
        if let Some(strain) = cloth.get("strain").filter(limits) {
            let message = "limits triangles, which model = \"edge\" does not support; use edge = { … }";
            report.add(strain.origin, &Path::Key(path, "strain"), message);
        }
        return;
    }
    for key in ["levels", "iterations"] {
        if let Some(node) = cloth.get(key) {
            let message = "is for model = \"edge\" only; for other cloth see [solver] and pbd.iterations";
            report.add(node.origin, &Path::Key(path, key), message);
        }
    }
}

/// There is a body to simulate, and names of cloths and soft bodies, which become file names, do not
/// conflict.
fn check_bodies(scene: &Node, report: &mut Report<'_>) {
    let root = Path::Root;
    // The schema refuses a value that is not a list.
    let is_empty = |kind| {
        scene.get(kind).is_none_or(|node| matches!(&node.value, Value::Array(items) if items.is_empty()))
    };
    if ["cloth", "solid", "particles", "hair"].into_iter().all(is_empty) {
        let message = "is missing; at least one [[cloth]], [[solid]], [[particles]] or [[hair]] is required";
        let origin = scene.get("cloth").map_or(scene.origin, |node| node.origin);
        report.add(origin, &Path::Key(&root, "cloth"), message);
    }
    let [cloths, solids] = ["cloth", "solid"].map(|kind| names::effective(kind, scene.items_of(kind)));
    let particles = names::effective("particles", scene.items_of("particles"));
    check_other_names(scene, "particles", &[("cloth", &cloths), ("solid", &solids)], report);
    let others = [("cloth", &cloths), ("solid", &solids), ("particles", &particles)];
    check_other_names(scene, "hair", &others, report);
    let list = Path::Key(&root, "solid");
    for (index, name) in solids.iter().enumerate() {
        let Some(cloth) = cloths.iter().position(|cloth| cloth.eq_ignore_ascii_case(name)) else { continue };
        let item = Path::Item(&list, index);
        let body = &scene.items_of("solid")[index];
        let origin = body.get("name").map_or(body.origin, |node| node.origin);
        let message = format!("\"{name}\" is also the name of cloth[{cloth}]; names must be unique");
        report.add(origin, &Path::Key(&item, "name"), message);
    }
}

/// Names of particles and hair differ from those of other bodies.
fn check_other_names(scene: &Node, own: &str, others: &[(&str, &Vec<String>)], report: &mut Report<'_>) {
    let root = Path::Root;
    let list = Path::Key(&root, own);
    let items = scene.items_of(own);
    for (index, name) in names::effective(own, items).iter().enumerate() {
        for (kind, names) in others {
            let Some(other) = names.iter().position(|other| other.eq_ignore_ascii_case(name)) else {
                continue;
            };
            let origin = items[index].get("name").map_or(items[index].origin, |node| node.origin);
            let message = format!("\"{name}\" is also the name of {kind}[{other}]; names must be unique");
            report.add(origin, &Path::Key(&Path::Item(&list, index), "name"), message);
        }
    }
}

/// What belongs to particles.
fn check_particles(particles: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    if let Some(limits) = particles.get("edge") {
        check_order(limits, "min", "max", &Path::Key(path, "edge"), report);
    }
    if let (Some(_), Some(given)) = (particles.get("mass"), particles.get("mass_per_length")) {
        let message = "cannot be combined with mass";
        report.add(given.origin, &Path::Key(path, "mass_per_length"), message);
    }
    pbd::check_body(particles, pbd::Kind::Particles, path, report);
    pins::check(particles, path, report);
}

/// The schema says it all.
fn check_nothing(_: &Node, _: &Path<'_>, _: &mut Report<'_>) {}

/// Names become file names, and some file systems are case-insensitive.
fn check_names(kind: &str, bodies: &[Node], list: &Path<'_>, report: &mut Report<'_>) {
    let mut seen = std::collections::BTreeMap::new();
    for (index, body) in bodies.iter().enumerate() {
        let Some((node, name)) = body.get("name").and_then(|node| Some((node, node.text()?))) else {
            continue;
        };
        let item = Path::Item(list, index);
        let path = Path::Key(&item, "name");
        if !is_name(name) {
            let message =
                format!("is {}, must be 1 to 64 letters (a to z), digits, - and _", node.describe());
            report.add(node.origin, &path, message);
        } else if let Some(first) = seen.insert(name.to_lowercase(), index) {
            report.add(
                node.origin,
                &path,
                format!("\"{name}\" is also the name of {kind}[{first}]; names must be unique"),
            );
        }
    }
}

/// The keys of a pressure of which exactly one is required.
const LAWS: [&str; 3] = ["over", "pascal", "gas"];

fn check_cloth(cloth: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    check_model(cloth, path, report);
    pbd::check_body(cloth, pbd::Kind::Cloth, path, report);
    if let Some(strain) = cloth.get("strain") {
        check_weave(strain, &Path::Key(path, "strain"), report);
    }
    for key in ["strain", "edge", "bend"] {
        if let Some(limits) = cloth.get(key) {
            check_order(limits, "min", "max", &Path::Key(path, key), report);
        }
    }
    if let Some(material) = cloth.get("material") {
        check_material(material, &["density", "stretch", "bend"], &Path::Key(path, "material"), report);
    }
    if let Some(pressure) = cloth.get("pressure") {
        let path = Path::Key(path, "pressure");
        one_of(pressure, &LAWS, &path, report);
        for law in LAWS {
            if let Some(keys) = pressure.get(law) {
                check_times(keys.items(), &Path::Key(&path, law), report);
            }
        }
    }
    pins::check(cloth, path, report);
    if let Some(torus) = cloth.get("mesh").and_then(|mesh| mesh.get("torus")) {
        let mesh = Path::Key(path, "mesh");
        check_torus(torus, &Path::Key(&mesh, "torus"), report);
    }
    if let Some(pattern) = cloth.get("mesh").and_then(|mesh| mesh.get("pattern"))
        && matches!(pattern.value, Value::Table(_))
    {
        let mesh = Path::Key(path, "mesh");
        let path = Path::Key(&mesh, "pattern");
        one_of(pattern, &["file", "built_in"], &path, report);
        check_shift(pattern, &path, report);
    }
}

fn check_solid(solid: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    pbd::check_body(solid, pbd::Kind::Solid, path, report);
    if let Some(limits) = solid.get("strain") {
        check_order(limits, "min", "max", &Path::Key(path, "strain"), report);
    }
    if let Some(material) = solid.get("material") {
        check_material(material, &["density", "young"], &Path::Key(path, "material"), report);
    }
    pins::check(solid, path, report);
    let Some(mesh) = solid.get("mesh") else { return };
    if let Some(torus) = mesh.get("torus") {
        let mesh = Path::Key(path, "mesh");
        check_torus(torus, &Path::Key(&mesh, "torus"), report);
    }
    check_filling(solid, mesh, path, report);
}

/// A surface requires a resolution to fill it with; tetrahedra must not have one.
fn check_filling(solid: &Node, mesh: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Value::Table(entries) = &mesh.value else { return };
    let file = mesh.get("file").and_then(Node::text);
    let has_tetrahedra = mesh.get("bar").is_some()
        || file.is_some_and(|file| SolidFormat::of_path(std::path::Path::new(file)).is_some());
    if !has_tetrahedra && entries.len() == 1 {
        return one_of(solid, &["spacing", "tetrahedra"], path, report);
    }
    for key in ["spacing", "tetrahedra"] {
        if let Some(node) = solid.get(key).filter(|_| has_tetrahedra) {
            let message = "is for surfaces, cannot be combined with a mesh that has tetrahedra";
            report.add(node.origin, &Path::Key(path, key), message);
        }
    }
}

/// A seam has one cloth or two, and one selection of vertices.
fn check_seam(seam: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    one_of(seam, &["cloths", "cloth"], path, report);
    one_of(seam, &["pairs", "from", "within"], path, report);
    for (key, other) in [("from", "to"), ("to", "from")] {
        if let (Some(node), None) = (seam.get(key), seam.get(other)) {
            report.add(node.origin, &Path::Key(path, other), format!("is missing; {key} requires it"));
        }
        if let Some((node, text)) = seam.get(key).and_then(|node| Some((node, node.text()?)))
            && let Err(message) = Selection::parse(text)
        {
            report.add(node.origin, &Path::Key(path, key), message);
        }
    }
}

/// Exactly one of `keys` is required.
fn one_of(node: &Node, keys: &[&str], path: &Path<'_>, report: &mut Report<'_>) {
    let mut given = keys.iter().filter(|key| node.get(key).is_some());
    match given.next() {
        None => {
            let others = keys[1..].join(" or ");
            report.add(
                node.origin,
                &Path::Key(path, keys[0]),
                format!("is missing; it or {others} is required"),
            );
        }
        Some(first) => {
            for key in given {
                let origin = node.get(key).map_or(node.origin, |node| node.origin);
                report.add(origin, &Path::Key(path, key), format!("cannot be combined with {first}"));
            }
        }
    }
}

/// The keys of limits by direction.
const DIRECTIONS: [&str; 3] = ["warp", "weft", "bias"];

/// Limits are isotropic, or separate along warp, weft and bias; then all three are required.
fn check_weave(strain: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let keys = ["warp", "weft", "bias", "direction"];
    let Some(given) = keys.into_iter().find(|key| strain.get(key).is_some()) else { return };
    for key in ["min", "max"] {
        if let Some(node) = strain.get(key) {
            let message = format!(
                "is for isotropic limits, cannot be combined with {given}; set it in warp, weft and bias"
            );
            report.add(node.origin, &Path::Key(path, key), message);
        }
    }
    for key in keys.into_iter().filter(|key| strain.get(key).is_none()) {
        let message = match key {
            "direction" => format!("is missing; {given} requires a warp direction: a vector, \"u\" or \"v\""),
            _ => format!("is missing; {given} requires it"),
        };
        report.add(strain.origin, &Path::Key(path, key), message);
    }
    if let Some(node) = strain.get("direction")
        && node.vector().is_some_and(|v| length(v) < MIN_LENGTH)
    {
        report.add(node.origin, &Path::Key(path, "direction"), "has zero length, must be a direction");
    }
    for key in DIRECTIONS {
        if let Some(limits) = strain.get(key) {
            check_order(limits, "min", "max", &Path::Key(path, key), report);
        }
    }
    // There is no interpolation between a limit and none.
    for side in ["min", "max"] {
        let has = |key: &&str| strain.get(key).is_some_and(|limits| limits.get(side).is_some());
        let Some(one) = DIRECTIONS.into_iter().find(|key| has(key)) else { continue };
        for key in DIRECTIONS.into_iter().filter(|key| !has(key)) {
            if let Some(limits) = strain.get(key) {
                let path = Path::Key(path, key);
                let message = format!("is missing; {one} has one, so warp, weft and bias must all have one");
                report.add(limits.origin, &Path::Key(&path, side), message);
            }
        }
    }
}

fn check_order(table: &Node, low: &str, high: &str, path: &Path<'_>, report: &mut Report<'_>) {
    let number = |key| table.get(key).and_then(|node| Some((node, node.number()?)));
    if let (Some((node, min)), Some((_, max))) = (number(low), number(high))
        && min > max
    {
        let message = format!("is {}, must not be above {high}, which is {}", show(min), show(max));
        report.add(node.origin, &Path::Key(path, low), message);
    }
}

/// A material without a base requires all of `keys`.
fn check_material(material: &Node, keys: &[&str], path: &Path<'_>, report: &mut Report<'_>) {
    if material.text().is_some() || material.get("base").is_some() {
        return;
    }
    let is_table = matches!(material.value, Value::Table(_));
    for key in keys {
        if is_table && material.get(key).is_none() {
            let message = "is missing; set it, or name a `base` material";
            report.add(material.origin, &Path::Key(path, key), message);
        }
        let Some(by_direction) = material.get(key).filter(|node| matches!(node.value, Value::Table(_)))
        else {
            continue;
        };
        let path = Path::Key(path, key);
        for direction in
            ["warp", "weft"].into_iter().filter(|direction| by_direction.get(direction).is_none())
        {
            let message = "is missing; set it, or name a `base` material";
            report.add(by_direction.origin, &Path::Key(&path, direction), message);
        }
    }
}

/// Times must increase, also after rounding to the engine's f32.
fn check_times(keys: &[Node], path: &Path<'_>, report: &mut Report<'_>) {
    let mut last: Option<f64> = None;
    for (index, key) in keys.iter().enumerate() {
        let Some((node, time)) = key.get("time").and_then(|node| Some((node, node.number()?))) else {
            continue;
        };
        if let Some(last) = last
            && time as f32 <= last as f32
        {
            let item = Path::Item(path, index);
            let message =
                format!("is {}, must be later than the previous keyframe, at {}", show(time), show(last));
            report.add(node.origin, &Path::Key(&item, "time"), message);
        }
        last = Some(time);
    }
}

fn check_obstacle(obstacle: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    check_times(obstacle.items_of("motion"), &Path::Key(path, "motion"), report);
    check_kind(obstacle, path, report);
    check_mass(obstacle, path, report);
    check_growth(obstacle, path, report);
    if let Some(sequence) = obstacle.get("sequence") {
        check_sequence(sequence, &Path::Key(path, "sequence"), report);
    }
    if let Some(scale) = obstacle.get("transform").and_then(|transform| transform.get("scale"))
        && scale.vector().is_some()
        && obstacle.get("shape").is_some()
    {
        let transform = Path::Key(path, "transform");
        let message = "is an array, must be one number: a shape supports uniform scale only";
        report.add(scale.origin, &Path::Key(&transform, "scale"), message);
    }
    let Some(shape) = obstacle.get("shape") else { return };
    let path = Path::Key(path, "shape");
    for (kind, key) in [("plane", "normal"), ("torus", "axis")] {
        if let Some(node) = shape.get(kind).and_then(|shape| shape.get(key))
            && node.vector().is_some_and(|v| length(v) < MIN_LENGTH)
        {
            let shape = Path::Key(&path, kind);
            report.add(node.origin, &Path::Key(&shape, key), "has zero length, must be a direction");
        }
    }
    for kind in ["capsule", "cylinder"] {
        let Some(rod) = shape.get(kind) else { continue };
        let end = |key| rod.get(key).and_then(Node::vector);
        if let (Some(from), Some(to)) = (end("from"), end("to")) {
            let distance = length([to[0] - from[0], to[1] - from[1], to[2] - from[2]]);
            if distance < MIN_LENGTH {
                let shape = Path::Key(&path, kind);
                let origin = rod.get("to").map_or(rod.origin, |node| node.origin);
                report.add(
                    origin,
                    &Path::Key(&shape, "to"),
                    "is the same point as `from`, must be different",
                );
            }
        }
    }
    if let Some(torus) = shape.get("torus") {
        check_torus(torus, &Path::Key(&path, "torus"), report);
    }
}

/// An obstacle is a shape, a mesh or a sequence of meshes.
fn check_kind(obstacle: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let given: Vec<&str> =
        ["shape", "mesh", "sequence"].into_iter().filter(|key| obstacle.get(key).is_some()).collect();
    match given.as_slice() {
        [] if matches!(obstacle.value, Value::Table(_)) => {
            report.add(obstacle.origin, path, "has no shape, mesh or sequence; one of them is required");
        }
        [first, second, ..] => {
            let origin = obstacle.get(second).map_or(obstacle.origin, |node| node.origin);
            let message = format!("cannot be combined with {first}; an obstacle has only one of them");
            report.add(origin, &Path::Key(path, second), message);
        }
        _ => {}
    }
    if obstacle.get("shape").is_none()
        && let Some(node) = obstacle.get("restitution").filter(|node| node.number().is_some_and(|n| n > 0.0))
    {
        let message = format!("is {}, must be 0 without a shape: meshes do not bounce", node.describe());
        report.add(node.origin, &Path::Key(path, "restitution"), message);
    }
}

/// Panels are moved by vectors within reach: the schema knows their names as little as their number.
fn check_shift(pattern: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(shift) = pattern.get("shift") else { return };
    let Value::Table(panels) = &shift.value else { return };
    let path = Path::Key(path, "shift");
    for (name, by) in panels {
        let is_fine = by.vector().is_some_and(|by| by.iter().all(|by| (-10.0..=10.0).contains(by)));
        if !is_fine {
            let message = format!("is {}, must be three numbers from −10 to 10", by.describe());
            report.add(by.origin, &Path::Key(&path, name), message);
        }
    }
}

/// A mesh grows, for some time.
fn check_growth(obstacle: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(grow) = obstacle.get("grow") else { return };
    if obstacle.get("mesh").is_none() {
        report.add(
            grow.origin,
            &Path::Key(path, "grow"),
            "requires a mesh; a shape or a sequence cannot grow",
        );
    }
    let time = |key| grow.get(key).and_then(Node::number);
    if let (Some(start), Some(end)) = (time("start"), time("end"))
        && end as f32 <= start as f32
    {
        let origin = grow.get("end").map_or(grow.origin, |node| node.origin);
        let message = format!("is {}, must be later than `start`, {}", show(end), show(start));
        let path = Path::Key(path, "grow");
        report.add(origin, &Path::Key(&path, "end"), message);
    }
}

/// An obstacle with mass has a bounded shape, and no motion.
fn check_mass(obstacle: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(mass) = obstacle.get("mass") else {
        for key in ["velocity", "angular_velocity"] {
            if let Some(node) = obstacle.get(key) {
                let message = "requires a mass; an obstacle without mass moves only by its motion";
                report.add(node.origin, &Path::Key(path, key), message);
            }
        }
        return;
    };
    let heavy = ["sphere", "box", "capsule", "cylinder"];
    if !obstacle.get("shape").is_some_and(|shape| heavy.iter().any(|kind| shape.get(kind).is_some())) {
        let message =
            "requires a shape that is a sphere, box, capsule or cylinder; others cannot have a mass";
        report.add(mass.origin, &Path::Key(path, "mass"), message);
    }
    if let Some(motion) = obstacle.get("motion").filter(|_| !obstacle.items_of("motion").is_empty()) {
        let message = "cannot be combined with mass: a body with mass is simulated";
        report.add(motion.origin, &Path::Key(path, "motion"), message);
    }
}

/// Keys of numbered files and of one file with all frames are exclusive.
fn check_sequence(sequence: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let text = |key| sequence.get(key).and_then(|node| Some((node, node.text()?)));
    let mut wrong = |key: &str, message: String| {
        let origin = sequence.get(key).map_or(sequence.origin, |node| node.origin);
        report.add(origin, &Path::Key(path, key), message);
    };
    if sequence.get("figure").is_some() {
        for key in ["files", "file", "mesh", "first", "last"] {
            if sequence.get(key).is_some() {
                wrong(key, "cannot be combined with figure".into());
            }
        }
        return;
    }
    match (text("files"), text("file")) {
        (Some((_, files)), None) => {
            if let Err(message) = Numbered::parse(files) {
                wrong("files", message);
            }
            if sequence.get("mesh").is_some() {
                wrong("mesh", "cannot be combined with files, which have their own faces".into());
            }
        }
        (None, Some((_, file))) => {
            for key in ["first", "last"] {
                if sequence.get(key).is_some() {
                    wrong(key, "is for numbered files, cannot be combined with file".into());
                }
            }
            let path = std::path::Path::new(file);
            match CacheFormat::of_path(path) {
                None if Format::of_path(path).is_some_and(Format::is_animated) => {
                    if sequence.get("mesh").is_some() {
                        let message = "cannot be combined with a glTF or USD file, which has its own faces";
                        wrong("mesh", message.into());
                    }
                }
                None => wrong(
                    "file",
                    format!(
                        "\"{file}\" must end in .pc2, .mdd, .gltf, .glb, .usd, .usda, .usdc or .usdz; convert other formats, such as Alembic, to one of these, or to numbered OBJ or PLY files for the key files"
                    ),
                ),
                Some(format) => {
                    if sequence.get("mesh").is_none() {
                        wrong(
                            "mesh",
                            format!(
                                "is missing; {} contains only vertices, so the mesh must be named",
                                format.name()
                            ),
                        );
                    }
                    if format == CacheFormat::Mdd && sequence.get("rate").is_some() {
                        wrong("rate", "cannot be combined with an mdd file, which has its own times".into());
                    }
                }
            }
        }
        (Some(_), Some(_)) => wrong("file", "cannot be combined with files".into()),
        // The schema refuses a value that is not a string.
        (None, None) if sequence.get("files").is_none() && sequence.get("file").is_none() => {
            wrong("files", "is missing; set files (numbered), file (all frames) or figure".into());
        }
        (None, None) => {}
    }
    check_order(sequence, "first", "last", path, report);
}

/// A tube that reaches the axis intersects itself.
fn check_torus(torus: &Node, path: &Path<'_>, report: &mut Report<'_>) {
    let number = |key| torus.get(key).and_then(|node| Some((node, node.number()?)));
    if let (Some((_, major)), Some((node, minor))) = (number("major"), number("minor"))
        && minor >= major
    {
        let message = format!("is {}, must be less than major, which is {}", show(minor), show(major));
        report.add(node.origin, &Path::Key(path, "minor"), message);
    }
}

fn length([x, y, z]: [f64; 3]) -> f64 {
    x.hypot(y).hypot(z)
}
