"""Compares strands of an export with those of the run: strands.py FORMAT RUN EXPORT."""

import json
import pathlib
import struct
import sys
import xml.etree.ElementTree as xml

import numpy as np

kind, run, export = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
FRAMES = range(6)
# At the root and at the tip.
RADII = {"thick-rope": (0.015, 0.015), "net": (0.004, 0.004), "fur": (2e-4, 1.5e-4)}
bodies = json.loads((run / "checkpoint/manifest.json").read_text())["bodies"]


def rest(body):
    """Points of the shown strands, number of points of each."""
    header, data = (run / f"{body}.rest.ply").read_bytes().split(b"end_header\n", 1)
    count = int(header.split(b"element vertex ")[1].split()[0])
    points = np.frombuffer(data[: 12 * count], "<f4").reshape(count, 3)
    edges = np.frombuffer(data[12 * count :], "<i4").reshape(-1, 2)
    starts = np.setdiff1d(np.arange(count), edges[:, 1])
    return points, np.diff(np.append(starts, count))


def points(body, k):
    """Shown points in a frame: particles stand wherever the rest shape has them at the same place."""
    frame, shown = np.load(run / f"frames/{body}.{k:04}.npy"), rest(body)[0]
    if body == "unknown":
        return frame
    # Particles of a chain and of a net are where the scene puts them, in the first frame.
    first = np.load(run / f"frames/{body}.0000.npy")
    nearest = np.linalg.norm(shown[:, None] - first[None], axis=2).argmin(axis=1)
    assert np.abs(first[nearest] - shown).max() < 1e-6
    return frame[nearest]


def equal(found, expected, tolerance=1e-6):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    assert np.abs(found - expected).max() <= tolerance, np.abs(found - expected).max()


def radii(body):
    if body not in RADII:
        return None
    return np.concatenate([np.linspace(*RADII[body], count) for count in rest(body)[1]])


def check_usd():
    from pxr import Usd, UsdGeom, UsdValidation

    stage = Usd.Stage.Open(str(export))
    for error in UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators()).Validate(stage):
        raise SystemExit(error.GetErrorAsString())
    for body in bodies:
        prim = stage.GetDefaultPrim().GetChild(body.replace("-", "_"))
        curves = UsdGeom.BasisCurves(prim)
        assert prim.GetTypeName() == "BasisCurves"
        assert curves.GetTypeAttr().Get() == "linear" and curves.GetWrapAttr().Get() == "nonperiodic"
        equal(curves.GetCurveVertexCountsAttr().Get(), rest(body)[1])
        equal(UsdGeom.PrimvarsAPI(prim).GetPrimvar("rest").Get(), rest(body)[0])
        widths, margin = np.array(curves.GetWidthsAttr().Get()), 0.0
        if body in RADII:
            assert curves.GetWidthsInterpolation() == "vertex"
            equal(widths, 2 * radii(body), 1e-9)
            margin = radii(body)[:, None]
        else:
            assert curves.GetWidthsInterpolation() == "constant" and len(widths) == 1
            margin = widths[0] / 2
        assert curves.GetPointsAttr().GetTimeSamples() == list(FRAMES)
        for k in FRAMES:
            expected = points(body, k)
            equal(curves.GetPointsAttr().Get(k), expected)
            equal(curves.GetExtentAttr().Get(k), [(expected - margin).min(0), (expected + margin).max(0)])


def check_ply():
    for body in bodies:
        for k in FRAMES:
            header, data = (export / f"{body}.{k:04}.ply").read_bytes().split(b"end_header\n", 1)
            expected, wide = points(body, k), 4 if body in RADII else 3
            assert (b"property float radius" in header) == (body in RADII)
            table = np.frombuffer(data[: 4 * wide * len(expected)], "<f4").reshape(-1, wide)
            equal(table[:, :3], expected)
            if body in RADII:
                equal(table[:, 3], radii(body))
            ends = np.cumsum(rest(body)[1])
            edges = [[v, v + 1] for v in range(len(expected) - 1) if v + 1 not in ends]
            equal(np.frombuffer(data[4 * wide * len(expected) :], "<i4").reshape(-1, 2), edges)


