//! Files on disk: found by extension, refused in words.

use crate::mesh_samples;

use std::{fs, path::PathBuf};

use mesh_samples::{obj_text, ply_text, stl_binary, tetrahedron};
use taut_io::mesh::{Format, read};

/// A folder of its own for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("taut-read-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn problem(&self, name: &str) -> String {
        read(&self.0.join(name)).unwrap_err().to_string().replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_extension_decides_in_any_case() {
    let folder = Folder::new("extension");
    for (name, bytes) in [
        ("a.OBJ", obj_text(&tetrahedron())),
        ("a.ply", ply_text(&tetrahedron())),
        ("b.Stl", stl_binary(&tetrahedron())),
    ] {
        fs::write(folder.0.join(name), bytes).unwrap();
        assert_eq!(read(&folder.0.join(name)).unwrap().triangles.len(), 4, "{name}");
    }
    assert_eq!(Format::of_path("x/y.glb".as_ref()), Some(Format::Gltf));
    assert_eq!(Format::of_path("x.obj/y".as_ref()), None);
}

#[test]
fn errors_name_the_file() {
    let folder = Folder::new("errors");
    fs::write(folder.0.join("a.fbx"), "x").unwrap();
    fs::write(folder.0.join("empty.ply"), "").unwrap();
    fs::write(folder.0.join("bad.obj"), "v 0 0 0\nv 0 0\n").unwrap();
    fs::create_dir(folder.0.join("folder.obj")).unwrap();
    let kinds = "unknown mesh format: the extension must be .obj, .ply, .stl, .gltf, .glb or .usd (.usda, .usdc, .usdz)";
    assert_eq!(folder.problem("a.fbx"), format!("a.fbx: {kinds}"));
    assert_eq!(folder.problem("noextension"), format!("noextension: {kinds}"));
    assert_eq!(folder.problem("missing.obj"), "missing.obj: no such file");
    assert_eq!(folder.problem("empty.ply"), "empty.ply: the file is empty");
    assert_eq!(folder.problem("folder.obj"), "folder.obj: is a folder: expected a mesh file");
    assert!(
        folder.problem("bad.obj").starts_with("bad.obj:2: vertex: 2 numbers"),
        "{}",
        folder.problem("bad.obj")
    );
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    let folder = Folder::new("devices");
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("endless.obj")).unwrap();
    assert_eq!(folder.problem("endless.obj"), "endless.obj: is not a regular file");
}

#[test]
fn files_over_four_gibibytes_are_refused() {
    let folder = Folder::new("large");
    let path = folder.0.join("large.stl");
    // Sparse: takes no room on disk.
    fs::File::create(&path).and_then(|file| file.set_len((4 << 30) + 1)).unwrap();
    let message = folder.problem("large.stl");
    assert_eq!(message, "large.stl: has 4294967297 bytes: files of up to 4294967296 bytes (4 GiB) are read");
}
