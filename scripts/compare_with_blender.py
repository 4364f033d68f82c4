#!/usr/bin/env python3
"""The same sheet on the same sphere in Blender and in taut, both with self-collision, one after the other.

    pip install bpy==5.0.1 "numpy<2"        (Python 3.11)
    pip install ipctk numpy                 (in an environment of its own: bpy and ipctk need different versions of numpy)
    cargo build --release
    python scripts/compare_with_blender.py --checker OTHER/bin/python [--vertices 65] [--frames 60] [--json FILE]

A sheet of 1 m falls on a sphere that lies on a floor. Blender's cloth is cotton with tension, compression and shear 80, 15 quality steps and 5 of
collision, and with the mass that it gives a vertex by default, which makes for heavy sheets (`--mass 7.1e-5` is 0.3 kg for 65 x 65); taut's is denim that stretches by no more than 5 %. Both are timed as they come: Blender by setting frame after frame, taut as its program
on two threads, which writes all frames and certificates. Strain is measured from the positions by the same code, and
ipctk says in which of the sampled frames the sheet intersects itself.
"""

import argparse
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

RADIUS = 0.25  # m
HEIGHT = 0.6  # m
THICKNESS = 0.005  # m, between layers of cloth
RATE = 30  # frames a second


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=65, help="along a side")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--samples", type=int, default=12, help="frames in which intersections are looked for")
    parser.add_argument("--taut", type=pathlib.Path, default=pathlib.Path("target/release/taut"))
    parser.add_argument("--mass", type=float, default=0.3, help="of a vertex in Blender [kg]; 0.3 is its default")
    parser.add_argument("--checker", default=sys.executable, help="a Python that has ipctk")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures")
    parser.add_argument("--check", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.check:
        return print(json.dumps(check(**np.load(arguments.check))))

    rest, faces = sheet(arguments.vertices)
    samples = sorted({round(k * arguments.frames / arguments.samples) for k in range(1, arguments.samples + 1)})
    rows = []
    for simulate in [blender, taut]:
        name, wall, processor, frames = simulate(arguments, rest, faces)
        largest, mean = strain(rest, faces, frames)
        found = ask_checker(arguments.checker, rest, faces, [frames[frame - 1] for frame in samples])
        crossed = [frame for frame, intersects in zip(samples, found) if intersects]
        rows.append({
            "name": name,
            "seconds_a_frame": wall / arguments.frames,
            "processor_seconds_a_frame": processor / arguments.frames,
            "largest_strain": largest,
            "mean_strain": mean,
            "sampled_frames": len(samples),
            "intersecting_frames": crossed,
        })
        print(f"{name}: done", file=sys.stderr)
    ratio = rows[0]["seconds_a_frame"] / rows[1]["seconds_a_frame"]
    print(f"{arguments.vertices} x {arguments.vertices} vertices, {arguments.frames} frames")
    print(f"{'':16} {'s a frame':>10} {'CPU-s':>10} {'largest':>10} {'mean':>10}  intersects itself in")
    for row in rows:
        crossed = f"{len(row['intersecting_frames'])} of {row['sampled_frames']} frames"
        times = f"{row['seconds_a_frame']:10.4f} {row['processor_seconds_a_frame']:10.4f}"
        print(f"{row['name']:16} {times} {row['largest_strain']:10.2%} {row['mean_strain']:10.2%}  {crossed}")
    print(f"taut is {ratio:.1f} times as fast")
    if arguments.json:
        figures = {"vertices": arguments.vertices, "mass": arguments.mass, "frames": arguments.frames, "runs": rows, "times_as_fast": ratio}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def sheet(side):
    """A sheet of 1 m in the plane y = 0, its middle at the origin, as `grid` has it in a scene file."""
    along = np.linspace(-0.5, 0.5, side)
    x, z = np.meshgrid(along, along)
    rest = np.stack([x.ravel(), np.zeros(side * side), z.ravel()], axis=1)
    faces = []
    for row in range(side - 1):
        for column in range(side - 1):
            a = row * side + column
            b, c, d = a + 1, a + side, a + side + 1
            faces += [[a, c, b], [b, c, d]] if (row + column) % 2 == 0 else [[a, c, d], [a, d, b]]
    return rest, np.array(faces)


def blender(arguments, rest, faces):
    """Name, wall time, processor time [s] and positions of every frame [m] of Blender's cloth."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = RATE
    scene.frame_start, scene.frame_end = 0, arguments.frames

    def add(name, positions, triangles):
        mesh = bpy.data.meshes.new(name)
        # z is up in Blender.
        mesh.from_pydata([(x, -z, y) for x, y, z in positions], [], [list(map(int, t)) for t in triangles])
        thing = bpy.data.objects.new(name, mesh)
        scene.collection.objects.link(thing)
        return thing

    cloth = add("sheet", rest + [0.0, HEIGHT, 0.0], faces)
    modifier = cloth.modifiers.new("cloth", "CLOTH")
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 0, arguments.frames
    settings, collision = modifier.settings, modifier.collision_settings
    settings.quality = 15
    settings.mass = arguments.mass
    settings.tension_stiffness = settings.compression_stiffness = settings.shear_stiffness = 80
    collision.collision_quality = 5
    collision.distance_min = THICKNESS / 2
    collision.use_self_collision = True
    collision.self_distance_min = THICKNESS
    rings, around = 48, 96
    ball = [(0.0, 2 * RADIUS, 0.0)] + [
        (RADIUS * math.sin(a) * math.cos(b), RADIUS + RADIUS * math.cos(a), RADIUS * math.sin(a) * math.sin(b))
        for a in (math.pi * k / rings for k in range(1, rings))
        for b in (2 * math.pi * k / around for k in range(around))
    ] + [(0.0, 0.0, 0.0)]
    ring = lambda k, l: 1 + (k - 1) * around + l % around
    last = len(ball) - 1
    sides = [[0, ring(1, l + 1), ring(1, l)] for l in range(around)]
    for k in range(1, rings - 1):
        for l in range(around):
            sides += [[ring(k, l), ring(k, l + 1), ring(k + 1, l)], [ring(k, l + 1), ring(k + 1, l + 1), ring(k + 1, l)]]
    sides += [[last, ring(rings - 1, l), ring(rings - 1, l + 1)] for l in range(around)]
    floor = [(-2, 0, -2), (2, 0, -2), (2, 0, 2), (-2, 0, 2)]
    for thing in [add("ball", ball, sides), add("floor", floor, [[0, 2, 1], [0, 3, 2]])]:
        thing.modifiers.new("collision", "COLLISION")
        thing.collision.thickness_outer = THICKNESS / 2
        thing.collision.cloth_friction = 5.0

    frames = []
    scene.frame_set(0)
    begun, processor = time.perf_counter(), time.process_time()
    for frame in range(1, arguments.frames + 1):
        scene.frame_set(frame)
        mesh = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        x = np.empty(3 * len(rest), dtype=np.float32)
        mesh.vertices.foreach_get("co", x)
        x = x.reshape(-1, 3)
        frames.append(np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1).astype(float))
    name = "Blender " + bpy.app.version_string
    return name, time.perf_counter() - begun, time.process_time() - processor, frames


SCENE = """
[scene]
frames = {frames}
frame_rate = {rate}

[contact]
thickness = {thickness}

[[cloth]]
name = "sheet"
mesh = {{ file = "sheet.obj" }}
transform = {{ translate = [0.0, {height}, 0.0] }}
material = "denim"
strain = {{ max = 0.05 }}

[[obstacle]]
name = "ball"
shape = {{ sphere = {{ center = [0.0, {radius}, 0.0], radius = {radius} }} }}
friction = 0.4
margin = {margin}

[[obstacle]]
name = "floor"
shape = {{ plane = {{ normal = [0.0, 1.0, 0.0] }} }}
friction = 0.5
margin = {margin}
"""


def taut(arguments, rest, faces):
    """The same of taut."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in rest] + ["f {} {} {}".format(*(t + 1)) for t in faces]
        (folder / "sheet.obj").write_text("\n".join(lines) + "\n")
        scene = folder / "scene.toml"
        scene.write_text(SCENE.format(
            frames=arguments.frames, rate=RATE, thickness=THICKNESS, margin=THICKNESS / 2, height=HEIGHT, radius=RADIUS
        ))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        run = [arguments.taut.resolve(), "run", scene, "-o", folder / "out", "--threads", "2"]
        answer = subprocess.run(run, capture_output=True, text=True)
        wall = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if answer.returncode != 0:
            print(answer.stdout + answer.stderr, file=sys.stderr)
        frames = [
            np.load(folder / f"out/frames/sheet.{frame:04}.npy").astype(float)
            for frame in range(1, arguments.frames + 1)
        ]
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return "taut", wall, processor, frames


def strain(rest, faces, frames):
    """Largest principal strain of any triangle in any frame, and the mean over triangles and frames of the larger one."""
    corners = rest[faces][:, :, [0, 2]]
    inverses = np.linalg.inv(np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=2))
    largest, means = 0.0, []
    for x in frames:
        edges = np.stack([x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]]], axis=2)
        gradient = edges @ inverses
        stretch = np.linalg.svd(gradient, compute_uv=False)[:, 0]
        largest = max(largest, float(stretch.max()) - 1.0)
        means.append(float(np.maximum(stretch - 1.0, 0.0).mean()))
    return largest, float(np.mean(means))


def ask_checker(python, rest, faces, frames):
    """Whether the sheet intersects itself in each of the frames, from a process that has ipctk."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "frames.npz"
        np.savez(file, rest=rest, faces=faces, frames=np.array(frames))
        run = [python, __file__, "--check", file]
        return json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def check(rest, faces, frames):
    """The same, in that process."""
    import ipctk

    faces = faces.astype(np.int32)
    surface = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    return [bool(ipctk.has_intersections(surface, x)) for x in frames]


if __name__ == "__main__":
    main()
