//! `select`: selections of vertices.

use std::{fmt::Write, path::PathBuf};

use glam::Vec3;
use taut::mesh::TriangleMesh;

use super::{map, nearest::hint, tree::show};

/// The forms of `select`, for messages.
const FORMS: &str =
    "corner:NAME, index:3,17,40-60, box:x0,y0,z0,x1,y1,z1, boundary, group:NAME, map:FILE or all";

/// A parsed selection, not yet resolved in a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    /// A corner of a grid.
    Corner(String),
    /// Ranges of indices, ends included.
    Indices(Vec<(u32, u32)>),
    /// Vertices with rest positions inside a box, faces included.
    Box([f64; 3], [f64; 3]),
    /// Vertices on the boundary.
    Boundary,
    /// A named set of the mesh.
    Group(String),
    /// A file with one number per vertex.
    Map(String),
    /// Every vertex.
    All,
}

impl Selection {
    /// Parses a `select`.
    ///
    /// # Errors
    /// The problem, and what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, rest) =
            text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest.trim())));
        let kind = kind.trim();
        let named = |what: &str| match rest {
            Some(rest) if !rest.is_empty() => Ok(rest.to_owned()),
            _ => Err(format!("{kind} requires {what} after a colon; allowed: {FORMS}")),
        };
        match kind {
            "corner" => named("a corner's name").map(Selection::Corner),
            "group" => named("a group's name").map(Selection::Group),
            "map" => named("a file").map(Selection::Map),
            "index" => parse_indices(&named("vertex indices")?).map(Selection::Indices),
            "box" => parse_box(&named("six numbers")?),
            "boundary" | "all" if rest.is_some() => Err(format!("{kind} takes nothing after it")),
            "boundary" => Ok(Selection::Boundary),
            "all" => Ok(Selection::All),
            _ => {
                let known = ["corner", "index", "box", "boundary", "group", "map", "all"];
                let shown: String = kind.chars().take(40).collect();
                Err(format!("{shown:?} is not a valid selection{} allowed: {FORMS}", hint(kind, known)))
            }
        }
    }

    /// The same, each once: indices in the order as written, a group in its own order.
    ///
    /// # Errors
    /// Why there are none, and what the mesh has.
    pub fn resolve_in_order(
        &self,
        mesh: &TriangleMesh,
        file: impl Fn(&str) -> PathBuf,
    ) -> Result<Vec<u32>, String> {
        let sorted = self.resolve(mesh, file)?;
        Ok(match self {
            Selection::Indices(ranges) => {
                let mut seen = std::collections::BTreeSet::new();
                ranges.iter().flat_map(|(from, to)| *from..=*to).filter(|v| seen.insert(*v)).collect()
            }
            _ => sorted,
        })
    }

    /// The selected vertices of `mesh`, sorted; at least one. `file` resolves the path of a map.
    ///
    /// # Errors
    /// Why there are none, and what the mesh has.
    pub fn resolve(&self, mesh: &TriangleMesh, file: impl Fn(&str) -> PathBuf) -> Result<Vec<u32>, String> {
        let count = mesh.positions.len();
        let vertices = match self {
            Selection::All => (0..count as u32).collect(),
            Selection::Boundary => boundary(mesh),
            Selection::Corner(name) => group(mesh, name, "corner", &format!("corner:{name}"))?,
            Selection::Group(name) => group(mesh, name, "group", name)?,
            Selection::Indices(ranges) => indices(ranges, count)?,
            Selection::Box(low, high) => inside(mesh, *low, *high)?,
            Selection::Map(name) => {
                let numbers = map::read(&file(name))?;
                if numbers.len() != count {
                    let (n, s) = (numbers.len(), if numbers.len() == 1 { "" } else { "s" });
                    return Err(format!(
                        "the map {name} has {n} number{s}, the mesh has {count} vertices; one number per vertex is required"
                    ));
                }
                let above = |(index, number): (usize, &f64)| (*number > 0.5).then_some(index as u32);
                numbers.iter().enumerate().filter_map(above).collect()
            }
        };
        if vertices.is_empty() {
            return Err(match self {
                Selection::Map(name) => {
                    format!("matches no vertex: no number of the map {name} is above 0.5")
                }
                Selection::Boundary => "matches no vertex: the mesh is closed and has no boundary".into(),
                _ => "matches no vertex".into(),
            });
        }
        Ok(vertices)
    }
}

fn parse_indices(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let mut ranges = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse(), to.trim().parse()) {
            (Ok(from), Ok(to)) if from <= to => ranges.push((from, to)),
            (Ok(from), Ok(to)) => {
                return Err(format!("the range {from}-{to} is reversed; write {to}-{from}"));
            }
            _ => {
                let shown: String = part.trim().chars().take(40).collect();
                return Err(format!("{shown:?} is not a vertex index or range; allowed: index:3,17,40-60"));
            }
        }
    }
    Ok(ranges)
}

fn parse_box(text: &str) -> Result<Selection, String> {
    let numbers: Vec<f64> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|number: &f64| number.is_finite()))
        .collect::<Option<_>>()
        .ok_or("a box requires six finite numbers: box:x0,y0,z0,x1,y1,z1")?;
    let [x0, y0, z0, x1, y1, z1] = numbers[..] else {
        return Err(format!("the box has {} numbers, must have six: box:x0,y0,z0,x1,y1,z1", numbers.len()));
    };
    if x0 > x1 || y0 > y1 || z0 > z1 {
        return Err(
            "the box's first corner must not be above its second on any axis: box:x0,y0,z0,x1,y1,z1".into()
        );
    }
    Ok(Selection::Box([x0, y0, z0], [x1, y1, z1]))
}

