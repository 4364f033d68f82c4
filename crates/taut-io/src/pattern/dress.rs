//! A scene from a pattern and a body: what `taut dress` writes.
//!
//! Units and the up axis of the two files are guessed where they cannot be right as they are: a body is
//! between 30 cm and 3 m tall, panels lie in front of it and behind it. Every guess is a note for the user.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Component, Path, PathBuf},
};

use glam::{DVec3, Vec3};
use taut::mesh::TriangleMesh;

use super::{Contents, Pattern, place};
use crate::{Problem, Problems, scene};

/// Plausible heights of a body and sizes of a placed pattern \[m\].
const BODY_SIZES: [f64; 2] = [0.3, 3.0];
const PATTERN_SIZES: [f64; 2] = [0.1, 4.0];
/// Scales that a body may have been written with: metres, centimetres, millimetres.
const BODY_SCALES: [(f64, &str); 3] = [(1.0, "m"), (0.01, "cm"), (0.001, "mm")];
/// Units in a metre that a pattern may have been written with.
const PATTERN_UNITS: [f64; 4] = [100.0, 1.0, 1000.0, 10.0];
/// Depth of a body over its height, at most, along the axis that is not up.
const FLAT: f64 = 0.6;

/// Duration of the sewing phase \[s\], when the body grows in it, frames, and the largest strain of the
/// scene.
const SEWING: f64 = 2.2;
const GROWTH: [f64; 2] = [1.2, 2.0];
const FRAMES: u32 = 150;
const MAX_STRAIN: f64 = 0.03;
/// Distance that cloth keeps from the body, in addition to half its thickness \[m\].
/// Garments fit closely: 4 mm around an arm are a twentieth of an armhole.
const MARGIN: f64 = 0.0005;
/// Thickness of cloth in lengths of an edge, and its range \[m\].
const THICKNESS: f64 = 0.1;
const THICKNESS_RANGE: [f64; 2] = [0.001, 0.002];

/// A scene in which a pattern is sewn around a body.
#[derive(Clone, Debug)]
pub struct Dressed {
    /// Its TOML text.
    pub text: String,
    /// What was guessed, and what looks odd.
    pub notes: Vec<String>,
    /// What the pattern contains.
    pub contents: Contents,
}

/// The scene of `pattern` around `body`, to be written to `scene`, with triangles of about `edge` \[m\].
///
/// # Errors
/// All problems of the two files, and a pattern that is not around the body.
pub fn dress(pattern: &Path, body: &Path, scene: &Path, edge: f64) -> Result<Dressed, Problems> {
    let mut notes = Vec::new();
    let missing = |path: &Path, what: &str| Problem {
        file: Some(path.into()),
        message: format!("file not found; {what}"),
        ..Problem::default()
    };
    if !pattern.exists() {
        return Err(missing(pattern, "must be a pattern of GarmentCode (.json)").into());
    }
    if super::dxf::is_dxf(pattern) {
        let message = "is a DXF file, which has no stitches and no places around a body: must be a pattern of GarmentCode (.json); or name it in a scene, with stitches";
        return Err(
            Problem { file: Some(pattern.into()), message: message.into(), ..Problem::default() }.into()
        );
    }
    if !body.exists() {
        return Err(missing(body, "must be the mesh of a body (.obj, .ply, .stl, .gltf, .glb, .usd)").into());
    }
    let mut sewing = super::read(pattern)?;
    let own = sewing.units_in_meter();
    let units = guess_units(&sewing, pattern, &mut notes)?;
    sewing = sewing.with_units(units);
    let mesh = crate::mesh::read(body)?;
    let placed = Placement::guess(&mesh, body, &mut notes)?;
    check_around(&sewing, pattern, &placed)?;
    let shifts = place::shifts(&sewing, &placed.apply(&mesh));
    for (panel, shift) in &shifts {
        sewing.shift(panel, *shift);
    }
    notes.extend(moved(&shifts));
    let sewn = sewing.sew(edge)?;
    notes.extend(sewn.warnings.iter().cloned());

    let folder = scene.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let [pattern_path, body_path] = [pattern, body].map(|path| relative(path, folder));
    let (pattern_path, body_path) = (pattern_path?, body_path?);
    let name = cloth_name(pattern);
    let mut keys = format!("file = {}, edge = {edge}", quoted(&pattern_path));
    if units != own {
        let _ = write!(keys, ", units_in_meter = {units}");
    }
    if !shifts.is_empty() {
        let panel = |(name, shift): (&String, &DVec3)| {
            let [x, y, z] = shift.to_array();
            format!("{} = [{x:?}, {y:?}, {z:?}]", quoted(name))
        };
        let all: Vec<String> = shifts.iter().map(panel).collect();
        let _ = write!(keys, ", shift = {{ {} }}", all.join(", "));
    }
    let [grow_start, grow_end] = GROWTH;
    let thickness = (THICKNESS * edge).clamp(THICKNESS_RANGE[0], THICKNESS_RANGE[1]);
    let thickness = (thickness * 1e4).round() / 1e4;
    let transform = placed.transform();
    let text = format!(
        "# Written by `taut dress`: a pattern is sewn around a body, and hangs.\n\n\
         [scene]\nframes = {FRAMES}\nsewing = {SEWING:?}               # s without gravity, in which the seams close\n\n\
         [contact]\nthickness = {thickness:?}         # m\n\n\
         [[cloth]]\nname = \"{name}\"\nmesh = {{ pattern = {{ {keys} }} }}\n\
         material = \"cotton\"          # taut materials lists others\nstrain = {{ max = {MAX_STRAIN} }}\n\n\
         [[obstacle]]\nname = \"body\"\nmesh = {}\n{transform}\
         grow = {{ start = {grow_start:?}, end = {grow_end:?} }}   # s; thin at first, so that seams can close\n\
         friction = 0.3\nmargin = {MARGIN:?}             # m\n\n\
         [solver]\nintegrator = \"euler\"         # comes to rest sooner than bdf2\n\n\
         [expect]\nfinal_opening = 0.0\n",
        quoted(&body_path)
    );
    // What is written can be run.
    let built = scene::parse(&text, "dress", folder, &[])?;
    built.build()?;
    Ok(Dressed { text, notes, contents: sewn.contents })
}

