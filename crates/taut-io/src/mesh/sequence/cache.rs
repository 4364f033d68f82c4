//! Point caches: PC2 and MDD, the positions of every vertex in every frame. [`export`](crate::export) writes
//! both.

use std::path::Path;

use glam::Vec3;

use crate::mesh::fault::{Fault, fault};

/// A file format of point caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheFormat {
    /// Point cache, version 2.
    Pc2,
    /// Motion Designer.
    Mdd,
}

impl CacheFormat {
    /// The format that a file name's extension stands for, in upper or lower case.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pc2" => Some(Self::Pc2),
            "mdd" => Some(Self::Mdd),
            _ => None,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pc2 => "a PC2 file",
            Self::Mdd => "an MDD file",
        }
    }
}

/// What a point cache holds.
pub(super) struct Cache {
    /// Vertices of each frame.
    pub vertices: usize,
    /// Positions in each frame \[m\].
    pub positions: Vec<Vec<Vec3>>,
    /// When each frame is, from 0: in frames of the animation (PC2), or in seconds (MDD).
    pub frames: Vec<f64>,
}

/// Reads a point cache.
pub(super) fn parse(bytes: &[u8], format: CacheFormat) -> Result<Cache, Fault> {
    match format {
        CacheFormat::Pc2 => parse_pc2(bytes),
        CacheFormat::Mdd => parse_mdd(bytes),
    }
}

fn parse_pc2(bytes: &[u8]) -> Result<Cache, Fault> {
    if !bytes.starts_with(b"POINTCACHE2") {
        return Err(fault("does not begin with POINTCACHE2, as a PC2 file does"));
    }
    let Some((header, rest)) = bytes.split_at_checked(32) else {
        return Err(fault(format!("ends within its header: {} of 32 bytes", bytes.len())));
    };
    let word = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    let version = i32::from_le_bytes(word(12));
    if version != 1 {
        return Err(fault(format!("is of version {version}: version 1 is read")));
    }
    let spacing = f64::from(f32::from_le_bytes(word(24)));
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(fault(format!("has {spacing} frames from sample to sample: must be positive")));
    }
    let (vertices, samples) = counts(i32::from_le_bytes(word(16)), i32::from_le_bytes(word(28)))?;
    let positions = positions(rest, vertices, samples, f32::from_le_bytes)?;
    Ok(Cache { vertices, positions, frames: (0..samples).map(|k| k as f64 * spacing).collect() })
}

fn parse_mdd(bytes: &[u8]) -> Result<Cache, Fault> {
    let number = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map(i32::from_be_bytes).ok_or_else(|| fault("ends within its header"))
    };
    let (vertices, samples) = counts(number(4)?, number(0)?)?;
    let Some((times, rest)) = bytes[8..].split_at_checked(4 * samples) else {
        return Err(fault(format!("ends within the times of its {samples} frames")));
    };
    let times: Vec<f64> =
        times.as_chunks::<4>().0.iter().map(|word| f64::from(f32::from_be_bytes(*word))).collect();
    if let Some(k) = (0..samples).find(|&k| !times[k].is_finite() || k > 0 && times[k] <= times[k - 1]) {
        return Err(fault(format!("is at {} s: times must be finite and increasing", times[k]))
            .at(format!("frame {k}")));
    }
    let positions = positions(rest, vertices, samples, f32::from_be_bytes)?;
    Ok(Cache { vertices, positions, frames: times.iter().map(|time| time - times[0]).collect() })
}

fn counts(vertices: i32, samples: i32) -> Result<(usize, usize), Fault> {
    match (usize::try_from(vertices), usize::try_from(samples)) {
        (Ok(vertices @ 1..), Ok(samples @ 1..)) => Ok((vertices, samples)),
        _ => Err(fault(format!(
            "has {vertices} vertices and {samples} frames: must have at least one of each"
        ))),
    }
}

