//! The command line: arguments and their help.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use taut_io::{Problem, export::Format, recording::Recording};

/// Simulate cloth that holds its limits, and certify that it did.
///
/// A scene is a TOML file or the name of a built-in scene. A run writes a folder with a file of positions and
/// a certificate for each frame; `taut verify` recomputes the certificates from these files alone.
#[derive(Debug, Parser)]
#[command(
    name = "taut",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  taut scenes                              list the built-in scenes
  taut run hanging-sheet -o out            run one of them
  taut verify out                          verify its output
  taut view star                           run one interactively in the browser
  taut scenes flag > my-flag.toml          copy one as a template

Exit codes: 0 success, 1 a check failed, 2 bad input, 3 write error, 130 interrupted."
)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write its frames to a folder
    Run(RunArgs),
    /// Recompute the certificates of a run from its files; exit 1 if any check fails
    Verify(VerifyArgs),
    /// Export the frames of a run to other formats
    Export(ExportArgs),
    /// Run a scene interactively in the browser, or play back a finished run
    View(ViewArgs),
    /// Plot residual, strain, energy and timing of a run
    Plot(PlotArgs),
    /// Render the frames of a run as images or video
    Render(RenderArgs),
    /// Check a scene or a mesh for errors without running it
    Check(CheckArgs),
    /// Write a scene in which sewing patterns are sewn around a body
    Dress(DressArgs),
    /// Run a scene with every combination of some values, or write a job for a farm
    Sweep(SweepArgs),
    /// List the built-in scenes, or print one
    Scenes(ScenesArgs),
    /// Measure simulation time and residuals of scenes
    Bench(BenchArgs),
    /// Fit the limits of coarser levels before a run, and cache them
    Fit(FitArgs),
    /// List the named materials
    Materials(MaterialsArgs),
    /// Test a fabric as a textile laboratory does
    TestFabric(TestFabricArgs),
    /// Fit the bending stiffness of a fabric to a measurement
    FitFabric(FitFabricArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
}

/// Simulate a scene and write its frames to a folder.
///
/// Ctrl-C stops after the current frame. `--resume` continues a stopped or killed run and gives the same bits
/// as an uninterrupted one. The exit code is 1 if an expectation of the scene is not met.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut run hanging-sheet                               a built-in scene, to out/hanging-sheet
  taut run my.toml -o shot42 --frames 240              your own, with a different number of frames
  taut run flag --set cloth.flag.strain.max=0.02       with a different limit
  taut run hanging-sheet --set cloth.sheet.mesh.grid.cells=[64,64]
                                                       with a different resolution
  taut run --resume -o shot42                          resume a stopped run
  taut run --resume -o shot42 --frames 480             extend a finished run
  taut run flag --json --quiet | jq .figures           figures for a script")]
pub struct RunArgs {
    /// Scene file, or name of a built-in scene (`taut scenes` lists them); optional with --resume
    #[arg(required_unless_present = "resume")]
    pub scene: Option<String>,
    /// Output folder [default: out/NAME]
    #[arg(short, long = "out", value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// Number of frames; overrides the scene
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<i64>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub set: Overrides,
    /// Resume the run in OUT
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Delete an earlier run in OUT first; other files in OUT are kept
    #[arg(long)]
    pub force: bool,
    /// Export the frames after the run, as `taut export --format` does; comma-separated
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub export: Vec<String>,
    /// Print only the outcome, as JSON, to standard output
    #[arg(long)]
    pub json: bool,
    /// Suppress progress and summary
    #[arg(short, long)]
    pub quiet: bool,
}

/// Run a scene with every combination of some values.
///
/// Each run has a folder and a process of its own: OUT/0000, OUT/0001, … When all are done there is one table
/// (sweep.csv, sweep.json) and a page with their last frames side by side (index.html). The same command
/// again goes on with the runs that are left, each from its last checkpoint.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut sweep hanging-sheet --vary cloth.sheet.strain.max=0.01,0.05,0.1
  taut sweep flag --vary cloth.flag.strain.max=0.01,0.1 --vary 'air.wind=[4,0,0],[8,0,0]' -o windy --jobs 2
  taut sweep my.toml --vary cloth.sheet.material=silk,denim --json | jq .runs[].figures
  taut sweep my.toml --vary scene.seed=1,2,3,4 -o /mnt/farm/seeds --submit openjd
                                          a template with one task a run, for OpenJD, AWS Deadline Cloud, …

