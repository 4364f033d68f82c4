//! What can be asked on the command line, and the help that says so.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use taut_io::{Problem, export::Format, recording::Recording};

/// Simulates cloth that holds its limits, and shows that it did.
///
/// A scene is a TOML file or the name of a built-in scene. A run leaves a folder with one file of positions a
/// frame and a certificate for each; `taut verify` recomputes the certificates from these files alone.
#[derive(Debug, Parser)]
#[command(
    name = "taut",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  taut scenes                              list the built-in scenes
  taut run hanging-sheet -o out            run one of them
  taut verify out                          check what it wrote
  taut view star                           run one in the browser, and pull on it
  taut scenes flag > my-flag.toml          take one as a start for your own

Exit codes: 0 fine, 1 a check failed, 2 bad input, 3 could not write, 130 interrupted."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write its frames into a folder
    Run(RunArgs),
    /// Recompute the certificate of a run from its files; exit 1 if anything does not hold
    Verify(VerifyArgs),
    /// Write the frames of a run for other programs
    Export(ExportArgs),
    /// Run a scene in the browser, pull on it and change it; or play a finished run
    View(ViewArgs),
    /// Draw residual, strain, energy and times of the frames of a run
    Plot(PlotArgs),
    /// Draw the frames of a run as pictures or video
    Render(RenderArgs),
    /// Find what would go wrong with a scene or a mesh before it does
    Check(CheckArgs),
    /// List the built-in scenes, or print one
    Scenes(ScenesArgs),
    /// Measure how long scenes take and how well limits are met
    Bench(BenchArgs),
    /// Fit the limits of coarser levels ahead of a run, and keep them
    Fit(FitArgs),
    /// List the materials that a scene can name
    Materials(MaterialsArgs),
    /// Print a script that completes commands in your shell
    Completions(CompletionsArgs),
}

/// Simulate a scene and write its frames into a folder.
///
/// Stop it with ctrl-C (it finishes its frame) or lose it to a power cut: `--resume` goes on, to the same
/// bits as if it had not stopped. Ends with exit code 1 if something that the scene expects does not hold.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut run hanging-sheet                               a built-in scene, into out/hanging-sheet
  taut run my.toml -o shot42 --frames 240              your own, with another number of frames
  taut run flag --set cloth.flag.strain.max=0.02       with another limit
  taut run hanging-sheet --set cloth.sheet.mesh.grid.cells=[64,64]
                                                       with another mesh size
  taut run --resume -o shot42                          go on with a run that was stopped
  taut run --resume -o shot42 --frames 480             make a finished run longer
  taut run flag --json --quiet | jq .figures           figures for a script")]
pub struct RunArgs {
    /// Scene file, or name of a built-in scene (`taut scenes` lists them); may be left out with --resume
    #[arg(required_unless_present = "resume")]
    pub scene: Option<String>,
    /// Folder to write [default: out/NAME]
    #[arg(short, long = "out", value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// Number of frames, in place of the scene's
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<i64>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub set: Overrides,
    /// Go on with the run in OUT
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Remove an earlier run in OUT first; other files there are kept
    #[arg(long)]
    pub force: bool,
    /// Export the frames when they are done, as `taut export --format` does; several separated by commas
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub export: Vec<String>,
    /// Print the outcome as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Show no progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
}

/// Recompute the certificate of a run from its files.
///
/// Reads positions, scene and rest meshes; measures every frame again; compares with the limits and with what
/// the run wrote down. Names frame, body and element of whatever does not hold.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut verify out/hanging-sheet
  taut verify out/hanging-sheet --json | jq '.failures[].message'