/// Units of the pattern in a metre.
fn guess_units(pattern: &Pattern, path: &Path, notes: &mut Vec<String>) -> Result<f64, Problem> {
    let own = pattern.units_in_meter();
    let [low, high] = pattern.bounds();
    let size = (high - low).max_element() * own;
    let fits = |units: f64| (PATTERN_SIZES[0]..=PATTERN_SIZES[1]).contains(&(size / units));
    if fits(own) {
        return Ok(own);
    }
    let Some(units) = PATTERN_UNITS.into_iter().find(|&units| fits(units)) else {
        let message = format!(
            "would measure {:.4} m with {own} units in a metre, must be {} to {} m",
            size / own,
            PATTERN_SIZES[0],
            PATTERN_SIZES[1]
        );
        return Err(Problem { file: Some(path.into()), message, ..Problem::default() });
    };
    notes.push(format!(
        "{}: would measure {:.4} m with {own} units in a metre; guessed {units}, which makes it {:.2} m",
        path.display(),
        size / own,
        size / units
    ));
    Ok(units)
}

/// How a body is placed: scaled, turned.
struct Placement {
    scale: f64,
    is_z_up: bool,
    bounds: [DVec3; 2],
}

impl Placement {
    fn guess(mesh: &TriangleMesh, path: &Path, notes: &mut Vec<String>) -> Result<Self, Problem> {
        let problem = |message: String| Problem { file: Some(path.into()), message, ..Problem::default() };
        if mesh.triangles.is_empty() {
            return Err(problem("has no faces, must be the mesh of a body".into()));
        }
        let all = mesh.positions.iter().map(|p| p.as_dvec3());
        let (low, high) =
            (all.clone().fold(DVec3::INFINITY, DVec3::min), all.fold(DVec3::NEG_INFINITY, DVec3::max));
        let size = high - low;
        let tall = size.max_element();
        let fits = |(scale, _): &(f64, &str)| (BODY_SIZES[0]..=BODY_SIZES[1]).contains(&(tall * scale));
        let Some((scale, unit)) = BODY_SCALES.into_iter().find(fits) else {
            let [least, most] = BODY_SIZES;
            return Err(problem(format!(
                "is {tall:.3} units tall, must be {least} to {most} m, in metres, centimetres or millimetres"
            )));
        };
        if scale != 1.0 {
            notes.push(format!(
                "{}: is {tall:.1} units tall; guessed {unit}, which makes it {:.2} m: the scene scales it by {scale}",
                path.display(),
                tall * scale
            ));
        }
        let is_z_up = size.y < FLAT * size.z && size.z > 0.0;
        if is_z_up {
            notes.push(format!("{}: z is up; the scene turns it so that y is", path.display()));
        }
        if volume(mesh) < 0.0 {
            notes.push(format!(
                "{}: is inside out, its faces point inwards; it is turned when the scene is read",
                path.display()
            ));
        }
        let mut placed = Self { scale, is_z_up, bounds: [DVec3::ZERO; 2] };
        let (a, b) = (placed.place(low), placed.place(high));
        placed.bounds = [a.min(b), a.max(b)];
        Ok(placed)
    }

