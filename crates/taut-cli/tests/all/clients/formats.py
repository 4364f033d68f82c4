"""Reads an export as others do and compares it with the frames of the run: formats.py FORMAT RUN EXPORT."""

import json
import pathlib
import struct
import sys
import xml.etree.ElementTree as xml

import meshio
import numpy as np

kind, run, export = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
bodies = json.loads((run / "checkpoint/manifest.json").read_text())["bodies"]
FRAMES = 13
RATE = 30


def frame(body, k):
    return np.load(run / f"frames/{body}.{k:04}.npy")


def faces(body, k):
    """The triangles of a body in a frame: the last that were written, or those of its rest shape."""
    for n in range(k, -1, -1):
        path = run / f"frames/{body}.{n:04}.faces.npy"
        if path.exists():
            return np.load(path)
    return meshio.read(run / f"{body}.rest.ply").cells_dict["triangle"]


def origins(before, after, count):
    """The vertex of the triangles `before` that each of the torn triangles `after` was split from."""
    result = np.arange(max(count, 1 + after.max()))
    result[after.ravel()] = before.ravel()
    return result


def spread(body, k, last=None):
    """Positions of a frame with the vertices of frame `last`, which may be torn."""
    if is_curves(body):
        return frame(body, k)
    last = FRAMES - 1 if last is None else last
    return frame(body, k)[origins(faces(body, k), faces(body, last), len(frame(body, k)))]


def rest_of(body, k):
    """The rest shape, torn as frame k is."""
    rest = meshio.read(run / f"{body}.rest.ply")
    return rest.points[origins(rest.cells_dict["triangle"], faces(body, k), len(rest.points))]


def is_curves(body):
    return b"element edge" in (run / f"{body}.rest.ply").read_bytes()[:400]


def equal(found, expected, tolerance=0.0):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    error = np.abs(found.astype(float) - expected.astype(float)).max()
    assert error <= tolerance, (error, tolerance)


def obj(path):
    """Vertices, texture coordinates, normals, and corners of faces and lines as tuples."""
    lines = [line.split() for line in path.read_text().splitlines()]
    table = lambda key: np.array([[float(w) for w in line[1:]] for line in lines if line[0] == key])
    elements = {
        key: [[[int(i) if i else 0 for i in w.split("/")] for w in line[1:]] for line in lines if line[0] == key]
        for key in "fl"
    }
    assert sum(line[0] == "o" for line in lines) == 1
    return table("v").astype(np.float32), table("vt"), table("vn"), elements["f"], elements["l"]


def check_strands(strands):
    """Strands of 4 and 3 vertices, as the test makes them."""
    assert strands == [[1, 2, 3, 4], [5, 6, 7]], strands


def check_rest_obj(body):
    vertices, uvs, _, triangles, lines = obj(export / f"{body}.obj")
    if is_curves(body):
        check_strands([[corner[0] for corner in line] for line in lines])
        return
    equal(vertices, rest_of(body, FRAMES - 1))
    equal([[corner[0] - 1 for corner in t] for t in triangles], faces(body, FRAMES - 1))
    if body == "sheet":
        # The grid's texture goes along x and z.
        found = np.array([[uvs[corner[1] - 1] for corner in t] for t in triangles])
        x = vertices[faces(body, 0)][:, :, [0, 2]]
        equal(np.abs(found - found[0, 0]), np.abs(x - x[0, 0]), 1e-6)


def check_pc2():
    for body in bodies:
        data = (export / f"{body}.pc2").read_bytes()
        magic, version, vertices, start, rate, count = struct.unpack("<12siiffi", data[:32])
        assert (magic, version, start, rate, count) == (b"POINTCACHE2\0", 1, 0.0, 1.0, FRAMES)
        points = np.frombuffer(data[32:], "<f4").reshape(count, vertices, 3)
        equal(points, [spread(body, k) for k in range(FRAMES)])
        check_rest_obj(body)


