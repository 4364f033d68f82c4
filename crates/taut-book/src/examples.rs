//! Examples of every part of the scene file. A test loads each as a scene.

use crate::scene_reference::WHOLE_FILE;

/// A cloth that is added to examples without one, to make them scenes.
pub const CLOTH: &str = "[[cloth]]\nmesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }\n";

/// The example of a part of the scene file; empty for parts shown in the example of their parent table.
pub fn of(part: &str) -> Option<&'static str> {
    Some(match part {
        WHOLE_FILE => {
            r#"[scene]
frames = 90

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }
strain = { max = 0.05 }
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]

[[obstacle]]
shape = { sphere = { center = [0.5, -0.6, 0.5], radius = 0.2 } }

[expect]
max_strain = 0.061
"#
        }
        "Settings" => {
            r#"[scene]
description = "Two seconds on the moon."
frames = 120
frame_rate = 60
gravity = [0.0, -1.62, 0.0]
seed = 7
"#
        }
        "Solver" => {
            r#"[solver]
scheme = "nearest"
integrator = "bdf2"     # the whole material, hardly damped
tolerance = 0.002       # aims 0.2 % inside the limits; { past = 0.01 } lets 5 % end at 6 %
bend_tolerance = 1.0    # degrees
budget_ms = 8.0         # for interactive use: steps stop when it is spent
"#
        }
        "Tolerance" | "PastTolerance" => {
            r#"[solver]
tolerance = { past = 0.01 }   # as the papers count: a limit of 5 % may end at 6 %
"#
        }
        "Scheme" => {
            r#"[solver]
scheme = "paper"
levels = 4              # as the shirt in Table 1 of the main paper
level_iterations = 256
detect_every = 64       # iterations between two detections of contacts
"#
        }
        "Seam" => {
            r#"[[cloth]]
name = "left"
mesh = { grid = { size = [0.5, 0.4], cells = [20, 16] } }
pin = [{ select = "corner:top-left" }]

[[cloth]]
name = "right"
mesh = { grid = { size = [0.5, 0.4], cells = [20, 16] } }
transform = { translate = [0.55, 0.0, 0.0] }

[[seam]]                          # right boundary of one to left boundary of the other
cloths = ["left", "right"]
from = "box:0.5,0,0,0.5,0,0.4"
to = "box:0,0,0,0,0,0.4"
speed = 0.5

[[seam]]                          # the same, by initial distance
name = "again"
cloths = ["left", "right"]
within = 0.052

[[seam]]                          # two corners of one cloth
cloth = "left"
pairs = [[0, 336]]
"#
        }
        "Light" => {
            r##"[[light]]
position = [0.0, 2.5, 0.0]

[[light]]
position = [2.0, 1.5, 1.0]
color = "#c0d8ff"
intensity = 0.5
"##
        }
        "SoftSolid" => {
            r#"[[solid]]                         # a surface, filled with tetrahedra
name = "ball"
mesh = { sphere = { radius = 0.1, frequency = 16 } }
spacing = 0.04
transform = { translate = [0.0, 0.6, 0.0] }
velocity = [0.0, -1.0, 0.0]
material = "foam"
strain = { min = -0.3, max = 0.1 }
volume = "preserve"

[[solid]]                         # filled with about this many tetrahedra
name = "ring"
mesh = { torus = { major = 0.2, minor = 0.06, segments = [48, 20] } }
tetrahedra = 2000

[[solid]]                         # tetrahedra, pinned at one end
name = "beam"
mesh = { bar = { size = [0.8, 0.1, 0.1], cells = [16, 2, 2] } }
pin = [{ select = "box:0,0,0,0,0.1,0.1" }]
"#
        }
        "SolidLevels" => {
            r#"[[solid]]
mesh = { torus = { major = 0.2, minor = 0.08, segments = [48, 20] } }
spacing = 0.03
levels = "lattice"

[solver]
scheme = "cycle"
"#
        }
        "Particles" | "ParticleMesh" | "ChainMesh" | "SegmentSpring" => {
            r#"[[particles]]
name = "rope"
mesh = { chain = { from = [0, 2, 0], to = [1, 2, 0], segments = 40 } }
transform = { translate = [0, 0.5, 0] }
mass_per_length = 0.1      # kg/m
radius = 0.01              # m
spring = { stiffness = 20000, damping = 2, rest = 1.0 }
edge = { max = 0.02 }
damping = 0.1              # 1/s
pin = [{ select = "corner:start" }]

[[particles]]
name = "thread"            # breaks
mesh = { chain = { to = [0, -1, 0], segments = 10 } }
spring = { stiffness = 1000, breaking_force = 5 }
pin = [{ select = "corner:start" }]

[[particles]]
name = "beads"
mesh = { points = [[0.2, 1, 0], [0.4, 1, 0]] }   # or { file = "net.obj" }
mass = 0.02                # kg
velocity = [0, 0, 1]
"#
        }
        "Hair" => {
            r#"[[obstacle]]
name = "head"
shape = { sphere = { center = [0, 1.7, 0], radius = 0.1 } }

[[hair]]
name = "curls"
material = { base = "european", damping = 2.0 }
rest = { sag-free = { stiffen = 20 } }
guides = { count = 200 }
stretch = { max = 0.005 }                # ±1 % by default
bend = 90.0                              # degrees per cm
twist = 60.0
contact = { thickness = 0.001, friction = 0.3, cohesion = 0.0 }
air_drag = 0.1                           # of what a single strand would feel
[hair.mesh.grow]
on = "head"                              # roots follow it
select = "box:-1,1.7,-1,1,2,1"
count = 2000
length = 0.25                            # m
length_variation = 0.1
segments = 60
radius = 0.00004
taper = 0.3
comb = [0.0, 0.0, -0.5]
droop = 1.0
curl = { radius = 0.004, pitch = 0.03 }
clump = { count = 60, strength = 0.7 }
noise = 0.003
seed = 4
"#
        }
        "HairTear" => {
            r#"[[hair]]
name = "threads"
mesh = { grow = { mesh = { box = { size = [0.2, 0.02, 0.02], cells = [4, 1, 1] } }, count = 20, length = 0.2, segments = 20 } }
rest = "straight"
pin = [{ select = "corner:tip" }]
[hair.tear]
stretch = 0.02
random = 0.3                             # from point to point
weak = [{ select = "corner:root", factor = 0.5 }]
"#
        }
        "Root" => {
            r#"[[obstacle]]
name = "head"
mesh = "head.obj"

[[hair]]
mesh = { file = "head.hair" }
transform = { scale = 0.01 }             # the file has centimetres
root = { obstacle = "head" }             # or "fixed", "free"
guides = { interpolate = 20000 }
"#
        }
        "NetMesh" => {
            r#"[[particles]]
mesh = { net = { size = [2, 2], cells = [20, 20] } }
transform = { rotate = [90, 0, 0] }
edge = { max = 0.05 }
pin = [{ select = "boundary" }]
"#
        }
        "SpringEnd" => {
            r#"[[obstacle]]
name = "ball"
shape = { sphere = { center = [0, 1, 0], radius = 0.2 } }
mass = 2                   # kg

[[spring]]
name = "rope"
from = { body = "ball", at = [0, 1.2, 0] }
to = { point = [0, 2, 0] }
stiffness = 10000          # N/m
damping = 20               # N s/m

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [20, 20] } }

