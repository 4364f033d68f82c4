"""Compares exports of a run with solids with its frames: solids.py RUN FOLDER, where FOLDER has an export of each format in to-FORMAT."""

import json
import struct
import sys
from pathlib import Path

import meshio
import numpy as np
from pxr import Usd, UsdGeom

run, folder = Path(sys.argv[1]), Path(sys.argv[2])
RATE, FRAMES = 30, 11
SOLIDS = ["beam", "ball"]


def frame(body, k):
    return np.load(run / f"frames/{body}.{k:04}.npy")


def near(a, b, tolerance=1e-6):
    assert np.shape(a) == np.shape(b), (np.shape(a), np.shape(b))
    assert np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0) <= tolerance


def stretches(rest, positions, cells):
    edges = lambda x: np.stack([x[cells[:, k]] - x[cells[:, 0]] for k in (1, 2, 3)], axis=2).astype(float)
    gradients = edges(positions) @ np.linalg.inv(edges(rest))
    return np.linalg.svd(gradients, compute_uv=False), np.linalg.det(gradients)


metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
archive = np.load(folder / "to-npz.npz")
stage = Usd.Stage.Open(str(folder / "to-usd.usdc"))
prims = {prim.GetName(): UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)}

for index, body in enumerate(["sheet"] + SOLIDS):
    if body == "sheet":
        continue
    rest = meshio.read(run / f"{body}.rest.vtu")
    skin = meshio.read(run / f"{body}.skin.ply")
    cells, triangles = rest.cells_dict["tetra"], skin.cells_dict["triangle"]
    near(archive[f"{body}/rest"], skin.points)
    near(archive[f"{body}/triangles"], triangles)
    for k in range(FRAMES):
        # The tetrahedra, with what is measured of them.
        grid = meshio.read(folder / f"to-vtk/{body}.{k:04}.vtu")
        near(grid.points, frame(body, k), 0)
        near(grid.cells_dict["tetra"], cells)
        near(grid.point_data["displacement"], frame(body, k) - rest.points)
        if k > 0:
            near(grid.point_data["velocity"], RATE * (frame(body, k) - frame(body, k - 1)), 1e-4)
        data = {key: value[0] for key, value in grid.cell_data.items()}
        found, ratio = stretches(rest.points, frame(body, k), cells)
        near(np.stack([data[f"strain_{name}"] for name in ("max", "mid", "min")], axis=1), found - 1, 2e-5)
        near(data["volume_ratio"], ratio, 2e-5)
        measured = metrics[k]["certificate"]["bodies"][index]
        near(data["strain_max"].max(), measured["max_stretch"] - 1)
        near(data["residual"].max(), measured["max_residual"])
        volume = np.linalg.det(np.stack([grid.points[cells[:, j]] - grid.points[cells[:, 0]] for j in (1, 2, 3)], axis=2)).sum() / 6
        near(volume, measured["solid"]["volume"], 1e-7)
        # Everything else shows the surface.
        shown = archive[f"{body}/positions"][k]
        assert shown.shape == skin.points.shape
        near(np.array(prims[body].GetPointsAttr().Get(k)), shown, 0)
        near(meshio.read(folder / f"to-ply/{body}.{k:04}.ply").points, shown, 0)
        text = (folder / f"to-obj/{body}.{k:04}.obj").read_text().splitlines()
        near([[float(x) for x in line.split()[1:]] for line in text if line.startswith("v ")], shown)
        cache = (folder / f"to-pc2/{body}.pc2").read_bytes()
        start = 32 + 12 * len(shown) * k
        near(np.frombuffer(cache[start : start + 12 * len(shown)], "<f4").reshape(-1, 3), shown, 0)
        cache = (folder / f"to-mdd/{body}.mdd").read_bytes()
        start = 8 + 4 * FRAMES + 12 * len(shown) * k
        near(np.frombuffer(cache[start : start + 12 * len(shown)], ">f4").reshape(-1, 3), shown, 0)
        # It lies in and on the tetrahedra.
        assert np.all(shown.min(0) > frame(body, k).min(0) - 0.02) and np.all(shown.max(0) < frame(body, k).max(0) + 0.02)
assert struct.unpack("<I", (folder / "to-gltf.glb").read_bytes()[4:8]) == (2,)
