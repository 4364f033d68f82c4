//! The images of the book and of the README: scene, frame, colouring, and plots. [`make`] makes them all,
//! from scenes with the program `taut`.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use taut_render::{
    encode,
    plot::{self, Chart},
};

use crate::{chain, noisy};

/// A plot of what the book measures itself.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// Name of the file in `docs/src/images/`, a .png.
    pub file: &'static str,
    /// What it shows, in a few words.
    pub shows: &'static str,
    /// Measures it.
    pub charts: fn() -> Result<Vec<Chart>, String>,
}

/// All plots.
pub const PLOTS: &[Plot] = &[
    Plot {
        file: "chain.png",
        shows: "Work to project a chain back to its rest length, by threshold and by size",
        charts: || Ok(chain::charts()),
    },
    Plot {
        file: "noisy-convergence.png",
        shows: "Mean residual of the noisy sheet, 512 iterations over four levels and 512 on the finest",
        charts: noisy::charts,
    },
];

/// A picture or a clip that `taut render` makes from a run.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Name of the file in `docs/src/images/`; its ending says what it is.
    pub file: &'static str,
    /// What it shows, in a few words: the text for those who do not see it, and its caption.
    pub shows: &'static str,
    /// Name of the run below that it is made from.
    pub run: &'static str,
    /// Frame, or frames from first to last of a clip.
    pub frame: Frames,
    /// What is coloured, and more arguments of `taut render`.
    pub arguments: &'static [&'static str],
}

/// Which part of a run a picture shows.
#[derive(Clone, Copy, Debug)]
pub enum Frames {
    /// One frame.
    One(u32),
    /// A clip from the first to the last.
    Clip(u32, u32),
}

/// A run that pictures are made from.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Name of its folder.
    pub name: &'static str,
    /// Name of the built-in scene.
    pub scene: &'static str,
    /// More arguments of `taut run`.
    pub arguments: &'static [&'static str],
}

const fn plain(scene: &'static str) -> Run {
    Run { name: scene, scene, arguments: &[] }
}

