//! TetGen's .node and .ele.

use super::{Found, Numbers, cursor::Cursor};
use crate::mesh::fault::Fault;

/// Reads both files; with a fault it is said whether it is in that of the tetrahedra.
pub(super) fn parse(points: &[u8], cells: &[u8]) -> Result<Found, (Fault, bool)> {
    let (mut found, mut numbers) = (Found::default(), Numbers::default());
    nodes(points, &mut found, &mut numbers).map_err(|fault| (fault, false))?;
    elements(cells, &mut found, &numbers).map_err(|fault| (fault, true))?;
    Ok(found)
}

fn nodes(bytes: &[u8], found: &mut Found, numbers: &mut Numbers) -> Result<(), Fault> {
    let mut cursor = Cursor::new(bytes, Some(b'#'));
    let count = cursor.count("the number of vertices")?;
    let dimension = cursor.whole("the dimension")?;
    if dimension != 3 {
        return Err(cursor.fault(format!("dimension {dimension}: must be 3")));
    }
    // Attributes and a marker may follow.
    cursor.rest_of_line();
    for _ in 0..count {
        let number = cursor.whole("the number of a vertex")?;
        numbers.add(number).map_err(|f| f.at_line(cursor.line))?;
        found.positions.push(cursor.position()?);
        cursor.rest_of_line();
    }
    Ok(())
}

fn elements(bytes: &[u8], found: &mut Found, numbers: &Numbers) -> Result<(), Fault> {
    let mut cursor = Cursor::new(bytes, Some(b'#'));
    let count = cursor.count("the number of tetrahedra")?;
    let nodes = cursor.whole("the number of nodes of each")?;
    if nodes != 4 && nodes != 10 {
        return Err(cursor.fault(format!("{nodes} nodes a tetrahedron: must be 4 or 10")));
    }
    cursor.rest_of_line();
    for _ in 0..count {
        let element = cursor.whole("the number of a tetrahedron")?;
        let mut corners = [0; 4];
        for corner in &mut corners {
            let number = cursor.whole("a corner of a tetrahedron")?;
            *corner = numbers.place(number, element).map_err(|f| f.at_line(cursor.line))?;
        }
        cursor.rest_of_line();
        found.tetrahedra.push(corners);
        found.quadratic += usize::from(nodes == 10);
    }
    Ok(())
}
