//! Gmsh, versions 2 and 4.1, binary: what follows the format's line.

use super::{Found, Numbers, cursor::Cursor};
use crate::mesh::{
    fault::{Fault, fault},
    text,
};

/// Nodes of each kind of element, from kind 1 on.
const NODES: [u64; 31] = [
    2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5, 6, 20, 35,
    56,
];
/// Kinds of tetrahedra: with 4 nodes, and with 10, the corners first.
const TETRAHEDRA: [u64; 2] = [4, 11];

/// Reads what follows the line of the format; with `entities`, nodes and elements come in their blocks, as in
/// version 4.
pub(super) fn parse(cursor: &mut Cursor, entities: bool) -> Result<Found, Fault> {
    let one: [u8; 4] = cursor.take(4, "the byte order")?.try_into().unwrap_or_default();
    let big_endian = match (u32::from_le_bytes(one), u32::from_be_bytes(one)) {
        (1, _) => false,
        (_, 1) => true,
        _ => return Err(cursor.fault("the byte order must be given by the number 1 as 4 bytes")),
    };
    let mut source = Source { cursor, big_endian };
    let (mut found, mut numbers) = (Found::default(), Numbers::default());
    while let Some(word) = source.cursor.word() {
        match word {
            b"$Nodes" => source.nodes(entities, &mut found, &mut numbers)?,
            b"$Elements" => source.elements(entities, &mut found, &numbers)?,
            // Entities, names and data are passed over; their bytes may be anything.
            [b'$', name @ ..] if !name.starts_with(b"End") => {
                let end = [b"$End", name].concat();
                if !source.cursor.skip_past(&end) {
                    let message = format!("the file ends within {}", text::shown(word));
                    return Err(source.cursor.fault(message));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

struct Source<'a, 'b> {
    cursor: &'a mut Cursor<'b>,
    big_endian: bool,
}

impl Source<'_, '_> {
    /// A number of so many bytes, the least significant first.
    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Fault> {
        let mut bytes: [u8; N] = self.cursor.take(N as u64, what)?.try_into().unwrap_or([0; N]);
        if self.big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn int(&mut self, what: &str) -> Result<u64, Fault> {
        Ok(u32::from_le_bytes(self.bytes(what)?).into())
    }

    fn size(&mut self, what: &str) -> Result<u64, Fault> {
        Ok(u64::from_le_bytes(self.bytes(what)?))
    }

    /// A node's or element's number: 8 bytes in version 4, 4 before.
    fn number(&mut self, entities: bool, what: &str) -> Result<u64, Fault> {
        if entities { self.size(what) } else { self.int(what) }
    }

    fn position(&mut self) -> Result<glam::Vec3, Fault> {
        let mut x = [0.0; 3];
        for slot in &mut x {
            *slot = f64::from_le_bytes(self.bytes("a coordinate")?) as f32;
        }
        let x = glam::Vec3::from(x);
        if x.is_finite() { Ok(x) } else { Err(fault(format!("{x}: coordinates must be finite"))) }
    }

    fn nodes(&mut self, entities: bool, found: &mut Found, numbers: &mut Numbers) -> Result<(), Fault> {
        if !entities {
            let count = self.cursor.count("the number of nodes")?;
            self.cursor.rest_of_line();
            for _ in 0..count {
                numbers.add(self.int("the number of a node")?)?;
                found.positions.push(self.position()?);
            }
            return Ok(());
        }
        self.cursor.rest_of_line();
        let blocks = self.size("the number of blocks of nodes")?;
        self.cursor.take(24, "the numbers of nodes")?;
        for _ in 0..blocks {
            let dimension = self.int("the dimension of a block of nodes")?;
            self.int("the number of its entity")?;
            let parameters = if self.int("whether it is parametric")? != 0 { dimension.min(3) } else { 0 };
            let count = self.size("its number of nodes")?;
            for _ in 0..count {
                numbers.add(self.size("the number of a node")?)?;
            }
            for _ in 0..count {
                found.positions.push(self.position()?);
                self.cursor.take(8 * parameters, "the parameters of a node")?;
            }
        }
        Ok(())
    }

    fn elements(&mut self, entities: bool, found: &mut Found, numbers: &Numbers) -> Result<(), Fault> {
        if entities {
            self.cursor.rest_of_line();
            let blocks = self.size("the number of blocks of elements")?;
            self.cursor.take(24, "the numbers of elements")?;
            for _ in 0..blocks {
                self.int("the dimension of a block of elements")?;
                self.int("the number of its entity")?;
                let kind = self.int("the kind of its elements")?;
                let count = self.size("its number of elements")?;
                self.block(true, kind, count, 0, found, numbers)?;
            }
            return Ok(());
        }
        let mut left = self.cursor.count("the number of elements")?;
        self.cursor.rest_of_line();
        while left > 0 {
            let kind = self.int("the kind of elements")?;
            let count = self.int("how many elements follow")?;
            let tags = self.int("their number of tags")?;
            if count == 0 || count > left {
                return Err(fault(format!("a block of {count} elements: {left} remain of those declared")));
            }
            self.block(false, kind, count, tags, found, numbers)?;
            left -= count;
        }
        Ok(())
    }

    /// Elements of one kind.
    fn block(
        &mut self,
        entities: bool,
        kind: u64,
        count: u64,
        tags: u64,
        found: &mut Found,
        numbers: &Numbers,
    ) -> Result<(), Fault> {
        let place = usize::try_from(kind).ok().and_then(|kind| kind.checked_sub(1));
        let Some(&nodes) = place.and_then(|place| NODES.get(place)) else {
            return Err(fault(format!("elements of kind {kind}: kinds 1 to {} are supported", NODES.len())));
        };
        for _ in 0..count {
            let element = self.number(entities, "the number of an element")?;
            self.cursor.take(4 * tags, "the tags of an element")?;
            if !TETRAHEDRA.contains(&kind) {
                self.cursor.take(nodes * if entities { 8 } else { 4 }, "the nodes of an element")?;
                continue;
            }
            let mut corners = [0; 4];
            for k in 0..nodes as usize {
                let node = self.number(entities, "a node of a tetrahedron")?;
                if let Some(corner) = corners.get_mut(k) {
                    *corner = numbers.place(node, element)?;
                }
            }
            found.tetrahedra.push(corners);
            found.quadratic += usize::from(nodes == 10);
        }
        Ok(())
    }
}