const fn duck(name: &'static str, arguments: &'static [&'static str]) -> Run {
    Run { name, scene: "duck", arguments }
}

const fn twisted(name: &'static str, arguments: &'static [&'static str]) -> Run {
    Run { name, scene: "twisted-bar", arguments }
}

const fn tang(name: &'static str, arguments: &'static [&'static str]) -> Run {
    Run { name, scene: "tang-sheet", arguments }
}

/// The corners of the second paper's sheet are drawn together.
const DRAWN: &str = "--set=cloth.sheet.pin=[{select=\"corner:top-left\",motion=[{time=0.5},{time=1.5,translate=[0.15,0,0]}]},{select=\"corner:top-right\",motion=[{time=0.5},{time=1.5,translate=[-0.15,0,0]}]}]";
const SINGLE: [&str; 2] = ["--set=cloth.sheet.levels=1", "--set=cloth.sheet.iterations=200"];
const TWENTY: &str = "--set=cloth.sheet.iterations=20";
/// Few iterations do not do what the scene expects of 50.
const AS_IT_IS: &str = "--set=expect={}";

/// All runs.
pub const RUNS: &[Run] = &[
    Run {
        name: "hanging-sheet",
        scene: "hanging-sheet",
        arguments: &["--set=cloth.sheet.mesh.grid.cells=[128,128]"],
    },
    plain("sheet-on-sphere"),
    plain("star"),
    plain("flag"),
    plain("swinging-sheet"),
    plain("noisy-sheet"),
    plain("bend-loose"),
    plain("bend-tight"),
    plain("weave"),
    plain("folding"),
    plain("tangled-start"),
    plain("stack"),
    plain("curtains"),
    plain("pushed-curtains"),
    plain("sponza-like"),
    plain("cape"),
    plain("shirt"),
    plain("twist"),
    plain("trampoline"),
    plain("wrecking-ball"),
    plain("net"),
    plain("strip"),
    plain("punch"),
    plain("torn-flag"),
    plain("rope-bridge"),
    plain("straight-hair"),
    plain("curly-hair"),
    plain("ponytail"),
    plain("fur-ball"),
    plain("wet-hair"),
    plain("rope-of-hair"),
    plain("bar"),
    plain("squeeze"),
    plain("tori"),
    plain("dragon-roller"),
    plain("dragon-roller-shell"),
    plain("dragon-roller-bends"),
    plain("bunny"),
    // (a) of figure 1 at the size of the other three.
    Run {
        name: "bunny-a",
        scene: "bunny",
        arguments: &["--frames=40", "--set=cloth.bunny.mesh.bunny.triangles=8000"],
    },
    plain("bunny-b"),
    plain("bunny-c"),
    plain("bunny-d"),
    plain("duck"),
    duck("duck-a", &["--set=solver={scheme=\"paper\",steps_per_frame=1}", AS_IT_IS]),
    duck("duck-b", &["--set=solver={scheme=\"serial\",steps_per_frame=1,iterations=128}", AS_IT_IS]),
    duck("duck-c", &["--set=solver={scheme=\"serial\",steps_per_frame=1,iterations=2048}", AS_IT_IS]),
    duck(
        "duck-d",
        &[
            "--set=solver.steps_per_frame=100",
            "--set=cloth.duck.strain={}",
            "--set=cloth.duck.bend={}",
            "--set=cloth.duck.material={base=\"polyester\",stretch=4000,poisson=0.3,bend=0.004}",
        ],
    ),
    plain("twisted-bar"),
    twisted(
        "twisted-finest",
        &["--set=solver={scheme=\"sweep\",steps_per_frame=1,iterations=100}", AS_IT_IS],
    ),
    twisted(
        "twisted-levels",
        &["--set=solver={scheme=\"cycle\",steps_per_frame=1,iterations=100}", AS_IT_IS],
    ),
    plain("dress"),
    plain("layers"),
    plain("scarf"),
    plain("pillow"),
    plain("balloons"),
    plain("mylar-balloon"),
    plain("air-bag"),
    // One frame each of the same distorted sheet: some sweeps of the mesh alone, and the default.
    Run {
        name: "noisy-fine-only",
        scene: "noisy-sheet",
        arguments: &[
            "--frames=1",
            "--set=solver.scheme=sweep",
            "--set=solver.steps_per_frame=1",
            "--set=solver.iterations=32",
            "--set=expect={}",
        ],
    },
    Run { name: "noisy-levels", scene: "noisy-sheet", arguments: &["--frames=1"] },
    // The second paper's figures.
    plain("pbd-four-cloths"),
    plain("tang-sheet"),
    plain("tang-star"),
    tang("tang-1", &["--set=cloth.sheet.iterations=1", AS_IT_IS]),
    tang("tang-5", &["--set=cloth.sheet.iterations=5", AS_IT_IS]),
    tang("tang-10", &["--set=cloth.sheet.iterations=10", AS_IT_IS]),
    tang("tang-20", &[TWENTY, AS_IT_IS]),
    tang("tang-20-percent", &[TWENTY, AS_IT_IS, "--set=cloth.sheet.edge={min=-0.2,max=0.2}"]),
    tang("tang-5-percent", &[TWENTY, AS_IT_IS, "--set=cloth.sheet.edge={min=-0.05,max=0.05}"]),
    tang("tang-2-percent", &[TWENTY, AS_IT_IS, "--set=cloth.sheet.edge={min=-0.02,max=0.02}"]),
    tang("tang-1-percent", &[TWENTY, AS_IT_IS, "--set=cloth.sheet.edge={min=-0.01,max=0.01}"]),
    tang("tang-single", &SINGLE),
    tang("tang-drawn", &[DRAWN]),
    tang("tang-drawn-single", &[DRAWN, SINGLE[0], SINGLE[1]]),
];

/// Colours of the second paper's figures 4 and 5, and where its hanging sheets are seen from.
const RED: &[&str] = &["--color", "overstretch", "--range", "0.5", "--camera", HUNG, "--size", "480x480"];
const REDDER: &[&str] = &["--color", "overstretch", "--range", "0.3", "--camera", HUNG, "--size", "480x480"];
const HUNG: &str = "0.5,-0.45,3.2/0.5,-0.58,0/30";
const ASIDE: &[&str] = &["--camera", "1.75,-0.2,2.65/0.5,-0.57,0/30", "--size", "480x480"];
const AHEAD: &[&str] = &["--camera", "0.5,-0.3,2.6/0.5,-0.55,0/30", "--size", "480x480"];

/// One of the second paper's figures, its last frame.
const fn last(
    file: &'static str,
    shows: &'static str,
    run: &'static str,
    arguments: &'static [&'static str],
) -> Figure {
    Figure { file, shows, run, frame: Frames::One(120), arguments }
}

macro_rules! star {
    ($level:literal) => {
        &["--color", "overstretch", "--range", "0.4", "--size", "480x360", "--mesh-level", $level]
    };
}

/// Side by side: the rabbits of figure 1, the ducks of figure 9, the bars of figure 13.
const RABBIT: &[&str] = &["--camera", "0.75,0.45,0.95/-0.02,0.18,0/22", "--size", "480x400"];
const RAMP: &[&str] = &["--camera", "0.35,0.33,0.75/0.15,-0.01,0/26", "--size", "480x400"];
const FACE: &str = "--camera=0.5,0.15,0.5/0,0.0,0.0/32";
const BAR: &[&str] = &["--color", "residual", "--range", "0.03", "--size", "480x320"];

const fn of(
    file: &'static str,
    shows: &'static str,
    run: &'static str,
    frame: u32,
    arguments: &'static [&'static str],
) -> Figure {
    Figure { file, shows, run, frame: Frames::One(frame), arguments }
}

/// How the three pictures after the paper's figure 14 are drawn: by the same scale.
const TRIPTYCH: &[&str] =
    &["--color", "hsv", "--range", "0.1", "--view", "top", "--zoom", "0.8", "--size", "800x720"];

/// All pictures.
pub const FIGURES: &[Figure] = &[
    Figure {
        file: "hanging-sheet.png",
        shows: "A sheet of 33K triangles swings down from two pinned corners, frame 28",
        run: "hanging-sheet",
        frame: Frames::One(28),
        arguments: &[],
    },
    Figure {
        file: "hanging-sheet-strain.png",
        shows: "The same frame, coloured by principal strain",
        run: "hanging-sheet",
        frame: Frames::One(28),
        arguments: &["--color", "strain"],
    },
    Figure {
        file: "sheet-on-sphere.png",
        shows: "A sheet draped over a sphere on the floor, frame 90",
        run: "sheet-on-sphere",
        frame: Frames::One(90),
        arguments: &[],
    },
    Figure {
        file: "star.png",
        shows: "A sheet pinned at its four corners and pushed up by a sphere, frame 90",
        run: "star",
        frame: Frames::One(90),
        arguments: &[],
    },
    Figure {
        file: "flag.png",
        shows: "A flag in a gusty wind, frame 100",
        run: "flag",
        frame: Frames::One(100),
        arguments: &[],
    },
    Figure {
        file: "flag.gif",
        shows: "The flag, three seconds",
        run: "flag",
        frame: Frames::Clip(60, 149),
        arguments: &["--size", "480x270"],
    },
    Figure {
        file: "swinging-sheet.png",
        shows: "A sheet swung by two corners, frame 60",
        run: "swinging-sheet",
        frame: Frames::One(60),
        arguments: &[],
    },
    Figure {
        file: "pbd-four-cloths.png",
        shows: "Position-based dynamics with four pairs of stiffness against stretch and bend, frame 90",
        run: "pbd-four-cloths",
        frame: Frames::One(90),
        arguments: &["--camera", "0,1.2,4.6/0,0.7,0.2/34"],
    },
    Figure {
        file: "noisy-sheet.png",
        shows: "A distorted sheet after one second: in-plane compression has turned into folds",
        run: "noisy-sheet",
        frame: Frames::One(30),
        arguments: &[],
    },
    Figure {
        file: "noisy-before.png",
        shows: "Before limiting",
        run: "noisy-levels",
        frame: Frames::One(0),
        arguments: TRIPTYCH,
    },
    Figure {
        file: "noisy-fine-only.png",
        shows: "After 32 sweeps of the finest level alone",
        run: "noisy-fine-only",
        frame: Frames::One(1),
        arguments: TRIPTYCH,
    },
    Figure {
        file: "noisy-levels.png",
        shows: "After one frame of the default scheme, with all levels",
        run: "noisy-levels",
        frame: Frames::One(1),
        arguments: TRIPTYCH,
    },
    Figure {
        file: "bend-loose.png",
        shows: "Bends of up to 60 degrees per centimetre: fine wrinkles, frame 60",
        run: "bend-loose",
        frame: Frames::One(60),
        arguments: &[],
    },
    Figure {
        file: "bend-tight.png",
        shows: "Bends of up to 30 degrees per centimetre: broad folds, frame 60",
        run: "bend-tight",
        frame: Frames::One(60),
        arguments: &[],
    },
    Figure {
        file: "weave.png",
        shows: "Woven cloth pinned at one corner, coloured by principal strain, frame 60",
        run: "weave",
        frame: Frames::One(60),
        arguments: &["--color", "strain"],
    },
    Figure {
        file: "folding.png",
        shows: "A sheet dropped on its edge has folded up, frame 30",
        run: "folding",
        frame: Frames::One(30),
        arguments: &[],
    },
    Figure {
        file: "tangled-start.png",
        shows: "Two initially crossed sheets have separated, frame 14",
        run: "tangled-start",
        frame: Frames::One(14),
        arguments: &[],
    },
    Figure {
        file: "stack.png",
        shows: "Ten sheets have fallen on each other and on a ball, frame 90",
        run: "stack",
        frame: Frames::One(90),
        arguments: &[],
    },
    Figure {
        file: "trampoline.png",
        shows: "A ball of 5 kg on a sheet pinned at its rim, with stretch up to 5 %, frame 120",
        run: "trampoline",
        frame: Frames::One(120),
        arguments: &["--color", "strain"],
    },
    Figure {
        file: "wrecking-ball.png",
        shows: "A ball of 20 kg on a chain knocks ten boxes into a sheet with stretch up to 5 %, frame 38",
        run: "wrecking-ball",
        frame: Frames::One(38),
        arguments: &[],
    },
    Figure {
        file: "strip.png",
        shows: "A notched strip that tears beyond 4 %, with stretch up to 5 %, frame 20",
        run: "strip",
        frame: Frames::One(20),
        arguments: &[],
    },
    Figure {
        file: "punch.png",
        shows: "A ball in a sheet of leather that tears beyond 5.5 %, frame 30",
        run: "punch",
        frame: Frames::One(30),
        arguments: &[],
    },
    Figure {
        file: "torn-flag.png",
        shows: "A storm tears a flag along two worn lines; stretch up to 5 % in what is left, frame 80",
        run: "torn-flag",
        frame: Frames::One(80),
        arguments: &["--camera=-0.6,3.0,3.4/0.9,2.45,0.0/28"],
    },
    Figure {
        file: "net.png",
        shows: "A ball of 2 kg in a net whose segments stretch by up to 5 %, frame 60",
        run: "net",
        frame: Frames::One(60),
        arguments: &[],
    },
    Figure {
        file: "rope-bridge.png",
        shows: "A ball of 1.5 kg on a deck that hangs from two ropes by springs, frame 60",
        run: "rope-bridge",
        frame: Frames::One(60),
        arguments: &[],
    },
    Figure {
        file: "straight-hair.png",
        shows: "1500 strands on a head that shakes, which 15,000 follow; lengths within 1 %, frame 45",
        run: "straight-hair",
        frame: Frames::One(45),
        arguments: &[FACE],
    },
    Figure {
        file: "curly-hair.png",
        shows: "1000 curls, free of sag, on a head that nods, which 10,000 follow, frame 45",
        run: "curly-hair",
        frame: Frames::One(45),
        arguments: &[FACE],
    },
    Figure {
        file: "ponytail.png",
        shows: "A ring holds 400 strands together behind a head that turns, frame 45",
        run: "ponytail",
        frame: Frames::One(45),
        arguments: &["--camera=-0.55,0.2,-0.3/0,-0.03,-0.1/34"],
    },
    Figure {
        file: "fur-ball.png",
        shows: "Fur, free of sag, on a ball that bounces, frame 40",
        run: "fur-ball",
        frame: Frames::One(40),
        arguments: &[],
    },
    Figure {
        file: "wet-hair.png",
        shows: "Wet strands that stick to each other, frame 55",
        run: "wet-hair",
        frame: Frames::One(55),
        arguments: &[FACE],
    },
    Figure {
        file: "rope-of-hair.png",
        shows: "60 strands that lie on each other hang over a bar, frame 55",
        run: "rope-of-hair",
        frame: Frames::One(55),
        arguments: &[],
    },
    Figure {
        file: "curtains.png",
        shows: "Ten curtains of 1600 vertices in a light wind, frame 180",
        run: "curtains",
        frame: Frames::One(180),
        arguments: &[],
    },
    Figure {
        file: "sponza-like.png",
        shows: "Ten curtains in a hall with columns, frame 120",
        run: "sponza-like",
        frame: Frames::One(120),
        arguments: &[],
    },
    Figure {
        file: "pushed-curtains.png",
        shows: "A ball pushes through ten pleated curtains, frame 50",
        run: "pushed-curtains",
        frame: Frames::One(50),
        arguments: &[],
    },
    Figure {
        file: "cape.png",
        shows: "A cape on a figure that walks and turns, frame 75",
        run: "cape",
        frame: Frames::One(75),
        arguments: &["--camera", "1.9,1.6,-2.6/0,0.9,-0.1/36"],
    },
    Figure {
        file: "shirt.png",
        shows: "A sewn shirt within ±1 % on a figure that walks and raises its arms, frame 60",
        run: "shirt",
        frame: Frames::One(60),
        arguments: &["--camera", "1.4,1.6,2.2/0,1.15,0/32"],
    },
    Figure {
        file: "twist.png",
        shows: "A tube of cloth wrung by four turns, frame 150",
        run: "twist",
        frame: Frames::One(150),
        arguments: &[],
    },
    Figure {
        file: "bar.png",
        shows: "A bar of 12K tetrahedra, clamped at its left end and rotated, frame 110",
        run: "bar",
        frame: Frames::One(110),
        arguments: &[],
    },
    Figure {
        file: "squeeze.png",
        shows: "A cube of 10K tetrahedra, compressed by more than its limits allow, frame 45",
        run: "squeeze",
        frame: Frames::One(45),
        arguments: &["--color", "strain"],
    },
    Figure {
        file: "tori.png",
        shows: "Three solid tori of 52K tetrahedra fall on each other, frame 20",
        run: "tori",
        frame: Frames::One(20),
        arguments: &[],
    },
    Figure {
        file: "dragon-roller.png",
        shows: "A roller compresses a creature of 74K tetrahedra by more than its limits allow, frame 36",
        run: "dragon-roller",
        frame: Frames::One(36),
        arguments: &[],
    },
    Figure {
        file: "dragon-roller-shell.png",
        shows: "A roller goes over a hollow creature of 37K triangles, frame 24",
        run: "dragon-roller-shell",
        frame: Frames::One(24),
        arguments: &[],
    },
    Figure {
        file: "bunny.png",
        shows: "A hollow rabbit on the floor: strains of up to 5 %, bends of up to 3 degrees per centimetre, frame 90",
        run: "bunny",
        frame: Frames::One(90),
        arguments: &[],
    },
    of("bunny-a.png", "(a) ±5 %, ±3 degrees per centimetre", "bunny-a", 40, RABBIT),
    of("bunny-b.png", "(b) ±5 %, ±6 degrees per centimetre", "bunny-b", 40, RABBIT),
    of("bunny-c.png", "(c) ±10 %, ±12 degrees per centimetre", "bunny-c", 40, RABBIT),
    of("bunny-d.png", "(d) ±10 %, no bend limits", "bunny-d", 40, RABBIT),
    of("duck.png", "A hollow duck slides down a ramp, frame 10", "duck", 10, &[]),
    of("duck-a.png", "(a) levels, 128 iterations", "duck-a", 10, RAMP),
    of("duck-b.png", "(b) the finest level, 128 iterations", "duck-b", 10, RAMP),
    of("duck-c.png", "(c) the finest level, 2048 iterations", "duck-c", 10, RAMP),
    of("duck-d.png", "(d) no limits, stiff, 100 steps a frame", "duck-d", 10, RAMP),
    of(
        "twisted-bar.png",
        "A bar of 12K tetrahedra is twisted as far as its limits of ±5 % allow, frame 36",
        "twisted-bar",
        36,
        &["--color", "strain"],
    ),
    of("twisted-finest.png", "The finest level alone, up to 100 iterations", "twisted-finest", 36, BAR),
    of("twisted-levels.png", "With levels, up to 100 iterations", "twisted-levels", 36, BAR),
    of(
        "dragon-roller-bends.png",
        "The same with bends of up to 3 degrees per centimetre, and the roller 15 cm higher, frame 30",
        "dragon-roller-bends",
        30,
        &["--camera", "1.4,0.45,0.85/0.0,0.32,0/32"],
    ),
    last(
        "dress.png",
        "A dress that was sewn around the figure from two flat panels",
        "dress",
        &["--camera=1.0,1.3,2.6/0,0.85,0/38"],
    ),
    last(
        "layers.png",
        "A shirt and a jacket over it, sewn around the figure",
        "layers",
        &["--camera=1.4,1.6,2.2/0,1.15,0/32"],
    ),
    Figure {
        file: "scarf.png",
        shows: "A scarf that was wrapped round a figure's neck",
        run: "scarf",
        frame: Frames::One(195),
        arguments: &["--camera=0.5,1.6,1.7/0,1.33,0/34"],
    },
    Figure {
        file: "pillow.png",
        shows: "A pillow that was sewn around its filling and fell on the floor",
        run: "pillow",
        frame: Frames::One(75),
        arguments: &[],
    },
    last("balloons.png", "Three balloons of gas, one of them under a plate", "balloons", &[]),
    last("mylar-balloon.png", "Two flat discs of mylar, sewn at the rim and inflated", "mylar-balloon", &[]),
    Figure {
        file: "air-bag.png",
        shows: "An air bag that lay in pleats, frame 29",
        run: "air-bag",
        frame: Frames::One(29),
        arguments: &[],
    },
    last("tang-11-levels.png", "Four levels, 50 iterations each", "tang-sheet", ASIDE),
    last("tang-11-single.png", "A single mesh, 200 iterations", "tang-single", ASIDE),
    last(
        "tang-11-drawn-levels.png",
        "Corners moved together: four levels, 50 iterations each",
        "tang-drawn",
        AHEAD,
    ),
    last(
        "tang-11-drawn-single.png",
        "Corners moved together: a single mesh, 200 iterations",
        "tang-drawn-single",
        AHEAD,
    ),
    last("tang-4-1.png", "1 iteration on each level", "tang-1", RED),
    last("tang-4-5.png", "5 iterations", "tang-5", RED),
    last("tang-4-10.png", "10 iterations", "tang-10", RED),
    last("tang-4-20.png", "20 iterations", "tang-20", RED),
    last("tang-5-20.png", "Within ±20 %", "tang-20-percent", REDDER),
    last("tang-5-10.png", "Within ±10 %", "tang-20", REDDER),
    last("tang-5-5.png", "Within ±5 %", "tang-5-percent", REDDER),
    last("tang-5-1.png", "Within ±1 %", "tang-1-percent", REDDER),
    last("tang-10-0.png", "The cloth itself", "tang-star", star!("0")),
    last("tang-10-1.png", "Level 1", "tang-star", star!("1")),
    last("tang-10-2.png", "Level 2", "tang-star", star!("2")),
    last("tang-10-3.png", "Level 3", "tang-star", star!("3")),
    last("tang-12-20.png", "±20 %", "tang-20-percent", ASIDE),
    last("tang-12-10.png", "±10 %", "tang-20", ASIDE),
    last("tang-12-5.png", "±5 %", "tang-5-percent", ASIDE),
    last("tang-12-2.png", "±2 %", "tang-2-percent", ASIDE),
];

impl Figure {
    /// Where the file is, or will be.
    pub fn path(&self, repository: &Path) -> PathBuf {
        path_of(self.file, repository)
    }
}

/// The picture of a built-in scene: the first that is made from it.
pub fn of_scene(name: &str) -> Option<&'static Figure> {
    FIGURES.iter().find(|figure| figure.run == name && figure.file.ends_with(".png"))
}