[[spring]]
name = "hanger"
from = { body = "sheet", select = "corner:top-left" }
to = { point = [0, 1, 0] }
stiffness = 200            # N/m
"#
        }
        "Spring" => {
            r#"[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [20, 20] } }

[[spring]]
name = "hanger"
from = { body = "sheet", select = "corner:top-left" }
to = { point = [0, 1, 0] }
rest_length = 0.5          # m
stiffness = 200            # N/m
damping = 0.5              # N s/m
breaking_force = 50        # N
"#
        }
        "SolidMesh" => {
            r#"[[solid]]
mesh = { capsule = { radius = 0.1, height = 0.3, segments = [24, 8] } }   # or { file = "creature.obj" }
spacing = 0.05
"#
        }
        "BarMesh" => {
            r#"[[solid]]
mesh = { bar = { size = [0.8, 0.1, 0.1], cells = [32, 4, 4] } }
"#
        }
        "SolidMaterial" | "SolidMaterialTable" => {
            r#"[[solid]]
mesh = { bar = { size = [0.4, 0.1, 0.1], cells = [8, 2, 2] } }
material = { base = "foam", young = 50000.0, damping = 1.0 }   # or a name alone: material = "foam"
"#
        }
        "Contact" => {
            r#"contact = false
"#
        }
        "ContactTable" => {
            r#"[contact]
thickness = 0.002
friction = 0.4
"#
        }
        "Air" => {
            r#"[air]
density = 1.2
gust = 0.25
wind = [6.0, 0.0, 0.8]
"#
        }
        "Wind" => {
            r#"[air]
wind = [
    { time = 0.0, velocity = [0.0, 0.0, 0.0] },
    { time = 1.0, velocity = [6.0, 0.0, 0.8] },
]
"#
        }
        "Cloth" => {
            r#"[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }
transform = { translate = [0.0, 2.0, 0.0] }
velocity = [0.0, 0.0, 1.0]
material = "denim"
strain = { min = -0.1, max = 0.03 }
bend = { min = -60.0, max = 60.0 }
edge = { max = 0.05 }
pin = [{ select = "corner:top-left" }]
"#
        }
        "Pressure" => {
            r#"[[cloth]]
name = "ball"
mesh = { sphere = { radius = 0.1, frequency = 8 } }
material = "latex"
pressure = { over = 1.2 }             # a fifth more volume than at rest

[[cloth]]
name = "ring"
mesh = { torus = { major = 0.3, minor = 0.1, segments = [48, 16] } }
strain = { max = 0.03 }
pressure = { gas = [{ time = 0.0, value = 0.0 }, { time = 1.0, value = 5000.0 }] }

[[cloth]]
name = "front"                        # two discs, sewn: flat at rest, so `volume` says what `gas` refers to
mesh = { disc = { radius = 0.2, rings = 16 } }
pressure = { gas = 500.0, volume = 0.008, with = ["back"] }

[[cloth]]
name = "back"
mesh = { disc = { radius = 0.2, rings = 16 } }

[[cloth]]
name = "box"
mesh = { box = { size = [0.2, 0.1, 0.3], cells = [8, 4, 12] } }
pressure = { pascal = 300.0 }

[[seam]]
cloths = ["front", "back"]
within = 0.001
"#
        }
        "Tear" => {
            r#"[[cloth]]
name = "flag"
mesh = { grid = { size = [1.2, 0.8], cells = [48, 32] } }
material = "cotton"
strain = { max = 0.05 }
tear = { stretch = 0.04, random = 0.2, by = "triangles" }   # a fifth weaker or stronger from vertex to vertex
"#
        }
        "Cut" => {
            r#"[[cloth]]
name = "strip"
mesh = { grid = { size = [0.4, 0.1], cells = [32, 8] } }
cut = [{ from = [0.2, 0.0, 0.0], to = [0.2, 0.0, 0.03] }]   # a notch
tear = { stretch = 0.1 }
"#
        }
        "Weak" => {
            r#"[[cloth]]
name = "strip"
mesh = { grid = { size = [0.4, 0.1], cells = [32, 8] } }

[cloth.tear]
stretch = 0.1
by = "edges"
weak = [
    { select = "box:0.196,-1,-1,0.204,1,0.02", factor = 0.3 },   # a notch
    { select = "corner:top-left", factor = 5.0 },                # a patch
]
"#
        }
        "Pin" => {
            r#"[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }

[[cloth.pin]]                     # permanent
select = "corner:top-left"

[[cloth.pin]]                     # released after a second
select = "corner:top-right"
until = 1.0

[[cloth.pin]]                     # moving
select = "box:0.4,0,0.9,0.6,0,1"
pivot = [0.5, 0.0, 1.0]
motion = [{ time = 0.0 }, { time = 2.0, translate = [0.0, 0.5, 0.0], rotate = [0.0, 90.0, 0.0] }]

[[cloth.pin]]                     # follows a mesh
select = "corner:bottom-left"
attach = "stool"

[[cloth.pin]]                     # drawn to a mesh by springs, for a while
select = "box:0,0,0.4,0.1,0,0.6"
attach = "stool"
stiffness = 50.0
from = 1.0
fade_in = 0.5
until = 3.0
fade_out = 0.5

[[obstacle]]
name = "stool"
mesh = { box = { size = [0.4, 0.3, 0.4], cells = [2, 2, 2] } }
transform = { translate = [0.0, -0.2, 1.0] }
"#
        }
        "StrainLimits" | "WarpDirection" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }

