//! `taut export --format usd`, read by Pixar's own library.

use crate::clients;
use crate::program;

use std::{fs, process::Command};

use clients::python;
use glam::Vec3;
use program::{Answer, Place};
use taut::mesh::TriangleMesh;
use taut_io::mesh::{write_ply, write_strands};

/// What the scene of [`Place`] has not: a cloth with texture coordinates of its own, and an obstacle of every
/// shape, far away, some of them moving.
const MORE: &str = r#"
[[cloth]]
name = "my-quad"
mesh = { file = "quad.obj" }
strain = { max = 0.05 }
[[obstacle]]
name = "ball-1"
shape = { sphere = { center = [1.0, -9.0, 0.5], radius = 0.25 } }
pivot = [1.0, -9.0, 0.0]
motion = [{ time = 0.0 }, { time = 0.25, translate = [0.1, 0.0, 0.3], rotate = [90.0, 0.0, 400.0] }]
[[obstacle]]
name = "box"
shape = { box = { center = [0.0, -9.0, 0.0], size = [0.5, 1.0, 2.0] } }
transform = { rotate = [0.0, 0.0, 30.0] }
motion = [{ time = 0.1 }, { time = 0.4, translate = [0.0, -1.0, 0.0] }]
[[obstacle]]
name = "capsule"
shape = { capsule = { from = [-3.0, -9.0, 0.0], to = [-2.0, -9.0, 0.0], radius = 0.2 } }
[[obstacle]]
name = "cylinder"
shape = { cylinder = { from = [3.0, -9.0, 0.0], to = [3.0, -9.0, 2.0], radius = 0.4 } }
[[obstacle]]
name = "ring"
shape = { torus = { center = [0.0, -9.0, 4.0], axis = [1.0, 0.0, 0.0], major = 0.5, minor = 0.1 } }
[[obstacle]]
name = "ground"
shape = { plane = { point = [0.0, -20.0, 0.0], normal = [0.0, 1.0, 0.0] } }
"#;

const QUAD: &str = "v 0 3 0\nv 1 3 0\nv 1 3 1\nv 0 3 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0.25 0.5\nvt 0.75 0.125\n\
                    f 1/1 3/3 2/2\nf 1/4 4/5 3/3\n";

/// A run of the scene, whose quad tears (as later kinds of cloth will), and a body of two strands.
fn place_with_run() -> Place {
    let place = Place::new();
    place.write("all-kinds.toml", &(program::SCENE.to_string() + MORE));
    place.write("quad.obj", QUAD);
    place.good("run all-kinds.toml -o out --set scene.frame_rate=24");
    // In two from frame 5 on; one triangle is gone from frame 9 on.
    let corners = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Z, Vec3::Z].map(|x| x + 3.0 * Vec3::Y);
    for n in 5..=12 {
        let fall = n as f32 / 7.0;
        let count = if n < 9 { 6 } else { 3 };
        let torn = [0, 2, 1, 0, 3, 2].map(|v| corners[v]).into_iter().take(count).enumerate();
        let torn: Vec<Vec3> = torn.map(|(k, x)| x - fall * k as f32 * Vec3::Y).collect();
        place.write_frame("my-quad", n, &torn);
    }
    place.write_triangles("my-quad", 5, &[[0, 1, 2], [3, 4, 5]]);
    place.write_triangles("my-quad", 9, &[[0, 1, 2]]);

    let strand = |n: u32| -> Vec<Vec3> {
        (0..7).map(|k| Vec3::new(0.1 * k as f32, 0.01 * (n * k) as f32, -1.0 / 3.0)).collect()
    };
    place.add_body("rope", &write_strands(&strand(0), &[4, 3]), (0..=12).map(strand));
    place
}

/// Reads a layer whole and compares it with the run, bit by bit where it should be.
const CHECK: &str = r#"
import json, sys
import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdValidation

out, layer, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
frames = range(first, last + 1)
stage = Usd.Stage.Open(layer)
for error in UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators()).Validate(stage):
    raise SystemExit(error.GetErrorAsString())
assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1
assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == 24
assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (first, last)
assert stage.GetRootLayer().comment.startswith("made by taut "), stage.GetRootLayer().comment
assert stage.GetRootLayer().customLayerData["creator"].startswith("taut ")
root = stage.GetDefaultPrim()
assert (root.GetName(), root.GetTypeName(), root.GetDisplayName()) == ("all_kinds", "Xform", "all-kinds")
assert Usd.ModelAPI(root).GetKind() == "component"
assert [child.GetName() for child in root.GetChildren()] == ["sheet", "my_quad", "rope", "Obstacles"]

def load(body, frame):
    return np.load(f"{out}/frames/{body}.{frame:04}.npy")

def same(found, expected):
    expected = np.asarray(expected)
    found = np.array(found, dtype=expected.dtype).reshape(expected.shape)
    assert np.array_equal(found, expected), (found, expected)

for body, name in [("sheet", "sheet"), ("my-quad", "my_quad"), ("rope", "rope")]:
    geometry = UsdGeom.PointBased(root.GetChild(name))
    assert geometry.GetPointsAttr().GetTimeSamples() == list(frames)
    for frame in frames:
        expected = load(body, frame)
        same(geometry.GetPointsAttr().Get(frame), expected)
        low, high = np.array(geometry.GetExtentAttr().Get(frame))
        assert (low <= expected.min(0)).all() and (high >= expected.max(0)).all()
        assert np.abs(low - expected.min(0)).max() < 0.02 and np.abs(high - expected.max(0)).max() < 0.02

sheet = UsdGeom.Mesh(root.GetChild("sheet"))
assert sheet.GetSubdivisionSchemeAttr().Get() == "none" and sheet.GetDoubleSidedAttr().Get()
assert sheet.GetNormalsInterpolation() == "vertex"
assert set(sheet.GetFaceVertexCountsAttr().Get()) == {3} and sheet.GetFaceCount() == 128
primvars = UsdGeom.PrimvarsAPI(sheet)
rest, st = primvars.GetPrimvar("rest"), primvars.GetPrimvar("st")
assert rest.GetInterpolation() == "vertex" and rest.GetTypeName() == "point3f[]"
assert st.GetInterpolation() == "faceVarying" and st.GetTypeName() == "texCoord2f[]"
# At rest the sheet is a unit square, and so are its texture coordinates: edges of one are edges of the other.
corners = np.array(rest.Get())[np.array(sheet.GetFaceVertexIndicesAttr().Get())].reshape(-1, 3, 3)
texture = np.array(st.Get()).reshape(-1, 3, 2)
lengths = lambda c: np.linalg.norm(c - np.roll(c, 1, axis=1), axis=2)
assert np.abs(lengths(corners) - lengths(texture)).max() < 1e-6
for frame in frames:
    points, normals = load("sheet", frame), np.array(sheet.GetNormalsAttr().Get(frame))
    triangles = np.array(sheet.GetFaceVertexIndicesAttr().Get(frame)).reshape(-1, 3)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    expected = np.zeros_like(points)
    for k in range(3):
        np.add.at(expected, triangles[:, k], np.cross(b - a, c - a))
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    assert np.abs(normals - expected).max() < 1e-4, frame

