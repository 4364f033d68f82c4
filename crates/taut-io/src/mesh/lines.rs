//! Line meshes: vertices (`v`) and lines (`l`) of OBJ files.

use std::path::Path;

use glam::Vec3;
use taut::mesh::lines::LineMesh;

use super::{
    fault::{Fault, fault},
    text,
};
use crate::Problem;

/// Reads the vertices and lines of an OBJ file; everything else in it is skipped.
///
/// # Errors
/// If it cannot be read, is no OBJ file, or a line names a missing vertex, with its line.
pub fn read_lines(path: &Path) -> Result<LineMesh, Problem> {
    let complain = |message: String| Problem { file: Some(path.into()), message, ..Problem::default() };
    let is_obj = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("obj"));
    if !is_obj {
        return Err(complain("must be an OBJ file: no other format's lines are read".into()));
    }
    let bytes = std::fs::read(path).map_err(|error| complain(format!("could not be read: {error}")))?;
    parse(&bytes).map_err(|fault| fault.into_problem(Some(path)))
}

/// Whether an OBJ file has lines and no faces.
pub(super) fn is_lines(bytes: &[u8]) -> bool {
    let mut has_lines = false;
    for (_, line) in text::lines(text::without_mark(bytes)) {
        match text::words(line).next() {
            Some(b"f") => return false,
            Some(b"l") => has_lines = true,
            _ => {}
        }
    }
    has_lines
}

/// Reads the bytes of an OBJ file.
pub(super) fn parse(bytes: &[u8]) -> Result<LineMesh, Fault> {
    let mut mesh = LineMesh::default();
    let mut lines: Vec<(usize, Vec<i64>)> = Vec::new();
    for (number, line) in text::lines(text::without_mark(bytes)) {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = text::words(line);
        match words.next() {
            Some(b"v") => {
                let mut x = [0.0f32; 3];
                for slot in &mut x {
                    let word = words.next().ok_or_else(|| fault("must have 3 coordinates"));
                    *slot = word.and_then(text::finite).map_err(|f| f.at("vertex").at_line(number))?;
                }
                mesh.positions.push(Vec3::from_array(x));
            }
            Some(b"l") => {
                let mut own = Vec::new();
                for word in words {
                    let index = word.split(|&b| b == b'/').next().unwrap_or_default();
                    let index = std::str::from_utf8(index).ok().and_then(|text| text.parse::<i64>().ok());
                    let Some(index) = index else {
                        return Err(fault("is not a vertex index").at("line").at_line(number));
                    };
                    // Negative indices count back from the vertices so far.
                    own.push(if index < 0 { mesh.positions.len() as i64 + index } else { index - 1 });
                }
                if own.len() < 2 {
                    return Err(fault("must name at least 2 vertices").at("line").at_line(number));
                }
                lines.push((number, own));
            }
            _ => {}
        }
    }
    let count = mesh.positions.len() as i64;
    if count == 0 {
        return Err(fault("has no vertices"));
    }
    for (number, own) in lines {
        if let Some(index) = own.iter().find(|index| !(0..count).contains(*index)) {
            let message = format!("names vertex {}, which does not exist: there are {count}", index + 1);
            return Err(fault(message).at("line").at_line(number));
        }
        for pair in own.windows(2) {
            if pair[0] == pair[1] {
                let message = format!("joins vertex {} to itself", pair[0] + 1);
                return Err(fault(message).at("line").at_line(number));
            }
            mesh.segments.push([pair[0] as u32, pair[1] as u32]);
        }
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polylines_become_segments() {
        let mesh = parse(b"v 0 0 0\nv 1 0 0 # end\nv 1 1 0\nl 1 2/5 3\nf 1 2 3\nl -1 -3\n").unwrap();
        assert_eq!(mesh.positions.len(), 3);
        assert_eq!(mesh.segments, [[0, 1], [1, 2], [2, 0]]);
    }

    #[test]
    fn bad_lines_are_refused_with_their_line() {
        let path = Path::new("net.obj");
        let says = |text: &[u8]| parse(text).unwrap_err().into_problem(Some(path)).to_string();
        let missing = says(b"v 0 0 0\nv 1 0 0\nl 1 3\n");
        assert!(missing.contains('3') && missing.contains("does not exist"), "{missing}");
        assert!(says(b"v 0 0 0\nl 1 1\n").contains("joins vertex 1 to itself"));
        assert!(says(b"v 0 0 0\nl 1\n").contains("at least 2"));
        assert!(says(b"v 0 nan 0\n").contains("net.obj"));
        assert!(says(b"l 1 2\n").contains("no vertices"));
    }
}
