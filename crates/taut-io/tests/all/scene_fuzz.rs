//! Garbage never panics: scenes changed at random are loaded, and some of them built.
//!
//! Every case is made from its number alone, so that a failing one can be made again: the test prints it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use taut_io::scene::{built_in, parse};

const CASES: u64 = 400_000;
const BUILT_CASES: u64 = 60_000;

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn new(case: u64) -> Self {
        Self(case.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const NUMBERS: &[&str] = &[
    "nan",
    "-inf",
    "inf",
    "1e308",
    "-1e308",
    "-1",
    "0",
    "-0.0",
    "1",
    "2",
    "1e-320",
    "0.5",
    "9223372036854775807",
    "99999999999999999999",
    "-9223372036854775808",
    "0xff",
    "1_0",
    "07",
    "1979-05-27T07:32:00Z",
    "1e6",
    "1e-6",
];
const TOKENS: &[&str] = &[
    "[[cloth]]",
    "[[obstacle]]",
    "[[seam]]",
    "pairs = [[0, 7]]",
    "within = 0.5",
    "[scene]",
    "[air]",
    "[solver]",
    "[expect]",
    "[cloth.pin]",
    "[[cloth.pin]]",
    "{",
    "}",
    "[",
    "]",
    "=",
    ",",
    ".",
    "\"",
    "'''",
    "\"\"\"",
    "\n",
    "#",
    "\\",
    "\u{0}",
    "é",
    "布",
    "true",
    "grid",
    "disc",
    "file",
    "\"map:x\"",
    "\"group:a\"",
    "\"index:0-4294967295\"",
    "\"box:0,0,0,1,1,1\"",
    "name = \"a\"",
    "material.base = 1",
    "mesh.torus = { major = 1, minor = 0.1, segments = [3, 3] }",
    "motion = [{ time = 1 }, { time = 0 }]",
    "[0, 0, 0]",
    "shape.torus.axis = [0, 0, 0]",
    "noise = { amplitude = 1e3, frequency = 1e6, octaves = 16 }",
];
const OVERRIDES: &[&str] = &[
    "scene.frames=3",
    "cloth.*.strain.max=0.1",
    "cloth.0.mesh.disc.radius=nan",
    "a.b.c=d",
    "cloth.sheet=3",
    "=",
    "cloth=",
    "cloth.0.pin.*.motion.0.time=-1",
    "air.wind=[1,2,3]",
    "air.wind.0.time=9",
    "cloth.*.material.density=1",
    "cloth={}",
    "obstacle=[{}]",
    "cloth.0.name=x",
    "cloth.*.name=x",
    "expect=1",
    "[0]=1",
    "cloth[0][0]=1",
    "scene={frames=1}",
    "scene.=1",
];

/// The bounds of the words and numbers of `text`.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        let inside = letter.is_alphanumeric() || "_.-+".contains(letter);
        match (start, inside) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// One change at random.
fn mutate(text: String, random: &mut Random) -> String {
    let words = words(&text);
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let replace = |(from, to): (usize, usize), by: &str| format!("{}{by}{}", &text[..from], &text[to..]);
    match random.below(10) {
        0 => {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1 => text[..boundary(random.below(text.len()))].to_owned(),
        2 if words.len() > 1 => {
            let (a, b) = (words[random.below(words.len())], words[random.below(words.len())]);
            let (a, b) = (a.min(b), a.max(b));
            if a == b {
                return text;
            }
            let (before, between, after) = (&text[..a.0], &text[a.1..b.0], &text[b.1..]);
            format!("{before}{}{between}{}{after}", &text[b.0..b.1], &text[a.0..a.1])
        }
        3 | 4 => {
            let numbers: Vec<_> =
                words.iter().filter(|(from, _)| text.as_bytes()[*from].is_ascii_digit()).collect();
            match numbers.is_empty() {
                true => text,
                false => replace(*numbers[random.below(numbers.len())], random.pick(NUMBERS)),
            }
        }
        5 if !words.is_empty() => {
            let (from, to) = words[random.below(words.len())];
            let mut word: Vec<char> = text[from..to].chars().collect();
            let at = random.below(word.len());
            match random.below(3) {
                0 => drop(word.remove(at)),
                1 => word.insert(at, 'x'),
                _ => word.swap(at, 0),
            }
            replace((from, to), &word.into_iter().collect::<String>())
        }
        6 => {
            let at = boundary(random.below(text.len() + 1));
            replace((at, at), random.pick(TOKENS))
        }
        7 => {
            let lines: Vec<&str> = text.lines().collect();
            let (from, to) = (random.below(lines.len()), random.below(lines.len()));
            let mut lines: Vec<&str> = lines;
            if from < lines.len() {
                let line = if random.below(2) == 0 { lines.remove(from) } else { lines[from] };
                lines.insert(to.min(lines.len()), line);
            }
            lines.join("\n")
        }
        8 => {
            let depth = 1 + random.below(200);
            let (open, close) = [("[", "]"), ("{ a = ", "}"), ("[{ mesh = ", "}]")][random.below(3)];
            let at = boundary(random.below(text.len() + 1));
            replace(
                (at, at),
                &format!(
                    "\n{} = {}1{}\n",
                    random.pick(&["a", "cloth", "scene"]),
                    open.repeat(depth),
                    close.repeat(depth)
                ),
            )
        }
        _ => match words.is_empty() {
            true => text,
            false => replace(words[random.below(words.len())], random.pick(TOKENS)),
        },
    }
}

/// Text and overrides of a case.
fn make(case: u64, start: &dyn Fn(&mut Random) -> String) -> (String, Vec<String>) {
    let mut random = Random::new(case);
    let mut text = start(&mut random);
    // One change as often as all larger numbers of them: many changes rarely leave a scene good.
    for _ in 0..1 + random.below(2) * random.below(6) {
        text = mutate(text, &mut random);
    }
    let count = if random.below(4) == 0 { 1 + random.below(3) } else { 0 };
    let overrides = (0..count).map(|_| {
        let text = random.pick(OVERRIDES).to_owned();
        if random.below(2) == 0 { mutate(text, &mut random) } else { text }
    });
    (text, overrides.collect())
}

/// Runs `cases` cases on all cores; `check` returns whether the scene was good.
fn run(
    cases: u64,
    start: &(dyn Fn(&mut Random) -> String + Sync),
    check: &(dyn Fn(&str, &[String]) -> bool + Sync),
) -> u64 {
    let (next, good) = (AtomicU64::new(0), AtomicU64::new(0));
    let threads = thread::available_parallelism().map_or(1, |count| count.get()) as u64;
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let case = next.fetch_add(1, Ordering::Relaxed)
                    && case < cases
                {
                    let (text, overrides) = make(case, start);
                    match catch_unwind(AssertUnwindSafe(|| check(&text, &overrides))) {
                        Ok(true) => drop(good.fetch_add(1, Ordering::Relaxed)),
                        Ok(false) => {}
                        Err(_) => panic!("case {case} panics; overrides {overrides:?}, text:\n{text}"),
                    }
                }
            });
        }
    });
    good.into_inner()
}

