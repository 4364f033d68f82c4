//! Readers meet garbage: mutated files of every format may be refused, and must never panic or give a broken
//! mesh.
//!
//! Everything is drawn from a seed a case, so that a failure is one number: the environment variable
//! `TAUT_FUZZ_SEED` runs that case alone, and `TAUT_FUZZ_CASES` sets how many are run.

use crate::mesh_samples;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use mesh_samples::*;
use taut::mesh::{
    TriangleMesh,
    check::{Kind, check},
    generate::Generator,
};
use taut_io::mesh::{Format, parse, write_ply};

/// Cases of one run. A build with debug assertions also finds overflows, more slowly.
const CASES: u64 = if cfg!(debug_assertions) { 60_000 } else { 600_000 };

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

fn samples() -> Vec<(Format, Vec<u8>)> {
    let mesh = tetrahedron();
    let sphere = Generator::Sphere { radius: 1.0, frequency: 2 }.generate().unwrap();
    let buffer = gltf_buffer(&mesh);
    let obj = "o thing\ng a b\nv 0 0 0\nv 1 0 0 1\nv 1 1 0 .1 .2 .3\nv 0 1 0\nv -1 .5 0\nvt 0 0\nvt 1 0\nvt 1 1\n\
        f 1/1 2/2 3/3\nf -5/-1/1 -3//1 \\\n 4\ng c\nf 1 2 3 4 5\nf 1 2 3 4\ns off\n";
    let nodes = r#","translation":[1,2,3],"rotation":[0,0,1,0],"scale":[1,1,-1]"#;
    vec![
        (Format::Obj, obj.into()),
        (Format::Obj, obj_text(&sphere)),
        (Format::Ply, ply_text(&mesh)),
        (Format::Ply, write_ply(&mesh)),
        (Format::Ply, ply_big_endian_odd()),
        (Format::Stl, stl_text(&mesh)),
        (Format::Stl, stl_binary(&mesh)),
        (Format::Gltf, gltf_json(&mesh, &data_uri(&buffer), nodes).into_bytes()),
        (Format::Gltf, glb(&gltf_json(&mesh, "", ""), &buffer)),
        (Format::Gltf, gltf_sparse().into_bytes()),
        (Format::Usd, USD_TEXT.into()),
        (Format::Usd, USD_BINARY.into()),
    ]
}

/// Bytes of a number as it stands in the text, if one starts at or after `at`.
fn number_at(bytes: &[u8], at: usize) -> Option<std::ops::Range<usize>> {
    let is_part = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
    let start = at + bytes[at..].iter().position(|b| b.is_ascii_digit())?;
    let length = bytes[start..].iter().position(|b| !is_part(b)).unwrap_or(bytes.len() - start);
    Some(start..start + length)
}