fn path_of(file: &str, repository: &Path) -> PathBuf {
    repository.join("docs/src/images").join(file)
}

/// File and description of every picture and plot.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let plots = PLOTS.iter().map(|plot| (plot.file, plot.shows));
    FIGURES.iter().map(|figure| (figure.file, figure.shows)).chain(plots)
}

/// Pictures and plots in a row with their captions, for a page at `page`; those that have not been made yet
/// are left out.
///
/// # Errors
/// If there is no such picture in the list.
pub fn side_by_side(files: &[&str], page: &Path, repository: &Path) -> Result<String, String> {
    let up = "../".repeat(page.parent().map_or(0, |folder| folder.components().count()));
    let mut figures = Vec::new();
    for file in files {
        let figure = all().find(|figure| figure.0 == *file);
        figures.push(figure.ok_or_else(|| format!("unknown figure {file}"))?);
    }
    figures.retain(|(file, _)| path_of(file, repository).exists());
    if figures.is_empty() {
        return Ok(String::new());
    }
    let row = |cell: &dyn Fn(&str, &str) -> String| {
        let cells: Vec<String> = figures.iter().map(|(file, shows)| cell(file, shows)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let pictures = row(&|file, shows| format!("![{shows}]({up}images/{file})"));
    let captions = row(&|_, shows| shows.into());
    Ok(format!("{pictures}|{}\n{captions}", "---|".repeat(figures.len())))
}

/// Makes all pictures, or those whose file names are in `only`, by `taut`, which runs the program with
/// arguments. Runs are left in `repository`/target/figures.
///
/// # Errors
/// What `taut` says, or a name that no picture has.
pub fn make(
    repository: &Path,
    only: &[&str],
    mut taut: impl FnMut(&[String]) -> Result<(), String>,
) -> Result<(), String> {
    if let Some(unknown) = only.iter().find(|name| all().all(|(file, _)| file != **name)) {
        let names: Vec<&str> = all().map(|(file, _)| file).collect();
        return Err(format!("unknown figure {unknown}; known: {}", names.join(", ")));
    }
    let is_wanted = |file: &&str| only.is_empty() || only.contains(file);
    let wanted: Vec<&Figure> = FIGURES.iter().filter(|figure| is_wanted(&figure.file)).collect();
    let images = repository.join("docs/src/images");
    std::fs::create_dir_all(&images).map_err(|error| format!("{}: {error}", images.display()))?;
    for drawn in PLOTS.iter().filter(|drawn| is_wanted(&drawn.file)) {
        let file = path_of(drawn.file, repository);
        let bytes = encode::png_small(&plot::png(&(drawn.charts)()?));
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let runs: BTreeSet<&str> = wanted.iter().map(|figure| figure.run).collect();
    for run in RUNS.iter().filter(|run| runs.contains(run.name)) {
        taut(&run.command(repository))?;
    }
    wanted.iter().try_for_each(|figure| taut(&figure.command(repository)))
}

impl Run {
    fn folder(name: &str, repository: &Path) -> String {
        repository.join("target/figures").join(name).to_string_lossy().into_owned()
    }

    /// Arguments of `taut` that make the run.
    pub fn command(&self, repository: &Path) -> Vec<String> {
        let folder = Run::folder(self.name, repository);
        let fixed = ["run", self.scene, "-o", &folder, "--force", "--quiet"];
        fixed.into_iter().chain(self.arguments.iter().copied()).map(String::from).collect()
    }
}

impl Figure {
    /// Arguments of `taut` that make the picture.
    pub fn command(&self, repository: &Path) -> Vec<String> {
        let (folder, file) = (Run::folder(self.run, repository), self.path(repository));
        let frame = match self.frame {
            Frames::One(frame) => ["--frame".into(), frame.to_string()],
            Frames::Clip(first, last) => ["--frames".into(), format!("{first}-{last}")],
        };
        let file = file.to_string_lossy();
        let words =
            ["render", &folder, "-o", &file, "--force"].into_iter().chain(self.arguments.iter().copied());
        words.map(String::from).chain(frame).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_has_a_run_and_every_built_in_scene_a_picture() {
        for figure in FIGURES {
            assert!(RUNS.iter().any(|run| run.name == figure.run), "{}", figure.file);
        }
        for scene in taut_io::scene::built_in() {
            assert!(of_scene(scene.name).is_some(), "{} has no picture", scene.name);
        }
        for run in RUNS {
            let sets = run.arguments.iter().filter_map(|word| word.strip_prefix("--set="));
            let sets: Vec<String> = sets.map(String::from).collect();
            taut_io::scene::load(run.scene, &sets).unwrap();
        }
    }

    #[test]
    fn pictures_are_all_there_or_none_is() {
        let repository = crate::repository();
        let missing: Vec<&str> =
            all().map(|(file, _)| file).filter(|file| !path_of(file, &repository).exists()).collect();
        assert!(missing.is_empty() || missing.len() == all().count(), "make these too: {missing:?}");
    }

    #[test]
    fn a_row_of_pictures_leaves_out_what_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let row = |files: &[&str]| side_by_side(files, Path::new("papers/a.md"), folder.path());
        assert_eq!(row(&["weave.png"]), Ok(String::new()));
        assert!(row(&["nothing.png"]).unwrap_err().contains("nothing.png"));
        std::fs::create_dir_all(folder.path().join("docs/src/images")).unwrap();
        std::fs::write(folder.path().join("docs/src/images/weave.png"), "").unwrap();
        assert!(
            row(&["star.png", "weave.png"]).unwrap().contains("](../images/weave.png) |\n|---|\n| Woven")
        );
    }

    #[test]
    fn only_what_is_asked_for_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let mut asked = Vec::new();
        let mut taut = |arguments: &[String]| {
            asked.push(arguments.join(" "));
            Ok(())
        };
        make(folder.path(), &["weave.png"], &mut taut).unwrap();
        assert!(make(folder.path(), &["nothing.png"], &mut taut).unwrap_err().contains("weave.png"));
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert!(asked[0].starts_with("run weave -o ") && asked[1].starts_with("render "), "{asked:?}");
    }
}
