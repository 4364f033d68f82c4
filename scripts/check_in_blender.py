#!/usr/bin/env python3
"""Checks in Blender that an export of taut plays the frames of its run.

    pip install bpy==5.0.1          (Python 3.11; 821 MB)
    python scripts/check_in_blender.py OUT FILE [--frames 0,45,90] [--radii NPZ]

OUT is the folder of the run. FILE is what `taut export` made of it: a USD layer (.usdc, .usda, .usd), or a point cache (.pc2)
with its OBJ file beside it, which is played through a Mesh Cache modifier. The evaluated mesh of every body is compared with
OUT/frames at three frames (the first, the middle one and the last, unless --frames says otherwise), to 1e-5 m; its triangles too.
Strands of a USD layer are compared as curves: points to 1e-6 m, the number of points of each strand, and with --radii NPZ, what
`taut export --format npz` made of the same run, the radius at each point.
Cloth that tears has other vertices and triangles from frame to frame in a USD layer, and those of the last frame in a point cache,
where each is expected where the vertex is that it will be split from.
"""

import argparse
import json
import pathlib
import re
import sys

import bpy
import numpy as np

TOLERANCE = 1e-5  # m
STRANDS = 1e-6  # m
RADIUS = 1e-6  # of itself


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--frames", type=lambda text: [int(frame) for frame in text.split(",")])
    parser.add_argument("--radii", type=pathlib.Path)
    arguments = parser.parse_args()

    bodies = json.loads((arguments.out / "checkpoint/manifest.json").read_text())["bodies"]
    frames = arguments.frames or three_frames(arguments.out, bodies[0])
    bpy.ops.wm.read_factory_settings(use_empty=True)
    print(f"Blender {bpy.app.version_string}, {arguments.file}")
    if arguments.file.suffix == ".pc2":
        objects = {arguments.file.stem: import_point_cache(arguments.file, frames)}
        to_taut = lambda positions, _: positions
    else:
        objects = import_usd(arguments.file, bodies)
        to_taut = from_z_up

    worst = 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for body, thing in objects.items():
            expected = np.load(arguments.out / f"frames/{body}.{frame:04}.npy")
            if is_strands(arguments.out, body) and arguments.file.suffix != ".pc2":
                worst = max(worst, compare_strands(arguments, body, frame, thing, expected))
                continue
            triangles = triangles_in(arguments.out, body, frame)
            if arguments.file.suffix == ".pc2":
                settled = triangles_in(arguments.out, body, 10**9)
                origins = np.arange(1 + max(settled.max(), len(expected) - 1))
                # Triangles keep the order of their corners.
                origins[settled.ravel()] = triangles.ravel()
                expected, triangles = expected[origins], settled
            mesh, positions = evaluated(thing)
            found = to_taut(positions, thing)
            if found.shape != expected.shape:
                sys.exit(f"{body}, frame {frame}: {len(found)} vertices in Blender, {len(expected)} in the run")
            distance = float(np.abs(found - expected).max())
            if not np.array_equal(mesh, triangles):
                sys.exit(f"{body}, frame {frame}: other triangles in Blender than in the run")
            print(f"{body}, frame {frame}: {len(found)} vertices, {len(mesh)} triangles, largest difference {distance:.2e} m")
            worst = max(worst, distance)
    if not worst <= TOLERANCE:
        sys.exit(f"FAILED: {worst:.2e} m is more than {TOLERANCE:.0e} m")
    print(f"good: all within {TOLERANCE:.0e} m")