[cloth.strain]                    # or isotropic: strain = { min = -0.05, max = 0.05 }
warp = { max = 0.01 }
weft = { max = 0.03 }
bias = { max = 0.15 }
direction = "u"                   # or a vector: [1.0, 0.0, 0.0]
"#
        }
        "Model" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.0, 1.0], cells = [39, 39] } }
model = "edge"
levels = 4                        # the cloth itself and three coarser levels
iterations = 50                   # per level and frame
edge = { min = -0.1, max = 0.1 }
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]
"#
        }
        "Pbd" | "Compliance" | "ParticlesModel" => {
            r#"[[cloth]]                         # a stiffness from 0 to 1
name = "balloon"
mesh = { sphere = { radius = 0.2, frequency = 8 } }
model = "pbd"
pbd = { stretch = 0.9, bend = 0.1, volume = 1.0, damping = 0.02, iterations = 20 }

[[solid]]                         # compliances
name = "beam"
mesh = { bar = { size = [0.8, 0.1, 0.1], cells = [16, 2, 2] } }
model = "pbd"
pbd = { compliance = { stretch = 1e-5, volume = 0.0 } }
pin = [{ select = "box:0,0,0,0,0.1,0.1" }]

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }
model = "pbd"
pbd = { compliance = { stretch = 1e-6, bend = 1000.0 } }
pin = [{ select = "corner:top-left" }]