def check_mdd():
    for body in bodies:
        data = (export / f"{body}.mdd").read_bytes()
        count, vertices = struct.unpack(">ii", data[:8])
        times = np.frombuffer(data[8 : 8 + 4 * count], ">f4")
        equal(times, np.arange(FRAMES) / RATE, 1e-6)
        points = np.frombuffer(data[8 + 4 * count :], ">f4").reshape(count, vertices, 3)
        equal(points, [spread(body, k) for k in range(FRAMES)])
        check_rest_obj(body)


def check_normals(points, triangles, normals):
    sums = np.zeros_like(points, dtype=float)
    corners = points.astype(float)[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    for k in range(3):
        np.add.at(sums, triangles[:, k], areas)
    equal(normals, sums / np.linalg.norm(sums, axis=1)[:, None], 1e-4)


def check_obj():
    for body in bodies:
        for k in range(FRAMES):
            path = export / f"{body}.{k:04}.obj"
            vertices, uvs, normals, triangles, lines = obj(path)
            equal(vertices, frame(body, k))
            if is_curves(body):
                check_strands([[corner[0] for corner in line] for line in lines])
                continue
            equal([[corner[0] - 1 for corner in t] for t in triangles], faces(body, k))
            assert all(corner[0] == corner[2] for t in triangles for corner in t)
            check_normals(frame(body, k), faces(body, k), normals)
            assert (len(uvs) > 0) == (body == "sheet")
            mesh = meshio.read(path)
            equal(mesh.cells_dict["triangle"], faces(body, k))
            equal(mesh.points, frame(body, k), 1e-6)


def check_ply():
    for body in bodies:
        for k in range(FRAMES):
            path = export / f"{body}.{k:04}.ply"
            if is_curves(body):
                header, data = path.read_bytes().split(b"end_header\n")
                points = np.frombuffer(data[: 7 * 12], "<f4").reshape(7, 3)
                equal(points, frame(body, k))
                edges = np.frombuffer(data[7 * 12 :], "<i4").reshape(-1, 2)
                equal(edges, [[0, 1], [1, 2], [2, 3], [4, 5], [5, 6]])
                assert b"element edge 5\nproperty int vertex1\nproperty int vertex2\n" in header
                continue
            mesh = meshio.read(path)
            equal(mesh.points, frame(body, k))
            equal(mesh.cells_dict["triangle"], faces(body, k))
            normals = np.stack([mesh.point_data[key] for key in ("nx", "ny", "nz")], axis=1)
            check_normals(frame(body, k), faces(body, k), normals)
            assert ("s" in mesh.point_data) == (body == "sheet")


def stretches(rest, points, triangles):
    """Principal stretches by numpy's singular values, in any frame of the triangle."""
    result = []
    for a, b, c in triangles:
        edges = np.array([rest[b] - rest[a], rest[c] - rest[a]], dtype=float).T
        q, r = np.linalg.qr(edges)
        moved = np.array([points[b] - points[a], points[c] - points[a]], dtype=float).T
        result.append(np.linalg.svd(moved @ np.linalg.inv(r)))
    return result


def principal_stresses(rest, points, triangles):
    """Second Piola-Kirchhoff stress of polyester (Wang 2011), whose warp is along z, the sheet's second texture axis."""
    moduli = np.array([[171.425, 54.373, 0], [54.373, 43.068, 0], [0, 0, 14.315]])
    result = []
    for a, b, c in triangles:
        in_plane = lambda v: (rest[v] - rest[a])[[2, 0]]
        edges = np.array([in_plane(b), in_plane(c)], dtype=float).T
        moved = np.array([points[b] - points[a], points[c] - points[a]], dtype=float).T
        f = moved @ np.linalg.inv(edges)
        e = (f.T @ f - np.eye(2)) / 2
        warp, weft, shear = moduli @ [e[0, 0], e[1, 1], e[0, 1]]
        result.append(np.linalg.eigvalsh([[warp, shear], [shear, weft]])[::-1])
    return np.array(result)


def check_polylines(path):
    """Cells of a .vtu file by hand, since meshio leaves polylines out."""
    head, data = path.read_bytes().split(b'<AppendedData encoding="raw">\n_', 1)

    def read(name, kind):
        (array,) = [a for a in xml.fromstring(head + b"</VTKFile>").iter("DataArray") if a.get("Name") == name]
        at = int(array.get("offset"))
        (length,) = struct.unpack("<Q", data[at : at + 8])
        return np.frombuffer(data[at + 8 : at + 8 + length], kind)

    ends = read("offsets", "<i4").tolist()
    vertices = (read("connectivity", "<i4") + 1).tolist()
    check_strands([vertices[a:b] for a, b in zip([0] + ends, ends)])
    assert read("types", "u1").tolist() == [4, 4]


def check_vtk():
    listed = xml.parse(export / "scene-in.pvd").getroot().find("Collection")
    entries = {(e.get("name"), round(float(e.get("timestep")) * RATE)): e for e in listed}
    assert set(entries) == {(body, k) for body in bodies for k in range(FRAMES)}
    assert {e.get("part") for e in listed} == {str(part) for part in range(len(bodies))}
    metrics = {m["frame"]: m for m in map(json.loads, (run / "metrics.jsonl").read_text().splitlines())}
    for (body, k), entry in entries.items():
        mesh = meshio.read(export / entry.get("file"))
        equal(mesh.points, frame(body, k))
        assert "displacement" in mesh.point_data
        if k > 0:
            equal(mesh.point_data["velocity"], RATE * (frame(body, k) - spread(body, k - 1, k)), 1e-4)
        elif body != "sheet":
            assert "velocity" not in mesh.point_data
        if is_curves(body):
            check_polylines(export / entry.get("file"))
            continue
        equal(mesh.cells_dict["triangle"], faces(body, k))
        data = {key: value[0] for key, value in mesh.cell_data.items()}
        assert "strain_max" in data
        assert ("residual" in data) == ("stress_pk2_max" in data) == (body == "sheet")
        rest = rest_of(body, k)
        equal(mesh.point_data["displacement"], frame(body, k) - rest, 1e-6)
        found = stretches(rest, frame(body, k), faces(body, k))
        strain = np.array([s for _, s, _ in found]) - 1
        equal(np.stack([data["strain_max"], data["strain_min"]], axis=1), strain, 1e-5)
        clear = strain[:, 0] - strain[:, 1] > 1e-2
        along = np.array([u[:, 0] for u, _, _ in found])
        cosines = np.abs((data["strain_direction"] * along).sum(axis=1))
        assert not clear.any() or cosines[clear].min() > 0.999
        if body == "sheet":
            equal(data["residual"], np.maximum(strain[:, 0] - np.float32(0.05), 0), 1e-5)
            of_run = metrics[k]["certificate"]["bodies"][0]
            equal(data["residual"].max(), of_run["max_residual"], 1e-6)
            equal(data["strain_max"].max() + 1, of_run["max_stretch"], 1e-6)
            stress = principal_stresses(rest, frame(body, k), faces(body, k))
            equal(np.stack([data["stress_pk2_max"], data["stress_pk2_min"]], axis=1), stress, 1e-2)


def check_npz():
    archive = np.load(export)
    equal(archive["frames"], np.arange(FRAMES))
    equal(archive["times"], np.arange(FRAMES) / RATE, 1e-6)
    for body in bodies:
        get = lambda name: archive[f"{body}/{name}"]
        equal(get("rest"), meshio.read(run / f"{body}.rest.ply").points if not is_curves(body) else get("rest"))
        if is_curves(body):
            equal(get("strands"), [4, 3])
        else:
            equal(get("triangles"), meshio.read(run / f"{body}.rest.ply").cells_dict["triangle"])
        if f"{body}/positions" in archive.files:
            assert get("positions").dtype == np.float32
            equal(get("positions"), [frame(body, k) for k in range(FRAMES)])
            continue
        triangles = None
        for k in range(FRAMES):
            equal(get(f"positions.{k:04}"), frame(body, k))
            if f"{body}/triangles.{k:04}" in archive.files:
                triangles = get(f"triangles.{k:04}")
                equal(get("rest")[get(f"origins.{k:04}")], rest_of(body, k))
            equal(triangles, faces(body, k))


def check_gltf():
    data = export.read_bytes()
    magic, version, length, header = struct.unpack("<4sIII", data[:16])
    assert (magic, version, length) == (b"glTF", 2, len(data))
    document = json.loads(data[20 : 20 + header])
    binary = data[28 + header :]

    def read(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = {5125: "<u4", 5126: "<f4"}[accessor["componentType"]]
        part = binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        return np.frombuffer(part, kind).reshape(accessor["count"], width)

    (animation,) = document["animations"]
    moves = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert sampler["interpolation"] == "LINEAR"
        equal(read(sampler["input"])[:, 0], np.arange(FRAMES) / RATE, 1e-6)
        moves[channel["target"]["node"], channel["target"]["path"]] = read(sampler["output"])
    nodes = {node["name"]: k for k, node in enumerate(document["nodes"])}
    assert list(nodes) == bodies + ["ball", "floor"]
    for body in bodies:
        (primitive,) = document["meshes"][document["nodes"][nodes[body]]["mesh"]]["primitives"]
        positions = read(primitive["attributes"]["POSITION"])
        targets = [read(target["POSITION"]) for target in primitive["targets"]]
        weights = moves[nodes[body], "weights"].reshape(FRAMES, len(targets))
        count = len(spread(body, 0))
        for k in range(FRAMES):
            shape = positions.copy()
            for weight, target in zip(weights[k], targets):
                shape += weight * target
            equal(shape[:count], spread(body, k), 1e-6 * max(1.0, np.abs(frame(body, k)).max()))
        indices = read(primitive["indices"])[:, 0]
        if is_curves(body):
            assert primitive["mode"] == 1 and "NORMAL" not in primitive["attributes"]
            equal(indices, [0, 1, 1, 2, 2, 3, 4, 5, 5, 6])
            continue
        equal(indices.reshape(-1, 3), faces(body, FRAMES - 1))
        normals = read(primitive["attributes"]["NORMAL"])
        # What is not torn yet is smooth where it will be.
        first = origins(faces(body, 0), faces(body, FRAMES - 1), len(frame(body, 0)))
        whole = normals[: len(frame(body, 0))]
        check_normals(frame(body, 0), faces(body, 0), whole)
        equal(normals[: len(first)], whole[first])
        last = normals + read(primitive["targets"][-1]["NORMAL"])
        check_normals(frame(body, FRAMES - 1), faces(body, FRAMES - 1), last)
        assert ("TEXCOORD_0" in primitive["attributes"]) == (body == "sheet")
    # The ball goes from (0.5, -2, 0) along x by 1.2 m and turns about z by 240 degrees, both in 0.4 s.
    ball = nodes["ball"]
    share = np.arange(FRAMES) / 12
    places = np.stack([0.5 + 1.2 * share, np.full(FRAMES, -2.0), np.zeros(FRAMES)], axis=1)
    equal(moves[ball, "translation"], places, 1e-5)
    half = np.radians(240 * share) / 2
    turns = np.stack([np.zeros(FRAMES), np.zeros(FRAMES), np.sin(half), np.cos(half)], axis=1)
    equal(moves[ball, "rotation"], turns, 1e-5)
    (primitive,) = document["meshes"][document["nodes"][ball]["mesh"]]["primitives"]
    equal(np.linalg.norm(read(primitive["attributes"]["POSITION"]), axis=1), np.full(72 * 37, 0.25), 1e-6)
    assert (nodes["floor"], "translation") not in moves
    equal(document["nodes"][nodes["floor"]]["translation"], [0, -3, 0])


globals()[f"check_{kind}"]()
