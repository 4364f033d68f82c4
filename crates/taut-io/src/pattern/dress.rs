//! A scene from patterns and a body: what `taut dress` writes. Of several patterns, the first is put on
//! first.
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
/// Time in which the seams of the innermost of several garments close, and how much later each further one
/// does \[s\].
const CLOSING_TIME: f64 = 0.88;
const LAYER_TIME: f64 = 0.8;
/// Strain beyond that of its tightest ring that a garment needs, as it is stretched unevenly; and strain from
/// which on it is too small to be put on.
const SPARE_STRAIN: f64 = 0.01;
const TOO_SMALL: f64 = 0.25;
/// Distance that cloth keeps from the body, in addition to half its thickness \[m\].
/// Garments fit closely: 4 mm around an arm are a twentieth of an armhole.
const MARGIN: f64 = 0.0005;
/// Thickness of cloth in lengths of an edge, and its range \[m\].
const THICKNESS: f64 = 0.1;
const THICKNESS_RANGE: [f64; 2] = [0.001, 0.002];

/// A scene in which patterns are sewn around a body.
#[derive(Clone, Debug)]
pub struct Dressed {
    /// Its TOML text.
    pub text: String,
    /// What was guessed, and what looks odd.
    pub notes: Vec<String>,
    /// Its garments, from the body outwards.
    pub garments: Vec<DressedGarment>,
}

/// A garment of a scene.
#[derive(Clone, Debug, serde::Serialize)]
pub struct DressedGarment {
    /// Name of its cloth.
    pub name: String,
    /// What its pattern contains.
    #[serde(flatten)]
    pub contents: Contents,
}

/// A pattern that has been placed around the body.
struct Layer {
    path: PathBuf,
    name: String,
    /// Units in a metre, if they are not the file's.
    units: Option<f64>,
    shifts: BTreeMap<String, DVec3>,
    /// Largest strain that it may have.
    max_strain: f64,
    contents: Contents,
}