fn indices(ranges: &[(u32, u32)], count: usize) -> Result<Vec<u32>, String> {
    let mut chosen = vec![false; count];
    for (from, to) in ranges {
        match chosen.get_mut(*from as usize..=*to as usize) {
            Some(range) => range.fill(true),
            None => {
                let last = count.saturating_sub(1);
                return Err(format!("vertex {to} does not exist: the mesh has {count}, from 0 to {last}"));
            }
        }
    }
    Ok((0..count as u32).filter(|index| chosen[*index as usize]).collect())
}

fn inside(mesh: &TriangleMesh, low: [f64; 3], high: [f64; 3]) -> Result<Vec<u32>, String> {
    // Rounded outward by one f32 ulp, so that a vertex at 0.1 is inside a box that ends at 0.1.
    let slack = |number: f64| number.abs() * f64::from(f32::EPSILON);
    let inside = |x: &Vec3| {
        let x = x.as_dvec3().to_array();
        (0..3).all(|i| x[i] >= low[i] - slack(low[i]) && x[i] <= high[i] + slack(high[i]))
    };
    let chosen: Vec<u32> =
        (0..).zip(&mesh.positions).filter(|(_, x)| inside(x)).map(|(index, _)| index).collect();
    if chosen.is_empty() {
        let (low, high) = bounds(&mesh.positions);
        let text = |v: Vec3| v.to_array().map(|number| show(super::format::decimal(number))).join(", ");
        return Err(format!("matches no vertex: at rest the mesh spans ({}) to ({})", text(low), text(high)));
    }
    Ok(chosen)
}

/// Lowest and highest coordinates.
pub(crate) fn bounds(positions: &[Vec3]) -> (Vec3, Vec3) {
    positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
}

/// Vertices of edges that belong to one triangle only.
fn boundary(mesh: &TriangleMesh) -> Vec<u32> {
    let edges = mesh.triangles.iter().flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)]);
    let mut edges: Vec<[u32; 2]> = edges.map(|(a, b)| [*a.min(b), *a.max(b)]).collect();
    edges.sort_unstable();
    let alone = edges.chunk_by(|a, b| a == b).filter(|same| same.len() == 1);
    let mut vertices: Vec<u32> = alone.flat_map(|same| same[0]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

/// The group `key` of the mesh, called `name` in the scene.
fn group(mesh: &TriangleMesh, name: &str, kind: &str, key: &str) -> Result<Vec<u32>, String> {
    if let Some(vertices) = mesh.groups.get(key) {
        return Ok(vertices.clone());
    }
    let corners: Vec<&str> = mesh.groups.keys().filter_map(|key| key.strip_prefix("corner:")).collect();
    let groups: Vec<&str> =
        mesh.groups.keys().filter(|key| !key.starts_with("corner:")).map(String::as_str).collect();
    let same = if kind == "corner" { &corners } else { &groups };
    let shown: String = name.chars().take(64).collect();
    let mut message = format!("the mesh has no {kind} {shown:?}{}", hint(name, same.iter().copied()));
    let mut has: Vec<String> = corners.iter().map(|corner| format!("corner:{corner}")).collect();
    has.extend(groups.iter().map(|group| format!("group:{group}")));
    if has.is_empty() {
        let others = "index:…, box:…, boundary, map:FILE or all";
        let _ = write!(message, " it has neither corners nor groups: use {others}");
    } else {
        let more = has.len().saturating_sub(20);
        has.truncate(20);
        let _ = write!(message, " it has {}", has.join(", "));
        if more > 0 {
            let _ = write!(message, " and {more} more");
        }
    }
    Err(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> TriangleMesh {
        TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::X + Vec3::Z, Vec3::new(0.5, 0.0, 0.5)],
            triangles: vec![[0, 4, 1], [1, 4, 3], [3, 4, 2], [2, 4, 0]],
            uvs: None,
            groups: [("corner:top-left".to_owned(), vec![0]), ("waist".to_owned(), vec![1, 3])].into(),
        }
    }

    fn select(text: &str) -> Result<Vec<u32>, String> {
        Selection::parse(text)?.resolve(&square(), |file| PathBuf::from(file))
    }

    #[test]
    fn every_form_selects() {
        assert_eq!(select("all").unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(select("boundary").unwrap(), [0, 1, 2, 3]);
        assert_eq!(select("corner:top-left").unwrap(), [0]);
        assert_eq!(select("group:waist").unwrap(), [1, 3]);
        assert_eq!(select("index: 4, 0-1 ,1").unwrap(), [0, 1, 4]);
        assert_eq!(select("box:0.4,-1,0,2,1,0.5").unwrap(), [1, 4]);
    }

    #[test]
    fn what_selects_nothing_says_what_there_is() {
        for (text, part) in [
            ("corner:top-lfet", "did you mean \"top-left\"?"),
            ("group:wais", "did you mean \"waist\"?"),
            ("group:top", "it has corner:top-left, group:waist"),
            ("index:5", "vertex 5 does not exist: the mesh has 5, from 0 to 4"),
            ("index:3-1", "is reversed"),
            ("index:a", "not a vertex index"),
            ("box:2,2,2,3,3,3", "at rest the mesh spans (0, 0, 0) to (1, 0, 1)"),
            ("box:1,2,3", "has 3 numbers"),
            ("box:1,0,0,0,1,1", "first corner"),
            ("box:nan,0,0,0,1,1", "six finite numbers"),
            ("corners:top-left", "did you mean \"corner\"?"),
            ("map:", "requires a file"),
            ("all:3", "takes nothing"),
            ("", "not a valid selection"),
        ] {
            let message = select(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
