"""Compares taut's continuous detection with ipctk's: no collision may be missed, few may be false.

argv: folder with `vertices` (pairs × start and end × 4 vertices × 3, f64), `kinds` (0: vertex and triangle, 1: edges), `times` (f64,
NaN: none), and the number of classes, which take turns.
"""

import sys
import time
from pathlib import Path

import ipctk
import numpy as np

root, classes = Path(sys.argv[1]), int(sys.argv[2])
x = np.fromfile(root / "vertices").reshape(-1, 2, 4, 3)
kinds = np.fromfile(root / "kinds", dtype=np.uint8)
times = np.fromfile(root / "times")
begun = time.time()

# Its tolerance is a length: all pairs to the same size, by a power of two, which rounds nothing.
x *= 2.0 ** -np.ceil(np.log2(np.abs(x).max(axis=(1, 2, 3), keepdims=True)))


def collides(pair, kind, tolerance, iterations):
    """Right up to its tolerance, but it may take for ever on some pairs: capped, it says that they collide, to be safe."""
    ccd = ipctk.TightInclusionCCD(tolerance, iterations, 1.0)
    return [ccd.point_triangle_ccd, ccd.edge_edge_ccd][kind](*pair[0], *pair[1])[0]


theirs = np.array([collides(pair, k, 1e-6, 20_000) for k, pair in zip(kinds, x)])
ours = ~np.isnan(times)


def collides_indeed(pair, kind):
    """Whether a collision is one with a thousandth of the tolerance too, and with its vertices jittered by as much."""
    random = np.random.default_rng(1)
    jitters = [np.zeros(pair.shape)] + [random.uniform(-1e-9, 1e-9, pair.shape) for _ in range(4)]
    return all(collides(pair + jitter, kind, 1e-9, 3_000_000) for jitter in jitters)


missed = [i for i in np.flatnonzero(theirs & ~ours) if collides_indeed(x[i], kinds[i])]
print("class, pairs, collisions, undecided, false alarms")
place = np.arange(len(x)) // 2 % classes
for c in range(classes):
    of = place == c
    print(c, of.sum(), theirs[of].sum(), (theirs & ~ours)[of].sum(), (ours & ~theirs)[of].sum())
alarms = (ours & ~theirs).sum() / len(x)
print(f"{alarms:.3%} false alarms, {time.time() - begun:.0f} s")
assert not missed, [(int(i), int(place[i]), x[i].tolist()) for i in missed[:3]]
assert alarms < 0.01, alarms
assert theirs.sum() > len(x) / 10
print("no collision missed")