const NUMBERS: [&str; 20] = [
    "nan",
    "inf",
    "-inf",
    "1e39",
    "-1e300",
    "1e-50",
    "0",
    "-1",
    "-0",
    "1",
    "2",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999999",
    "1.5",
];
const WORDS: [&str; 24] = [
    "element vertex 4000000000\n",
    "element face 1\n",
    "property list uchar int vertex_index\n",
    "property double x\n",
    "format binary_big_endian 1.0\n",
    "format ascii 1.0\n",
    "end_header\n",
    "\n",
    "\r",
    "\\\n",
    "f 1 2 3\n",
    "f -1 -2 -3 -4 -5\n",
    "v 1 2 3\n",
    "vt\n",
    "g x y z\n",
    "solid",
    "endsolid\n",
    "facet\n",
    "\"mode\":5,",
    "\"children\":[0],",
    "\"sparse\":{},",
    "\"byteStride\":1,",
    "[[[[",
    "\u{0}",
];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random, other: &[u8]) {
    let at = random.below(bytes.len());
    match random.below(10) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        1 if !bytes.is_empty() => bytes[at] = random.next() as u8,
        // Mostly near the end: a file that stops at once tests little.
        2 => bytes.truncate(if random.below(4) == 0 {
            at
        } else {
            bytes.len().saturating_sub(random.below(40))
        }),
        3 => {
            let end = (at + random.below(8)).min(bytes.len());
            bytes.drain(at..end);
        }
        // A part of another file, or of this one again.
        4 => {
            let from = random.below(other.len());
            let to = (from + random.below(60)).min(other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        5 => {
            let end = (at + random.below(60)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        6 | 7 => {
            if let Some(range) = number_at(bytes, at) {
                // Half of them small: an index that is in range, a count that is off by one.
                let small = random.below(6).to_string();
                let number = if random.below(2) == 0 { &small } else { random.pick(&NUMBERS) };
                bytes.splice(range, number.bytes());
            }
        }
        8 => {
            let word = random.pick(&WORDS).bytes();
            bytes.splice(at..at, word);
        }
        // Four bytes of a binary table: sizes and indices.
        _ => {
            let value = *random.pick(&[
                &0u32,
                &1,
                &0xff,
                &0x7fff_ffff,
                &0x8000_0000,
                &u32::MAX,
                &0x7fc0_0000,
                &0x7f80_0000,
            ]);
            for (slot, byte) in bytes[at..].iter_mut().zip(value.to_le_bytes()) {
                *slot = byte;
            }
        }
    }
}

/// What every mesh that a reader gives must be, however broken its shape.
fn broken(mesh: &TriangleMesh) -> Option<String> {
    let inside = |&vertex: &u32| (vertex as usize) < mesh.positions.len();
    if mesh.triangles.is_empty() || !mesh.triangles.iter().flatten().all(inside) {
        return Some("indices out of range".into());
    }
    if mesh.uvs.as_ref().is_some_and(|uvs| uvs.len() != mesh.triangles.len()) {
        return Some("texture coordinates do not fit".into());
    }
    for (name, members) in &mesh.groups {
        if !members.iter().all(inside) || !members.is_sorted() || members.is_empty() {
            return Some(format!("group {name:?}"));
        }
    }
    let found = check(mesh);
    let has_undefined = mesh.positions.iter().any(|p| !p.is_finite());
    if has_undefined != found.iter().any(|problem| problem.kind() == Kind::NonFinite) {
        return Some("check does not see positions that are not finite".into());
    }
    found.iter().any(|problem| problem.to_string().is_empty()).then(|| "a problem without words".into())
}

/// Runs one case; what went wrong, and whether the mesh was accepted.
fn run(seed: u64, samples: &[(Format, Vec<u8>)]) -> Result<bool, String> {
    let mut random = Random(seed);
    let (format, original) = &samples[random.below(samples.len())];
    let mut bytes = original.clone();
    for _ in 0..1 + random.below(3) {
        let other = &samples[random.below(samples.len())].1;
        mutate(&mut bytes, &mut random, other);
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| match parse(&bytes, *format, None) {
        Ok(mesh) => broken(&mesh).map_or(Ok(true), Err),
        Err(problem) if problem.message.is_empty() => Err("a refusal without words".into()),
        Err(_) => Ok(false),
    }));
    let shown = || format!("{format:?}: {:?}", String::from_utf8_lossy(&bytes));
    match outcome {
        Ok(result) => result.map_err(|why| format!("{why}; {}", shown())),
        Err(_) => Err(format!("panic; {}", shown())),
    }
}

#[test]
fn no_input_panics_or_gives_a_broken_mesh() {
    let samples = samples();
    for (format, bytes) in &samples {
        assert!(parse(bytes, *format, None).is_ok(), "{:?}", parse(bytes, *format, None));
    }
    let variable = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let cases = variable("TAUT_FUZZ_CASES").unwrap_or(CASES);
    if let Some(seed) = variable("TAUT_FUZZ_SEED") {
        run(seed, &samples).unwrap();
        return;
    }
    let (next, accepted, failure) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(None));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= cases || failure.lock().unwrap().is_some() {
                        break;
                    }
                    match run(seed, &samples) {
                        Ok(mesh) => _ = accepted.fetch_add(u64::from(mesh), Ordering::Relaxed),
                        Err(why) => _ = failure.lock().unwrap().get_or_insert((seed, why)),
                    }
                }
            });
        }
    });
    if let Some((seed, why)) = failure.into_inner().unwrap() {
        panic!("case failed; TAUT_FUZZ_SEED={seed} runs it alone: {why}");
    }
    // Mutations that are all refused, or all harmless, would test little.
    let accepted = accepted.into_inner();
    assert!(accepted > cases / 20 && accepted < cases * 9 / 10, "{accepted} of {cases} accepted");
    println!("{cases} cases, {accepted} accepted");
}
