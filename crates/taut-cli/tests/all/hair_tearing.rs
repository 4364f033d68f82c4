//! Hair that tears: its run folder, resumed and verified, and its exports and renders.

use crate::program;

use program::Place;
use taut_io::{
    export::Format,
    mesh,
    output::npy,
    recording::{Connections, Recording},
};

/// Strands between two pins that move apart, some weaker than others, and curls.
const HAIR: &str = r#"
contact = false
[scene]
frames = 20
frame_rate = 60
[[hair]]
name = "hair"
mesh = { grow = { mesh = { box = { size = [0.1, 0.02, 0.1], cells = [2, 1, 2] } }, count = 30, length = 0.1, segments = 30, curl = { radius = 0.003, pitch = 0.03 } } }
tear = { stretch = 0.05, random = 0.5, weak = [{ select = "corner:root", factor = 2.0 }] }
pin = [{ select = "corner:tip", motion = [{ time = 0.0 }, { time = 0.3, translate = [0.1, 0.0, 0.05] }] }]
"#;

fn place_with_run() -> Place {
    let place = Place::new();
    place.write("hair.toml", HAIR);
    place.good("run hair.toml -o out");
    place.good("verify out");
    place
}

/// Frames with files of strands.
fn cuts(place: &Place, out: &str) -> Vec<u32> {
    let names = place.files(&format!("{out}/frames")).into_keys();
    names.filter_map(|name| name.strip_suffix(".strands.npy")?.rsplit_once('.')?.1.parse().ok()).collect()
}

fn strands(frame: u32) -> String {
    format!("frames/hair.{frame:04}.strands.npy")
}

fn assert_same(place: &Place, a: &str, b: &str) {
    assert_eq!(place.files(&format!("{a}/frames")), place.files(&format!("{b}/frames")), "{a} and {b}");
    assert_eq!(place.metrics(a), place.metrics(b));
}

#[test]
fn a_torn_run_resumes_with_the_same_bytes() {
    let place = place_with_run();
    let cuts = cuts(&place, "out");
    assert!(cuts.len() >= 2 && cuts[0] > 1, "{cuts:?}");
    for frame in [cuts[0] - 1, cuts[0], cuts[1]] {
        let part = format!("part-{frame}");
        place.good(&format!("run hair.toml -o {part} --frames {frame}"));
        place.good(&format!("verify {part}"));
        let answer = place.good(&format!("run --resume -o {part} --frames 20"));
        assert!(answer.err.contains(&format!("from frame {frame} of")), "{}", answer.err);
        assert_same(&place, "out", &part);
    }
    place.good("run hair.toml -o threads --threads 1");
    assert_same(&place, "out", "threads");
}

#[test]
fn damaged_strands_are_named() {
    let place = place_with_run();
    let cuts = cuts(&place, "out");
    let (first, next) = (cuts[0], cuts[1]);
    let read = |frame: u32| std::fs::read(place.path(&format!("out/{}", strands(frame)))).unwrap();
    let named = |frame: u32, say: &str| {
        let file = format!("hair.{frame:04}");
        place.bad("verify out", 1, &[&format!("frame {frame}: hair: "), &file, say]);
    };
    let (whole, later) = (read(first), read(next));
    let path = place.path(&format!("out/{}", strands(first)));
    let mut beyond = whole.clone();
    let end = beyond.len();
    beyond[end - 8..end - 4].copy_from_slice(&7_i32.to_le_bytes());
    for (damaged, say) in [(&beyond[..], "pieces of the 30 strands"), (&whole[..end - 12], "is truncated")] {
        std::fs::write(&path, damaged).unwrap();
        named(first, say);
        place.bad("export out --format obj", 2, &["hair"]);
    }
    std::fs::write(&path, &later).unwrap();
    named(next, "the strands of the frame before");
    std::fs::write(&path, &whole).unwrap();
    place.good("verify out");
    // A file that is missing: pieces are measured as if they were whole.
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(place.path(&format!("out/{}", strands(next)))).unwrap();
    place.bad("verify out", 1, &["hair"]);
}

#[test]
fn exports_and_pictures_show_two_curves() {
    let place = place_with_run();
    let recording = Recording::open(&place.path("out")).unwrap();
    let counts = |frame: u32| match &*recording.read(0, frame).unwrap().connections {
        Connections::Curves(counts) => counts.clone(),
        Connections::Triangles(_) => Vec::new(),
    };
    let first = cuts(&place, "out")[0];
    let [whole, torn, last] = [0, first, 20].map(counts);
    assert!(whole.len() == 30 && torn.len() > 30 && last.len() > torn.len());
    let points = |counts: &[u32]| counts.iter().sum::<u32>();
    assert_eq!((points(&torn), points(&last)), (930, 930));
    let rows = npy::read_triangles(&place.path(&format!("out/{}", strands(first)))).unwrap();
    assert_eq!(rows.iter().map(|row| row[1]).collect::<Vec<u32>>(), torn);
    assert_eq!((rows[0][2], rows[rows.len() - 1][2]), (0, 29));
    for format in Format::ALL {
        place.good(&format!("export out --format {}", format.name()));
    }
    for (frame, wanted) in [(0, &whole), (first, &torn), (20, &last)] {
        let (_, ply) =
            mesh::read_strands(&place.path(&format!("out/export/ply/hair.{frame:04}.ply"))).unwrap();
        let hair = mesh::read_groom(&place.path(&format!("out/export/hair/hair.{frame:04}.hair"))).unwrap();
        assert_eq!((&ply, &hair.counts), (wanted, wanted), "frame {frame}");
    }
    // USD holds counts from one change to the next.
    let text = place.read("out/export/hair.usda");
    assert!(text.contains("int[] curveVertexCounts.timeSamples"), "no samples of counts");
    place.good(&format!("render out --frame {first} -o torn.png --color strain"));
    place.good("render out --frame 20 -o last.png");
}

#[test]
fn what_cannot_tear_is_refused_by_its_key() {
    let place = Place::new();
    let refused = |from: &str, to: &str, say: &[&str]| {
        place.write("bad.toml", &HAIR.replace(from, to));
        place.bad("run bad.toml -o bad", 2, say);
    };
    refused("stretch = 0.05", "stretch = 0.0", &["hair.hair.tear.stretch"]);
    refused("stretch = 0.05", "stretch = nan", &["hair.hair.tear.stretch"]);
    refused("random = 0.5", "random = 1.5", &["hair.hair.tear.random"]);
    refused("random = 0.5", "by = \"edges\"", &["hair.hair.tear.by", "unknown key"]);
    refused("corner:root", "corner:middle", &["hair.hair.tear.weak[0].select"]);
    refused("corner:root", "map:gone.txt", &["gone.txt"]);
    refused("name = \"hair\"", "name = \"hair\"\nmodel = \"springs\"", &["hair.hair.tear", "springs"]);
    refused("name = \"hair\"", "name = \"hair\"\nguides = { count = 5 }", &["hair.hair.tear", "guides"]);
}