Exit codes: 0 success, 1 an expectation of the scene is not met, 2 bad input, 3 write error, 130 interrupted.")]
pub struct SweepArgs {
    /// Scene file, or name of a built-in scene
    pub scene: String,
    /// A key of the scene and its values, separated by commas or semicolons; repeatable: all combinations run
    #[arg(long, value_name = "KEY=V1,V2,...", required = true, allow_hyphen_values = true)]
    pub vary: Vec<String>,
    /// Output folder [default: out/NAME-sweep]
    #[arg(short, long = "out", value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// Number of frames; overrides the scene
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<i64>,
    #[command(flatten)]
    pub set: Overrides,
    /// Runs side by side
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_jobs)]
    pub jobs: usize,
    /// Threads of each run
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_jobs)]
    pub threads_each: usize,
    /// Do the run of this number alone, from 0, without table and page: what a task of a farm does
    #[arg(long, value_name = "RUN", value_parser = parse_number::<usize>)]
    pub only: Option<usize>,
    /// Write a job template to OUT/job.json in place of running: openjd
    #[arg(long, value_name = "ENGINE", conflicts_with = "only")]
    pub submit: Option<String>,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
    /// Suppress progress and summary
    #[arg(short, long)]
    pub quiet: bool,
}

impl SweepArgs {
    /// The keys that vary.
    pub fn vary_keys(&self) -> Vec<String> {
        self.vary.iter().filter_map(|vary| Some(vary.split_once('=')?.0.trim().to_owned())).collect()
    }
}

/// Parses a number of processes or threads.
fn parse_jobs(text: &str) -> Result<usize, String> {
    let number = text.trim().parse().ok().filter(|n| (1..=1024).contains(n));
    number.ok_or_else(|| "must be a number from 1 to 1024".to_owned())
}

/// Recompute the certificates of a run from its files.
///
/// Reads positions, scene and rest meshes, measures every frame, and compares the result with the limits and
/// with the recorded certificates. Each failure names frame, body and element.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut verify out/hanging-sheet
  taut verify out/hanging-sheet --json | jq '.failures[].message'

