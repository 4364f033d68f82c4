//! Files that a scene reads, and their copies in a run folder.
//!
//! A run keeps copies of its input files in `inputs/` beside the `scene.toml` that it writes, so that the
//! folder can be run again elsewhere. Every file gets a unique name there. A glTF file refers to its buffers
//! by relative paths, and TetGen's two files share a name; where these would conflict with other files, they
//! get a separate folder.

use std::path::{Component, Path, PathBuf};

use super::{
    LoadedScene,
    format::{ObstacleMesh, ParticleMesh, Sequence, SolidMesh},
    select::Selection,
};
use crate::mesh::{Format, SolidFormat, sequence::Numbered};

/// A file that a scene reads.
pub(super) struct Input {
    /// Path as written in the scene.
    pub name: String,
    /// Actual path.
    pub path: PathBuf,
    /// Path of the copy, relative to the run folder, with `/` as separator.
    pub copy: String,
}

/// All files that `scene` reads, each once, in order of appearance.
pub(super) fn list(scene: &LoadedScene) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for sequence in scene.scene.obstacle.iter().filter_map(|obstacle| obstacle.sequence.as_ref()) {
        add_numbered(scene, sequence, &mut inputs);
    }
    for name in names(scene) {
        if inputs.iter().any(|input| input.name == name) {
            continue;
        }
        let path = scene.resolve(&name);
        let file =
            path.file_name().map_or_else(|| "input".into(), |file| file.to_string_lossy().into_owned());
        let buffers = buffers(&path);
        if buffers.is_empty() {
            let copy = free(&inputs, &file);
            inputs.push(Input { name, path, copy });
            continue;
        }
        let place = place(&inputs, &file, &buffers);
        let from = path.parent().map(Path::to_owned).unwrap_or_default();
        let beside = Path::new(&name).parent().map(Path::to_owned).unwrap_or_default();
        inputs.push(Input { name, path, copy: format!("{place}/{file}") });
        for buffer in buffers {
            let copy = flatten(&format!("{place}/{buffer}"));
            if !inputs.iter().any(|input| input.copy == copy) {
                let name = beside.join(&buffer).to_string_lossy().into_owned();
                inputs.push(Input { name, path: from.join(&buffer), copy });
            }
        }
    }
    inputs
}

/// Adds the files of a sequence, in a folder of their own, where they keep their names. Adds none if they
/// cannot be found: the error is reported when they are read.
fn add_numbered(scene: &LoadedScene, sequence: &Sequence, inputs: &mut Vec<Input>) {
    let Some(numbered) = sequence.files.as_ref().and_then(|files| Numbered::parse(files).ok()) else {
        return;
    };
    let Ok(files) = numbered.files(&scene.base, sequence.first, sequence.last) else { return };
    if folder_of(inputs, &files).is_some() {
        return;
    }
    let depth =
        files.iter().flat_map(|(_, path)| buffers(path)).map(|buffer| climb(&buffer)).max().unwrap_or(0);
    let folder = format!("{}{}", free(inputs, &format!("{}.sequence", numbered.stem())), "/d".repeat(depth));
    let beside = Path::new(sequence.files.as_deref().unwrap_or_default()).parent().map(Path::to_owned);
    let beside = beside.unwrap_or_default();
    for (_, path) in files {
        let from = path.parent().map(Path::to_owned).unwrap_or_default();
        let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        for name in buffers(&path).into_iter().chain([file]) {
            let copy = flatten(&format!("{folder}/{name}"));
            if !inputs.iter().any(|input| input.copy == copy) {
                let path = from.join(&name);
                inputs.push(Input { name: beside.join(name).to_string_lossy().into_owned(), path, copy });
            }
        }
    }
}

/// The common folder of the copies of all these files, if any.
fn folder_of(inputs: &[Input], files: &[(u32, PathBuf)]) -> Option<String> {
    let folder = |input: &Input| input.copy.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let copies =
        |path: &PathBuf| inputs.iter().filter(|i| i.path == *path).filter_map(folder).collect::<Vec<_>>();
    let candidates = copies(&files.first()?.1);
    candidates.into_iter().find(|folder| files.iter().all(|(_, path)| copies(path).contains(folder)))
}

/// Folder for a file with `buffers`: beside the others if no name is taken, otherwise a separate folder, deep
/// enough that a buffer path with `..` stays inside.
fn place(inputs: &[Input], file: &str, buffers: &[String]) -> String {
    let alone = |name: &str| !name.contains(['/', '\\']) && free(inputs, name) == format!("inputs/{name}");
    if buffers.iter().all(|buffer| buffer != file && alone(buffer)) && alone(file) {
        return "inputs".into();
    }
    let depth = buffers.iter().map(|buffer| climb(buffer)).max().unwrap_or(0);
    format!("{}{}", free(inputs, &format!("{file}.files")), "/d".repeat(depth))
}