[[particles]]
name = "rope"
mesh = { chain = { from = [0, 2, 0], to = [0, 1, 0], segments = 20 } }
model = "pbd"
pbd = { iterations = 40 }
pin = [{ select = "corner:start" }]
"#
        }
        "BendLimits" => {
            r#"[[cloth]]
mesh = { grid = { size = [0.2, 0.2], cells = [64, 64] } }
bend = { min = -30.0, max = 30.0 }

[[cloth]]                         # bends freely, and hardly stretches
name = "paper"
mesh = { grid = { size = [0.3, 0.2], cells = [30, 20] } }
transform = { translate = [0.0, 0.5, 0.0] }
model = "developable"             # within ±0.1 % by default
jump = 0.05                       # of an edge
"#
        }
        "Stretch" | "WovenStretch" | "Bend" | "WovenBend" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }
warp = [0.0, 0.0, 1.0]
[cloth.material]
density = 0.2
stretch = { warp = 4000.0, weft = 2500.0, shear = 50.0 }
poisson = 0.25
bend = { warp = 1.1e-5, weft = 0.8e-5, bias = 0.9e-5 }
"#
        }
        "Material" | "MaterialTable" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }
material = { base = "denim", bend = 0.0008, damping = 2.0 }   # or a name alone: material = "denim"
"#
        }
        "Noise" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.0, 1.0], cells = [64, 64] } }
noise = { amplitude = 0.03, octaves = 5, frequency = 2.0, seed = 3 }
"#
        }
        "MeshSource" => {
            r#"[[cloth]]
name = "shirt"
mesh = { cylinder = { radius = 0.3, height = 0.8, segments = [60, 40] } }   # or { file = "shirt.obj" }
"#
        }
        "GridMesh" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.5, 1.0], cells = [48, 32], diagonals = "delaunay", seed = 3 } }
