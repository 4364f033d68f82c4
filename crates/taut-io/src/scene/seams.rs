//! `[[seam]]`: resolves names, selections and distances to pairs of vertices.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use glam::{DVec3, Vec3};
use taut::{Cloth, mesh::adjacency::Adjacency};

use super::{format::Seam, nearest::hint, select::Selection, tree::show};

/// A key and its problem.
pub(super) type Refusal = (&'static str, String);

/// Two candidates whose distances differ by less than this fraction of `within` count as equally near.
const AS_NEAR: f64 = 0.1;

/// The seam of a cloth's own pairs of vertices, which some generated meshes have.
pub(super) fn within_cloth(name: String, cloth: usize, pairs: &[[u32; 2]], speed: f32) -> taut::Seam {
    let pairs = pairs.iter().map(|pair| pair.map(|v| (cloth, v))).collect();
    taut::Seam { name, pairs, speed }
}

/// The engine's seam. `file` resolves the paths of maps.
///
/// # Errors
/// All its problems.
pub(super) fn build(
    seam: &Seam,
    cloths: &[Cloth],
    file: impl Fn(&str) -> PathBuf,
) -> Result<taut::Seam, Vec<Refusal>> {
    let (key, names) = match (&seam.cloths, &seam.cloth) {
        (Some(names), _) => ("cloths", names.each_ref()),
        (None, Some(name)) => ("cloth", [name, name]),
        (None, None) => return Err(vec![("cloths", "is missing; it must name two cloths".into())]),
    };
    let mut refusals = Vec::new();
    let mut sides = [0; 2];
    for (side, name) in sides.iter_mut().zip(names) {
        match cloths.iter().position(|cloth| cloth.name == *name) {
            Some(index) => *side = index,
            None => {
                let known: Vec<&str> = cloths.iter().map(|cloth| cloth.name.as_str()).collect();
                let shown: String = name.chars().take(64).collect();
                let near = hint(name, known.iter().copied());
                refusals
                    .push((key, format!("no cloth is named {shown:?}{near} known: {}", known.join(", "))));
            }
        }
    }
    refusals.dedup();
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let both = sides.map(|side| &cloths[side]);
    let pairs = if let Some(pairs) = &seam.pairs {
        check(pairs, both, sides[0] == sides[1]).map_err(|message| vec![("pairs", message)])?;
        pairs.clone()
    } else if let (Some(from), Some(to)) = (&seam.from, &seam.to) {
        let pairs = selected(from, to, both, file)?;
        check(&pairs, both, sides[0] == sides[1]).map_err(|message| vec![("to", message)])?;
        pairs
    } else {
        let within = seam.within.unwrap_or_default();
        let found = if sides[0] == sides[1] { near_itself(both[0], within) } else { near(both, within) };
        found.map_err(|message| vec![("within", message)])?
    };
    let name = seam.name.clone().unwrap_or_default();
    if sides[0] == sides[1] {
        return Ok(within_cloth(name, sides[0], &pairs, seam.speed as f32));
    }
    let pairs = pairs.into_iter().map(|[a, b]| [(sides[0], a), (sides[1], b)]).collect();
    Ok(taut::Seam { name, pairs, speed: seam.speed as f32 })
}

/// Vertices must exist and differ.
fn check(pairs: &[[u32; 2]], cloths: [&Cloth; 2], same: bool) -> Result<(), String> {
    for (number, pair) in pairs.iter().enumerate() {
        for (vertex, cloth) in pair.iter().zip(cloths) {
            let count = cloth.mesh.positions.len();
            if *vertex as usize >= count {
                let (name, last) = (&cloth.name, count.saturating_sub(1));
                return Err(format!(
                    "pair {number} names vertex {vertex} of cloth \"{name}\", which does not exist: it has {count}, from 0 to {last}"
                ));
            }
        }
        if same && pair[0] == pair[1] {
            return Err(format!("pair {number} sews vertex {} to itself, must be two vertices", pair[0]));
        }
        let joined = |t: &[u32; 3]| t.contains(&pair[0]) && t.contains(&pair[1]);
        if same && let Some(face) = cloths[0].mesh.triangles.iter().position(joined) {
            return Err(format!(
                "pair {number} sews vertices {} and {} of the same face {face}, which would have no area",
                pair[0], pair[1]
            ));
        }
    }
    Ok(())
}

/// The first vertex of one selection with the first of the other, and so on.
fn selected(
    from: &str,
    to: &str,
    cloths: [&Cloth; 2],
    file: impl Fn(&str) -> PathBuf,
) -> Result<Vec<[u32; 2]>, Vec<Refusal>> {
    let resolve = |text: &str, cloth: &Cloth| {
        Selection::parse(text).and_then(|select| select.resolve_in_order(&cloth.mesh, &file))
    };
    match (resolve(from, cloths[0]), resolve(to, cloths[1])) {
        (Ok(from), Ok(to)) if from.len() == to.len() => {
            Ok(from.into_iter().zip(to).map(|(a, b)| [a, b]).collect())
        }
        (Ok(from), Ok(to)) => {
            let message = format!(
                "selects {} vertices, must select the same number as `from`, {}",
                to.len(),
                from.len()
            );
            Err(vec![("to", message)])
        }
        (from, to) => {
            let wrong = [("from", from.err()), ("to", to.err())];
            Err(wrong.into_iter().filter_map(|(key, message)| Some((key, message?))).collect())
        }
    }
}

/// Boundary vertices of a cloth, by cells of a grid with this spacing \[m\].
type Cells = BTreeMap<[i64; 3], Vec<u32>>;

fn cells(cloth: &Cloth, border: &[u32], spacing: f64) -> Cells {
    let mut cells = Cells::new();
    for &v in border {
        cells.entry(cell(cloth.start[v as usize], spacing)).or_default().push(v);
    }
    cells
}

fn cell(x: Vec3, spacing: f64) -> [i64; 3] {
    x.as_dvec3().to_array().map(|c| (c / spacing).floor() as i64)
}

/// Vertices in `cells` of `cloth` within the distance `within` of `x`, with their distances.
fn around(cells: &Cells, cloth: &Cloth, x: Vec3, within: f64, spacing: f64) -> Vec<(f64, u32)> {
    let [i, j, k] = cell(x, spacing);
    let mut found = Vec::new();
    for cell in
        (-1..=1).flat_map(|a| (-1..=1).flat_map(move |b| (-1..=1).map(move |c| [i + a, j + b, k + c])))
    {
        for &v in cells.get(&cell).into_iter().flatten() {
            let apart: DVec3 = cloth.start[v as usize].as_dvec3() - x.as_dvec3();
            if apart.length() <= within {
                found.push((apart.length(), v));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found
}

/// Spacing of the lookup grid for the distance `within` \[m\].
fn spacing(within: f64) -> f64 {
    within.max(1e-4)
}

/// Boundary vertices of two cloths that are initially within a distance of each other: one to one, nearest
/// first.
fn near(cloths: [&Cloth; 2], within: f64) -> Result<Vec<[u32; 2]>, String> {
    let [first, second] = cloths.map(|cloth| Adjacency::new(&cloth.mesh.triangles).boundary);
    let spacing = spacing(within);
    let others = cells(cloths[1], &second, spacing);
    let mut found = Vec::new();
    for &v in &first {
        let near = around(&others, cloths[1], cloths[0].start[v as usize], within, spacing);
        if let [(nearest, a), (next, b), ..] = near[..]
            && next - nearest < AS_NEAR * within.max(1e-9)
        {
            return Err(format!(
                "is ambiguous: vertices {a} and {b} of cloth \"{}\" are equally near to vertex {v} of cloth \"{}\"; use pairs",
                cloths[1].name, cloths[0].name
            ));
        }
        found.extend(near.into_iter().map(|(distance, other)| (distance, v, other)));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut taken, mut others_taken) = (BTreeSet::new(), BTreeSet::new());
    let mut pairs = Vec::new();
    for (_, a, b) in found {
        if !taken.contains(&a) && !others_taken.contains(&b) {
            taken.insert(a);
            others_taken.insert(b);
            pairs.push([a, b]);
        }
    }
    pairs.sort_unstable();
    if pairs.is_empty() {
        return Err(format!(
            "no boundary vertex of cloth \"{}\" is initially within {} m of one of cloth \"{}\"",
            cloths[0].name,
            show(within),
            cloths[1].name
        ));
    }
    Ok(pairs)
}

/// Boundary vertices of a cloth that are initially within a distance of each other and not connected by an
/// edge.
fn near_itself(cloth: &Cloth, within: f64) -> Result<Vec<[u32; 2]>, String> {
    let adjacency = Adjacency::new(&cloth.mesh.triangles);
    let edges: BTreeSet<[u32; 2]> = adjacency.edges.iter().copied().collect();
    let spacing = spacing(within);
    let cells = cells(cloth, &adjacency.boundary, spacing);
    let mut pairs = Vec::new();
    for &v in &adjacency.boundary {
        for (_, other) in around(&cells, cloth, cloth.start[v as usize], within, spacing) {
            if v < other && !edges.contains(&[v, other]) {
                pairs.push([v, other]);
            }
        }
    }
    pairs.sort_unstable();
    if pairs.is_empty() {
        return Err(format!(
            "no two boundary vertices of cloth \"{}\" are initially within {} m of each other",
            cloth.name,
            show(within)
        ));
    }
    Ok(pairs)
}