/// The scene of `patterns` around `body`, put on in this order, to be written to `scene`, with triangles of
/// about `edge` \[m\].
///
/// # Errors
/// All problems of the files, and patterns that are not around the body.
pub fn dress(patterns: &[PathBuf], body: &Path, scene: &Path, edge: f64) -> Result<Dressed, Problems> {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for path in patterns {
        match read_pattern(path) {
            Ok(pattern) => read.push(pattern),
            Err(Problems(found)) => problems.extend(found),
        }
    }
    let mut notes = Vec::new();
    let mut guess = || -> Result<(TriangleMesh, Placement), Problems> {
        if !body.exists() {
            return Err(
                missing(body, "must be the mesh of a body (.obj, .ply, .stl, .gltf, .glb, .usd)").into()
            );
        }
        let mesh = crate::mesh::read(body)?;
        let placement = Placement::guess(&mesh, body, &mut notes)?;
        Ok((placement.apply(&mesh), placement))
    };
    let (mesh, placement) = match guess() {
        Ok(guessed) if problems.is_empty() => guessed,
        Ok(_) => return Err(Problems(problems)),
        Err(Problems(found)) => return Err(Problems([problems, found].concat())),
    };
    let mut layers: Vec<Layer> = Vec::new();
    let mut placed = place::Placed::default();
    for (pattern, path) in read.into_iter().zip(patterns) {
        let mut own = Vec::new();
        match layer(pattern, path, (&mesh, &placement), &mut placed, edge, &mut own) {
            Ok(mut layer) => {
                if layers.iter().any(|other| other.name == layer.name) {
                    layer.name.truncate(60);
                    layer.name.push_str(&format!("-{}", layers.len() + 1));
                }
                layers.push(layer);
            }
            Err(Problems(found)) => problems.extend(found),
        }
        // A note that does not name its file names its garment.
        let name = path.display().to_string();
        let is_one = patterns.len() == 1;
        notes
            .extend(own.into_iter().map(|note| {
                if is_one || note.starts_with(&name) { note } else { format!("{name}: {note}") }
            }));
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let folder = scene.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let text = text(&layers, &placement, body, folder, edge)?;
    // What is written can be run.
    let built = scene::parse(&text, "dress", folder, &[])?;
    built.build()?;
    let garments =
        layers.into_iter().map(|Layer { name, contents, .. }| DressedGarment { name, contents }).collect();
    Ok(Dressed { text, notes, garments })
}

fn missing(path: &Path, what: &str) -> Problem {
    Problem { file: Some(path.into()), message: format!("file not found; {what}"), ..Problem::default() }
}

fn read_pattern(path: &Path) -> Result<Pattern, Problems> {
    if !path.exists() {
        return Err(missing(path, "must be a pattern of GarmentCode (.json)").into());
    }
    if super::dxf::is_dxf(path) {
        let message = "is a DXF file, which has no stitches and no places around a body: must be a pattern of GarmentCode (.json); or name it in a scene, with stitches";
        return Err(Problem { file: Some(path.into()), message: message.into(), ..Problem::default() }.into());
    }
    super::read(path)
}

/// Places a pattern around the body and what is `placed` there, and adds it to that.
fn layer(
    mut pattern: Pattern,
    path: &Path,
    (mesh, body): (&TriangleMesh, &Placement),
    placed: &mut place::Placed,
    edge: f64,
    notes: &mut Vec<String>,
) -> Result<Layer, Problems> {
    let own = pattern.units_in_meter();
    let units = guess_units(&pattern, path, notes)?;
    pattern = pattern.with_units(units);
    check_around(&pattern, path, body)?;
    let mut shifts = place::shifts(&pattern, mesh);
    for (panel, shift) in &shifts {
        pattern.shift(panel, *shift);
    }
    let middle = 0.5 * (body.bounds[0] + body.bounds[1]);
    for (panel, shift) in place::over(&pattern, placed, middle) {
        pattern.shift(&panel, shift);
        *shifts.entry(panel).or_default() += shift;
    }
    shifts.values_mut().for_each(|shift| *shift = (1e3 * *shift).round() / 1e3 + DVec3::ZERO);
    notes.extend(moved(&shifts));
    if pattern.stitches.is_empty() {
        notes.push("the pattern has no stitches: nothing holds its panels together".to_owned());
    }
    let sewn = pattern.sew(edge)?;
    notes.extend(sewn.warnings.iter().cloned());
    let max_strain = fitting_strain(&pattern, path, mesh, edge, notes)?;
    placed.add(&pattern);
    Ok(Layer {
        path: path.into(),
        name: cloth_name(path),
        units: (units != own).then_some(units),
        shifts,
        max_strain,
        contents: sewn.contents,
    })
}

/// The scene of garments that have been placed, in a file in `folder`.
fn text(
    layers: &[Layer],
    body: &Placement,
    body_path: &Path,
    folder: &Path,
    edge: f64,
) -> Result<String, Problem> {
    let later = LAYER_TIME * (layers.len() as f64 - 1.0);
    let frames = FRAMES + (30.0 * later).ceil() as u32;
    let [sewing, grow_start, grow_end] = [SEWING, GROWTH[0], GROWTH[1]].map(|time| rounded(time + later));
    let thickness = thickness(edge);
    let what = if layers.len() == 1 { "a pattern is" } else { "patterns are" };
    let mut text = format!(
        "# Written by `taut dress`: {what} sewn around a body, and hangs.\n\n\
         [scene]\nframes = {frames}\nsewing = {sewing:?}               # s without gravity, in which the seams close\n\n\
         [contact]\nthickness = {thickness:?}         # m\n\n"
    );
    if layers.len() > 1 {
        text = text.replace("and hangs", "one over the other, and hang");
    }
    for (number, layer) in layers.iter().enumerate() {
        let mut keys = format!("file = {}, edge = {edge}", quoted(&relative(&layer.path, folder)?));
        if let Some(units) = layer.units {
            let _ = write!(keys, ", units_in_meter = {units}");
        }
        if layers.len() > 1 {
            // The inner ones close first.
            let speed = layer.contents.opening / (CLOSING_TIME + LAYER_TIME * number as f64);
            let _ = write!(keys, ", speed = {:?}", rounded(speed.clamp(0.01, 100.0)));
        }
        if !layer.shifts.is_empty() {
            let panel = |(name, shift): (&String, &DVec3)| {
                let [x, y, z] = shift.to_array();
                format!("{} = [{x:?}, {y:?}, {z:?}]", quoted(name))
            };
            let all: Vec<String> = layer.shifts.iter().map(panel).collect();
            let _ = write!(keys, ", shift = {{ {} }}", all.join(", "));
        }
        let (name, max_strain) = (&layer.name, layer.max_strain);
        let _ = write!(
            text,
            "[[cloth]]\nname = \"{name}\"\nmesh = {{ pattern = {{ {keys} }} }}\n\
             material = \"cotton\"          # taut materials lists others\nstrain = {{ max = {max_strain} }}\n\n"
        );
    }
    let (mesh, transform) = (quoted(&relative(body_path, folder)?), body.transform());
    let _ = write!(
        text,
        "[[obstacle]]\nname = \"body\"\nmesh = {mesh}\n{transform}\
         grow = {{ start = {grow_start:?}, end = {grow_end:?} }}   # s; thin at first, so that seams can close\n\
         friction = 0.3\nmargin = {MARGIN:?}             # m\n\n\
         [solver]\nintegrator = \"euler\"         # comes to rest sooner than bdf2\n\n\
         [expect]\nfinal_opening = 0.0\n"
    );
    Ok(text)
}

/// Thickness of cloth with triangles of about `edge` \[m\].
fn thickness(edge: f64) -> f64 {
    rounded((THICKNESS * edge).clamp(THICKNESS_RANGE[0], THICKNESS_RANGE[1]))
}

/// The largest strain that a placed pattern may have: more than usual if it is narrower than the body.
fn fitting_strain(
    pattern: &Pattern,
    path: &Path,
    body: &TriangleMesh,
    edge: f64,
    notes: &mut Vec<String>,
) -> Result<f64, Problem> {
    let tight = place::tightest(pattern, body, MARGIN + 0.5 * thickness(edge));
    let Some(ring) = tight.filter(|ring| ring.strain() > MAX_STRAIN + SPARE_STRAIN) else {
        return Ok(MAX_STRAIN);
    };
    let what = format!(
        "measures {:.1} cm around at a height of {:.2} m, where the body measures {:.1} cm",
        1e2 * ring.length,
        ring.height,
        1e2 * ring.body
    );
    if ring.strain() > TOO_SMALL {
        let message = format!("is too small for the body: it {what}");
        return Err(Problem { file: Some(path.into()), message, ..Problem::default() });
    }
    let strain = (1e2 * (ring.strain() + SPARE_STRAIN)).ceil() / 1e2;
    notes.push(format!("{what}: it has to stretch by {:.1} %, strain.max is {strain}", 1e2 * ring.strain()));
    Ok(strain)
}

/// To four digits after the point.
fn rounded(number: f64) -> f64 {
    (1e4 * number).round() / 1e4
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
