"""Writes HAIR files from their published specification, and reads one that taut wrote.

make_hair.py FOLDER: writes full.hair, plain.hair and what they hold as expected.json into FOLDER.
Bytes and arrays are those of http://www.cemyuksel.com/research/hairmodels, by struct alone."""
import json, math, struct, sys

folder = sys.argv[1]
strands = [
    [(0.1 * s, 0.01 * i, 0.02 * math.sin(i + s)) for i in range(count)]
    for s, count in enumerate([5, 2, 9, 3])
]
points = [x for strand in strands for x in strand]
thickness = [1e-4 * (1 + 0.01 * i) for i in range(len(points))]


def header(flags, segments=0, width=1.0, strands=strands):
    count = sum(len(strand) for strand in strands)
    info = b"made by make_hair.py".ljust(88, b"\0")
    return b"HAIR" + struct.pack("<IIIIff3f", len(strands), count, flags, segments, width, 0.0, 1, 1, 1) + info


def floats(values):
    return struct.pack("<%df" % len(values), *values)


def coordinates(points):
    return floats([c for x in points for c in x])


assert len(header(0)) == 128
# All five arrays.
with open(folder + "/full.hair", "wb") as file:
    file.write(header(0b11111))
    file.write(struct.pack("<4H", *[len(strand) - 1 for strand in strands]))
    file.write(coordinates(points))
    file.write(floats(thickness))
    file.write(floats([0.5] * len(points)))
    file.write(floats([0.2, 0.1, 0.05] * len(points)))
# Points alone: segments and thickness are those of the header.
same = [strand[:2] for strand in strands]
with open(folder + "/plain.hair", "wb") as file:
    file.write(header(0b00010, segments=1, width=2e-4, strands=same))
    file.write(coordinates([x for strand in same for x in strand]))
expected = {
    "full.hair": {"counts": [len(s) for s in strands], "points": points, "radii": [0.5 * t for t in thickness]},
    "plain.hair": {"counts": [2] * 4, "points": [x for s in same for x in s], "radii": [1e-4] * 8},
}
json.dump(expected, open(folder + "/expected.json", "w"))