Exit codes: 0 all checks pass, 1 a check failed, 2 not a run folder.")]
pub struct VerifyArgs {
    /// Run folder
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Export the frames of a run to other formats.
///
/// Streams frame by frame from the run folder, so a run may be larger than memory. Output is written to a
/// temporary name and renamed when complete.
#[derive(Debug, Args)]
#[command(after_help = export_help())]
pub struct ExportArgs {
    /// Run folder
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Formats, comma-separated [default: from the extension given with -o]
    #[arg(short, long, value_name = "FORMAT", value_delimiter = ',', required_unless_present = "to")]
    pub format: Vec<String>,
    /// Output file or folder [default: OUT/export/…]
    #[arg(short = 'o', long = "to", value_name = "PATH")]
    pub to: Option<PathBuf>,
    #[command(flatten)]
    pub frames: FrameRange,
    /// Overwrite existing output
    #[arg(long)]
    pub force: bool,
    /// Suppress progress and summary
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the written paths as JSON
    #[arg(long)]
    pub json: bool,
}

/// Plot residual, strain, energy and timing of a run.
///
/// Reads metrics.jsonl and scene.toml from the run folder. Shows residuals with the tolerance, largest
/// stretch with its limit (compression and bend too where they are limited), energies, and milliseconds per
/// frame by stage. Several folders are compared in one figure.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut plot out/hanging-sheet                      to out/hanging-sheet/plot.svg
  taut plot out/flag -o flag.png                   as a PNG image
  taut plot out/loose out/tight -o compared.svg    two runs in one figure

Exit codes: 0 success, 2 bad input, 3 write error.")]
pub struct PlotArgs {
    /// Run folder; several are compared
    #[arg(value_name = "OUT", required = true)]
    pub out: Vec<PathBuf>,
    /// Output file, .svg or .png [default: OUT/plot.svg]
    #[arg(short = 'o', long = "to", value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// Render the frames of a run as images or video. Needs no GPU and no display.
///
/// Camera and light are fixed for all frames; by default the camera frames the whole motion. Colours are
/// those of the bodies, or show the level of a triangle, its strain, its residual, or the residual with its
/// direction (hsv, after figure 14 of the main paper).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut render out                                   video of all frames, to out/render.mp4
  taut render out -o pic.png                        image of the last frame
  taut render out -o pic.png --frame 42             image of frame 42
  taut render out -o anim.gif --size 640x360        for a README; .apng has full colour
  taut render out -o frames.%04d.png                image sequence; a folder works too
  taut render out -o strain.mp4 --color strain      coloured by strain, with a colour bar
  taut render out --view top --zoom 2
  taut render out -o frames.%04d.png --submit openjd
                                                    a job of one task for 16 frames, in out/render-job.json
  taut render out --camera 0,1,3/0,0.5,0/35         eye / target / field of view

Exit codes: 0 success, 2 bad input, 3 write error, 130 interrupted.")]
pub struct RenderArgs {
    /// Run folder
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Output file, pattern or folder; the extension selects the format
    /// [default: OUT/render.mp4, or OUT/render.png with --frame]
    #[arg(short = 'o', long = "to", value_name = "PATH")]
    pub to: Option<PathBuf>,
    /// Render only this frame; frame 0 is the initial state [default for a .png: the last]
    #[arg(long, value_name = "N", conflicts_with = "frames", allow_negative_numbers = true, value_parser = parse_number::<u32>)]
    pub frame: Option<u32>,
    #[command(flatten)]
    pub frames: FrameRange,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = crate::render::parse_size)]
    pub size: [usize; 2],
    /// Colouring: fabric, level, strain, residual, hsv or overstretch
    #[arg(long, value_name = "COLORING", default_value = "fabric", value_parser = parse::<taut_render::Coloring>)]
    pub color: taut_render::Coloring,
    /// Level that --color level shows; 0 is the finest [default: the coarsest]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_number::<usize>)]
    pub level: Option<usize>,
    /// Draw cloth with the mesh of level N; 0 is the finest
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = parse_number::<usize>)]
    pub mesh_level: usize,
    /// Upper end of the colour scale as a strain, e.g. 0.05
    /// [default: from the limits, or from the frames]
    #[arg(long, value_name = "STRAIN", allow_negative_numbers = true, value_parser = crate::render::parse_positive)]
    pub range: Option<f32>,
    /// Eye and target in metres, and field of view in degrees: X,Y,Z/X,Y,Z[/DEGREES]
    /// [default: frames the whole motion]
    #[arg(long, value_name = "CAMERA", allow_hyphen_values = true, conflicts_with = "view")]
    pub camera: Option<String>,
    /// View direction: front, side, top or three-quarter [default: three-quarter]
    #[arg(long, value_name = "SIDE", value_parser = parse::<taut_render::camera::View>)]
    pub view: Option<taut_render::camera::View>,
    /// Zoom factor about the image centre
    #[arg(long, value_name = "TIMES", default_value = "1", allow_negative_numbers = true, value_parser = crate::render::parse_positive)]
    pub zoom: f32,
    /// Caption in the upper left corner
    #[arg(long, value_name = "TEXT")]
    pub caption: Option<String>,
    /// Frame rate of a video [default: the scene's]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = crate::render::parse_positive)]
    pub fps: Option<f32>,
    #[command(flatten)]
    pub threads: Threads,
    /// Overwrite existing output
    #[arg(long)]
    pub force: bool,
    /// Write a job template to OUT/render-job.json in place of drawing: openjd. Needs an image sequence as
    /// output
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["frame", "json"])]
    pub submit: Option<String>,
    /// Suppress progress and summary
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the written paths and the camera as JSON
    #[arg(long)]
    pub json: bool,
}

/// Parses a named value.
fn parse<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, String> {
    text.parse()
}

/// Parses a non-negative integer.
fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| "must be a non-negative integer".to_owned())
}

