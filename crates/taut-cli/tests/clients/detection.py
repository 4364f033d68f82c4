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

# Exact up to its tolerance, but may take for ever on some pairs: capped, and then it says "collision" to be safe.
ccd = ipctk.TightInclusionCCD(tolerance=1e-6, max_iterations=100_000, conservative_rescaling=1.0)
calls = [ccd.point_triangle_ccd, ccd.edge_edge_ccd]
theirs = np.array([calls[k](*pair[0], *pair[1])[0] for k, pair in zip(kinds, x)])
ours = ~np.isnan(times)


def collides_whatever_the_jitter(pair, kind):
    """What is undecided within the tolerance of ipctk is no collision that could be missed: one stays where all move by 1e-5 of its size."""
    random = np.random.default_rng(1)
    size = np.abs(pair - pair[:, :1]).max()
    away = [random.uniform(-1e-5, 1e-5, pair.shape) * size for _ in range(8)]
    return all(calls[kind](*(pair + d)[0], *(pair + d)[1])[0] for d in away)


missed = [i for i in np.flatnonzero(theirs & ~ours) if collides_whatever_the_jitter(x[i], kinds[i])]
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
