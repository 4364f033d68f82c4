//! A folder of a run with any one file damaged: verification and resuming say so, and never panic.

use std::{fs, path::Path};

use taut::{State, Stepper, World};
use taut_io::{
    output::{npy, recorder::Recorder, resume, verify::verify},
    scene,
};

const SCENE: &str = "[scene]\nframes = 3\n[[cloth]]\nname = \"sheet\"\nmaterial = \"denim\"\nstrain = { max = 0.05 }\n\
                     mesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }\npin = [{ select = \"index:0\" }]\n";

/// Writes a small run into `root`.
fn record(folder: &Path, root: &Path) {
    let file = folder.join("in.toml");
    fs::write(&file, SCENE).unwrap();
    let name = file.to_str().unwrap();
    let scene = scene::load(name, &[]).unwrap();
    let world = World::new(scene.build().unwrap()).unwrap();
    let identity = resume::identity(&scene, root);
    let mut recorder = Recorder::create(root, false, &scene, &identity, &world, 1).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    recorder.record(&world, &state, None, 0.0).unwrap();
    for _ in 0..scene.frames {
        let report = stepper.advance_frame(&world, &mut state);
        recorder.record(&world, &state, Some(&report), 1.0).unwrap();
    }
    recorder.save_checkpoint(&world, &state).unwrap();
}

fn files(root: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(files(&entry)) } else { found.push(entry) }
    }
    found.sort();
    found
}

/// Whether a damaged frame file still holds the positions of `original`, to a nanometre: a bit of its padding
/// was hit, or one that does not matter.
fn same_positions(path: &Path, original: &[u8]) -> bool {
    let beside = path.with_extension("original");
    fs::write(&beside, original).unwrap();
    let (now, then) = (npy::read(path, 25), npy::read(&beside, 25));
    fs::remove_file(beside).unwrap();
    let near = |(a, b): (&glam::Vec3, &glam::Vec3)| (*a - *b).abs().max_element() < 1e-9;
    matches!((now, then), (Ok(now), Ok(then)) if now.iter().zip(&then).all(near))
}

#[test]
fn one_damaged_file_is_noticed_and_never_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("out");
    record(folder.path(), &root);
    let good = verify(&root, 1).unwrap();
    assert!(good.ok, "{:?}", good.failures);
    let paths = files(&root);
    let originals: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();

    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let mut noticed = 0;
    for round in 0..600 {
        let which = random(paths.len());
        let mut bytes = originals[which].clone();
        match round % 4 {
            0 => bytes.truncate(random(bytes.len())),
            1 => {
                let at = random(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random(8);
                }
            }
            2 => bytes.extend_from_slice(b"\n\xff{}"),
            _ => bytes = (0..random(300)).map(|_| random(256) as u8).collect(),
        }
        fs::write(&paths[which], &bytes).unwrap();
        // Frames, metrics and rest mesh are what verification vouches for; a flipped bit may spare the
        // figures of metrics.jsonl that it does not compare (times), so those are left to the test of the
        // program.
        let vouched = paths[which].extension().is_some_and(|e| e == "npy" || e == "ply");
        let ok = verify(&root, 1).is_ok_and(|found| found.ok);
        if vouched && bytes != originals[which] && !same_positions(&paths[which], &originals[which]) {
            assert!(!ok, "round {round}: {} was damaged unnoticed", paths[which].display());
            noticed += 1;
        }
        if let Ok(scene) = scene::load(root.join("scene.toml").to_str().unwrap(), &[])
            && let Ok(identity) = resume::stored_identity(&root)
            && let Ok(world) = scene.build().map_err(drop).and_then(|d| World::new(d).map_err(drop))
        {
            let _ = resume::resume(&root, &scene, &identity, &world, 1);
        }
        // Resuming may have started over, and so removed files.
        for (path, bytes) in paths.iter().zip(&originals) {
            fs::write(path, bytes).unwrap();
        }
        for path in files(&root).iter().filter(|path| !paths.contains(path)) {
            fs::remove_file(path).unwrap();
        }
    }
    assert!(noticed > 100, "{noticed}");
    assert!(verify(&root, 1).unwrap().ok);
}
