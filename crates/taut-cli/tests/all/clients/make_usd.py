"""Writes USD files with Pixar's library, text and binary, and what they show as expected.json, into the folder argv[1]."""
import json, math, sys
from pxr import Gf, Sdf, Usd, UsdGeom, UsdUtils, Vt

folder = sys.argv[1]
expected = {}

def grid(n, m, bump=0.0):
    points = [Gf.Vec3f(x / n, bump * math.sin(x + y), y / m) for y in range(m + 1) for x in range(n + 1)]
    at = lambda x, y: y * (n + 1) + x
    faces = [[at(x, y), at(x, y + 1), at(x + 1, y + 1), at(x + 1, y)] for y in range(m) for x in range(n)]
    return points, faces

def mesh(stage, path, points, faces):
    prim = UsdGeom.Mesh.Define(stage, path)
    prim.CreateFaceVertexCountsAttr([len(face) for face in faces])
    prim.CreateFaceVertexIndicesAttr([v for face in faces for v in face])
    if points is not None:
        prim.CreatePointsAttr(points)
    return prim

def world(stage, code):
    """Positions of all shown meshes in metres, y up."""
    cache, positions = UsdGeom.XformCache(code), []
    unit, z_up = UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage) == "Z"
    for prim in stage.Traverse():
        shown = UsdGeom.Imageable(prim)
        if not prim.IsA(UsdGeom.Mesh) or shown.ComputeVisibility() == "invisible":
            continue
        if shown.ComputePurpose() in ("guide", "proxy"):
            continue
        matrix = cache.GetLocalToWorldTransform(prim)
        for point in UsdGeom.Mesh(prim).GetPointsAttr().Get(code):
            x, y, z = matrix.Transform(Gf.Vec3d(point)) * unit
            positions.append([x, z, -y] if z_up else [x, y, z])
    return positions

def save(stage, name, rate=None, package=False):
    entry = {"faces": sum(len(UsdGeom.Mesh(p).GetFaceVertexCountsAttr().Get(0)) for p in stage.Traverse() if p.IsA(UsdGeom.Mesh))}
    if rate is None:
        entry["still"] = world(stage, Usd.TimeCode.Default())
    else:
        start, end, codes = stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()
        count = math.ceil((end - start) / codes * rate - 1e-6) + 1
        entry["rate"] = rate
        entry["times"] = [min(k / rate, (end - start) / codes) for k in range(count)]
        entry["frames"] = [world(stage, Usd.TimeCode(min(start + k / rate * codes, end))) for k in range(count)]
    for ending in ["usda", "usdc", "usd"]:
        stage.Export(f"{folder}/{name}.{ending}")
        expected[f"{name}.{ending}"] = entry
    if package:
        UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(f"{folder}/{name}.usdc"), f"{folder}/{name}.usdz")
        expected[f"{name}.usdz"] = entry

# Transforms of every kind, nested; z up, centimetres by default.
stage = Usd.Stage.CreateInMemory()
UsdGeom.SetStageUpAxis(stage, "Z")
root = UsdGeom.Xform.Define(stage, "/World")
root.AddTranslateOp().Set(Gf.Vec3d(10, 20.5, -3))
root.AddRotateXYZOp().Set(Gf.Vec3f(10, 20, 30))
root.AddScaleOp(UsdGeom.XformOp.PrecisionHalf).Set(Gf.Vec3h(2, 2, 0.5))
points, faces = grid(40, 40, 0.1)
first = mesh(stage, "/World/First", points, faces)
first.AddTranslateOp(UsdGeom.XformOp.PrecisionFloat, "pivot").Set(Gf.Vec3f(1, 2, 3))
first.AddOrientOp(UsdGeom.XformOp.PrecisionHalf).Set(Gf.Quath(0.5, 0.5, 0.5, 0.5))
first.AddTranslateOp(UsdGeom.XformOp.PrecisionFloat, "pivot", True)
second = mesh(stage, "/World/Second", *grid(3, 5))
second.AddTransformOp().Set(Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(1, 2, 3), 40)) * Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 0, 0)))
third = mesh(stage, "/World/Second/Third", *grid(2, 2))
third.SetResetXformStack(True)
third.AddRotateZYXOp().Set(Gf.Vec3f(10, 20, 30))
third.AddRotateYOp(UsdGeom.XformOp.PrecisionDouble).Set(5.25)
fourth = mesh(stage, "/World/Fourth", *grid(2, 3))
for k, kind in enumerate(["XZY", "YXZ", "YZX", "ZXY"]):
    getattr(fourth, f"AddRotate{kind}Op")(opSuffix=f"r{k}").Set(Gf.Vec3f(10 + k, 20, -30))
