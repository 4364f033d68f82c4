//! Strands in PLY files: `element edge` instead of faces. The vertices of a strand are consecutive in the
//! file.

use glam::Vec3;

use super::{
    super::fault::{Fault, fault},
    Vertices,
    header::{Header, Kind},
    read_vertices, skip,
    values::Values,
};

/// Whether the file has edges and no faces.
pub(in super::super) fn is_strands(bytes: &[u8]) -> bool {
    let has = |header: &Header, name: &str| header.elements.iter().any(|element| element.name == name);
    Header::parse(bytes).is_ok_and(|header| has(&header, "edge") && !has(&header, "face"))
}

/// Vertices that are joined by edges, by the numbers of their vertices as they are.
struct Edges {
    vertices: Vertices,
    edges: Vec<[f64; 2]>,
}

/// Reads positions \[m\] and the number of vertices of each strand from the bytes of a PLY file whose edges
/// join every vertex of a strand to the next.
pub(in super::super) fn parse(bytes: &[u8]) -> Result<(Vec<Vec3>, Vec<u32>), Fault> {
    let Edges { vertices: Vertices { positions, .. }, edges } = read(bytes)?;
    let counts = strands(&edges, positions.len())?;
    Ok((positions, counts))
}

/// Positions \[m\], radii \[m\] (none if the file has none), and segments.
type Segments = (Vec<Vec3>, Vec<f32>, Vec<[u32; 2]>);

/// Reads vertices and the edges between them, in any order.
pub(in super::super) fn parse_edges(bytes: &[u8]) -> Result<Segments, Fault> {
    let Edges { vertices: Vertices { positions, radii, .. }, edges } = read(bytes)?;
    let mut segments = Vec::with_capacity(edges.len());
    for (edge, ends) in edges.iter().enumerate() {
        let count = positions.len();
        if let Some(end) = ends.iter().find(|end| !((0.0..count as f64).contains(*end) && end.fract() == 0.0))
        {
            let message = format!("vertex {end}: must be an integer, the file has {count} vertices from 0");
            return Err(fault(message).at(format!("edge {edge} (from 0)")));
        }
        segments.push(ends.map(|end| end as u32));
    }
    Ok((positions, radii, segments))
}

fn read(bytes: &[u8]) -> Result<Edges, Fault> {
    let header = Header::parse(bytes)?;
    let mut values = Values::new(&header, bytes);
    let (mut vertices, mut edges) = (None, None);
    for element in &header.elements {
        values.require(element)?;
        match element.name.as_str() {
            "vertex" if vertices.is_none() => vertices = Some(read_vertices(element, &mut values)?),
            "edge" if edges.is_none() => {
                let find = |name: &str| element.properties.iter().position(|property| property.name == name);
                let (Some(first), Some(second)) = (find("vertex1"), find("vertex2")) else {
                    let message = "edges must have properties \"vertex1\" and \"vertex2\"";
                    return Err(fault(message).at_line(element.line));
                };
                let mut found = Vec::new();
                let mut row = vec![0.0; element.properties.len()];
                for edge in 0..element.count {
                    for (slot, property) in row.iter_mut().zip(&element.properties) {
                        let at = |f: Fault| f.at(format!("edge {edge} (from 0)"));
                        match property.kind {
                            Kind::Scalar(number) => *slot = values.scalar(number).map_err(at)?,
                            Kind::List { .. } => values.skip(property).map_err(at)?,
                        }
                    }
                    found.push([row[first], row[second]]);
                }
                edges = Some(found);
            }
            _ => skip(element, &mut values)?,
        }
    }
    let vertices = vertices.ok_or_else(|| fault("has no element \"vertex\""))?;
    let edges = edges.ok_or_else(|| fault("has neither faces nor edges"))?;
    Ok(Edges { vertices, edges })
}

/// The number of vertices of each strand.
fn strands(edges: &[[f64; 2]], vertices: usize) -> Result<Vec<u32>, Fault> {
    let mut counts: Vec<u32> = Vec::new();
    // The last vertex that belongs to a strand; strands follow each other.
    let mut last = -1.0;
    for (index, &[from, to]) in edges.iter().enumerate() {
        let starts = from == last + 1.0;
        let continues = from == last && index > 0;
        if !(starts || continues) || to != from + 1.0 || to >= vertices as f64 {
            let message = format!(
                "joins vertices {from} and {to} of {vertices}: the vertices of a strand must follow each other, and \
                 strands too"
            );
            return Err(fault(message).at(format!("edge {index} (from 0)")));
        }
        match counts.last_mut() {
            Some(count) if continues => *count += 1,
            _ => counts.push(2),
        }
        last = to;
    }
    let joined: usize = counts.iter().map(|&count| count as usize).sum();
    if joined != vertices {
        return Err(fault(format!("{} vertices belong to no strand", vertices.saturating_sub(joined))));
    }
    Ok(counts)
}

/// The bytes of a binary PLY file of strands: `positions` \[m\] one strand after the other, `counts` vertices
/// each.
pub fn write_strands(positions: &[Vec3], counts: &[u32]) -> Vec<u8> {
    let edges: usize = counts.iter().map(|&count| count.saturating_sub(1) as usize).sum();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment taut\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nelement edge {edges}\nproperty int vertex1\nproperty int vertex2\nend_header\n",
        positions.len(),
    );
    let mut bytes = header.into_bytes();
    for coordinate in positions.iter().flat_map(|position| position.to_array()) {
        bytes.extend_from_slice(&coordinate.to_le_bytes());
    }
    let mut first = 0;
    for &count in counts {
        for vertex in first..first + count.saturating_sub(1) {
            bytes.extend_from_slice(&vertex.to_le_bytes());
            bytes.extend_from_slice(&(vertex + 1).to_le_bytes());
        }
        first += count;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_read_back() {
        let positions: Vec<Vec3> = (0..9).map(|i| Vec3::new(i as f32, 0.5, -1.0)).collect();
        let bytes = write_strands(&positions, &[4, 2, 3]);
        assert_eq!(parse(&bytes).ok().unwrap(), (positions, vec![4, 2, 3]));

        let text = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
                    element edge 3\nproperty int vertex1\nproperty int vertex2\nend_header\n\
                    0 0 0\n1 0 0\n2 0 0\n3 0 0\n4 0 0\n0 1\n1 2\n3 4\n";
        let along = (0..5).map(|i| i as f32 * Vec3::X).collect();
        assert_eq!(parse(text.as_bytes()).ok().unwrap(), (along, vec![3, 2]));
    }

    #[test]
    fn edges_that_make_no_strands_are_refused() {
        for edges in [
            vec![[1.0, 2.0]],
            vec![[0.0, 2.0]],
            vec![[0.0, 1.0]],
            vec![[0.0, 1.0], [1.0, 3.0]],
            vec![[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]],
            vec![[f64::NAN, 1.0]],
            vec![[-1.0, 0.0], [0.0, 1.0], [1.0, 2.0]],
        ] {
            assert!(strands(&edges, 3).is_err(), "{edges:?}");
        }
        assert_eq!(strands(&[[0.0, 1.0], [1.0, 2.0]], 3).ok().unwrap(), [3]);
    }
}
