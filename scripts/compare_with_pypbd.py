#!/usr/bin/env python3
"""The same sheet by position-based dynamics in pyPBD and in taut: CPU seconds a step, both alternating in one run.

    pip install pyPBD==2.2.2 numpy
    cargo build --release
    python scripts/compare_with_pypbd.py [--vertices 129] [--iterations 20] [--steps 50] [--rounds 3] [--json FILE]

A sheet of 1 m hangs by two corners. Both compute the same: one distance constraint an edge (k = 1) and one on the dihedral angle a hinge
(k = 0.1), the same mesh, steps of 5 ms, as many iterations a step, no collisions, no damping. pyPBD computes in double precision, one constraint
after the other, sorted into groups for threads; its k is that of a single iteration, so that it is given k'. taut computes in single precision, in
lanes, colour by colour. pyPBD is timed around its steps; of taut, the program is timed with few and with many steps, and the difference is taken,
which leaves the frames that it writes and certifies in: one for every 10 steps.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

STEP = 0.005  # s
STEPS_A_FRAME = 10
STRETCH, BEND = 1.0, 0.1


def mesh(n):
    """Positions and triangles of a grid of n by n vertices, diagonals alternating."""
    at = np.linspace(0.0, 1.0, n)
    points = np.array([[x, 0.0, z] for z in at for x in at])
    triangles = []
    for j in range(n - 1):
        for i in range(n - 1):
            a, b, c, d = j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i
            triangles += [(a, c, b), (a, d, c)] if (i + j) % 2 == 0 else [(a, d, b), (b, d, c)]
    return points, triangles


def elements(triangles):
    """Edges, and hinges as pyPBD wants them: wings first, then the edge."""
    sides = {}
    for t in triangles:
        for k in range(3):
            edge = tuple(sorted((t[k], t[(k + 1) % 3])))
            sides.setdefault(edge, []).append(t[(k + 2) % 3])
    return list(sides), [(*wings, *edge) for edge, wings in sides.items() if len(wings) == 2]


def child_of_pypbd(args):
    import pypbd

    points, triangles = mesh(args.vertices)
    simulation = pypbd.Simulation.getCurrent()
    simulation.initDefault()
    pypbd.Logger.activate = False
    model = simulation.getModel()
    model.addTriangleModel(list(points), [v for t in triangles for v in t], testMesh=False)
    particles = model.getParticles()
    for v in range(len(points)):
        particles.setMass(v, 1.0)
    for v in (0, args.vertices - 1):
        particles.setMass(v, 0.0)
    of_iteration = lambda k: 1.0 - (1.0 - k) ** (1.0 / args.iterations)
    edges, hinges = elements(triangles)
    for a, b in edges:
        model.addDistanceConstraint(int(a), int(b), of_iteration(STRETCH))
    for a, b, c, d in hinges:
        model.addDihedralConstraint(int(a), int(b), int(c), int(d), of_iteration(BEND))
    step = simulation.getTimeStep()
    step.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, 1)
    step.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, args.iterations)
    pypbd.TimeManager.getCurrent().setTimeStepSize(STEP)
    step.step(model)
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(args.steps):
        step.step(model)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    x = np.array(particles.getVertices())
    a, b = np.array(edges).T
    rest = np.linalg.norm(points[a] - points[b], axis=1)
    stretch = np.linalg.norm(x[a] - x[b], axis=1) / rest - 1.0
    print(json.dumps({"cpu": cpu / args.steps, "wall": wall / args.steps, "stretch": stretch.max(), "mean": np.abs(stretch).mean(), "edges": len(edges), "hinges": len(hinges)}))


def pypbd_once(args):
    command = [sys.executable, __file__, "--child", "--vertices", str(args.vertices), "--iterations", str(args.iterations), "--steps", str(args.steps)]
    # As many threads as taut has; without, it starts one a processor, and they spin.
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads), OMP_WAIT_POLICY="passive")
    lines = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.splitlines()
    return json.loads(next(line for line in reversed(lines) if line.startswith("{")))


def taut_once(args, folder):
    points, triangles = mesh(args.vertices)
    obj = folder / "sheet.obj"
    with open(obj, "w") as file:
        file.writelines(f"v {x} {y} {z}\n" for x, y, z in points)
        file.writelines("f {} {} {}\n".format(*(v + 1 for v in t)) for t in triangles)

    def run(frames):
        scene = folder / f"sheet-{frames}.toml"
        scene.write_text(f"""
[scene]
frames = {frames}
frame_rate = {1.0 / (STEP * STEPS_A_FRAME)}
[solver]
steps_per_frame = {STEPS_A_FRAME}
[air]
density = 0.0
[[cloth]]
name = "sheet"
mesh = {{ file = "sheet.obj" }}
material = {{ base = "polyester", damping = 0.0 }}
model = "pbd"
pbd = {{ stretch = {STRETCH}, bend = {BEND}, iterations = {args.iterations} }}
imperfection = 0.0
pin = [{{ select = "index:0,{args.vertices - 1}" }}]
""")
        out = folder / f"out-{frames}"
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [str(args.taut), "run", str(scene), "-o", str(out), "--force", "--threads", str(args.threads)]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begun, out

    few, many = run(1), run(1 + args.steps // STEPS_A_FRAME)
    steps = args.steps // STEPS_A_FRAME * STEPS_A_FRAME
    return {"cpu": (many[0] - few[0]) / steps, "wall": (many[1] - few[1]) / steps, "out": str(many[2])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=129, help="along a side")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--taut", type=pathlib.Path, default=pathlib.Path("target/release/taut"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child_of_pypbd(args)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            rounds.append({"pypbd": pypbd_once(args), "taut": taut_once(args, pathlib.Path(folder))})
            theirs, own = rounds[-1]["pypbd"]["cpu"], rounds[-1]["taut"]["cpu"]
            print(f"pyPBD {1e3 * theirs:.1f} CPU-ms a step, taut {1e3 * own:.1f}: {own / theirs:.3f} of it", flush=True)
    ratios = sorted(round["taut"]["cpu"] / round["pypbd"]["cpu"] for round in rounds)
    print(f"median: taut takes {ratios[len(ratios) // 2]:.3f} of pyPBD's CPU time")
    if args.json:
        args.json.write_text(json.dumps(rounds, indent=1))


if __name__ == "__main__":
    main()
