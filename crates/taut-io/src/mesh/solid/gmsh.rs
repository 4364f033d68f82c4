//! Gmsh, versions 2 and 4.1: the format's line, and all that follows if it is text.

use super::{
    Found, Numbers,
    cursor::{Cursor, whole},
    gmsh_binary,
};
use crate::mesh::{
    fault::{Fault, fault},
    text,
};

/// Gmsh's number of a tetrahedron with 4 nodes.
const FOUR: u64 = 4;
/// And with 10, the corners first.
const TEN: u64 = 11;

pub(super) fn parse(bytes: &[u8]) -> Result<Found, Fault> {
    let mut cursor = Cursor::new(bytes, None);
    let (mut found, mut numbers) = (Found::default(), Numbers::default());
    let mut entities = None;
    while let Some(word) = cursor.word() {
        match (word, entities) {
            (b"$MeshFormat", _) => {
                let (in_blocks, binary) = format(&mut cursor)?;
                if binary {
                    return gmsh_binary::parse(&mut cursor, in_blocks);
                }
                entities = Some(in_blocks);
            }
            (b"$Nodes" | b"$Elements", None) => {
                return Err(cursor.fault("$MeshFormat must come first"));
            }
            (b"$Nodes", Some(entities)) => nodes(&mut cursor, entities, &mut found, &mut numbers)?,
            (b"$Elements", Some(entities)) => elements(&mut cursor, entities, &mut found, &numbers)?,
            // Names, partitions and data are passed over.
            _ => {}
        }
    }
    if entities.is_none() {
        return Err(fault("is not a Gmsh file: $MeshFormat is missing"));
    }
    Ok(found)
}

/// Whether nodes and elements come in blocks of entities, as in version 4, and whether the file is binary.
fn format(cursor: &mut Cursor) -> Result<(bool, bool), Fault> {
    let version = cursor.need("the version")?;
    let entities = match version {
        b"2" | b"2.0" | b"2.1" | b"2.2" => false,
        b"4.1" => true,
        _ => {
            let message =
                format!("version {}: 2.2 and 4.1 are read; save it as one of these", text::shown(version));
            return Err(cursor.fault(message));
        }
    };
    let binary = match cursor.whole("the file type")? {
        0 => false,
        1 => true,
        other => return Err(cursor.fault(format!("file type {other}: must be 0 (text) or 1 (binary)"))),
    };
    let size = cursor.whole("the size of numbers")?;
    if binary && size != 8 {
        return Err(cursor.fault(format!("numbers of {size} bytes: must be 8")));
    }
    cursor.rest_of_line();
    Ok((entities, binary))
}

fn nodes(cursor: &mut Cursor, entities: bool, found: &mut Found, numbers: &mut Numbers) -> Result<(), Fault> {
    let blocks = cursor.count("the number of nodes")?;
    cursor.rest_of_line();
    if !entities {
        for _ in 0..blocks {
            let number = cursor.whole("the number of a node")?;
            numbers.add(number).map_err(|f| f.at_line(cursor.line))?;
            found.positions.push(cursor.position()?);
        }
        return Ok(());
    }
    for _ in 0..blocks {
        cursor.need("a block of nodes")?;
        cursor.need("the number of its entity")?;
        cursor.need("whether it is parametric")?;
        let count = cursor.count("its number of nodes")?;
        for _ in 0..count {
            let number = cursor.whole("the number of a node")?;
            numbers.add(number).map_err(|f| f.at_line(cursor.line))?;
        }
        for _ in 0..count {
            found.positions.push(cursor.position()?);
            // Parameters on the entity may follow.
            cursor.rest_of_line();
        }
    }
    Ok(())
}

fn elements(cursor: &mut Cursor, entities: bool, found: &mut Found, numbers: &Numbers) -> Result<(), Fault> {
    let blocks = cursor.count("the number of elements")?;
    cursor.rest_of_line();
    for _ in 0..blocks {
        if entities {
            cursor.need("a block of elements")?;
            cursor.need("the number of its entity")?;
            let kind = cursor.whole("the kind of its elements")?;
            let count = cursor.count("its number of elements")?;
            cursor.rest_of_line();
            for _ in 0..count {
                let element = cursor.whole("the number of an element")?;
                corners(cursor, kind, element, 0, found, numbers)?;
            }
        } else {
            let element = cursor.whole("the number of an element")?;
            let kind = cursor.whole("the kind of the element")?;
            let tags = cursor.count("its number of tags")?;
            corners(cursor, kind, element, tags, found, numbers)?;
        }
    }
    Ok(())
}

/// The rest of the line of an element.
fn corners(
    cursor: &mut Cursor,
    kind: u64,
    element: u64,
    tags: u64,
    found: &mut Found,
    numbers: &Numbers,
) -> Result<(), Fault> {
    let line = cursor.line;
    let rest = cursor.rest_of_line();
    if kind != FOUR && kind != TEN {
        return Ok(());
    }
    let mut words = text::words(rest).skip(usize::try_from(tags).unwrap_or(usize::MAX));
    let mut corners = [0; 4];
    for corner in &mut corners {
        let number = words.next().and_then(whole);
        let missing =
            || fault("a tetrahedron must have 4 corners").at(format!("element {element}")).at_line(line);
        *corner = numbers.place(number.ok_or_else(missing)?, element).map_err(|f| f.at_line(line))?;
    }
    found.tetrahedra.push(corners);
    found.quadratic += usize::from(kind == TEN);
    Ok(())
}
