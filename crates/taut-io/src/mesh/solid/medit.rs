//! Medit's .mesh, as text.

use super::{Found, cursor::Cursor};
use crate::mesh::fault::{Fault, fault};

pub(super) fn parse(bytes: &[u8]) -> Result<Found, Fault> {
    let mut cursor = Cursor::new(bytes, Some(b'#'));
    let (mut found, mut started) = (Found::default(), false);
    while let Some(word) = cursor.word() {
        match word {
            b"MeshVersionFormatted" => {
                cursor.whole("the version")?;
                started = true;
            }
            b"Dimension" => {
                let dimension = cursor.whole("the dimension")?;
                if dimension != 3 {
                    return Err(cursor.fault(format!("dimension {dimension}: must be 3")));
                }
            }
            b"Vertices" => {
                for _ in 0..cursor.count("the number of vertices")? {
                    found.positions.push(cursor.position()?);
                    cursor.need("the reference of a vertex")?;
                }
            }
            b"Tetrahedra" | b"TetrahedraP2" => {
                let nodes = if word == b"Tetrahedra" { 4 } else { 10 };
                for t in 0..cursor.count("the number of tetrahedra")? {
                    let mut corners = [0; 4];
                    for k in 0..nodes {
                        let v = cursor.whole("a vertex of a tetrahedron")?;
                        let Some(place) = v.checked_sub(1) else {
                            let message = "uses vertex 0: they count from 1";
                            return Err(cursor.fault(message).at(format!("tetrahedron {}", t + 1)));
                        };
                        if let Some(corner) = corners.get_mut(k) {
                            *corner = place;
                        }
                    }
                    cursor.need("the reference of a tetrahedron")?;
                    found.tetrahedra.push(corners);
                    found.quadratic += usize::from(nodes == 10);
                }
            }
            b"End" => break,
            // Other parts of the mesh, and their numbers.
            _ => {}
        }
    }
    if !started {
        return Err(fault(
            "is not a Medit file: MeshVersionFormatted is missing (binary files, .meshb, are not supported: save it as text)",
        ));
    }
    Ok(found)
}