# The quad tears in frame 5 and loses a triangle in frame 9.
quad = root.GetChild("my_quad")
assert quad.GetDisplayName() == "my-quad"
mesh, primvars = UsdGeom.Mesh(quad), UsdGeom.PrimvarsAPI(quad)
whole, torn, half = [0, 2, 1, 0, 3, 2], [0, 1, 2, 3, 4, 5], [0, 1, 2]
texture = np.float32([[0, 0], [1, 1], [1, 0], [0.25, 0.5], [0.75, 0.125], [1, 1]])
for time in np.arange(first, last + 0.01, 0.25):
    indices = mesh.GetFaceVertexIndicesAttr().Get(time)
    same(indices, whole if time < 5 else torn if time < 9 else half)
    same(mesh.GetFaceVertexCountsAttr().Get(time), [3] * (len(indices) // 3))
    points, normals = mesh.GetPointsAttr().Get(time), mesh.GetNormalsAttr().Get(time)
    assert len(points) == len(normals) == max(indices) + 1, time
    assert UsdGeom.Mesh.ValidateTopology(indices, mesh.GetFaceVertexCountsAttr().Get(time), len(points))[0]
    rest, st = primvars.GetPrimvar("rest").Get(time), primvars.GetPrimvar("st").Get(time)
    if time < 5:
        same(rest, np.float32([[0, 3, 0], [1, 3, 0], [1, 3, 1], [0, 3, 1]]))
    else:
        assert rest is None, (time, rest)
    if time < 9:
        same(st, texture)
    else:
        assert st is None, (time, st)

rope = UsdGeom.BasisCurves(root.GetChild("rope"))
assert rope.GetTypeAttr().Get() == "linear" and list(rope.GetCurveVertexCountsAttr().Get()) == [4, 3]
assert rope.GetWidthsInterpolation() == "constant" and np.allclose(rope.GetWidthsAttr().Get(), [0.01], atol=1e-6)
same(UsdGeom.PrimvarsAPI(rope).GetPrimvar("rest").Get(), load("rope", 0))

# Obstacles: a point of each is where the keyframes of the scene take it.
def turn(x, y, z):
    rotation = Gf.Matrix4d(1)
    for axis, angle in [((1, 0, 0), x), ((0, 1, 0), y), ((0, 0, 1), z)]:
        rotation *= Gf.Matrix4d().SetRotate(Gf.Rotation(axis, angle))
    return rotation

def shift(*by):
    return Gf.Matrix4d().SetTranslate(by)

obstacles = root.GetChild("Obstacles")
kinds = {child.GetName(): child.GetTypeName() for child in obstacles.GetChildren()}
assert kinds == {"ball_1": "Sphere", "box": "Cube", "capsule": "Capsule", "cylinder": "Cylinder", "ring": "Mesh", "ground": "Mesh"}, kinds
assert obstacles.GetChild("ball_1").GetDisplayName() == "ball-1"
assert abs(UsdGeom.Sphere(obstacles.GetChild("ball_1")).GetRadiusAttr().Get() - 0.25) < 1e-6
for frame in frames:
    cache = UsdGeom.XformCache(frame)
    place = lambda name: cache.GetLocalToWorldTransform(obstacles.GetChild(name))
    time = frame / 24
    part = min(time / 0.25, 1)
    ball = shift(0, 0, 0.5) * turn(90 * part, 0, 400 * part) * shift(1 + 0.1 * part, -9, 0.3 * part)
    for point in [(0, 0, 0), (0.25, 0, 0), (0, 0.25, 0), (0, 0, 0.25)]:
        assert (place("ball_1").Transform(Gf.Vec3d(point)) - ball.Transform(Gf.Vec3d(point))).GetLength() < 1e-5
    part = min(max((time - 0.1) / 0.3, 0), 1)
    found = place("box").Transform(Gf.Vec3d(0.5, 0.5, 0.5))
    # The scene turns the box about the origin.
    wanted = (shift(0, -9, 0) * turn(0, 0, 30) * shift(0, -part, 0)).Transform(Gf.Vec3d(0.25, 0.5, 1))
    assert (found - wanted).GetLength() < 1e-5, (frame, found, wanted)

boxes = UsdGeom.BBoxCache(first, ["default"])
def bounds(name):
    box = boxes.ComputeWorldBound(obstacles.GetChild(name)).ComputeAlignedRange()
    return np.array([box.GetMin(), box.GetMax()])
assert np.abs(bounds("capsule") - [[-3.2, -9.2, -0.2], [-1.8, -8.8, 0.2]]).max() < 1e-5, bounds("capsule")
assert np.abs(bounds("cylinder") - [[2.6, -9.4, 0], [3.4, -8.6, 2]]).max() < 1e-5, bounds("cylinder")
assert np.abs(bounds("ring") - [[-0.1, -9.6, 3.4], [0.1, -8.4, 4.6]]).max() < 1e-2, bounds("ring")
(_, low, _), (wide, high, _) = bounds("ground")
assert abs(low + 20) < 1e-5 and abs(high + 20) < 1e-5 and wide >= 5
normals = np.array(UsdGeom.Mesh(obstacles.GetChild("ground")).GetNormalsAttr().Get())
assert np.array_equal(normals, [[0, 1, 0]] * 4)
print("good")
"#;

fn check(place: &Place, layer: &str, frames: [u32; 2]) {
    let frames = frames.map(|frame| frame.to_string());
    let arguments = [place.path("out"), place.path(layer), (&frames[0]).into(), (&frames[1]).into()];
    assert_eq!(python(CHECK, &arguments.each_ref().map(|path| path.as_path())).trim(), "good");
}

#[test]
#[ignore = "full tier: needs Python"]
fn pixars_library_reads_what_the_run_holds() {
    let place = place_with_run();
    place.good("export out --format usd,usda");
    check(&place, "out/export/all-kinds.usdc", [0, 12]);
    check(&place, "out/export/all-kinds.usda", [0, 12]);
    // Part of a run, that begins with torn cloth; the ending says whether it is binary or text.
    place.good("export out -o part.usd --frames 7-11");
    assert!(fs::read(place.path("part.usd")).unwrap().starts_with(b"PXR-USDC"));
    check(&place, "part.usd", [7, 11]);
    place.good("export out --format usd -o part.usda --frames 3-6");
    assert!(fs::read(place.path("part.usda")).unwrap().starts_with(b"#usda 1.0"));
    check(&place, "part.usda", [3, 6]);
    place.bad("export out --format usda -o text.usdc", 2, &["text.usdc", "is binary", ".usda"]);
}

#[test]
fn damaged_frames_and_full_disks_leave_nothing() {
    let place = place_with_run();
    let frame = place.path("out/frames/my-quad.0010.npy");
    let whole = fs::read(&frame).unwrap();
    fs::write(&frame, &whole[..whole.len() - 1]).unwrap();
    for ending in ["usdc", "usda"] {
        let command = format!("export out -o there/x.{ending}");
        place.bad(&command, 2, &["my-quad.0010.npy", "frame 10 of my-quad", "truncated"]);
        assert!(!place.path("there").exists());
    }
    fs::write(&frame, whole).unwrap();

    if cfg!(unix) {
        for ending in ["usdc", "usda"] {
            // No file may be larger than eight blocks.
            let command = format!(
                "trap '' XFSZ; ulimit -f 8; exec {} export out -o there/x.{ending}",
                env!("CARGO_BIN_EXE_taut")
            );
            let output =
                Command::new("sh").args(["-c", &command]).current_dir(place.path("")).output().unwrap();
            let answer = Answer::from(output);
            assert_eq!(answer.code, Some(3), "{}", answer.err);
            assert!(answer.err.contains("could not write"), "{}", answer.err);
            assert!(!place.path("there").exists());
        }
    }
}

#[test]
fn text_that_nobody_could_read_is_refused() {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    let positions = (0..30_000_u16).map(|k| Vec3::new(f32::from(k), 0.0, f32::from(k % 2))).collect();
    let mesh = TriangleMesh { positions, triangles: vec![[0, 1, 2]], ..TriangleMesh::default() };
    fs::write(place.path("out/big.rest.ply"), write_ply(&mesh)).unwrap();
    for n in 0..1000 {
        // The size is known before anything is read.
        place.write(&format!("out/frames/big.{n:04}.npy"), "");
    }
    place.change_bodies(|bodies| *bodies = vec!["big".into()]);
    place.bad("export out --format usda", 2, &["2.3 GB of text", ".usdc"]);
    place.bad("export out --format usd", 2, &["big.0000.npy", "truncated"]);
}
