//! `taut check`: every error that would stop a run, found without running.

use std::{path::Path, process::ExitCode};

use serde::Serialize;
use taut::{
    CarriedStiffness, Schedule, World,
    low_level::Threads,
    measure::Examiner,
    measure::Intersection,
    mesh::TriangleMesh,
    mesh::groom::{Groom, GroomProblem},
};
use taut_io::{
    Problem, Problems,
    export::Target,
    mesh::{self, SolidFormat},
    output::{
        atomic,
        layout::{Layout, check_names},
        outcome::{BodySize, Figures, Outcome},
        recorder::body_sizes,
    },
    scene,
};

use crate::{
    args::CheckArgs,
    failure::{Failure, code},
    summary::elements,
    terminal::{self, GOOD, styled},
};

/// Intersections listed one by one; the rest are counted.
const NAMED: usize = 5;

/// Result of a check.
#[derive(Default, Serialize)]
struct Found {
    ok: bool,
    problems: Vec<Place>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u32>,
    /// Steps and substeps, and which rules decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<Schedule>,
    bodies: Vec<BodySize>,
    /// Cloth that has less than its material's stiffness, with an implicit integrator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    carried_stiffness: Vec<CarriedStiffness>,
    obstacles: usize,
    /// Distance that cloth keeps from cloth \[m\], if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    thickness: Option<f32>,
    /// Seams that start open, and the phase in which they are drawn together.
    #[serde(skip_serializing_if = "Option::is_none")]
    sewing: Option<Sewing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tangle: Option<Tangle>,
    /// Of a file of hair.
    #[serde(skip_serializing_if = "Option::is_none")]
    groom: Option<GroomSize>,
    #[serde(skip)]
    examiner: Option<Examiner>,
}

/// Strands of a file.
#[derive(Serialize)]
struct GroomSize {
    strands: usize,
    points: usize,
    /// Fewest and most segments of a strand.
    segments: [u32; 2],
    /// Shortest, mean and longest strand \[m\].
    length: [f64; 3],
    /// Thinnest and thickest radius \[m\]; none if the file has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<[f32; 2]>,
}

impl GroomSize {
    /// Of a groom with strands.
    fn of(groom: &Groom) -> Self {
        let ends = |all: [f64; 2], x: f64| [all[0].min(x), all[1].max(x)];
        let [shortest, longest] = groom.strand_lengths().fold([f64::INFINITY, 0.0], ends);
        let mean = groom.strand_lengths().sum::<f64>() / groom.counts.len().max(1) as f64;
        let segments = || groom.counts.iter().map(|count| count.saturating_sub(1));
        let radius = |all: [f32; 2], r: &f32| [all[0].min(*r), all[1].max(*r)];
        Self {
            strands: groom.counts.len(),
            points: groom.positions.len(),
            segments: [segments().min().unwrap_or(0), segments().max().unwrap_or(0)],
            length: [shortest, mean, longest],
            radius: Some(groom.radii.iter().fold([f32::INFINITY, 0.0], radius))
                .filter(|_| !groom.radii.is_empty()),
        }
    }

    fn describe(&self) -> String {
        let Self { strands, points, segments: [fewest, most], length: [shortest, mean, longest], radius } =
            self;
        let segments = if fewest == most { format!("{most}") } else { format!("{fewest} to {most}") };
        let radius = match radius {
            Some([thin, thick]) => {
                let [thin, thick] = [thin, thick].map(|r| format!("{:.3}", 1e3 * r));
                if thin == thick {
                    format!("radius {thin} mm")
                } else {
                    format!("radius {thin} to {thick} mm")
                }
            }
            None => "no radii: those of the material are used".into(),
        };
        format!(
            "  {strands} strands, {points} points, {segments} segments a strand\n  length {shortest:.4} to {longest:.4} m, {mean:.4} m in the mean; {radius}\n"
        )
    }
}

/// Seams that start open.
#[derive(Serialize)]
struct Sewing {
    /// Number of pairs of vertices that are apart.
    open: usize,
    /// Largest distance of a pair \[m\].
    opening: f32,
    /// Time in which the widest closes, if nothing is in its way \[s\].
    closes_in: f32,
    /// Duration of the phase without gravity \[s\].
    duration: f32,
}

impl Sewing {
    /// Of a scene with open seams or a sewing phase.
    fn of(description: &taut::Description) -> Option<Self> {
        let mut sewing = Self { open: 0, opening: 0.0, closes_in: 0.0, duration: description.sewing };
        let place = |(body, vertex): (usize, u32)| {
            description.bodies.get(body)?.as_cloth()?.start.get(vertex as usize).copied()
        };
        for seam in &description.seams {
            for pair in &seam.pairs {
                let [Some(a), Some(b)] = pair.map(place) else { continue };
                let apart = a.distance(b);
                sewing.open += usize::from(apart > 0.0);
                sewing.opening = sewing.opening.max(apart);
                sewing.closes_in = sewing.closes_in.max(apart / seam.speed);
            }
        }
        (sewing.open > 0 || sewing.duration > 0.0).then_some(sewing)
    }
}