Exit codes: 0 everything holds, 1 something does not, 2 this is no folder of a run.")]
pub struct VerifyArgs {
    /// Folder of a run
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// Write the frames of a run for other programs.
///
/// Made from the folder of the run alone, a frame at a time: runs may be larger than memory. What is being
/// written gets its name when it is whole.
#[derive(Debug, Args)]
#[command(after_help = export_help())]
pub struct ExportArgs {
    /// Folder of a run
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// What to write, several separated by commas [default: by the name given with -o]
    #[arg(short, long, value_name = "FORMAT", value_delimiter = ',', required_unless_present = "to")]
    pub format: Vec<String>,
    /// File or folder to write [default: in the folder of the run, under export/]
    #[arg(short = 'o', long = "to", value_name = "PATH")]
    pub to: Option<PathBuf>,
    #[command(flatten)]
    pub frames: FrameRange,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
    /// Show no progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// Draw residual, strain, energy and times of the frames of a run.
///
/// Read from metrics.jsonl and scene.toml in the folder: residuals past limits with the tolerance, the
/// largest stretch with its limit (and compression and bends where they have limits), energies, and
/// milliseconds a frame split by stage. Several folders are compared in one figure.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut plot out/hanging-sheet                      into out/hanging-sheet/plot.svg
  taut plot out/flag -o flag.png                   as a picture
  taut plot out/loose out/tight -o compared.svg    two runs in one figure

Exit codes: 0 done, 2 this cannot be drawn, 3 could not write.")]
pub struct PlotArgs {
    /// Folder of a run; several are compared
    #[arg(value_name = "OUT", required = true)]
    pub out: Vec<PathBuf>,
    /// File to write, .svg or .png [default: OUT/plot.svg]
    #[arg(short = 'o', long = "to", value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,
}

/// Draw the frames of a run as pictures or video, on a machine without a GPU or a display.
///
/// Camera and light stay where they are for all frames; the camera sees the whole action unless told
/// otherwise. Colours are those of the bodies, or show the level of a triangle, its strain, how far it is
/// past its limits, or in which direction (hsv, after figure 14 of the main paper).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut render out                                   video of all frames, into out/render.mp4
  taut render out -o pic.png                        picture of the last frame
  taut render out -o pic.png --frame 42             of another one
  taut render out -o anim.gif --size 640x360        for a README; .apng has all colours
  taut render out -o frames.%04d.png                numbered pictures; or name a folder
  taut render out -o strain.mp4 --color strain      colours by strain, with a scale
  taut render out --view top --zoom 2
  taut render out --camera 0,1,3/0,0.5,0/35         eye / target / field of view

Exit codes: 0 done, 2 it cannot be drawn so, 3 could not write, 130 interrupted.")]
pub struct RenderArgs {
    /// Folder of a run
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// File, pattern or folder to write; its ending says what
    /// [default: OUT/render.mp4, or OUT/render.png with --frame]
    #[arg(short = 'o', long = "to", value_name = "PATH")]
    pub to: Option<PathBuf>,
    /// Draw this frame only; frame 0 is the start [default for a .png: the last]
    #[arg(long, value_name = "N", conflicts_with = "frames", allow_negative_numbers = true, value_parser = parse_number::<u32>)]
    pub frame: Option<u32>,
    #[command(flatten)]
    pub frames: FrameRange,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = crate::render::parse_size)]
    pub size: [usize; 2],
    /// What colours show: fabric, level, strain, residual, hsv or overstretch
    #[arg(long, value_name = "COLORING", default_value = "fabric", value_parser = parse::<taut_render::Coloring>)]
    pub color: taut_render::Coloring,
    /// The level that --color level shows; 0 is the mesh itself [default: the coarsest]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_number::<usize>)]
    pub level: Option<usize>,
    /// Draw cloth as its level N, with as few triangles as that has; 0 is the mesh itself
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = parse_number::<usize>)]
    pub mesh_level: usize,
    /// The largest strain that the scale of colours shows, as in 0.05
    /// [default: by the limits, or by the frames]
    #[arg(long, value_name = "STRAIN", allow_negative_numbers = true, value_parser = crate::render::parse_positive)]
    pub range: Option<f32>,
    /// Eye and target in metres, and field of view in degrees: X,Y,Z/X,Y,Z[/DEGREES]
    /// [default: sees the whole action]
    #[arg(long, value_name = "CAMERA", allow_hyphen_values = true, conflicts_with = "view")]
    pub camera: Option<String>,
    /// From which side: front, side, top or three-quarter [default: three-quarter]
    #[arg(long, value_name = "SIDE", value_parser = parse::<taut_render::camera::View>)]
    pub view: Option<taut_render::camera::View>,
    /// Enlarge the middle of the picture so many times
    #[arg(long, value_name = "TIMES", default_value = "1", allow_negative_numbers = true, value_parser = crate::render::parse_positive)]
    pub zoom: f32,
    /// Words in the upper left corner
    #[arg(long, value_name = "TEXT")]
    pub caption: Option<String>,
    /// Frames a second of a video [default: the scene's]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = crate::render::parse_positive)]
    pub fps: Option<f32>,
    #[command(flatten)]
    pub threads: Threads,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
    /// Show no progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
    /// Print what was written, and the camera, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reads what has names.