#[test]
fn no_scene_panics_when_loaded() {
    let start = |random: &mut Random| built_in()[random.below(built_in().len())].text.to_owned();
    let good = run(CASES, &start, &|text, overrides| match parse(text, "fuzz", Path::new(""), overrides) {
        Ok(scene) => {
            assert!(
                parse(&scene.to_toml(), "again", Path::new(""), &[]).is_ok(),
                "its written-out form is refused"
            );
            true
        }
        Err(problems) => {
            assert!(!problems.0.is_empty() && problems.0.iter().all(|problem| !problem.message.is_empty()));
            false
        }
    });
    // Both sides must be reached for the test to mean something.
    assert!(good > CASES / 20 && good < CASES / 2, "{good} of {CASES} were good");
}

/// A scene with a bit of everything and few vertices.
const TINY: &str = r#"[scene]
frames = 3
seed = 5
[[cloth]]
name = "a"
mesh = { grid = { size = [1.0, 2.0], cells = [3, 2], diagonals = "jittered" } }
transform = { translate = [0, 1, 0], rotate = [10, 20, 30], scale = [1, 2, 1] }
material = { base = "denim", density = 0.3 }
strain = { min = -0.1, max = 0.2 }
bend = { min = -60, max = 30.5 }
noise = { amplitude = 0.1, octaves = 3, frequency = 2.0 }
pin = [{ select = "corner:top-left", motion = [{ time = 0 }, { time = 1, rotate = [0, 90, 0] }] }, { select = "index:1,3-5" }, { select = "index:2", attach = "stool" }]
[[cloth]]
mesh.disc = { radius = 0.5, rings = 2 }
pin = [{ select = "box:-1,-1,-1,0,1,1" }, { select = "boundary" }]
[[cloth]]
mesh.torus = { major = 0.5, minor = 0.2, segments = [5, 4] }
pin = [{ select = "all", pivot = [0, 0, 0] }]
[[seam]]
cloths = ["a", "cloth-2"]
pairs = [[0, 3], [2, 7]]
speed = 0.5
[[seam]]
cloth = "a"
from = "index:0,4"
to = "index:3,11"
[[seam]]
cloth = "cloth-2"
within = 3
[[obstacle]]
shape.capsule = { from = [0, 0, 0], to = [1, 0, 0], radius = 0.1 }
transform.rotate = [0, 0, 45]
[[obstacle]]
shape.plane.normal = [0.1, 1, 0]
[[obstacle]]
name = "stool"
mesh = { box = { size = [0.4, 0.3, 0.4], cells = [1, 2, 1] } }
motion = [{ time = 0.1, translate = [1, 0, 0] }]
"#;

#[test]
fn no_scene_panics_when_built() {
    let good = run(BUILT_CASES, &|_| TINY.to_owned(), &|text, overrides| {
        let Ok(scene) = parse(text, "fuzz", Path::new("/nonexistent"), overrides) else { return false };
        // Larger meshes would only test the generators' speed.
        let counts = ["cells", "segments", "rings", "frequency"];
        let text = scene.to_toml();
        let large =
            |line: &str| line.split(|letter: char| !letter.is_ascii_digit()).any(|digits| digits.len() > 2);
        if text.lines().any(|line| counts.iter().any(|key| line.starts_with(key)) && large(line)) {
            return false;
        }
        let Ok(description) = scene.build() else { return false };
        for cloth in description.cloths() {
            assert_eq!(cloth.start.len(), cloth.mesh.positions.len());
            assert!(cloth.start.iter().all(|x| x.is_finite()));
            assert!(
                cloth
                    .pins
                    .iter()
                    .flat_map(|pin| &pin.vertices)
                    .all(|index| (*index as usize) < cloth.start.len())
            );
        }
        for seam in &description.seams {
            assert!(!seam.pairs.is_empty());
            for &[a, b] in &seam.pairs {
                assert!(a != b);
                for (cloth, vertex) in [a, b] {
                    assert!((vertex as usize) < description.bodies[cloth].as_cloth().unwrap().start.len());
                }
            }
        }
        for obstacle in &description.mesh_obstacles {
            obstacle.check().unwrap();
        }
        for obstacle in &description.obstacles {
            assert!(obstacle.position.is_finite() && (obstacle.rotation.length() - 1.0).abs() < 1e-5);
        }
        true
    });
    assert!(good > BUILT_CASES / 50, "{good} of {BUILT_CASES} were built");
}