/// Intersections of the initial state.
#[derive(Serialize)]
struct Tangle {
    /// Edges that intersect faces.
    intersections: u64,
    /// Faces that are pierced, or whose edges pierce other faces.
    faces: usize,
    /// The first few intersections.
    first: Vec<Intersection>,
    /// The file that shows them, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    ply: Option<String>,
}

/// A problem, for scripts.
#[derive(Serialize)]
struct Place {
    file: Option<String>,
    line: Option<usize>,
    key: Option<String>,
    message: String,
}

impl From<&Problem> for Place {
    fn from(problem: &Problem) -> Self {
        Self {
            file: problem.file.as_ref().map(|file| file.display().to_string()),
            line: problem.line,
            key: problem.key.clone(),
            message: problem.message.clone(),
        }
    }
}

/// Checks a scene or a mesh.
pub fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let is_groom = mesh::is_groom(Path::new(&args.input));
    let is_mesh = is_groom || mesh::Format::of_path(Path::new(&args.input)).is_some();
    let has_tetrahedra = SolidFormat::of_path(Path::new(&args.input)).is_some();
    if (is_mesh || has_tetrahedra) && !args.set.set.is_empty() {
        return Err(Failure::input("--set overrides scene keys, and this is a mesh", "omit --set"));
    }
    if let Some(ply) = &args.ply {
        if !ply.extension().is_some_and(|e| e.eq_ignore_ascii_case("ply")) {
            let message = format!("{} does not end in .ply", ply.display());
            return Err(Failure::input(message, "--ply writes a coloured .ply file"));
        }
        Target::refuse_existing(ply, args.force).map_err(Failure::at_start)?;
    }
    let found = match Path::new(&args.input) {
        path if is_groom => check_groom(path),
        path if is_mesh => check_mesh(path),
        path if has_tetrahedra => check_tetrahedra(path),
        _ => check_scene(args),
    };
    match found {
        Ok(mut found) => {
            if let (Some(ply), Some(examiner)) = (&args.ply, &found.examiner) {
                let bytes = mesh::write_marked_ply(examiner.positions(), &examiner.tangled_faces());
                atomic::write(ply, &bytes)
                    .map_err(|error| Failure::Write { message: error.to_string(), hint: None })?;
                found.tangle.iter_mut().for_each(|tangle| tangle.ply = Some(ply.display().to_string()));
            }
            found.warnings.iter().for_each(|warning| terminal::warning(warning));
            if args.json {
                terminal::print_json(&found)?
            } else {
                terminal::print(&describe(args, &found))?
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) if args.json => {
            let problems = problems.0.iter().map(Place::from).collect();
            terminal::print_json(&Found { problems, ..Found::default() })?;
            Ok(code::BAD_INPUT.into())
        }
        Err(problems) => {
            let n = problems.0.len();
            let hint = (n > 1).then(|| format!("{n} problems in total"));
            Err(Failure::Input { problems, hint })
        }
    }
}

/// The scene of a run folder, and what its outcome says that the scene alone cannot.
fn of_run(input: &str) -> Option<(String, Vec<String>)> {
    let layout = Layout::new(Path::new(input));
    let scene = layout.scene();
    let text = std::fs::read(layout.outcome()).ok()?;
    let outcome: Outcome = serde_json::from_slice(&text).ok()?;
    let warning = given_way(&outcome.figures);
    Some((scene.to_str()?.to_owned(), warning.into_iter().collect()))
}

/// Limits of a run that could not be met, if any.
fn given_way(figures: &Figures) -> Option<String> {
    let percent = |residual: f64| format!("{:.1} %", 100.0 * residual);
    (figures.given_way_frames > 0).then(|| {
        format!(
            "limits that could not be met gave way in {} frames of this run, in up to {} elements of a frame: lower ones by up to {}, upper ones by up to {}; widen them, or reduce what presses and pulls",
            figures.given_way_frames,
            figures.most_given_way,
            percent(figures.max_compression_residual.value),
            percent(figures.max_stretch_residual.value)
        )
    })
}

fn check_scene(args: &CheckArgs) -> Result<Found, Problems> {
    let run = of_run(&args.input);
    let (input, told) = run.unwrap_or_else(|| (args.input.clone(), Vec::new()));
    let scene = scene::load(&input, &args.set.set)?;
    let description = scene.build()?;
    check_names(description.bodies.iter().map(taut::Body::name))?;
    let sewing = Sewing::of(&description);
    let world = World::new(description).map_err(|error| Problem {
        file: scene.file.clone(),
        message: error.to_string(),
        ..Problem::default()
    })?;
    let found = Found {
        ok: true,
        warnings: told
            .into_iter()
            .chain(scene.warnings().iter().map(ToString::to_string))
            .chain(world.warnings())
            .collect(),
        frames: Some(scene.frames),
        schedule: Some(*world.schedule()),
        bodies: body_sizes(&world),
        carried_stiffness: world.carried_stiffness(),
        obstacles: world.description().obstacles.len()
            + world.description().mesh_obstacles.len()
            + world.description().rigid_bodies.len(),
        thickness: Some(world.description().contact.thickness).filter(|thickness| *thickness > 0.0),
        sewing,
        ..Found::default()
    };
    Ok(found.with_tangle(Examiner::of_all(&world)))
}

