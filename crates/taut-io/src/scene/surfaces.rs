//! Converts `[[obstacle]]` with a mesh or a sequence of meshes to the engine's mesh obstacles.

use glam::{DVec3, Vec3};
use taut::{
    MeshFrames, MeshObstacle,
    mesh::{
        generate::{GenerateError, figure::Figure},
        thin::thin,
    },
};

use super::{
    LoadedScene,
    build::{motion, rotation, vector},
    format::{FromFile, Obstacle, ObstacleMesh, Sequence},
};
use crate::{
    Problem,
    mesh::{
        Format,
        sequence::{self, MeshSequence, Numbered},
    },
};

/// Maximum frames of a figure: 20 000 of 10K triangles take 1.2 GB.
const MAX_FRAMES: u64 = 20_000;

/// Why an obstacle is refused.
pub(super) enum Refusal {
    /// Invalid keys of the obstacle.
    Keys(Vec<&'static str>, String),
    /// An invalid file.
    File(Problem),
}

/// The engine's obstacle; `None` if it is given by its shape.
pub(super) fn obstacle(scene: &LoadedScene, obstacle: &Obstacle) -> Option<Result<MeshObstacle, Refusal>> {
    let moving = match (&obstacle.mesh, &obstacle.sequence) {
        (Some(mesh), _) => still(scene, mesh),
        (None, Some(sequence)) => sequence_of(scene, sequence),
        (None, None) => return None,
    };
    Some(moving.and_then(|moving| placed(obstacle, moving)))
}

/// A static mesh.
fn still(scene: &LoadedScene, mesh: &ObstacleMesh) -> Result<MeshSequence, Refusal> {
    let one = |mesh: taut::mesh::TriangleMesh| MeshSequence {
        triangles: mesh.triangles,
        positions: vec![mesh.positions],
        times: vec![0.0],
    };
    let (source, file) = match mesh {
        ObstacleMesh::File(file) => (vec!["mesh"], file.as_str()),
        ObstacleMesh::Source(source) => match source.generator(scene.scene.scene.seed) {
            Ok(generator) => {
                let refuse =
                    |error: GenerateError| Refusal::Keys(vec!["mesh", source.tag()], error.to_string());
                return generator.generate().map(one).map_err(refuse);
            }
            Err(FromFile::Pattern(_)) => {
                let message = "is for cloth, an obstacle must have another mesh".into();
                return Err(Refusal::Keys(vec!["mesh", "pattern"], message));
            }
            Err(FromFile::Mesh(file)) => (vec!["mesh", "file"], file),
        },
    };
    let path = existing(scene, file, source)?;
    crate::mesh::read(&path).map(one).map_err(Refusal::File)
}

fn existing(scene: &LoadedScene, file: &str, keys: Vec<&'static str>) -> Result<std::path::PathBuf, Refusal> {
    let path = scene.resolve(file);
    if path.exists() {
        Ok(path)
    } else {
        Err(Refusal::Keys(keys, format!("file not found: {}", path.display())))
    }
}

fn sequence_of(scene: &LoadedScene, given: &Sequence) -> Result<MeshSequence, Refusal> {
    let (rate, start) = (given.rate(), given.start);
    if let Some(figure) = given.figure {
        return self::figure(scene, figure.edge as f32, rate, start);
    }
    if let Some(files) = &given.files {
        let refuse = |message| Refusal::Keys(vec!["sequence", "files"], message);
        let files = Numbered::parse(files)
            .and_then(|files| files.files(&scene.base, given.first, given.last))
            .map_err(refuse)?;
        return sequence::read_numbered(&files, rate, start).map_err(Refusal::File);
    }
    // The rules ensure that these are present.
    let file = given.file.as_deref().unwrap_or_default();
    let mesh = given.mesh.as_deref().unwrap_or_default();
    let path = existing(scene, file, vec!["sequence", "file"])?;
    if Format::of_path(&path).is_some_and(Format::is_animated) {
        return sequence::read_animation(&path, given.rate, start).map_err(Refusal::File);
    }
    let mesh = existing(scene, mesh, vec!["sequence", "mesh"])?;
    sequence::read_cache(&path, &mesh, rate, start).map_err(Refusal::File)
}

/// The figure, for as many frames as the scene needs.
fn figure(scene: &LoadedScene, edge: f32, rate: f64, start: f64) -> Result<MeshSequence, Refusal> {
    let refuse = |error: GenerateError| Refusal::Keys(vec!["sequence", "figure"], error.to_string());
    let figure = Figure::new(edge).map_err(refuse)?;
    let settings = &scene.scene.scene;
    let length = f64::from(settings.frames) / settings.frame_rate - start;
    // At least one, and one past the end.
    let count = (length * rate).max(0.0).ceil() as u64 + 1;
    if count > MAX_FRAMES {
        let message = format!("would have {count} frames, must have at most {MAX_FRAMES}; lower rate");
        return Err(Refusal::Keys(vec!["sequence", "rate"], message));
    }
    let after = |frame: u64| frame as f64 / rate;
    Ok(MeshSequence {
        triangles: figure.mesh().triangles.clone(),
        positions: (0..count).map(|frame| figure.at(after(frame) as f32)).collect(),
        times: (0..count).map(|frame| start + after(frame)).collect(),
    })
}

/// Scaled, rotated and translated to the initial placement of the obstacle.
fn placed(obstacle: &Obstacle, moving: MeshSequence) -> Result<MeshObstacle, Refusal> {
    let MeshSequence { triangles, mut positions, times } = moving;
    let transform = &obstacle.transform;
    let scale = vector(transform.scale.factors());
    let (turn, shift) = (rotation(transform.rotate), vector(transform.translate));
    let at_rest = scale == DVec3::ONE && transform.rotate == [0.0; 3] && shift == DVec3::ZERO;
    if !at_rest {
        let place = |x: &mut Vec3| *x = (turn * (scale * x.as_dvec3()) + shift).as_vec3();
        positions.iter_mut().flatten().for_each(place);
    }
    let first = positions.first().map_or(&[][..], Vec::as_slice);
    let all = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) =
        first.iter().fold(all, |(low, high), x| (low.min(x.as_dvec3()), high.max(x.as_dvec3())));
    let mut times: Vec<f32> = times.iter().map(|time| *time as f32).collect();
    if let (Some(grow), [own]) = (obstacle.grow, &positions[..]) {
        positions = vec![thin(&triangles, own, grow.thinner), own.clone()];
        times = vec![grow.start as f32, grow.end as f32];
    }
    let built = MeshObstacle {
        name: obstacle.name.clone().unwrap_or_default(),
        triangles,
        frames: MeshFrames { positions, times },
        motion: motion(&obstacle.motion, obstacle.pivot.map_or(0.5 * (low + high), vector)),
        friction: obstacle.friction as f32,
        margin: obstacle.margin as f32,
    };
    let key = if obstacle.mesh.is_some() { "mesh" } else { "sequence" };
    match built.check() {
        Ok(()) => Ok(built),
        Err(problem) => Err(Refusal::Keys(vec![key], problem)),
    }
}
