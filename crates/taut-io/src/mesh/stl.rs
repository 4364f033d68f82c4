//! Stereolithography files, text and binary.
//!
//! STL repeats each vertex in each triangle; equal positions are merged. Normals and colours are dropped:
//! normals follow from the triangles, and are often wrong.

use glam::Vec3;
use taut::mesh::TriangleMesh;

use super::{
    fault::{Fault, fault},
    text,
    weld::Weld,
};

const HEADER: usize = 84;
const RECORD: usize = 50;

/// Reads the bytes of an STL file.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    // The length decides: many binary files also start with "solid".
    let claimed = bytes.get(80..HEADER).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let wanted = claimed.map(|count| HEADER as u64 + RECORD as u64 * u64::from(count));
    if wanted == Some(bytes.len() as u64) {
        return Ok(parse_binary(bytes));
    }
    let start = text::without_mark(bytes).trim_ascii_start();
    if start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return parse_text(bytes);
    }
    Err(match (claimed, wanted) {
        (Some(count), Some(wanted)) => fault(format!(
            "is neither text (which starts with \"solid\") nor complete: its header declares {count} triangles, which take \
             {wanted} bytes, and it has {}",
            bytes.len()
        )),
        _ => fault(format!("is not an STL file: {} bytes, and does not start with \"solid\"", bytes.len())),
    })
}

fn parse_binary(bytes: &[u8]) -> TriangleMesh {
    let (mut mesh, mut weld) = (TriangleMesh::default(), Weld::default());
    for record in bytes[HEADER..].chunks_exact(RECORD) {
        let number = |i: usize| {
            // A normal comes first, then three vertices of three numbers.
            let at = 12 + 4 * i;
            f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let corner = |i: usize| Vec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2));
        mesh.triangles.push([0, 1, 2].map(|i| weld.vertex(corner(i), &mut mesh.positions)));
    }
    mesh
}

/// State of the parser in the nesting of solid, facet and loop.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Outside,
    Solid,
    Facet,
    Loop,
    AfterLoop,
}

fn parse_text(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let (mut mesh, mut weld) = (TriangleMesh::default(), Weld::default());
    let mut place = Place::Outside;
    let (mut group, mut group_start) = (String::new(), 0);
    let mut corners: Vec<u32> = Vec::with_capacity(3);
    let mut last = 1;
    for (number, line) in text::lines(text::without_mark(bytes)) {
        let mut words = text::words(line);
        let Some(keyword) = words.next() else { continue };
        last = number;
        let keyword = keyword.to_ascii_lowercase();
        place = match (place, keyword.as_slice()) {
            (Place::Outside, b"solid") => {
                group = text::name(&line.trim_ascii_start()[keyword.len()..]);
                group_start = mesh.triangles.len();
                Place::Solid
            }
            (Place::Solid, b"facet") => Place::Facet,
            (Place::Facet, b"outer") => Place::Loop,
            (Place::Loop, b"vertex") => {
                let position = vertex(words).map_err(|f| f.at_line(number))?;
                corners.push(weld.vertex(position, &mut mesh.positions));
                Place::Loop
            }
            (Place::Loop, b"endloop") => {
                let &[a, b, c] = corners.as_slice() else {
                    let message = format!("a facet of {} vertices: must have 3", corners.len());
                    return Err(fault(message).at_line(number));
                };
                mesh.triangles.push([a, b, c]);
                corners.clear();
                Place::AfterLoop
            }
            (Place::AfterLoop, b"endfacet") => Place::Solid,
            (Place::Solid, b"endsolid") => {
                if !group.is_empty() && mesh.triangles.len() > group_start {
                    let members = mesh.triangles[group_start..].iter().flatten().copied();
                    mesh.groups.entry(std::mem::take(&mut group)).or_default().extend(members);
                }
                Place::Outside
            }
            (place, word) => {
                let message = format!("{}: expected {}", text::shown(word), expected(place));
                return Err(fault(message).at_line(number));
            }
        };
    }
    if place != Place::Outside {
        return Err(fault(format!("the file ends here: expected {}", expected(place))).at_line(last));
    }
    Ok(mesh)
}

/// What may come next.
fn expected(place: Place) -> &'static str {
    match place {
        Place::Outside => "\"solid\"",
        Place::Solid => "\"facet\" or \"endsolid\"",
        Place::Facet => "\"outer loop\"",
        Place::Loop => "\"vertex\" or \"endloop\"",
        Place::AfterLoop => "\"endfacet\"",
    }
}

fn vertex<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Vec3, Fault> {
    let mut numbers = [0.0; 3];
    for slot in &mut numbers {
        let word = words.next().ok_or_else(|| fault("a vertex must have 3 coordinates"))?;
        *slot = text::finite(word)?;
    }
    match words.next() {
        None => Ok(numbers.into()),
        Some(word) => Err(fault(format!("{} after a vertex's 3 coordinates", text::shown(word)))),
    }
}