    /// The mesh as it is placed.
    fn apply(&self, mesh: &TriangleMesh) -> TriangleMesh {
        let positions = mesh.positions.iter().map(|p| self.place(p.as_dvec3()).as_vec3()).collect();
        TriangleMesh { positions, triangles: mesh.triangles.clone(), ..TriangleMesh::default() }
    }

    fn place(&self, p: DVec3) -> DVec3 {
        self.scale * if self.is_z_up { DVec3::new(p.x, p.z, -p.y) } else { p }
    }

    /// The lines of the scene that place it.
    fn transform(&self) -> String {
        let mut keys = Vec::new();
        if self.is_z_up {
            keys.push("rotate = [-90.0, 0.0, 0.0]".to_owned());
        }
        if self.scale != 1.0 {
            keys.push(format!("scale = {}", self.scale));
        }
        if keys.is_empty() { String::new() } else { format!("transform = {{ {} }}\n", keys.join(", ")) }
    }
}

/// What is said of panels that start elsewhere: those with the same shift in one note.
fn moved(shifts: &BTreeMap<String, DVec3>) -> Vec<String> {
    let mut sets: BTreeMap<[i64; 3], Vec<&str>> = BTreeMap::new();
    for (panel, shift) in shifts {
        sets.entry((100.0 * *shift).round().to_array().map(|k| k as i64)).or_default().push(panel);
    }
    let note = |([x, y, z], panels): ([i64; 3], Vec<&str>)| {
        let ways = [
            (x, "to the left", "to the right"),
            (y, "lower", "higher"),
            (z, "further back", "further in front"),
        ];
        let ways = ways.iter().filter(|(way, ..)| *way != 0);
        let ways: Vec<String> = ways
            .map(|(way, less, more)| format!("{} cm {}", way.abs(), if *way < 0 { less } else { more }))
            .collect();
        let (names, way) = (panels.join(", "), ways.join(", "));
        format!("{names}: starts {way} than placed, to be sewn around the body (key shift)")
    };
    sets.into_iter().map(note).collect()
}

/// Six times the volume that a mesh encloses; negative if its faces point inwards.
fn volume(mesh: &TriangleMesh) -> f64 {
    let middle =
        mesh.positions.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / mesh.positions.len().max(1) as f64;
    let of = |t: &[u32; 3]| {
        let [a, b, c] =
            t.map(|v| mesh.positions.get(v as usize).copied().unwrap_or(Vec3::ZERO).as_dvec3() - middle);
        a.dot(b.cross(c))
    };
    mesh.triangles.iter().map(of).sum()
}

/// The panels must be around the body: their boxes overlap, and some are on both sides of it.
fn check_around(pattern: &Pattern, path: &Path, body: &Placement) -> Result<(), Problem> {
    let ([low, high], [least, most]) = (pattern.bounds(), body.bounds);
    let middle = 0.5 * (low + high);
    let inside = (0..3).all(|k| low[k] < most[k] && high[k] > least[k])
        && (least.y..=most.y).contains(&middle.y)
        && (least.x..=most.x).contains(&middle.x);
    if inside {
        return Ok(());
    }
    let show = |[a, b]: [DVec3; 2]| {
        format!("({:.2}, {:.2}, {:.2}) to ({:.2}, {:.2}, {:.2}) m", a.x, a.y, a.z, b.x, b.y, b.z)
    };
    let message = format!(
        "is not around the body: its panels are at {}, the body at {}; panels must be placed in front of the body and behind it",
        show([low, high]),
        show([least, most])
    );
    Err(Problem { file: Some(path.into()), message, ..Problem::default() })
}

/// `file` as seen from `folder`.
fn relative(file: &Path, folder: &Path) -> Result<String, Problem> {
    let wrong = |message: String| Problem { file: Some(file.into()), message, ..Problem::default() };
    let full = |path: &Path| path.canonicalize().map_err(|error| wrong(format!("cannot be read: {error}")));
    let file_path = full(file)?;
    // A folder that does not exist yet is reported when the scene is written.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let (from, to): (Vec<Component>, Vec<Component>) =
        (folder.components().collect(), file_path.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    // Nothing in common but the root: the whole path says more than a row of dots.
    let path: PathBuf = if shared <= 1 {
        file_path.clone()
    } else {
        from[shared..].iter().map(|_| Component::ParentDir).chain(to[shared..].iter().copied()).collect()
    };
    let text = path.to_str().ok_or_else(|| wrong("its path is not valid Unicode".into()))?;
    Ok(if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() })
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A name for the cloth: the file's, as far as a name may have its characters.
fn cloth_name(pattern: &Path) -> String {
    let stem = pattern.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.strip_suffix("_specification").unwrap_or(&stem);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = stem.chars().filter(|&c| is_plain(c)).take(64).collect();
    if name.is_empty() { "garment".into() } else { name }
}
