#!/usr/bin/env python3
"""The same hair as stiff rods in pyPBD and as hair in taut: CPU time a frame, and what each reaches, all in one run.

    pip install pyPBD==2.2.2 numpy
    cargo build --release
    python scripts/compare_hair_with_pypbd.py [--strands 10000] [--frames 8] [--springs 16] [--json FILE]

Straight strands of 22 cm and 50 segments stand on a head that turns by 50° to and fro, 1.25 times a second; the first segment of each goes with
it. Frames are 1/30 s. No contact, no air, no damping: rods alone. pyPBD has no Cosserat rods from Python (`addLineModel` wants quaternions, which
it does not bind), so that segments are rigid bodies, joined by its direct solver for stiff rods (Deul et al. 2018), with the same moduli; the head
moves before each of its steps. taut computes in single precision in lanes, pyPBD in double precision, rod by rod, on as many threads.

Stretch is that of the edges between joints; of pyPBD, joints are the means of the two ends that should meet there, and gaps between these are
given beside. Tips are compared with those of taut at 64 steps a frame. pyPBD is timed around its steps; of taut, the program is timed with few and
with many frames, and the difference is taken, which leaves the frames that it writes and certifies in. The springs of `model = "springs"` take the
steps that they need, on a few strands; their time is scaled to as many strands as the others have.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

FRAME = 1 / 30  # s
SEGMENTS, LENGTH, HEAD = 50, 0.22, 0.1
RADIUS, YOUNG, SHEAR, DENSITY = 4e-5, 3e9, 1.1e9, 1300.0
SHOWN = 200  # strands whose shapes are compared
CUBE = "".join(f"v {x} {y} {z}\n" for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)) + (
    "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n"
)


def angle(t):
    return math.radians(50) * math.sin(2 * math.pi * 1.25 * t)


def turn(t):
    c, s = math.cos(angle(t)), math.sin(angle(t))
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def directions(count):
    """Evenly over the upper half of the head."""
    k = np.arange(count)
    y = 1 - (k + 0.5) / count
    around = k * math.pi * (3 - math.sqrt(5))
    across = np.sqrt(1 - y * y)
    return np.stack([across * np.cos(around), y, across * np.sin(around)], 1)


def strands(count):
    along = HEAD + LENGTH * np.arange(SEGMENTS + 1) / SEGMENTS
    return directions(count)[:, None] * along[None, :, None]


def quaternion(m):
    """Of a rotation, as pyPBD has it: x, y, z, w."""
    w = math.sqrt(max(0.0, 1 + m[0, 0] + m[1, 1] + m[2, 2])) / 2
    if w > 1e-3:
        return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 4 * w * w]) / (4 * w)
    axis = np.sqrt(np.maximum(0, (np.diag(m) + 1) / 2))
    k = axis.argmax()
    return np.append(m[:, k] + (np.arange(3) == k), 0.0) / np.linalg.norm(m[:, k] + (np.arange(3) == k))


def frame_along(d):
    """Axes of a segment along `d`, which is its y."""
    x = np.cross(d, [0.0, 0.0, 1.0] if abs(d[2]) < 0.9 else [1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    return np.stack([x, d, np.cross(x, d)], 1)


def child_of_pypbd(args):
    import pypbd

    steps, iterations = map(int, args.child.split("x"))
    simulation = pypbd.Simulation.getCurrent()
    simulation.initDefault()
    pypbd.Logger.activate = False
    model, controller = simulation.getModel(), simulation.getTimeStep()
    with tempfile.NamedTemporaryFile("w", suffix=".obj") as file:
        file.write(CUBE)
        file.flush()
        vertices, mesh = pypbd.OBJLoader.loadObjToMesh(file.name, [1, 1, 1])
    points, piece = strands(args.strands), LENGTH / SEGMENTS
    mass = math.pi * RADIUS**2 * piece * DENSITY
    across, about = mass * (3 * RADIUS**2 + piece**2) / 12, mass * RADIUS**2 / 2
    scale = np.array([2 * RADIUS, piece, 2 * RADIUS])
    inertia = np.array([across, about, across])
    roots, bodies = [], []
    for strand, direction in zip(points, directions(args.strands)):
        axes = frame_along(direction)
        rotation = quaternion(axes)
        for i in range(SEGMENTS):
            body = model.addRigidBody(1.0, vertices, mesh, np.zeros(3), np.eye(3), scale, False, False)
            middle = 0.5 * (strand[i] + strand[i + 1])
            body.initBody(mass, middle, inertia, rotation, vertices, mesh, scale)
            if i == 0:
                body.setMass(0.0)
                roots.append((body, middle, axes))
            if len(bodies) < SHOWN * SEGMENTS:
                bodies.append(body)
    count = SEGMENTS - 1
    for s, strand in enumerate(points):
        pairs = [(s * SEGMENTS + i, s * SEGMENTS + i + 1) for i in range(count)]
        model.addDirectPositionBasedSolverForStiffRodsConstraint(
            pairs, list(strand[1:-1]), [RADIUS] * count, [piece] * count, [YOUNG] * count, [SHEAR] * count
        )
    controller.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, 1)
    controller.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, iterations)
    pypbd.TimeManager.getCurrent().setTimeStepSize(FRAME / steps)
    cpu, tips, stretch, gap = 0.0, [], 0.0, 0.0
    for frame in range(args.frames):
        for step in range(steps):
            now = turn((frame + (step + 1) / steps) * FRAME)
            for body, middle, axes in roots:
                body.setPosition(now @ middle)
                body.setRotation(quaternion(now @ axes))
                body.setRotationMatrix(now @ axes)
            begun = time.process_time()
            controller.step(model)
            # What sets the first step up is not counted.
            cpu += (time.process_time() - begun) * ((frame, step) != (0, 0))
        middle = np.array([body.getPosition() for body in bodies]).reshape(-1, SEGMENTS, 3)
        half = 0.5 * piece * np.array([body.getRotationMatrix()[:, 1] for body in bodies]).reshape(-1, SEGMENTS, 3)
        joints = 0.5 * (middle[:, :-1] + half[:, :-1] + middle[:, 1:] - half[:, 1:])
        gap = max(gap, np.linalg.norm(middle[:, :-1] + half[:, :-1] - middle[:, 1:] + half[:, 1:], axis=2).max() / piece)
        stretch = max(stretch, np.abs(np.linalg.norm(np.diff(joints, axis=1), axis=2) / piece - 1).max())
        tips.append((middle + half)[:, -1].tolist())
    counted = args.frames - 1 / steps
    print(json.dumps({"cpu": cpu / counted, "stretch": stretch, "gap": gap, "tips": tips}))


def pypbd_once(args, steps, iterations):
    command = [sys.executable, __file__, "--child", f"{steps}x{iterations}", "--strands", str(args.strands), "--frames", str(args.frames)]
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads), OMP_WAIT_POLICY="passive")
    lines = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.splitlines()
    return json.loads(next(line for line in reversed(lines) if line.startswith("{")))


def taut_once(args, folder, count, steps, model="rod"):
    points = strands(count)
    with open(folder / f"hair-{count}.obj", "w") as file:
        file.writelines("v {:.9g} {:.9g} {:.9g}\n".format(*p) for p in points.reshape(-1, 3))
        wide = SEGMENTS + 1
        file.writelines("l " + " ".join(str(1 + s * wide + i) for i in range(wide)) + "\n" for s in range(count))
    times = np.arange(0, (args.frames + 2) * FRAME, FRAME / 8)
    keys = ", ".join(f"{{ time = {t:.6f}, rotate = [0, {math.degrees(angle(t)):.6f}, 0] }}" for t in times)

    def run(frames):
        scene = folder / "hair.toml"
        # The head is too small to touch anything.
        scene.write_text(f"""