fifth = mesh(stage, "/World/Fifth", *grid(2, 3))
fifth.AddTransformOp().Set(Gf.Matrix4d(2, 0, 0, 0, 0, -3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1))
mesh(stage, "/World/Hidden", *grid(2, 2)).MakeInvisible()
mesh(stage, "/World/Guide", *grid(2, 2)).CreatePurposeAttr("guide")
UsdGeom.Scope.Define(stage, "/World/Proxy").CreatePurposeAttr("proxy")
mesh(stage, "/World/Proxy/Low", *grid(2, 2))
save(stage, "still", package=True)

# Points over time, at odd times; metres.
stage = Usd.Stage.CreateInMemory()
UsdGeom.SetStageMetersPerUnit(stage, 1.0)
stage.SetTimeCodesPerSecond(24)
stage.SetStartTimeCode(1)
stage.SetEndTimeCode(12)
points, faces = grid(20, 20)
body = mesh(stage, "/Body", None, faces)
for code in [1, 2, 3.5, 4, 7.25, 9, 10, 11, 12]:
    body.GetPointsAttr().Set([Gf.Vec3f(p[0], 0.1 * code * p[2] * p[0], p[2] + code * code) for p in points], code)
save(stage, "points", rate=24, package=True)
save(stage, "points60", rate=60)

# Transforms over time.
stage = Usd.Stage.CreateInMemory()
UsdGeom.SetStageMetersPerUnit(stage, 0.1)
UsdGeom.SetStageUpAxis(stage, "Z")
stage.SetTimeCodesPerSecond(30)
stage.SetStartTimeCode(0)
stage.SetEndTimeCode(20)
root = UsdGeom.Xform.Define(stage, "/Rig")
move, turn = root.AddTranslateOp(), root.AddOrientOp()
for code in [0, 7, 20]:
    move.Set(Gf.Vec3d(code, 0.5 * code, -code), code)
    turn.Set(Gf.Quatf(Gf.Rotation(Gf.Vec3d(1, 1, 0), 11.0 * code).GetQuat()), code)
arm = UsdGeom.Xform.Define(stage, "/Rig/Arm")
swing, grow, free = arm.AddRotateZXYOp(), arm.AddScaleOp(), arm.AddTransformOp()
for code in [0, 3, 10, 25]:
    swing.Set(Gf.Vec3f(5 * code, 3 * code, code), code)
    grow.Set(Gf.Vec3f(1 + 0.1 * code, 1, 2), code)
    free.Set(Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, code, 0)), code)
mesh(stage, "/Rig/Arm/Hand", *grid(6, 6, 0.2))
mesh(stage, "/Rig/Floor", *grid(2, 2))
save(stage, "motion", rate=45)

# Triangles with texture coordinates, by face corner and by point, indexed and not; left-handed.
for name, scheme, indexed in [("corners", "faceVarying", True), ("plain", "faceVarying", False), ("vertices", "vertex", False)]:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    points, quads = grid(5, 5)
    faces = [[q[0], q[1], q[2]] for q in quads] + [[q[0], q[2], q[3]] for q in quads]
    flat = mesh(stage, "/Flat", points, faces)
    st = UsdGeom.PrimvarsAPI(flat).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, scheme)
    corners = [v for face in faces for v in face]
    if indexed:
        st.Set([Gf.Vec2f(0.1 * k, 1 - 0.05 * k) for k in range(len(points))])
        st.SetIndices(Vt.IntArray(corners))
    else:
        st.Set([Gf.Vec2f(0.01 * k, 0.5) for k in range(len(corners) if scheme == "faceVarying" else len(points))])
    values = st.ComputeFlattened()
    save(stage, name)
    for ending in ["usda", "usdc", "usd"]:
        at = range(len(corners)) if scheme == "faceVarying" else corners
        expected[f"{name}.{ending}"] = dict(expected[f"{name}.{ending}"], triangles=faces, uvs=[list(values[k]) for k in at])

with open(f"{folder}/expected.json", "w") as out:
    json.dump(expected, out)
