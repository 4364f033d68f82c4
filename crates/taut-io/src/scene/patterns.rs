//! `mesh = { pattern = … }`: reads, meshes and sews a pattern.

use glam::Vec3;

use super::{
    LoadedScene,
    format::{BuiltInPattern, Cloth, MeshSource, PatternMesh, PatternSource},
};
use crate::{
    Problems,
    pattern::{self, SewnPattern},
};

/// Part of the sewing phase in which the widest seam closes.
const CLOSING: f64 = 0.4;

/// The text of a pattern that comes with taut.
fn built_in(pattern: BuiltInPattern) -> &'static str {
    match pattern {
        BuiltInPattern::Dress => include_str!("../../../../scenes/dress.json"),
        BuiltInPattern::Shirt => include_str!("../../../../scenes/shirt.json"),
        BuiltInPattern::Jacket => include_str!("../../../../scenes/jacket.json"),
        BuiltInPattern::Pillow => include_str!("../../../../scenes/pillow.json"),
    }
}

/// Why a pattern is refused.
pub(super) enum Refusal {
    /// An invalid key of the scene.
    Key(String),
    /// An invalid file.
    File(Problems),
}

/// The pattern as cloth.
pub(super) fn read(scene: &LoadedScene, source: &PatternSource) -> Result<SewnPattern, Refusal> {
    let PatternMesh { file, built_in: name, edge, units_in_meter, shift, stitches, .. } = source.table();
    let read = match (file, name) {
        (Some(file), _) => {
            let path = scene.resolve(&file);
            if !path.exists() {
                return Err(Refusal::Key(format!("file not found: {}", path.display())));
            }
            pattern::read(&path)
        }
        (None, Some(name)) => pattern::parse(built_in(name).as_bytes(), None),
        // The rules ensure that one is present.
        (None, None) => return Err(Refusal::Key("is empty, must have file or built_in".into())),
    };
    let mut read = read.map_err(Refusal::File)?;
    if let Some(units) = units_in_meter {
        read = read.with_units(units);
    }
    for (panel, shift) in &shift {
        if !read.shift(panel, (*shift).into()) {
            let message = format!("shift names panel \"{panel}\", which the pattern does not have");
            return Err(Refusal::Key(message));
        }
    }
    for (number, [a, b]) in stitches.iter().enumerate() {
        read.stitch([a, b])
            .map_err(|message| Refusal::Key(format!("stitches {number} (from 0): {message}")))?;
    }
    read.sew(edge).map_err(Refusal::File)
}

/// Speed at which the pairs of `seams` of a cloth are pulled together \[m/s\]: that of the pattern, or the
/// one that closes the widest in part of a sewing phase of `sewing` \[s\].
pub(super) fn speed(cloth: &Cloth, seams: &[[u32; 2]], start: &[Vec3], sewing: f64) -> f32 {
    if let MeshSource::Pattern(pattern) = &cloth.mesh {
        if let Some(speed) = pattern.table().speed {
            return speed as f32;
        }
        if sewing > 0.0 {
            let widest = seams
                .iter()
                .map(|pair| start[pair[0] as usize].distance(start[pair[1] as usize]))
                .fold(0.0f32, f32::max);
            return (f64::from(widest) / (CLOSING * sewing)).clamp(1e-3, 100.0) as f32;
        }
    }
    taut::low_level::SEAM_SPEED
}