/// The end of the help of `taut export`: every format and its purpose.
fn export_help() -> String {
    let mut help = String::from("Formats:\n");
    for format in Format::ALL {
        help += &format!("  {:<6} {}\n", format.name(), format.purpose());
    }
    help + "
Examples:
  taut export out --format usd                           to out/export/SCENE.usdc
  taut export out --format obj,npz                       both, to out/export
  taut export out -o shot42.glb                          format from the extension
  taut export out --format vtk -o shot42 --frames 20-60  a range of frames, to another folder

Only usd and gltf contain obstacles. pc2, mdd and gltf do not support topology that changes over time.

Exit codes: 0 success, 2 bad input, 3 write error, 130 interrupted."
}

/// Check a scene or a mesh for errors without running it.
///
/// Reports all errors at once, each with file, line, key or element, then the contents. Also reports where
/// cloth intersects itself or other cloth at the start, which a run accepts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut check my.toml
  taut check shirt.obj
  taut check head.hair
  taut check my.toml --set cloth.shirt.strain.max=0.01
  taut check my.toml --ply tangled.ply               show intersections in red

Exit codes: 0 no errors, 2 errors.")]
pub struct CheckArgs {
    /// Scene file, name of a built-in scene, folder of a finished run, or file of a mesh or of hair (.obj,
    /// .ply, .stl, .gltf, .glb, .usd, .hair)
    #[arg(value_name = "SCENE|MESH")]
    pub input: String,
    #[command(flatten)]
    pub set: Overrides,
    /// Write the initial state to this .ply file, with intersecting faces in red
    #[arg(long, value_name = "FILE")]
    pub ply: Option<PathBuf>,
    /// Overwrite an existing FILE
    #[arg(long, requires = "ply")]
    pub force: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Write a scene in which sewing patterns are sewn around a body.
///
/// Reads patterns of GarmentCode (pygarment) and the mesh of the body that they are placed around, and writes
/// a complete scene: panels as cloth with a limit on stretch, the body as an obstacle, a sewing phase without
/// gravity, 150 frames. Several patterns are layers, the first one below. Units and the up axis are guessed
/// where they cannot be right as given, and every guess is reported.
#[derive(Debug, Args)]
#[command(override_usage = "taut dress [OPTIONS] <PATTERN>... <BODY>")]
#[command(after_help = "\
Examples:
  taut dress shirt_specification.json body.obj -o shirt.toml
  taut dress shirt_specification.json body.obj -o shirt.toml --edge 0.02    coarser: a quarter of the triangles
  taut dress shirt.json jacket.json body.obj -o layers.toml                 a jacket over a shirt
  taut run shirt.toml

Exit codes: 0 success, 2 bad input, 3 write error.")]
pub struct DressArgs {
    /// Pattern files (.json) in the order in which they are put on, and at the end the mesh of the body
    /// (.obj, .ply, .stl, .gltf, .glb, .usd), standing where the patterns are placed around it
    #[arg(required = true, value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// Mesh of the body; all FILES are patterns then
    #[arg(long, value_name = "FILE")]
    pub body: Option<PathBuf>,
    /// Scene file to write [default: the first PATTERN.toml]
    #[arg(short, long = "out", value_name = "SCENE")]
    pub out: Option<PathBuf>,
    /// Edge length of triangles in metres, 0.001 to 0.1 [default: 0.01]
    #[arg(long, value_name = "METRES", allow_negative_numbers = true, value_parser = parse_edge)]
    pub edge: Option<f64>,
    /// Overwrite an existing SCENE
    #[arg(long)]
    pub force: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Parses an edge length.
fn parse_edge(text: &str) -> Result<f64, String> {
    let edge = text.trim().parse().ok().filter(|edge| (0.001..=0.1).contains(edge));
    edge.ok_or_else(|| "must be a number from 0.001 to 0.1".to_owned())
}

/// List the built-in scenes, or print one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut scenes                                list them
  taut scenes hanging-sheet > my.toml        copy one as a template
  taut scenes --schema > taut.schema.json    JSON Schema of the scene file, for your editor")]
pub struct ScenesArgs {
    /// Print the TOML text of this scene
    pub name: Option<String>,
    /// Print the JSON Schema of the scene file
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub schema: bool,
    /// Print the list, or the named scene and its text, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measure simulation time and residuals of scenes.
///
/// Runs in memory and writes no files except with -o. The first table shows cost: levels, iterations per
/// frame, median and worst milliseconds per frame, CPU seconds of all threads over all frames, and setup
/// time. The second shows results: largest and mean residual, frames that did not converge to the tolerance,
/// and the mass-metric error: the distance to the nearest state within the limits, divided by the distance of
/// the prediction from that state. --json prints more. --convergence and --paper print their own tables.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut bench                                 all built-in scenes
  taut bench hanging-sheet --threads 1
  taut bench hanging-sheet --set cloth.sheet.mesh.grid.cells=[128,128] --frames 60
  taut bench hanging-sheet --compare --set cloth.sheet.mesh.grid.cells=[64,64]
                                             all schemes side by side
  taut bench hanging-sheet --frames 10 --vary 'cloth.sheet.mesh.grid.cells=[90,90];[708,708]'
                                             scaling from 16K to 1M triangles
  taut bench hanging-sheet --convergence -o curves.svg
                                             convergence of one step, for each scheme
  taut bench noisy-sheet --convergence --frame 1 --set solver.tolerance=0.0001
                                             the step of the main paper's figure 14, to a lower residual
  taut bench swinging-sheet --energy         what becomes of energy and momentum
  taut bench --layers 50                     a pile of 475K triangles, beside a published time
  taut bench --paper --markdown              the main paper's results next to taut's
  taut bench --paper --example tori          one row of its Table 1

One iteration in --convergence is:
  sweep, serial, jacobi   every triangle, edge and hinge once
  nearest                 every triangle and hinge once, and one multigrid cycle
  cycle                   every triangle, edge and hinge of the finest level once; every fourth
                          is followed by a cycle over the coarser levels
  paper                   every triangle of the finest level once; before the first, up to 128
                          iterations on each coarser level
  paper, repeated         the same, with another pass over the coarser levels before each 129th")]
pub struct BenchArgs {
    /// Scene files or names of built-in scenes [default: all built-in scenes]
    #[arg(value_name = "SCENE")]
    pub scenes: Vec<String>,
    /// Number of frames [default: 30; with --paper, as many as it needs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "convergence")]
    pub frames: Option<u32>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub set: Overrides,
    /// Run each scene with the schemes sweep, serial, jacobi, nearest, cycle and paper, and with paper
    /// repeated until the tolerance is met. Show the times of the last two divided by that of each. Schemes
    /// alternate frame by frame, with one step per frame unless the scene sets it; a scheme stops after 60 s,
    /// and ratios cover the frames that both schemes ran
    #[arg(long)]
    pub compare: bool,
    /// Number of frames in which to measure the mass-metric error. It can take seconds per frame, is not
    /// part of the times, and does not support obstacles or bend and edge limits
    /// [default: 2 with --compare, 0 without]
    #[arg(long, value_name = "N", conflicts_with_all = ["convergence", "paper"])]
    pub faithfulness: Option<u32>,
    /// Show what becomes of energy and momentum: once a second, their largest rise, and how far momentum is
    /// from that of free fall. 150 frames by default
    #[arg(long, conflicts_with_all = ["compare", "vary", "convergence", "paper", "faithfulness"])]
    pub energy: bool,
    /// Run each scene with each of these values of a key, and show how time scales with the number of
    /// triangles
    #[arg(long, value_name = "KEY=VALUE;VALUE;...", conflicts_with = "compare")]
    pub vary: Option<String>,
    /// Show the residual of one step against iterations and time, for each scheme. The frames before it are
    /// simulated with nearest. Each scheme then repeats the same step from the same state with at most 1, 2,
    /// 3, 4, 6, 8, … iterations, until the scheme terminates by itself or a step takes over 2 s. Times cover
    /// limiting alone, without measurement: the minimum of seven below 20 ms, of three below 0.2 s
    #[arg(long, conflicts_with_all = ["compare", "vary"])]
    pub convergence: bool,
    /// Frame whose first step --convergence measures, counted from 1
    /// [default: the middle one of the scene]
    #[arg(long, value_name = "N", requires = "convergence", conflicts_with_all = ["compare", "vary", "paper"], allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub frame: Option<u32>,
    /// Output file for the curves of --convergence (.svg or .png)
    #[arg(short, long = "out", value_name = "FILE", requires = "convergence", conflicts_with_all = ["compare", "vary", "paper"])]
    pub out: Option<PathBuf>,
    /// Overwrite an existing FILE
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Measure the examples of the main paper (Wang, O'Brien and Ramamoorthi 2010): all rows of Table 1, and
    /// the comparisons of figures 9 and 14. Published numbers are quoted next to taut's default scheme and
    /// the scheme paper, both measured in the same run, which takes minutes. --set changes all scenes
    #[arg(long, conflicts_with_all = ["scenes", "compare", "vary", "convergence"])]
    pub paper: bool,
    /// Measure only this row of Table 1 with --paper; repeatable
    #[arg(long, value_name = "NAME", requires = "paper")]
    pub example: Vec<Example>,
    /// Measure a pile of N sheets that fall on a ball, beside the published time of Offset Geometric Contact
    /// (Chen et al. 2025) for 50 layers with 475K triangles
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with_all = ["scenes", "compare", "vary", "convergence", "paper", "energy", "faithfulness"])]
    pub layers: Option<u32>,
    /// Cells along each side of a sheet of --layers; 69, the default, make 475K triangles with 50 layers
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub cells: Option<u32>,
    /// Print the tables of --paper as Markdown
    #[arg(long, requires = "paper", conflicts_with_all = ["json", "scenes", "compare", "vary", "convergence"])]
    pub markdown: bool,
    /// Print the measurements as JSON
    #[arg(long)]
    pub json: bool,
}

/// A row of Table 1 of the main paper, for --example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Example {
    Bunny,
    Cloth,
    Shirt,
    Duck,
    DragonHollow,
    DragonSolid,
    Tori,
}

/// Fit the limits of coarser levels before a run, and cache them.
///
/// The scheme `paper` also limits coarser levels, by how far their triangles and hinges can deform while the
/// finest mesh stays within its limits. A search finds these limits once for each mesh and limits; results
/// are stored in the cache folder ($TAUT_CACHE, or the system's cache folder). `solver.fit` selects the
/// method: direct, indirect or bounds. Shows smallest, median and largest limit of each level.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut fit hanging-sheet                                 fit, or show cached limits
  taut fit my.toml --force                               fit again
  taut fit my.toml --set solver.fit=indirect             with another method
  taut fit hanging-sheet --set cloth.sheet.bend.max=30 --set cloth.sheet.bend.min=-30
  taut fit my.toml --json | jq '.[].levels[].lower'")]
pub struct FitArgs {
    /// Scene file, or name of a built-in scene
    pub scene: String,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub set: Overrides,
    /// Fit again even if limits are cached
    #[arg(long)]
    pub force: bool,
    /// Print the limits as JSON
    #[arg(long)]
    pub json: bool,
}

/// List the named materials, with their parameters and sources.
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

/// Test fabrics as a textile laboratory does: cantilever (ASTM D1388), Cusick drape (30 cm specimen, 18 cm
/// disc), strain by their own weight, and extension along warp, weft, bias and both ways, beside the
/// material's own law and published values. Takes some seconds for each fabric.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut test-fabric denim                                 all tests of a named material
  taut test-fabric cotton silk wool                      a table of several
  taut test-fabric denim -o denim-tests                  also curves (CSV, SVG) and a picture of the drape
  taut test-fabric '{ base = \"denim\", bend = 2e-5 }'     any material, as a scene file has it
  taut test-fabric silk --json | jq '.[].drape.coefficient'")]
pub struct TestFabricArgs {
    /// Named materials, or tables as in a scene file
    #[arg(value_name = "MATERIAL", required = true)]
    pub materials: Vec<String>,
    /// Rings of triangles of the drape test outside of the disc
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(4..=64))]
    pub rings: u32,
    /// Folder for curves and pictures: NAME-extension.csv, NAME-extension.svg, NAME-drape.png
    #[arg(short, long = "out", value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// Find the bending stiffness with which a material drapes, or bends over an edge, as a fabric did that was
