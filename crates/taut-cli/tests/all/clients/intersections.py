"""Compares what ipctk finds in the frames of a run with what `taut verify` recomputes: whether something passes through something.

argv: folder of the run; "none", "some", or the number of the only frame that has intersections; what taut found is read from
metrics.jsonl, or, where frames were changed since, from the frames that are named.
"""

import json
import sys
from pathlib import Path

import ipctk
import meshio
import numpy as np

root, expected = Path(sys.argv[1]), sys.argv[2]
names = sorted(p.name.removesuffix(".rest.ply") for p in root.glob("*.rest.ply"))
faces, rest, first = [], [], 0
for name in names:
    mesh = meshio.read(root / f"{name}.rest.ply")
    faces.append(mesh.cells_dict["triangle"] + first)
    rest.append(mesh.points)
    first += len(mesh.points)
faces, rest = np.concatenate(faces), np.concatenate(rest).astype(float)
surface = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)

found = []
for line in (root / "metrics.jsonl").read_text().splitlines():
    line = json.loads(line)
    frame = line["frame"]
    x = np.concatenate([np.load(root / "frames" / f"{name}.{frame:04}.npy") for name in names])
    intersects = ipctk.has_intersections(surface, x.astype(float))
    found.append(intersects)
    contact = line["certificate"].get("contact")
    if contact is not None and str(frame) != expected:
        assert intersects == (contact["intersections"] > 0), (frame, intersects, contact)

frames = [frame for frame, intersects in enumerate(found) if intersects]
if expected == "none":
    assert frames == [], frames
elif expected == "some":
    assert frames, frames
else:
    assert frames == [int(expected)], frames
print("agree:", len(found), "frames,", len(frames), "with intersections")
