#!/usr/bin/env python3
"""Checks in Blender that an export of taut plays the frames of its run.

    pip install bpy==5.0.1          (Python 3.11; 821 MB)
    python scripts/check_in_blender.py OUT FILE [--frames 0,45,90]

OUT is the folder of the run. FILE is what `taut export` made of it: a USD layer (.usdc, .usda, .usd), or a point cache (.pc2)
with its OBJ file beside it, which is played through a Mesh Cache modifier. The evaluated mesh of every body is compared with
OUT/frames at three frames (the first, the middle one and the last, unless --frames says otherwise), to 1e-5 m.
"""

import argparse
import json
import pathlib
import re
import sys

import bpy
import numpy as np

TOLERANCE = 1e-5  # m


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--frames", type=lambda text: [int(frame) for frame in text.split(",")])
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
            found = to_taut(evaluated_positions(thing), thing)
            if found.shape != expected.shape:
                sys.exit(f"{body}, frame {frame}: {len(found)} vertices in Blender, {len(expected)} in the run")
            distance = float(np.abs(found - expected).max())
            print(f"{body}, frame {frame}: {len(found)} vertices, largest difference {distance:.2e} m")
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


def evaluated_positions(thing):
    """Positions of the vertices in the object's own axes, after its modifiers."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = evaluated.data.attributes["position"].data
    positions = np.empty(3 * len(points), dtype=np.float32)
    points.foreach_get("vector", positions)
    return positions.reshape(-1, 3)


def from_z_up(positions, thing):
    """World positions in taut's axes: Blender turns layers with y up so that z is up."""
    world = np.array(thing.matrix_world)
    x, y, z = (positions @ world[:3, :3].T + world[:3, 3]).T
    return np.stack([x, z, -y], axis=1)


if __name__ == "__main__":
    main()
