//! Export of the displayed shapes: one mesh of everything, as OBJ or PLY.

use std::fmt::Write;

use glam::Vec3;

use super::obstacle::ShownObstacle;
use crate::hub::Exported;

/// A body or an obstacle.
#[derive(Debug)]
pub struct Part<'a> {
    /// Its name.
    pub name: String,
    /// Positions of its vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Its triangles.
    pub triangles: &'a [[u32; 3]],
}

impl<'a> Part<'a> {
    /// An obstacle at `time` \[s\], with the pose `matrix`.
    pub fn obstacle(obstacle: &'a ShownObstacle, time: f32, matrix: &[f32; 12]) -> Self {
        let row = |x: Vec3, k: usize| {
            matrix[4 * k] * x.x + matrix[4 * k + 1] * x.y + matrix[4 * k + 2] * x.z + matrix[4 * k + 3]
        };
        let place = |x: &Vec3| Vec3::new(row(*x, 0), row(*x, 1), row(*x, 2));
        let positions = match obstacle.deformed(time) {
            Some(positions) => positions,
            None => obstacle.positions.iter().map(place).collect(),
        };
        Self { name: obstacle.message().name.into(), positions, triangles: &obstacle.triangles }
    }
}

/// The parts of frame `frame` of a scene as a file.
///
/// # Errors
/// If the format is unknown.
pub fn export(scene: &str, frame: u32, format: &str, parts: &[Part]) -> Result<Exported, String> {
    let bytes = match format {
        "obj" => obj(parts),
        "ply" => ply(parts),
        _ => return Err(format!("unknown format {format:?}; known: obj, ply, toml")),
    };
    // The name becomes part of an HTTP header: only plain characters.
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let scene: String = scene.chars().map(plain).collect();
    Ok(Exported { name: format!("{scene}.{frame:04}.{format}"), bytes })
}

fn obj(parts: &[Part]) -> Vec<u8> {
    let mut text = String::new();
    let mut first = 1;
    for part in parts {
        // Writing to a text does not fail.
        let _ = writeln!(text, "o {}", part.name.replace(char::is_whitespace, "_"));
        for x in &part.positions {
            let _ = writeln!(text, "v {} {} {}", x.x, x.y, x.z);
        }
        for t in part.triangles {
            let [a, b, c] = t.map(|v| v + first);
            let _ = writeln!(text, "f {a} {b} {c}");
        }
        first += part.positions.len() as u32;
    }
    text.into_bytes()
}

fn ply(parts: &[Part]) -> Vec<u8> {
    let vertices: usize = parts.iter().map(|part| part.positions.len()).sum();
    let triangles: usize = parts.iter().map(|part| part.triangles.len()).sum();
    let mut bytes = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {triangles}\nproperty list uchar uint vertex_indices\nend_header\n"
    )
    .into_bytes();
    for x in parts.iter().flat_map(|part| &part.positions) {
        x.to_array().into_iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    }
    let mut first = 0;
    for part in parts {
        for t in part.triangles {
            bytes.push(3);
            t.iter().for_each(|v| bytes.extend_from_slice(&(v + first).to_le_bytes()));
        }
        first += part.positions.len() as u32;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use taut_io::mesh::{Format, parse};

    #[test]
    fn what_is_written_can_be_read() {
        let triangle = || vec![Vec3::ZERO, Vec3::X, Vec3::new(0.1, 0.2, 0.3)];
        let parts = [
            Part { name: "a b".into(), positions: triangle(), triangles: &[[0, 1, 2]] },
            Part { name: "c".into(), positions: triangle(), triangles: &[[0, 2, 1]] },
        ];
        for (format, kind) in [("obj", Format::Obj), ("ply", Format::Ply)] {
            let file = export("my scene", 7, format, &parts).unwrap();
            assert_eq!(file.name, format!("my_scene.0007.{format}"));
            let mesh = parse(&file.bytes, kind, None).unwrap();
            assert_eq!(mesh.triangles, [[0, 1, 2], [3, 5, 4]]);
            assert_eq!(mesh.positions[5], Vec3::new(0.1, 0.2, 0.3));
        }
        assert!(export("x", 0, "exe", &parts).unwrap_err().contains("obj, ply, toml"));
    }
}