/// measured. Prints the material as a line of a scene file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut fit-fabric cotton --drape 68                      a drape coefficient [%]
  taut fit-fabric denim --bending-length 3.2             a bending length along the warp [cm]
  taut fit-fabric denim --bending-length 2.6 --cut weft
  taut fit-fabric '{ base = \"wool\", density = 0.26 }' --drape 55 --json")]
pub struct FitFabricArgs {
    /// A named material, or a table as in a scene file: what is not fitted
    #[arg(value_name = "MATERIAL")]
    pub material: String,
    /// Measured drape coefficient (Cusick, 30 cm specimen, 18 cm disc) [%]
    #[arg(
        long,
        value_name = "PERCENT",
        required_unless_present = "bending_length",
        conflicts_with = "bending_length"
    )]
    pub drape: Option<f64>,
    /// Measured bending length (ASTM D1388: half of the overhang) [cm]
    #[arg(long, value_name = "CM")]
    pub bending_length: Option<f64>,
    /// Direction along the strip
    #[arg(long, value_enum, default_value = "warp", requires = "bending_length")]
    pub cut: CutArg,
    /// Rings of triangles of the drape test outside of the disc
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(4..=64))]
    pub rings: u32,
    #[command(flatten)]
    pub threads: Threads,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Direction of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CutArg {
    /// Along the warp
    Warp,
    /// Along the weft
    Weft,
    /// At 45 degrees to both
    Bias,
}