/// The same scene, with its files replaced by their copies below `folder`.
pub(super) fn moved(scene: &LoadedScene, folder: &Path) -> LoadedScene {
    let inputs = list(scene);
    let copy = |name: &str| inputs.iter().find(|input| input.name == name).map(|input| input.copy.clone());
    let mut moved = scene.clone();
    for cloth in &mut moved.scene.cloth {
        if let Some(file) = cloth.mesh.file_mut()
            && let Some(copy) = copy(file)
        {
            *file = copy;
        }
        if let Some(tear) = &mut cloth.tear {
            for text in tear.factor.iter_mut().chain(tear.weak.iter_mut().map(|weak| &mut weak.select)) {
                if let Ok(Selection::Map(file)) = Selection::parse(text)
                    && let Some(copy) = copy(&file)
                {
                    *text = format!("map:{copy}");
                }
            }
        }
        for pin in &mut cloth.pin {
            for text in [Some(&mut pin.select), pin.weight.as_mut()].into_iter().flatten() {
                if let Ok(Selection::Map(file)) = Selection::parse(text)
                    && let Some(copy) = copy(&file)
                {
                    *text = format!("map:{copy}");
                }
            }
        }
    }
    for solid in &mut moved.scene.solid {
        if let SolidMesh::File(file) = &mut solid.mesh
            && let Some(copy) = copy(file)
        {
            *file = copy;
        }
        for pin in &mut solid.pin {
            for text in [Some(&mut pin.select), pin.weight.as_mut()].into_iter().flatten() {
                if let Ok(Selection::Map(file)) = Selection::parse(text)
                    && let Some(copy) = copy(&file)
                {
                    *text = format!("map:{copy}");
                }
            }
        }
    }
    let rename = |text: &mut String| {
        if let Ok(Selection::Map(file)) = Selection::parse(text)
            && let Some(copy) = copy(&file)
        {
            *text = format!("map:{copy}");
        }
    };
    for particles in &mut moved.scene.particles {
        if let ParticleMesh::File(file) = &mut particles.mesh
            && let Some(copy) = copy(file)
        {
            *file = copy;
        }
        for pin in &mut particles.pin {
            [Some(&mut pin.select), pin.weight.as_mut()].into_iter().flatten().for_each(rename);
        }
    }
    for spring in &mut moved.scene.spring {
        [&mut spring.from.select, &mut spring.to.select].into_iter().flatten().for_each(rename);
    }
    for hair in &mut moved.scene.hair {
        if let Some(file) = hair.file_mut()
            && let Some(copy) = copy(file)
        {
            *file = copy;
        }
        for text in hair.maps_mut() {
            if let Ok(Selection::Map(file)) = Selection::parse(text)
                && let Some(copy) = copy(&file)
            {
                *text = format!("map:{copy}");
            }
        }
    }
    for seam in &mut moved.scene.seam {
        for select in [&mut seam.from, &mut seam.to].into_iter().flatten() {
            if let Ok(Selection::Map(file)) = Selection::parse(select)
                && let Some(copy) = copy(&file)
            {
                *select = format!("map:{copy}");
            }
        }
    }
    for obstacle in &mut moved.scene.obstacle {
        if let Some(file) = obstacle.mesh.as_mut().and_then(ObstacleMesh::file_mut)
            && let Some(copy) = copy(file)
        {
            *file = copy;
        }
        let Some(sequence) = &mut obstacle.sequence else { continue };
        for file in [&mut sequence.file, &mut sequence.mesh].into_iter().flatten() {
            if let Some(copy) = copy(file) {
                *file = copy;
            }
        }
        if let Some(files) = &mut sequence.files
            && let Ok(numbered) = Numbered::parse(files)
            && let Ok(found) = numbered.files(&scene.base, sequence.first, sequence.last)
            && let Some(folder) = folder_of(&inputs, &found)
        {
            *files = format!("{folder}/{}", numbered.name());
        }
    }
    moved.base = folder.to_owned();
    moved.moved_inputs =
        Some(inputs.into_iter().map(|input| (input.copy.clone(), folder.join(input.copy))).collect());
    moved
}