def three_frames(out, body):
    """The first frame of a body, the middle one and the last."""
    numbers = [int(path.name.split(".")[-2]) for path in out.glob(f"frames/{body}.*.npy") if path.name.split(".")[-2].isdigit()]
    return [0, max(numbers) // 2, max(numbers)]


def import_usd(path, bodies):
    """The object that Blender makes of each body; prims are called after bodies, with what USD forbids replaced."""
    bpy.ops.wm.usd_import(filepath=str(path))
    objects = {}
    for body in bodies:
        name = re.sub(r"[^A-Za-z0-9]", "_", body)
        thing = bpy.data.objects.get(f"_{name}" if name[0].isdigit() else name)
        if thing is None:
            sys.exit(f"{body} is not among what Blender imported: {', '.join(o.name for o in bpy.data.objects)}")
        objects[body] = thing
    return objects


def import_point_cache(path, frames):
    bpy.ops.wm.obj_import(filepath=str(path.with_suffix(".obj")))
    (thing,) = bpy.context.selected_objects
    cache = thing.modifiers.new("taut", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = str(path.resolve())
    cache.interpolation = "NONE"
    cache.frame_start = 0
    bpy.context.scene.frame_end = max(frames)
    return thing


def triangles_in(out, body, frame):
    """Those of a body in a frame: of its last file of triangles by then, or of its rest mesh."""
    files = {int(path.name.split(".")[-3]): path for path in out.glob(f"frames/{body}.*.faces.npy")}
    changes = [number for number in files if number <= frame]
    if changes:
        return np.load(files[max(changes)])
    header, data = (out / f"{body}.rest.ply").read_bytes().split(b"end_header\n", 1)
    vertices, faces = (int(re.search(rb"element %s (\d+)" % kind, header).group(1)) for kind in (b"vertex", b"face"))
    floats = header.split(b"element face")[0].count(b"property float")
    table = np.frombuffer(data[4 * floats * vertices :], np.dtype([("count", "u1"), ("corners", "<i4", 3)]), faces)
    return table["corners"]


def evaluated(thing):
    """Triangles, and positions of the vertices in the object's own axes, after its modifiers."""
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = mesh.attributes["position"].data
    positions = np.empty(3 * len(points), dtype=np.float32)
    points.foreach_get("vector", positions)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners.reshape(-1, 3), positions.reshape(-1, 3)


def is_strands(out, body):
    return b"element edge" in (out / f"{body}.rest.ply").read_bytes()[:400]


def compare_strands(arguments, body, frame, thing, expected):
    """Points of each strand in Blender and in the run, where a particle is in every strand that passes through it."""
    data = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    counts = [curve.points_length for curve in data.curves]
    found = np.empty(3 * len(data.points), dtype=np.float32)
    data.attributes["position"].data.foreach_get("vector", found)
    found = from_z_up(found.reshape(-1, 3), thing)
    header, rest = (arguments.out / f"{body}.rest.ply").read_bytes().split(b"end_header\n", 1)
    count = int(re.search(rb"element vertex (\d+)", header).group(1))
    edges = np.frombuffer(rest[12 * count :], "<i4").reshape(-1, 2)
    starts = np.setdiff1d(np.arange(count), edges[:, 1])
    if counts != np.diff(np.append(starts, count)).tolist() or len(found) != count:
        sys.exit(f"{body}, frame {frame}: other strands in Blender than in the run")
    if len(expected) != count:
        # Which particle is at which point, from where they start.
        first = np.load(arguments.out / f"frames/{body}.0000.npy")
        shown = np.frombuffer(rest[: 12 * count], "<f4").reshape(-1, 3)
        expected = expected[np.linalg.norm(shown[:, None] - first[None], axis=2).argmin(axis=1)]
    distance = float(np.abs(found - expected).max())
    radii = np.zeros(len(found), dtype=np.float32)
    if "radius" in data.attributes:
        data.attributes["radius"].data.foreach_get("value", radii)
    said = "no radii"
    if "radius" in data.attributes:
        said = f"radii {radii.min():g} to {radii.max():g} m"
    if arguments.radii:
        wanted = np.load(arguments.radii)[f"{body}/radii"]
        off = float(np.abs(radii / wanted - 1).max()) if radii.shape == wanted.shape else np.inf
        if not off <= RADIUS:
            sys.exit(f"{body}, frame {frame}: radii in Blender differ by {off:.1e} of themselves")
        said += f" within {off:.1e} of themselves"
    print(f"{body}, frame {frame}: {len(counts)} strands, {count} points, {said}, largest difference {distance:.2e} m")
    if not distance <= STRANDS:
        sys.exit(f"{body}, frame {frame}: points in Blender differ by {distance:.2e} m")
    return distance


def from_z_up(positions, thing):
    """World positions in taut's axes: Blender turns layers with y up so that z is up."""
    world = np.array(thing.matrix_world)
    x, y, z = (positions @ world[:3, :3].T + world[:3, 3]).T
    return np.stack([x, z, -y], axis=1)


if __name__ == "__main__":
    main()