/// Print a shell completion script.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut completions bash > ~/.local/share/bash-completion/completions/taut
  taut completions zsh > ~/.zfunc/_taut
  taut completions fish > ~/.config/fish/completions/taut.fish")]
pub struct CompletionsArgs {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// A range of frames of a run.
#[derive(Clone, Copy, Debug, Args)]
pub struct FrameRange {
    /// Frames FROM-TO, or a single frame; frame 0 is the initial state [default: all]
    #[arg(long = "frames", value_name = "FROM-TO", allow_negative_numbers = true, value_parser = parse_frames)]
    frames: Option<(u32, u32)>,
}

impl FrameRange {
    /// Whether a range was given.
    pub fn is_given(self) -> bool {
        self.frames.is_some()
    }

    /// The requested frames of `recording`.
    ///
    /// # Errors
    /// If the recording does not have them.
    pub fn of(self, recording: &Recording) -> Result<RangeInclusive<u32>, Problem> {
        recording.frames(self.frames.map(|(from, _)| from), self.frames.map(|(_, to)| to))
    }
}

fn parse_frames(text: &str) -> Result<(u32, u32), String> {
    let number = |part: &str| {
        let wrong = |_| format!("{part:?} is not a frame number; write frames as 20-60 or 42");
        part.trim().parse::<u32>().map_err(wrong)
    };
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    if from > to {
        return Err(format!("frame {from} comes after frame {to}: give the smaller number first"));
    }
    Ok((from, to))
}

/// Run a scene interactively in the browser, or play back a finished run.
///
/// The simulation runs natively in this process; the page displays it. By default it is reachable only from
/// this machine, and not from pages of other sites. Changed scenes are saved beside the scene file, or in the
/// current folder for built-in scenes. Ctrl-C exits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  taut view star                                       a built-in scene
  taut view my.toml                                    your own; the page lists scenes in its folder
  taut view my.toml --set scene.frame_rate=60          at 60 frames per second
  taut view out                                        a finished run, with a timeline
  taut view flag --port 9000 --no-open                 print the address, open no browser
  taut view flag --listen 192.168.1.20                 for a tablet on the same network")]
pub struct ViewArgs {
    /// Scene file, name of a built-in scene, or folder of a finished run
    #[arg(value_name = "SCENE|OUT")]
    pub what: String,
    #[command(flatten)]
    pub set: Overrides,
    /// Port to listen on; 0 selects a free port [default: 8420, or a free port if it is in use]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Listen on this address instead of loopback; clients need the printed token
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<std::net::IpAddr>,
    /// Start paused
    #[arg(long)]
    pub paused: bool,
    /// Serve the page from this folder instead of the built-in one, for page development
    #[arg(long, value_name = "FOLDER")]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
}

/// Number of threads.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Number of threads [default: one per core]; results do not depend on it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Threads {
    /// The requested number; 0 if none was given.
    pub fn asked(self) -> usize {
        self.threads.map_or(0, usize::from)
    }

    /// The requested number, or one per core.
    pub fn count(self) -> usize {
        let per_core = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(per_core, usize::from)
    }
}

/// Overrides of scene keys.
#[derive(Clone, Debug, Args)]
pub struct Overrides {
    /// Override a key of the scene, e.g. cloth.sheet.strain.max=0.02; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
}