fn parse<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, String> {
    text.parse()
}

/// Reads a whole number.
fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| "must be a whole number from 0 on".to_owned())
}

/// What the help of `taut export` ends with: every format and what it is for.
fn export_help() -> String {
    let mut help = String::from("Formats:\n");
    for format in Format::ALL {
        help += &format!("  {:<6} {}\n", format.name(), format.purpose());
    }
    help + "
Examples:
  taut export out --format usd                           into out/export/SCENE.usdc
  taut export out --format obj,npz                       both, into out/export
  taut export out -o shot42.glb                          one file, by the ending of its name
  taut export out --format vtk -o shot42 --frames 20-60  some of the frames, elsewhere

Obstacles are in usd and gltf alone. Triangles that change over time are refused by pc2, mdd and gltf.

Exit codes: 0 done, 2 it cannot be exported so, 3 could not write, 130 interrupted."
}

/// Find what would go wrong with a scene or a mesh before it does.
///
/// Reports all problems at once, each with file, line, key or element; then what is fine. Also tells where
/// cloth passes through itself or other cloth at the start, which a run accepts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut check my.toml
  taut check shirt.obj
  taut check my.toml --set cloth.shirt.strain.max=0.01
  taut check my.toml --ply tangled.ply               see where it is tangled, in red