impl Found {
    /// Adds the intersections of the initial state.
    fn with_tangle(mut self, mut examiner: Examiner) -> Self {
        let found = examiner.examine_start(&Threads::alone());
        let first: Vec<Intersection> = examiner.intersections().take(NAMED).collect();
        if !first.is_empty() {
            let more = found.intersections - first.len() as u64;
            let mut words: Vec<String> = first.iter().map(ToString::to_string).collect();
            if more > 0 {
                words.push(format!("and {more} more"));
            }
            self.warnings.push(format!("tangled at the start: {}", words.join("; ")));
        }
        let faces = examiner.tangled_faces().iter().filter(|(_, tangled)| *tangled).count();
        self.tangle = Some(Tangle { intersections: found.intersections, faces, first, ply: None });
        self.examiner = Some(examiner);
        self
    }
}

fn check_mesh(path: &Path) -> Result<Found, Problems> {
    let mesh = mesh::read(path)?;
    let problems: Vec<Problem> = taut::mesh::check::check(&mesh)
        .iter()
        .map(|problem| Problem {
            file: Some(path.into()),
            message: problem.to_string(),
            ..Problem::default()
        })
        .collect();
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let examiner = Examiner::of_mesh(&name, &mesh);
    let found = Found { ok: true, bodies: vec![size(name, &mesh)], ..Found::default() };
    Ok(found.with_tangle(examiner))
}

/// Strands of hair.
fn check_groom(path: &Path) -> Result<Found, Problems> {
    let groom = mesh::read_groom(path)?;
    let problem = |problem: &GroomProblem| Problem {
        file: Some(path.into()),
        message: problem.to_string(),
        ..Problem::default()
    };
    let problems: Vec<Problem> = groom.problems().iter().map(problem).collect();
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    Ok(Found { ok: true, groom: Some(GroomSize::of(&groom)), ..Found::default() })
}

/// Tetrahedra and their surface.
fn check_tetrahedra(path: &Path) -> Result<Found, Problems> {
    let mesh::Tetrahedra { mesh, notes } = mesh::read_tetrahedra(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let examiner = Examiner::of_mesh(&name, &mesh.surface());
    let size = BodySize {
        name,
        vertices: mesh.positions.len(),
        tetrahedra: mesh.tetrahedra.len(),
        ..BodySize::default()
    };
    Ok(Found { ok: true, bodies: vec![size], warnings: notes, ..Found::default() }.with_tangle(examiner))
}

fn size(name: String, mesh: &TriangleMesh) -> BodySize {
    let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
    BodySize { name, vertices, triangles, ..BodySize::default() }
}

fn describe(args: &CheckArgs, found: &Found) -> String {
    let verdict = match found.warnings.len() {
        0 => "no problems".to_string(),
        1 => "no errors, 1 warning".to_string(),
        n => format!("no errors, {n} warnings"),
    };
    let mut text = format!("{}: {}\n", args.input, styled(GOOD, verdict));
    text.extend(found.groom.as_ref().map(GroomSize::describe));
    for body in &found.bodies {
        text.push_str(&format!(
            "  {}: {} vertices, {}\n",
            body.name,
            body.vertices,
            elements(body.triangles, body.tetrahedra, body.segments)
        ));
    }
    if let Some(tangle) = found.tangle.as_ref().filter(|tangle| tangle.intersections > 0) {
        let Tangle { intersections, faces, .. } = tangle;
        text.push_str(&format!("  tangled at the start: {intersections} intersections, {faces} faces\n"));
    }
    if let Some(ply) = found.tangle.as_ref().and_then(|tangle| tangle.ply.as_ref()) {
        text.push_str(&format!("  {ply}: initial state, intersecting faces in red\n"));
    }
    if let Some(frames) = found.frames {
        text.push_str(&format!("  obstacles: {}, frames: {frames}\n", found.obstacles));
    }
    if let Some(thickness) = found.thickness {
        text.push_str(&format!("  contact: cloth keeps {:.3} mm from cloth\n", 1e3 * thickness));
    }
    if let Some(Sewing { open, opening, closes_in, duration }) = &found.sewing {
        let apart = 1e2 * opening;
        text.push_str(&format!(
            "  sewing: {open} pairs up to {apart:.1} cm apart, closed in {closes_in:.2} s if nothing is in the way; no gravity for {duration} s\n"
        ));
    }
    for CarriedStiffness { cloth, tension, compression } in &found.carried_stiffness {
        let [tension, compression] = [tension, compression].map(|part| 1e2 * part);
        text.push_str(&format!(
            "  {cloth}: {tension:.3} % of the material's stretch stiffness in tension, {compression:.3} % in compression: what an implicit step carries\n"
        ));
    }
    if let Some(schedule) = &found.schedule {
        text.push_str(&format!("  {schedule}\n"));
    }
    text
}