def check_obj():
    for body in bodies:
        for k in FRAMES:
            lines = [line.split() for line in (export / f"{body}.{k:04}.obj").read_text().splitlines()]
            equal([[float(x) for x in line[1:]] for line in lines if line[0] == "v"], points(body, k))
            strands = [[int(v) for v in line[1:]] for line in lines if line[0] == "l"]
            equal([len(strand) for strand in strands], rest(body)[1])
            equal(np.concatenate(strands), 1 + np.arange(len(points(body, k))))


def check_npz():
    archive = np.load(export)
    for body in bodies:
        equal(archive[f"{body}/positions"], [points(body, k) for k in FRAMES])
        equal(archive[f"{body}/strands"], rest(body)[1])
        assert (f"{body}/radii" in archive.files) == (body in RADII)
        if body in RADII:
            equal(archive[f"{body}/radii"], radii(body))


def check_vtk():
    for body in bodies:
        for k in FRAMES:
            content = (export / f"{body}.{k:04}.vtu").read_bytes()
            head, data = content.split(b'<AppendedData encoding="raw">\n_', 1)
            arrays = {a.get("Name"): a for a in xml.fromstring(head + b"</VTKFile>").iter("DataArray")}

            def read(name, kind):
                at = int(arrays[name].get("offset"))
                (length,) = struct.unpack("<Q", data[at : at + 8])
                return np.frombuffer(data[at + 8 : at + 8 + length], kind)

            equal(read("Points", "<f4").reshape(-1, 3), points(body, k))
            equal(read("offsets", "<i4"), np.cumsum(rest(body)[1]))
            assert ("radius" in arrays) == (body in RADII)
            if body in RADII:
                equal(read("radius", "<f4"), radii(body))


def check_gltf():
    data = export.read_bytes()
    (header,) = struct.unpack("<I", data[12:16])
    document, binary = json.loads(data[20 : 20 + header]), data[28 + header :]

    def read(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        kind = {5125: "<u4", 5126: "<f4"}[accessor["componentType"]]
        part = binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        return np.frombuffer(part, kind).reshape(accessor["count"], -1)

    meshes = {mesh["name"]: mesh["primitives"] for mesh in document["meshes"]}
    for body in bodies:
        (primitive,) = meshes[body]
        assert primitive["mode"] == 1
        base = read(primitive["attributes"]["POSITION"])
        equal(base, points(body, 0))
        for k, target in enumerate(primitive["targets"], 1):
            equal(base + read(target["POSITION"]), points(body, k))
        assert len(primitive["targets"]) == len(FRAMES) - 1
        ends = np.cumsum(rest(body)[1])
        equal(read(primitive["indices"]).reshape(-1, 2), [[v, v + 1] for v in range(len(base) - 1) if v + 1 not in ends])
        assert ("_RADIUS" in primitive["attributes"]) == (body in RADII)
        if body in RADII:
            equal(read(primitive["attributes"]["_RADIUS"])[:, 0], radii(body))


def check_hair():
    for body in bodies:
        for k in FRAMES:
            data = (export / f"{body}.{k:04}.hair").read_bytes()
            magic, strands, count, bits = struct.unpack("<4sIII", data[:16])
            segments, thickness, transparency, *color = struct.unpack("<I5f", data[16:40])
            assert magic == b"HAIR" and bits == (7 if body in RADII else 3), (magic, bits)
            assert data[40:45] == b"taut " and transparency == 0 and 0 < thickness < 1e-3
            assert (strands, count) == (len(rest(body)[1]), len(rest(body)[0]))
            at = 128 + 2 * strands
            equal(np.frombuffer(data[128:at], "<u2") + 1, rest(body)[1])
            equal(np.frombuffer(data[at : at + 12 * count], "<f4").reshape(-1, 3), points(body, k))
            if body in RADII:
                equal(np.frombuffer(data[at + 12 * count :], "<f4"), 2 * radii(body))
            assert len(data) == at + (16 if body in RADII else 12) * count


globals()[f"check_{kind}"]()
print("good")
