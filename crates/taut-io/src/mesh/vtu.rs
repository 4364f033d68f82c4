//! Tetrahedra from VTK unstructured grids (`.vtu`) whose arrays are raw bytes at the end of the file, as taut writes them.

use glam::{DVec3, Vec3};
use taut::mesh::tetrahedra::TetrahedronMesh;

use super::fault::{Fault, fault};

/// The kind of cell that a tetrahedron is.
const TETRAHEDRON: u8 = 10;

/// Reads the tetrahedra of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<TetrahedronMesh, Fault> {
    let file = File::open(bytes)?;
    let types = file.array("types", "UInt8")?;
    if let Some(cell) = types.iter().position(|&kind| kind != TETRAHEDRON) {
        let message = format!("is of kind {}, must be a tetrahedron ({TETRAHEDRON})", types[cell]);
        return Err(fault(message).at(format!("cell {cell}")));
    }
    let numbers = file.array("Points", "Float32")?.as_chunks::<4>().0;
    let numbers: Vec<f32> = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let positions: Vec<Vec3> = numbers.as_chunks::<3>().0.iter().map(|x| Vec3::from_array(*x)).collect();
    let corners = file.array("connectivity", "Int32")?.as_chunks::<4>().0;
    let corners: Vec<u32> = corners.iter().map(|b| u32::from_le_bytes(*b)).collect();
    let tetrahedra = corners.as_chunks::<4>().0.to_vec();
    if tetrahedra.len() != types.len() || tetrahedra.is_empty() || 4 * tetrahedra.len() != corners.len() {
        let (corners, cells) = (corners.len(), types.len());
        return Err(fault(format!(
            "has {corners} corners for {cells} tetrahedra: must have four for each, and at least one"
        )));
    }
    let mesh = TetrahedronMesh { positions, tetrahedra };
    check(&mesh)?;
    Ok(mesh)
}

/// Refuses what cannot be a solid at rest, naming the first vertex or tetrahedron.
fn check(mesh: &TetrahedronMesh) -> Result<(), Fault> {
    if let Some(v) = mesh.positions.iter().position(|x| !x.is_finite()) {
        return Err(fault("is not a finite position").at(format!("vertex {v}")));
    }
    let count = mesh.positions.len();
    for (t, corners) in mesh.tetrahedra.iter().enumerate() {
        let at = || format!("tetrahedron {t}");
        if let Some(v) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(fault(format!("has corner {v}: there are {count} vertices, from 0")).at(at()));
        }
        let [a, b, c, d]: [DVec3; 4] = corners.map(|v| mesh.positions[v as usize].as_dvec3());
        let longest = [b - a, c - a, d - a].iter().map(|e| e.length_squared()).fold(0.0, f64::max);
        // Written so that what is no number is refused.
        let is_sound = mesh.volume(t) > 1e-9 * longest * longest.sqrt();
        if !is_sound {
            return Err(fault("is flat or inside out: its volume must be above 0").at(at()));
        }
    }
    Ok(())
}

/// A file, taken apart.
struct File<'a> {
    head: &'a str,
    data: &'a [u8],
}

impl<'a> File<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let start = find(bytes, b"<AppendedData").ok_or_else(|| {
            fault("has no appended data: must be a VTK unstructured grid with raw appended arrays")
        })?;
        let head =
            std::str::from_utf8(&bytes[..start]).map_err(|_| fault("its head is not a text in UTF-8"))?;
        let rest = &bytes[start..];
        let mark = find(rest, b"_").ok_or_else(|| fault("its appended data has no beginning (_)"))?;
        let opening = String::from_utf8_lossy(&rest[..mark]);
        for (text, wanted) in [
            (&*opening, "encoding=\"raw\""),
            (head, "type=\"UnstructuredGrid\""),
            (head, "byte_order=\"LittleEndian\""),
            (head, "header_type=\"UInt64\""),
        ] {
            if !text.contains(wanted) {
                return Err(fault(format!("must say {wanted}")));
            }
        }
        if head.contains("compressor=") {
            return Err(fault("is compressed: must not be"));
        }
        Ok(Self { head, data: &rest[mark + 1..] })
    }

    /// The bytes of the array `name`, which must have numbers of this kind.
    fn array(&self, name: &str, kind: &str) -> Result<&'a [u8], Fault> {
        let named = format!("Name=\"{name}\"");
        let tags = self.head.split('<').filter(|tag| tag.starts_with("DataArray"));
        let tag = tags.into_iter().find(|tag| tag.contains(&named));
        let tag = tag.ok_or_else(|| fault(format!("has no array {name}")))?;
        let wrong = |what: String| fault(what).at(format!("array {name}"));
        if attribute(tag, "type") != Some(kind) {
            let found = attribute(tag, "type").unwrap_or("nothing");
            return Err(wrong(format!("is of {found}, must be of {kind}")));
        }
        let offset = attribute(tag, "offset").and_then(|offset| offset.parse::<usize>().ok());
        let rest = offset.and_then(|offset| self.data.get(offset..)).unwrap_or_default();
        let length = rest.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
        let length = length.and_then(|length| usize::try_from(length).ok());
        let bytes = length.and_then(|length| rest[8..].get(..length));
        bytes.ok_or_else(|| wrong("is not all there: the file is truncated or damaged".into()))
    }
}

/// The value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

/// Where `part` begins.
fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tetrahedra_file;

    fn bar() -> TetrahedronMesh {
        taut::mesh::generate::bar(Vec3::new(0.3, 0.1, 0.1), [3, 1, 1]).unwrap()
    }

    fn message(bytes: &[u8]) -> String {
        parse(bytes).expect_err("it should be refused").into_problem(None).to_string()
    }

    #[test]
    fn what_taut_writes_comes_back() {
        assert_eq!(parse(&tetrahedra_file(&bar())).unwrap(), bar());
    }

    #[test]
    fn nothing_that_is_cut_off_or_changed_makes_it_panic() {
        let good = tetrahedra_file(&bar());
        for length in 0..good.len() - 30 {
            assert!(parse(&good[..length]).is_err(), "{length}");
        }
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0xff;
            let _ = parse(&bytes);
        }
    }

    #[test]
    fn refusals_name_the_element() {
        let mut mesh = bar();
        mesh.tetrahedra[4].swap(0, 1);
        assert!(message(&tetrahedra_file(&mesh)).contains("tetrahedron 4: is flat or inside out"));
        mesh.tetrahedra[3][2] = 16;
        assert!(message(&tetrahedra_file(&mesh)).contains("tetrahedron 3: has corner 16: there are 16"));
        mesh.positions[7].y = f32::NAN;
        assert!(message(&tetrahedra_file(&mesh)).contains("vertex 7"));
        assert!(message(b"<VTKFile>").contains("no appended data"));
    }
}