[scene]
frames = {frames}
frame_rate = {1 / FRAME}
[solver]
{f"steps_per_frame = {steps}" if steps else ""}
[air]
density = 0.0
[[hair]]
name = "hair"
mesh = {{ file = "hair-{count}.obj" }}
material = {{ base = "european", density = {DENSITY}, radius = {RADIUS}, young = {YOUNG}, shear = {SHEAR}, damping = 0.0 }}
rest = "straight"
root = {{ obstacle = "head" }}
model = "{model}"
[[obstacle]]
name = "head"
shape = {{ sphere = {{ radius = 0.001 }} }}
motion = [{keys}]
""")
        out = folder / f"out-{frames}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [str(args.taut), "run", str(scene), "-o", str(out), "--force", "--threads", str(args.threads)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out

    few, (many, out) = run(1)[0], run(args.frames)
    x = [np.load(out / f"frames/hair.{k:04}.npy").reshape(count, -1, 3).astype(float) for k in range(1, args.frames + 1)]
    edges = [np.linalg.norm(np.diff(at, axis=1), axis=2) * SEGMENTS / LENGTH - 1 for at in x]
    tips = [at[:SHOWN, -1].tolist() for at in x]
    return {"cpu": (many - few) / (args.frames - 1), "stretch": max(np.abs(e).max() for e in edges), "tips": tips}


def far(found, reference):
    """Mean distance of tips over all frames [mm]."""
    found, reference = np.array(found), np.array(reference)
    count = min(found.shape[1], reference.shape[1])
    return 1e3 * float(np.linalg.norm(found[:, :count] - reference[:, :count], axis=2).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strands", type=int, default=10000)
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--springs", type=int, default=16, help="strands of springs; 0 leaves them out")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--taut", type=pathlib.Path, default=pathlib.Path("target/release/taut"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child_of_pypbd(args)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        exact = taut_once(args, folder, args.strands, 64)["tips"]
        own = taut_once(args, folder, args.strands, 0)

        def note(what, row, scale=1.0, exact=exact):
            gap = f", gaps {100 * row['gap']:.2f} %" if "gap" in row else ""
            rows.append({"what": what, **{k: v for k, v in row.items() if k != "tips"}, "tip": far(row["tips"], exact)})
            ratio = scale * row["cpu"] / own["cpu"]
            print(
                f"{what}: {1e3 * scale * row['cpu']:.0f} CPU-ms a frame ({ratio:.2f} of taut's), stretch {100 * row['stretch']:.2f} %{gap}, "
                f"tips {rows[-1]['tip']:.2f} mm off in the mean",
                flush=True,
            )

        note("taut", own)
        note("taut, 4 steps a frame", taut_once(args, folder, args.strands, 4))
        if args.springs:
            springs = taut_once(args, folder, args.springs, 1, "springs")
            note("springs", springs, args.strands / args.springs, taut_once(args, folder, args.springs, 64)["tips"])
        for steps, iterations in [(1, 1), (1, 10), (4, 1)]:
            note(f"pyPBD, {steps} steps a frame, {iterations} iterations", pypbd_once(args, steps, iterations))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