/// Files that the scene refers to directly.
fn names(scene: &LoadedScene) -> Vec<String> {
    let mut names = Vec::new();
    for cloth in &scene.scene.cloth {
        names.extend(cloth.mesh.file().cloned());
        let tear =
            cloth.tear.iter().flat_map(|tear| tear.factor.iter().chain(tear.weak.iter().map(|w| &w.select)));
        for text in tear {
            if let Ok(Selection::Map(file)) = Selection::parse(text) {
                names.push(file);
            }
        }
        for pin in &cloth.pin {
            for text in [Some(&pin.select), pin.weight.as_ref()].into_iter().flatten() {
                if let Ok(Selection::Map(file)) = Selection::parse(text) {
                    names.push(file);
                }
            }
        }
    }
    for solid in &scene.scene.solid {
        if let SolidMesh::File(file) = &solid.mesh {
            names.push(file.clone());
        }
        for pin in &solid.pin {
            for text in [Some(&pin.select), pin.weight.as_ref()].into_iter().flatten() {
                if let Ok(Selection::Map(file)) = Selection::parse(text) {
                    names.push(file);
                }
            }
        }
    }
    for particles in &scene.scene.particles {
        if let ParticleMesh::File(file) = &particles.mesh {
            names.push(file.clone());
        }
        for pin in &particles.pin {
            for text in [Some(&pin.select), pin.weight.as_ref()].into_iter().flatten() {
                if let Ok(Selection::Map(file)) = Selection::parse(text) {
                    names.push(file);
                }
            }
        }
    }
    for hair in &scene.scene.hair {
        names.extend(hair.file().cloned());
        for text in hair.maps() {
            if let Ok(Selection::Map(file)) = Selection::parse(text) {
                names.push(file);
            }
        }
    }
    for select in
        scene.scene.spring.iter().flat_map(|spring| [&spring.from.select, &spring.to.select]).flatten()
    {
        if let Ok(Selection::Map(file)) = Selection::parse(select) {
            names.push(file);
        }
    }
    for select in scene.scene.seam.iter().flat_map(|seam| [&seam.from, &seam.to]).flatten() {
        if let Ok(Selection::Map(file)) = Selection::parse(select) {
            names.push(file);
        }
    }
    for obstacle in &scene.scene.obstacle {
        names.extend(obstacle.mesh.as_ref().and_then(ObstacleMesh::file).cloned());
        if let Some(sequence) = &obstacle.sequence {
            names.extend([&sequence.file, &sequence.mesh].into_iter().flatten().cloned());
        }
    }
    names
}

/// `inputs/FILE`, or `inputs/2-FILE`, … if that is taken; compared case-insensitively, because some file
/// systems are.
fn free(inputs: &[Input], file: &str) -> String {
    let taken = |copy: &str| {
        inputs.iter().any(|input| {
            let first = input.copy.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
            first.eq_ignore_ascii_case(copy)
        })
    };
    let candidates =
        (1..).map(|n| if n == 1 { format!("inputs/{file}") } else { format!("inputs/{n}-{file}") });
    candidates.into_iter().find(|copy| !taken(copy)).unwrap_or_else(|| format!("inputs/{file}"))
}

/// External buffers of a glTF file, as relative paths, or the other of TetGen's two files. None if it cannot
/// be read: the error is reported when it is read as a mesh.
fn buffers(path: &Path) -> Vec<String> {
    if let Some(other) = SolidFormat::other_of(path) {
        return other.file_name().map(|name| name.to_string_lossy().into_owned()).into_iter().collect();
    }
    if Format::of_path(path) != Some(Format::Gltf) {
        return Vec::new();
    }
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(gltf_json(&bytes)) else { return Vec::new() };
    let buffers = json.get("buffers").and_then(|buffers| buffers.as_array());
    let uris = buffers.into_iter().flatten().filter_map(|buffer| buffer.get("uri")?.as_str());
    let beside = uris.filter(|uri| !uri.starts_with("data:") && !uri.contains("://"));
    let mut names: Vec<String> = beside.map(decode).filter(|name| !Path::new(name).is_absolute()).collect();
    names.dedup();
    names
}

/// The JSON of a glTF file: the whole file, or the first chunk of a GLB container.
fn gltf_json(bytes: &[u8]) -> &[u8] {
    if !bytes.starts_with(b"glTF") {
        return bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    }
    let length = bytes.get(12..16).and_then(|length| length.try_into().ok()).map_or(0, u32::from_le_bytes);
    bytes.get(20..20_usize.saturating_add(length as usize)).unwrap_or_default()
}

/// A URI with percent-encoding decoded.
fn decode(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Number of levels that a relative path goes above its start.
fn climb(path: &str) -> usize {
    let (mut level, mut lowest) = (0_isize, 0);
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => level -= 1,
            Component::Normal(_) => level += 1,
            _ => {}
        }
        lowest = lowest.min(level);
    }
    lowest.unsigned_abs()
}

/// A relative path without `.` and `..`.
fn flatten(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_buffers() {
        assert_eq!(decode("a%20b%2.bin"), "a b%2.bin");
        assert_eq!((climb("a/b.bin"), climb("../a.bin"), climb("a/../../../b")), (0, 1, 2));
        assert_eq!(flatten("inputs/x/d/d/../../b.bin"), "inputs/x/b.bin");
    }
}