fn positions(
    bytes: &[u8],
    vertices: usize,
    samples: usize,
    number: fn([u8; 4]) -> f32,
) -> Result<Vec<Vec<Vec3>>, Fault> {
    // Counted in u64: a header may claim more than can be addressed.
    let needed = 12 * vertices as u64 * samples as u64;
    if needed != bytes.len() as u64 {
        let given = bytes.len();
        return Err(fault(format!(
            "has {given} bytes of positions, {vertices} vertices in {samples} frames take {needed}"
        )));
    }
    let mut all = Vec::with_capacity(samples);
    for (k, frame) in bytes.chunks_exact(12 * vertices).enumerate() {
        let points: Vec<Vec3> = frame
            .as_chunks::<4>()
            .0
            .as_chunks::<3>()
            .0
            .iter()
            .map(|&[x, y, z]| Vec3::new(number(x), number(y), number(z)))
            .collect();
        if let Some(v) = points.iter().position(|p| !p.is_finite()) {
            let message = format!("vertex {v} is at {}: must be finite", points[v]);
            return Err(fault(message).at(format!("frame {k}")));
        }
        all.push(points);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pc2(vertices: i32, samples: i32, spacing: f32, numbers: usize) -> Vec<u8> {
        let mut bytes = b"POINTCACHE2\0".to_vec();
        bytes.extend_from_slice(&1_i32.to_le_bytes());
        bytes.extend_from_slice(&vertices.to_le_bytes());
        bytes.extend_from_slice(&7_f32.to_le_bytes());
        bytes.extend_from_slice(&spacing.to_le_bytes());
        bytes.extend_from_slice(&samples.to_le_bytes());
        (0..numbers).for_each(|n| bytes.extend_from_slice(&(n as f32).to_le_bytes()));
        bytes
    }

    fn mdd(times: &[f32], vertices: i32, numbers: usize) -> Vec<u8> {
        let mut bytes = (times.len() as i32).to_be_bytes().to_vec();
        bytes.extend_from_slice(&vertices.to_be_bytes());
        times.iter().for_each(|time| bytes.extend_from_slice(&time.to_be_bytes()));
        (0..numbers).for_each(|n| bytes.extend_from_slice(&(n as f32).to_be_bytes()));
        bytes
    }

    fn says(bytes: &[u8], format: CacheFormat, words: &str) {
        let problem = parse(bytes, format).map(|_| ()).unwrap_err().into_problem(None).to_string();
        assert!(problem.contains(words), "{problem}");
    }

    #[test]
    fn both_formats_give_what_was_written() {
        let cache = parse(&pc2(2, 3, 0.5, 18), CacheFormat::Pc2).unwrap();
        assert_eq!((cache.vertices, cache.frames), (2, vec![0.0, 0.5, 1.0]));
        assert_eq!(cache.positions[2], [Vec3::new(12.0, 13.0, 14.0), Vec3::new(15.0, 16.0, 17.0)]);
        let cache = parse(&mdd(&[1.0, 1.25], 1, 6), CacheFormat::Mdd).unwrap();
        assert_eq!((cache.vertices, cache.frames), (1, vec![0.0, 0.25]));
        assert_eq!(cache.positions[1], [Vec3::new(3.0, 4.0, 5.0)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        says(b"POINTCACHE1", CacheFormat::Pc2, "POINTCACHE2");
        says(b"POINTCACHE2\0", CacheFormat::Pc2, "12 of 32 bytes");
        says(&pc2(2, 3, 1.0, 17), CacheFormat::Pc2, "68 bytes of positions, 2 vertices in 3 frames take 72");
        says(&pc2(i32::MAX, i32::MAX, 1.0, 3), CacheFormat::Pc2, "12 bytes of positions");
        says(&pc2(-1, 3, 1.0, 3), CacheFormat::Pc2, "-1 vertices");
        says(&pc2(1, 1, 0.0, 3), CacheFormat::Pc2, "from sample to sample");
        says(&mdd(&[1.0, 1.0], 1, 6), CacheFormat::Mdd, "frame 1: is at 1 s");
        says(&[0, 0, 0, 9, 0, 0, 0, 1], CacheFormat::Mdd, "times of its 9 frames");
        says(&[0, 0, 0], CacheFormat::Mdd, "ends within its header");
        let mut wild = pc2(1, 2, 1.0, 6);
        wild[32 + 16..32 + 20].copy_from_slice(&f32::NAN.to_le_bytes());
        says(&wild, CacheFormat::Pc2, "frame 1: vertex 0");
    }
}