"#
        }
        "EllMesh" => {
            r#"[[cloth]]
mesh = { ell = { size = [1.0, 1.0], cells = [40, 40] } }
"#
        }
        "DiscMesh" => {
            r#"[[cloth]]
mesh = { disc = { radius = 0.5, rings = 30 } }
"#
        }
        "TubeMesh" => {
            r#"[[cloth]]
mesh = { cylinder = { radius = 0.3, height = 0.8, segments = [60, 40] } }
pin = [{ select = "group:ring:top" }]
"#
        }
        "EvenMesh" => {
            r#"[[cloth]]
mesh = { cape = { edge = 0.02 } }
pin = [{ select = "group:shoulder:left" }, { select = "group:shoulder:right" }]

[[obstacle]]
mesh = { figure = { edge = 0.02 } }
"#
        }
        "CurtainMesh" => {
            r#"[[cloth]]
mesh = { curtain = { size = [1.2, 2.0], cells = [60, 100], pleats = 6, depth = 0.06 } }
pin = [{ select = "group:rail" }]
"#
        }
        "CreatureMesh" => {
            r#"[[solid]]
mesh = { creature = { length = 0.6, triangles = 4000 } }
tetrahedra = 5000
"#
        }
        "PatternMesh" => {
            r#"[scene]
sewing = 1.5                       # s

[[cloth]]
name = "dress"
mesh = { pattern = { built_in = "dress", edge = 0.04, units_in_meter = 100, speed = 0.3, shift = { front = [0.0, 0.02, 0.0] }, stitches = [["front:4", "back:3"]] } }   # or file = "dress.json"
"#
        }
        "BunnyMesh" => {
            r#"[[cloth]]                         # a hollow shell
mesh = { bunny = { height = 0.4, triangles = 4000 } }
"#
        }
        "DuckMesh" => {
            r#"[[cloth]]                         # a hollow shell
mesh = { duck = { length = 0.3, triangles = 4100 } }
"#
        }
        "SphereMesh" => {
            r#"[[cloth]]
mesh = { sphere = { radius = 0.5, frequency = 20 } }
"#
        }
        "TorusMesh" => {
            r#"[[cloth]]
mesh = { torus = { major = 0.5, minor = 0.2, segments = [60, 30] } }
"#
        }
        "BoxMesh" => {
            r#"[[cloth]]
mesh = { box = { size = [1.0, 0.5, 0.5], cells = [20, 10, 10] } }
"#
        }
        "Obstacle" => {
            r#"[[obstacle]]
name = "ball"
shape = { sphere = { radius = 0.2 } }
transform = { translate = [0.5, -0.6, 0.5] }
friction = 0.5
restitution = 0.1
margin = 0.002
motion = [{ time = 0.0 }, { time = 1.0, translate = [0.0, 0.3, 0.0] }]

[[obstacle]]                      # a rigid body
name = "brick"
shape = { box = { size = [0.2, 0.1, 0.1] } }
transform = { translate = [0.5, 0.5, 0.5] }
mass = 1.5
velocity = [0.0, -1.0, 0.0]
angular_velocity = [0.0, 90.0, 0.0]
"#
        }
        "Growth" => {
            r#"[[obstacle]]                      # thin until 1 s
name = "body"
mesh = { figure = { edge = 0.02 } }
grow = { thinner = 0.5, start = 1.0, end = 1.8 }
"#
        }
        "ObstacleMesh" => {
            r#"[[obstacle]]
name = "stool"
mesh = { box = { size = [0.4, 0.3, 0.4], cells = [2, 2, 2] } }
transform = { translate = [0.5, -0.6, 0.5] }

[[obstacle]]
name = "figure"
mesh = "figure.obj"
"#
        }
        "Sequence" => {
            r#"[[obstacle]]
name = "walker"
sequence = { files = "walk.####.obj", first = 1, last = 240, rate = 24.0 }

[[obstacle]]
name = "dancer"
sequence = { file = "dance.pc2", mesh = "dance.obj", start = 0.5 }

[[obstacle]]
name = "figure"
sequence = { figure = { edge = 0.02 } }
"#
        }
        "Shape" => {
            r#"[[obstacle]]
shape = { plane = { normal = [0.0, 1.0, 0.0], point = [0.0, -1.0, 0.0] } }

[[obstacle]]
shape = { sphere = { center = [0.5, -0.6, 0.5], radius = 0.2 } }
"#
        }
        "PlaneShape" => {
            "[[obstacle]]\nshape = { plane = { normal = [0.0, 1.0, 0.2], point = [0.0, -1.0, 0.0] } }\n"
        }
        "SphereShape" => "[[obstacle]]\nshape = { sphere = { center = [0.0, 0.3, 0.0], radius = 0.3 } }\n",
        "BoxShape" => {
            "[[obstacle]]\nshape = { box = { center = [0.0, 0.25, 0.0], size = [1.0, 0.5, 0.6] } }\n"
        }
        "RodShape" => {
            "[[obstacle]]\nshape = { capsule = { from = [-1.0, 0.0, 0.0], to = [1.0, 0.0, 0.0], radius = 0.05 } }\n"
        }
        "TorusShape" => {
            "[[obstacle]]\nshape = { torus = { center = [0.0, 0.0, 0.0], axis = [0.0, 1.0, 0.0], major = 0.5, minor = 0.1 } }\n"
        }
        "Transform" | "Scale" => {
            r#"[[cloth]]
mesh = { grid = { size = [1.0, 1.0], cells = [40, 40] } }
transform = { scale = [1.0, 1.0, 2.0], rotate = [90.0, 0.0, 0.0], translate = [0.0, 3.0, 0.0] }
"#
        }
        "MotionKey" => {
            r#"[[obstacle]]
shape = { box = { size = [1.0, 0.2, 0.2] } }
motion = [
    { time = 0.0 },
    { time = 1.0, translate = [0.0, 0.5, 0.0] },
    { time = 3.0, translate = [0.0, 0.5, 0.0], rotate = [0.0, 720.0, 0.0] },   # two turns
]
"#
        }
        "Expect" => {
            r#"[expect]
max_strain = 0.061
min_strain = -0.99
max_residual = 0.0101
max_bend_excess = 2.01
max_penetration = 0.001
final_opening = 0.0001
final_min_volume = 0.004
final_max_volume = 0.005
min_torn = 12
max_torn = 40
torn_within = [0.17, -1.0, 0.0, 0.23, 1.0, 0.1]
final_pieces = 2
final_min = [-1.0, -1.5, -1.0]
final_max = [2.0, 0.1, 2.0]
"#
        }
        "AttachedShape" | "BuiltInPattern" | "PatternSource" | "Diagonals" | "Fit" | "Integrator"
        | "Limits" | "MaterialName" | "Projection" | "TextureAxis" | "WindKey" | "SolidMaterialName"
        | "SolidModel" | "TearMeasure" | "Volume" | "Factor" | "FactorKey" | "Pascal" | "PascalKey"
        | "HairMesh" | "GrowHair" | "Curl" | "Clump" | "Guides" | "HairMaterial" | "HairMaterialName"
        | "HairMaterialTable" | "HairModel" | "Rest" | "RestWord" | "SagFreeRest" | "SagFree"
        | "RootWord" | "RootOn" | "HairStretch" | "HairContact" => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files that examples name: a triangle in each.
    fn files() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("taut-book-examples-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["figure.obj", "walk.0001.obj", "dance.obj", "head.obj"] {
            std::fs::write(folder.join(name), "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
        }
        let mut cache = b"POINTCACHE2\0".to_vec();
        // Version, vertices, first frame, frames a sample, samples, and the triangle in one frame.
        let words = [1u32, 3, 0, 1f32.to_bits(), 1, 0, 0, 0, 1f32.to_bits(), 0, 0, 0, 0, 1f32.to_bits()];
        cache.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        std::fs::write(folder.join("dance.pc2"), cache).unwrap();
        // Three strands on the triangle, in centimetres.
        let strands = [[20.0, 20.0], [40.0, 20.0], [20.0, 40.0]];
        let points = strands.map(|[x, z]| [glam::Vec3::new(x, 0.0, z), glam::Vec3::new(x, 5.0, z)]);
        let groom =
            taut::mesh::groom::Groom { positions: points.concat(), counts: vec![2; 3], radii: Vec::new() };
        std::fs::write(folder.join("head.hair"), taut_io::mesh::write_hair(&groom).unwrap()).unwrap();
        folder
    }

    #[test]
    fn examples_are_scenes() {
        let folder = files();
        let schema = taut_io::scene::schema();
        let parts = schema["$defs"].as_object().unwrap().keys().map(String::as_str).chain([WHOLE_FILE]);
        for part in parts {
            let example = of(part).unwrap_or_else(|| panic!("{part} has no example"));
            let cloth = if example.contains("[[cloth]]") { "" } else { CLOTH };
            let text = format!("{example}{cloth}");
            let scene = taut_io::scene::parse(&text, "example", &folder, &[]);
            let scene = scene.unwrap_or_else(|problems| panic!("{part}: {problems}"));
            let built = scene.build().map(|_| ()).map_err(|problems| problems.to_string());
            assert!(built.is_ok(), "{part}: {built:?}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_key_is_in_an_example() {
        let schema = taut_io::scene::schema();
        let all: String = schema["$defs"].as_object().unwrap().keys().filter_map(|part| of(part)).collect();
        // For comparing schemes and debugging, and explained where they stand.
        let rare = ["fit", "imperfection", "iterations", "max_substeps", "passes", "poisson", "projection"];
        let rare = rare.into_iter().chain(["relaxation", "steps_per_frame", "stretch", "viscosity", "file"]);
        let rare = rare.chain(["bend_damping", "weight"]);
        let rare: Vec<&str> = rare.collect();
        for (part, definition) in schema["$defs"].as_object().unwrap() {
            for key in definition["properties"].as_object().into_iter().flat_map(|keys| keys.keys()) {
                let shown = all.contains(&format!("{key} ="));
                assert!(shown || rare.contains(&key.as_str()), "no example shows {part}.{key}");
            }
        }
    }
}