Exit codes: 0 it can be run, 2 it cannot.")]
pub struct CheckArgs {
    /// Scene file, name of a built-in scene, or mesh file (.obj, .ply, .stl, .gltf, .glb)
    #[arg(value_name = "SCENE|MESH")]
    pub input: String,
    #[command(flatten)]
    pub set: Overrides,
    /// Write everything as it starts to this .ply file, with colours: red is what passes through something,
    /// or has something pass through it
    #[arg(long, value_name = "FILE")]
    pub ply: Option<PathBuf>,
    /// Replace FILE if it is there already
    #[arg(long, requires = "ply")]
    pub force: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// List the built-in scenes, or print one so that you can save and change it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut scenes                                list them
  taut scenes hanging-sheet > my.toml        save one as a start for your own
  taut scenes --schema > taut.schema.json    JSON Schema of the scene file, for your editor")]
pub struct ScenesArgs {
    /// Print the TOML text of this scene
    pub name: Option<String>,
    /// Print the JSON Schema of the scene file
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub schema: bool,
    /// Print the list, or the scene with its text, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measure how long scenes take and how well limits are met.
///
/// Runs in memory and writes nothing but what -o asks for. The first table is what it took: levels,
/// iterations a frame, median and worst milliseconds a frame, processor seconds of all threads over all
/// frames, set-up. The second is what came of it: largest and mean residual past limits, frames that did not
/// end within the tolerance, and the mass-metric error: the distance to the nearest state within the limits,
/// over that of the prediction from it. --json has more. --convergence and --paper have tables of their own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut bench                                 all built-in scenes
  taut bench hanging-sheet --threads 1
  taut bench hanging-sheet --set cloth.sheet.mesh.grid.cells=[128,128] --frames 60
  taut bench hanging-sheet --compare --set cloth.sheet.mesh.grid.cells=[64,64]
                                             all schemes side by side
  taut bench hanging-sheet --frames 10 --vary 'cloth.sheet.mesh.grid.cells=[90,90];[708,708]'
                                             how time grows, from 16K to 1M triangles
  taut bench hanging-sheet --convergence -o curves.svg
                                             how the residual of one step falls, for each scheme
  taut bench noisy-sheet --convergence --frame 1 --set solver.tolerance=0.0001
                                             the step of the main paper's figure 14, further down
  taut bench --paper --markdown              the main paper's figures beside taut's

What --convergence counts as one iteration:
  sweep, serial, jacobi   every triangle, edge and hinge once
  nearest                 every triangle and hinge once, and one multigrid cycle
  cycle                   every triangle, edge and hinge of the finest level once; a cycle over
                          coarser levels follows each fourth
  paper                   every triangle of the finest level once; before the first, up to 128
                          iterations on each coarser level
  paper, repeated         the same, with another pass over the coarser levels before each 129th")]
pub struct BenchArgs {
    /// Scene files or names of built-in scenes [default: all built-in scenes]
    #[arg(value_name = "SCENE")]
    pub scenes: Vec<String>,
    /// Number of frames [default: 30; with --paper, as many as that takes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "convergence")]
    pub frames: Option<u32>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub set: Overrides,
    /// Run each scene with the schemes sweep, serial, jacobi, nearest, cycle and paper, the last also
    /// repeated until the tolerance is met, and give the times of these two over that of each. Schemes take
    /// turns frame by frame, with one step a frame unless the scene says otherwise; after 60 s one sits out,
    /// and ratios are over the frames that both did
    #[arg(long)]
    pub compare: bool,
    /// Frames in which to measure the mass-metric error, which can take seconds each and is not part of the
    /// times; not where there are obstacles or limits on bends or edges
    /// [default: 2 with --compare, 0 without]
    #[arg(long, value_name = "N", conflicts_with_all = ["convergence", "paper"])]
    pub faithfulness: Option<u32>,
    /// Run each scene with each of these values of a setting, and show how time grows with the number of
    /// triangles
    #[arg(long, value_name = "KEY=VALUE;VALUE;...", conflicts_with = "compare")]
    pub vary: Option<String>,
    /// Show how the residual of one step falls with iterations and with time, for each scheme. The frames
    /// before are simulated with nearest; then each scheme takes the same step from the same state again and
    /// again, with 1, 2, 3, 4, 6, 8, … iterations at most, until it ends of itself, within the scene's
    /// tolerance or not, or a step takes over 2 s. Times are those spent on limits, without measuring: the
    /// least of seven where they are under 20 ms, of three under 0.2 s
    #[arg(long, conflicts_with_all = ["compare", "vary"])]
    pub convergence: bool,
    /// Which frame --convergence looks into, the first being 1; its first step, if it has several
    /// [default: the middle one of the scene]
    #[arg(long, value_name = "N", requires = "convergence", conflicts_with_all = ["compare", "vary", "paper"], allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub frame: Option<u32>,
    /// Picture to draw the curves of --convergence to (.svg or .png)
    #[arg(short, long = "out", value_name = "FILE", requires = "convergence", conflicts_with_all = ["compare", "vary", "paper"])]
    pub out: Option<PathBuf>,
    /// Replace FILE if it is there already
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Measure what the main paper (Wang, O'Brien and Ramamoorthi 2010) published figures of, as far as taut
    /// can do it today: Table 1, and the comparisons of figures 9 and 14. Published figures are quoted;
    /// beside them stand taut's default scheme and the published method (scheme paper), measured in the same
    /// run. --set changes all scenes
    #[arg(long, conflicts_with_all = ["scenes", "compare", "vary", "convergence"])]
    pub paper: bool,
    /// Print the tables of --paper as Markdown
    #[arg(long, requires = "paper", conflicts_with_all = ["json", "scenes", "compare", "vary", "convergence"])]
    pub markdown: bool,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// Fit the limits of coarser levels ahead of a run, and keep them.
///
/// The scheme `paper` limits coarser levels too, by how far their triangles and hinges can go while the mesh
/// itself keeps its limits. A search finds that, once for each mesh and limits; results are kept in the cache
/// folder ($TAUT_CACHE, or where your system keeps caches). `solver.fit` chooses the method: direct, indirect
/// or bounds. Shows smallest, median and largest limit of each level.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut fit hanging-sheet                                 fit, or show what is kept
  taut fit my.toml --force                               fit again
  taut fit my.toml --set solver.fit=indirect             by another method
  taut fit hanging-sheet --set cloth.sheet.bend.max=30 --set cloth.sheet.bend.min=-30
  taut fit my.toml --json | jq '.[].levels[].lower'")]
pub struct FitArgs {
    /// Scene file, or name of a built-in scene
    pub scene: String,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub set: Overrides,
    /// Fit again even if limits are kept already
    #[arg(long)]
    pub force: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// List the materials that a scene can name, with their figures and where these come from.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut materials
  taut run hanging-sheet --set cloth.sheet.material='\"denim\"'")]
pub struct MaterialsArgs {
    /// Print them as JSON
    #[arg(long)]
    pub json: bool,
}

/// Print a script that completes commands in your shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut completions bash > ~/.local/share/bash-completion/completions/taut
  taut completions zsh > ~/.zfunc/_taut
  taut completions fish > ~/.config/fish/completions/taut.fish")]
pub struct CompletionsArgs {
    /// Your shell
    pub shell: clap_complete::Shell,
}

/// Which frames of a run.
#[derive(Clone, Copy, Debug, Args)]
pub struct FrameRange {
    /// Frames FROM-TO, or one; frame 0 is the start [default: all]
    #[arg(long = "frames", value_name = "FROM-TO", allow_negative_numbers = true, value_parser = parse_frames)]
    frames: Option<(u32, u32)>,
}

impl FrameRange {
    /// Whether some were asked for.
    pub fn is_given(self) -> bool {
        self.frames.is_some()
    }

    /// The frames of `recording` that are asked for.
    ///
    /// # Errors
    /// If it does not have them.
    pub fn of(self, recording: &Recording) -> Result<RangeInclusive<u32>, Problem> {
        recording.frames(self.frames.map(|(from, _)| from), self.frames.map(|(_, to)| to))
    }
}

fn parse_frames(text: &str) -> Result<(u32, u32), String> {
    let number = |part: &str| {
        let wrong = |_| format!("{part:?} is not the number of a frame; frames are written as 20-60 or 42");
        part.trim().parse::<u32>().map_err(wrong)
    };
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    if from > to {
        return Err(format!("frame {from} comes after frame {to}: give the first one first"));
    }
    Ok((from, to))
}

/// Run a scene in the browser, pull on it and change it; or play a finished run.
///
/// The simulation runs here, in a thread of its own; the page shows it. Only this machine can reach it, and
/// no page of another site can use it. Changed scenes are saved in the folder of the scene, or in the current
/// folder for built-in ones. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut view star                                       a built-in scene
  taut view my.toml                                    your own; the page lists those beside it
  taut view my.toml --set scene.frame_rate=60          at 60 frames a second
  taut view out                                        a finished run, with a timeline
  taut view flag --port 9000 --no-open                 print the address and open no browser
  taut view flag --listen 192.168.1.20                 for a tablet in the same network")]
pub struct ViewArgs {
    /// Scene file, name of a built-in scene, or folder of a finished run
    #[arg(value_name = "SCENE|OUT")]
    pub what: String,
    #[command(flatten)]
    pub set: Overrides,
    /// Port to listen on; 0 takes any that is free [default: 8420, or any if that is taken]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Listen on this address of the machine in place of the loopback address; others need the token that is
    /// printed
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<std::net::IpAddr>,
    /// Start paused
    #[arg(long)]
    pub paused: bool,
    /// Take the page from this folder in place of the one that is built in, for work on the page
    #[arg(long, value_name = "FOLDER")]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
}

/// How many threads to use.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Number of threads [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Threads {
    /// The number asked for; 0 if none was.
    pub fn asked(self) -> usize {
        self.threads.map_or(0, usize::from)
    }

    /// The number asked for, or one per core.
    pub fn count(self) -> usize {
        let per_core = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(per_core, usize::from)
    }
}

/// Changes to a scene.
#[derive(Clone, Debug, Args)]
pub struct Overrides {
    /// Change a key of the scene, as in cloth.sheet.strain.max=0.02; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
}
