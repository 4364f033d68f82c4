//! Cloth that tears: its run folder, resumed and verified, and its exports and renders.

use crate::program;

use std::{
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use glam::Vec3;
use program::Place;
use taut::mesh::split;
use taut_io::{
    mesh,
    output::npy,
    recording::{Recording, gather},
};

/// A strip that is pulled apart from its notch.
const STRIP: &str = r#"
contact = false
[scene]
frames = 24
frame_rate = 60
gravity = [0.0, 0.0, 0.0]
[[cloth]]
name = "strip"
mesh = { grid = { size = [0.4, 0.1], cells = [32, 8] } }
material = "polyester"
tear = { stretch = 0.08, weak = [{ select = "box:0.196,-1,-1,0.204,1,0.02", factor = 0.3 }] }
[[cloth.pin]]
select = "box:-1,-1,-1,0.001,1,1"
motion = [{ time = 0.0 }, { time = 0.6, translate = [-0.04, 0.0, 0.0] }]
[[cloth.pin]]
select = "box:0.399,-1,-1,1,1,1"
motion = [{ time = 0.0 }, { time = 0.6, translate = [0.04, 0.0, 0.0] }]
"#;

fn place_with_run() -> Place {
    let place = Place::new();
    place.write("strip.toml", STRIP);
    place.good("run strip.toml -o out");
    place.good("verify out");
    place
}

/// Frames with files of triangles.
fn tears(place: &Place, out: &str) -> Vec<u32> {
    let names = place.files(&format!("{out}/frames")).into_keys();
    let frames = names.filter_map(|name| name.strip_suffix(".faces.npy")?.rsplit_once('.')?.1.parse().ok());
    frames.collect()
}

fn faces(frame: u32) -> String {
    format!("frames/strip.{frame:04}.faces.npy")
}

fn assert_same(place: &Place, a: &str, b: &str) {
    assert_eq!(place.files(&format!("{a}/frames")), place.files(&format!("{b}/frames")), "{a} and {b}");
    assert_eq!(place.metrics(a), place.metrics(b));
}

#[test]
fn a_torn_run_resumes_before_in_and_after_its_tears_with_the_same_bytes() {
    let place = place_with_run();
    let tears = tears(&place, "out");
    assert!(tears.len() >= 2 && tears[0] > 2, "{tears:?}");
    for frame in [tears[0] - 1, tears[0], tears[1], tears[1] + 3] {
        let part = format!("part-{frame}");
        place.good(&format!("run strip.toml -o {part} --frames {frame}"));
        place.good(&format!("verify {part}"));
        // A run that is killed while it writes a frame leaves triangles without positions.
        for later in tears.iter().filter(|tear| **tear > frame).take(1) {
            let from = place.path(&format!("out/{}", faces(*later)));
            std::fs::copy(from, place.path(&format!("{part}/{}", faces(*later)))).unwrap();
        }
        let answer = place.good(&format!("run --resume -o {part} --frames 24"));
        assert!(answer.err.contains(&format!("from frame {frame} of")), "{}", answer.err);
        assert_same(&place, "out", &part);
        place.good(&format!("verify {part}"));
    }
    place.good("run strip.toml -o threads --threads 1");
    assert_same(&place, "out", "threads");
}

#[test]
fn killed_in_the_middle_of_a_tear_and_resumed() {
    let place = Place::new();
    place.write("strip.toml", STRIP);
    let scene = "strip.toml --set cloth.strip.mesh.grid.cells=[80,20]";
    place.good(&format!("run {scene} -o whole"));
    let tears = tears(&place, "whole");
    for (k, tear) in tears.iter().enumerate().take(4) {
        let start = if k == 0 { format!("run {scene} -o killed") } else { "run --resume -o killed".into() };
        let mut child = place.command(&start).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (file, begun) = (place.path(&format!("killed/{}", faces(*tear))), Instant::now());
        while !file.exists() && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "frame {tear} never came");
            sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    place.good("run --resume -o killed");
    assert_same(&place, "whole", "killed");
    place.good("verify killed");
}

#[test]
fn damaged_triangles_are_named_and_cost_a_resumed_run_time_only() {
    let place = place_with_run();
    let tears = tears(&place, "out");
    let (first, next) = (tears[0], tears[1]);
    let whole = place.files("out/frames");
    let bytes = |frame: u32| &whole[faces(frame).strip_prefix("frames/").unwrap()];
    let path = |frame: u32| place.path(&format!("out/{}", faces(frame)));
    let named = |frame: u32, say: &str| {
        let file = format!("strip.{frame:04}");
        place.bad("verify out", 1, &[&format!("frame {frame}: strip: "), &file, say]);
    };
    let mut swapped = bytes(first).clone();
    let start = 10 + usize::from(u16::from_le_bytes([swapped[8], swapped[9]]));
    swapped[start..start + 24].rotate_left(12);
    let mut beyond = bytes(first).clone();
    let end = beyond.len();
    beyond[end - 4..].copy_from_slice(&100_000_i32.to_le_bytes());
    let cut = &bytes(first)[..end - 12];
    for (damaged, say) in [
        (swapped.as_slice(), "with vertices split"),
        (&beyond, "with vertices split"),
        (cut, "is truncated"),
        (bytes(next), "expected"),
    ] {
        std::fs::write(path(first), damaged).unwrap();
        named(first, say);
        std::fs::write(path(first), bytes(first)).unwrap();
    }
    std::fs::write(path(next), bytes(first)).unwrap();
    named(next, "the triangles of the frame before");
    std::fs::remove_file(path(next)).unwrap();
    named(next, "is missing or damaged");
    // Frames are read side by side: any of those that no longer fit may be named.
    place.bad("export out --format obj", 2, &["of strip: has ", "of the torn triangles in", &faces(first)]);
    std::fs::write(path(next), bytes(next)).unwrap();
    for (frame, say) in [(0, "is whole in frame 0"), (99, "no such frame")] {
        std::fs::write(path(frame), bytes(first)).unwrap();
        let answer = place.bad("verify out", 1, &[&format!("frame {frame}: strip: "), say]);
        assert!(answer.err.lines().count() <= 2, "{}", answer.err);
        std::fs::remove_file(path(frame)).unwrap();
    }
    place.good("verify out");

    std::fs::write(path(first), cut).unwrap();
    let answer = place.good("run --resume -o out --frames 26");
    assert!(answer.err.contains("is truncated") && answer.err.contains("warning"), "{}", answer.err);
    place.good("verify out");
    place.good("run strip.toml -o again --frames 26");
    assert_same(&place, "again", "out");
}

/// The positions of point caches with `count` vertices a frame.
fn cached(bytes: &[u8], count: usize) -> Vec<Vec<Vec3>> {
    let (numbers, _) = bytes[32..].as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let frame = |all: &[f32]| all.chunks_exact(3).map(Vec3::from_slice).collect();
    numbers.chunks_exact(3 * count).map(frame).collect()
}

#[test]
fn point_caches_have_the_final_triangles_and_the_places_they_were_torn_from() {
    let place = place_with_run();
    place.good("export out --format pc2,obj");
    let recording = Recording::open(&place.path("out")).unwrap();
    let last = recording.read(0, 24).unwrap();
    let settled = mesh::read(&place.path("out/export/pc2/strip.obj")).unwrap();
    assert_eq!(settled.triangles, last.connections.triangles());
    let body = &recording.bodies()[0];
    assert!(settled.positions.len() > body.rest.positions.len() + 8);
    assert_eq!(settled.positions, body.rest_of(&last).unwrap().positions);
    let frames =
        cached(&std::fs::read(place.path("out/export/pc2/strip.pc2")).unwrap(), last.positions.len());
    assert_eq!(frames.len(), 25);
    for (number, positions) in (0..).zip(&frames) {
        let frame = recording.read(0, number).unwrap();
        let origins = frame.origins_of(&last).unwrap();
        assert_eq!(*positions, gather(&frame.positions, &origins), "frame {number}");
        // Sequences change with the cloth.
        let shown = mesh::read(&place.path(&format!("out/export/obj/strip.{number:04}.obj"))).unwrap();
        assert_eq!((shown.positions, &shown.triangles[..]), (frame.positions, frame.connections.triangles()));
        assert!(shown.uvs.is_some(), "torn triangles keep their texture");
    }
    // The triangles of the whole run hold for a part that ends before it is torn.
    place.good("export out --format pc2 --frames 0-2 -o early");
    let early = mesh::read(&place.path("early/strip.obj")).unwrap();
    assert_eq!(early.triangles, body.rest.connections.triangles());
}

#[test]
fn every_format_takes_torn_cloth() {
    let place = place_with_run();
    for format in taut_io::export::Format::ALL.into_iter().filter(|format| format.takes_surfaces()) {
        place.good(&format!("export out --format {}", format.name()));
    }
    place.good("run strip.toml -o other --export usd,gltf,npz");
    for name in ["strip.usdc", "strip.glb", "strip.npz"] {
        let [a, b] = ["out", "other"].map(|out| std::fs::read(place.path(&format!("{out}/export/{name}"))));
        assert!(a.unwrap() == b.unwrap(), "{name}");
    }
}

#[test]
fn strain_of_torn_cloth_is_measured_against_its_torn_rest_shape() {
    let place = place_with_run();
    let recording = Recording::open(&place.path("out")).unwrap();
    let tear = tears(&place, "out")[1];
    let (before, after) = (recording.read(0, tear - 1).unwrap(), recording.read(0, tear).unwrap());
    let origins =
        split::origins(before.connections.triangles(), after.connections.triangles(), before.positions.len());
    assert_eq!(before.origins_of(&after), origins);
    assert_eq!(
        npy::read_triangles(&place.path(&format!("out/{}", faces(tear)))).unwrap(),
        after.connections.triangles()
    );
    // In ParaView's file the largest strain is that of the certificate.
    place.good(&format!("export out --format vtk --frames {tear}-{tear}"));
    let file = std::fs::read(place.path(&format!("out/export/vtk/strip.{tear:04}.vtu"))).unwrap();
    let text = String::from_utf8_lossy(&file);
    for array in ["displacement", "velocity", "strain_max", "strain_direction", "residual", "stress_pk2_max"]
    {
        assert!(text.contains(&format!("Name=\"{array}\"")), "{array}");
    }
    let line: serde_json::Value =
        serde_json::from_str(place.read("out/metrics.jsonl").lines().nth(tear as usize).unwrap()).unwrap();
    let stretch = line["certificate"]["bodies"][0]["max_stretch"].as_f64().unwrap();
    let largest = numbers(&file, "strain_max").into_iter().fold(f32::MIN, f32::max);
    assert!((f64::from(largest) + 1.0 - stretch).abs() < 1e-6, "{largest} and {stretch}");
}

/// The numbers of an array of a VTK file.
fn numbers(file: &[u8], name: &str) -> Vec<f32> {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let data = file.windows(mark.len()).position(|part| part == mark).unwrap();
    let head = std::str::from_utf8(&file[..data]).unwrap();
    let (_, rest) = head.split_once(&format!("Name=\"{name}\"")).unwrap();
    let (_, rest) = rest.split_once("offset=\"").unwrap();
    let offset: usize = rest.split_once('"').unwrap().0.parse().unwrap();
    let start = data + mark.len() + offset;
    let length = u64::from_le_bytes(file[start..start + 8].try_into().unwrap()) as usize;
    let (numbers, _) = file[start + 8..start + 8 + length].as_chunks::<4>();
    numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
