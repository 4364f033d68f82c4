// The parts of the page that need no browser: messages, normals, edges, picking, quality, latency.

import assert from "node:assert/strict";
import { test } from "node:test";
import { givenWayText } from "../src/given-way";
import { Latency } from "../src/latency";
import { decode, type Frame, type Mesh } from "../src/protocol";
import { Governor } from "../src/quality";
import { areSegments, edgesOf, firstHit, nearestSegment, smoothNormals, smoothTangents } from "../src/surface";
import { encodeFrame, encodeMesh } from "./encode";
import { grid } from "./sheet";

const buffer = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;

const FRAME: Frame = {
  epoch: 3, frame: 17, time: 0.5, echo: 1234.5, milliseconds: Float32Array.from([1, 2, 3, 4, 5, 16]), largestResidual: 0.25, meanResidual: 0.125,
  maxStrain: 0.0625, minStrain: -0.5, iterations: 9, converged: true, bodies: [Float32Array.from([0, 1, 2, 3, 4, 5])],
  colours: [Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8])], obstacles: [new Float32Array(12).fill(2)],
  levels: [{ level: 1, positions: Float32Array.from([7, 8, 9]) }], pins: [{ body: 0, vertex: 1 }],
  shapes: [{ obstacle: 0, positions: Float32Array.from([1, 1, 1]) }],
  givenWay: { elements: 412, lower: [0.03125, 0.125], upper: [0, 0.0078125] },
};

test("a frame is read as it was written, with and without its optional parts", () => {
  const read = decode(buffer(encodeFrame(FRAME)));
  assert.deepEqual(read, { kind: "frame", frame: FRAME });
  const plain: Frame = { ...FRAME, colours: null, levels: null, pins: null, shapes: null, givenWay: null, converged: false };
  assert.deepEqual(decode(buffer(encodeFrame(plain))), { kind: "frame", frame: plain });
});

test("limits that gave way are told in a sentence", () => {
  assert.equal(
    givenWayText({ elements: 412, lower: [0.031, 0.124], upper: [0.0004, 0.008] }),
    "Limits that cannot be met gave way in 412 elements: compressed past theirs by 3.1 % on average, 12.4 % at most; stretched past theirs by 0.0 % on average, 0.8 % at most",
  );
  assert.equal(
    givenWayText({ elements: 1, lower: [0, 0], upper: [0.01, 0.02] }),
    "Limits that cannot be met gave way in 1 element: stretched past theirs by 1.0 % on average, 2.0 % at most",
  );
  assert.equal(givenWayText({ elements: 2, lower: [0, 0], upper: [0, 0] }), "Limits that cannot be met gave way in 2 elements; all are within the given limits again");
});

test("a mesh is read as it was written", () => {
  const { positions, corners, uv } = grid(2, 1);
  const mesh: Mesh = { epoch: 1, what: 2, index: 5, positions, corners, uv };
  assert.deepEqual(decode(buffer(encodeMesh(mesh))), { kind: "mesh", mesh });
  assert.deepEqual(decode(buffer(encodeMesh({ ...mesh, uv: null }))), { kind: "mesh", mesh: { ...mesh, uv: null } });
});

test("whatever is cut off or wrong is refused, and takes no memory", () => {
  const whole = encodeFrame(FRAME);
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => decode(buffer(whole.subarray(0, length))), RangeError, `${length} bytes`);
  }
  const counts = whole.slice();
  new DataView(counts.buffer).setUint32(80, 0xffffffff, true);
  assert.throws(() => decode(buffer(counts)), /do not fit|ends at/);
  const { positions, corners } = grid(2, 1);
  const beyond = corners.map((corner, k) => (k === 4 ? 9 : corner));
  assert.throws(() => decode(buffer(encodeMesh({ epoch: 1, what: 0, index: 0, positions, corners: beyond, uv: null }))), /beyond its 9 vertices/);
  assert.throws(() => decode(buffer(Uint8Array.from([1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]))), /starts with/);
});

test("normals of a flat sheet point up, of a ball outwards", () => {
  const { positions, corners } = grid(4, 1);
  const normals = new Float32Array(positions.length);
  smoothNormals(positions, corners, normals);
  for (let k = 0; k < normals.length; k += 3) assert.deepEqual([...normals.subarray(k, k + 3)], [0, 1, 0]);
  const octahedron = Float32Array.from([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1]);
  const faces = Uint32Array.from([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]);
  const outwards = new Float32Array(18);
  smoothNormals(octahedron, faces, outwards);
  outwards.forEach((value, k) => assert.ok(Math.abs(value - octahedron[k]!) < 1e-6));
});

test("a grid has each edge once", () => {
  // n² cells: n (n + 1) edges each way, and n² diagonals.
  assert.equal(edgesOf(grid(5, 1).corners).length / 2, 2 * 5 * 6 + 25);
});

test("a ray meets the nearest triangle from both sides, at the right place", () => {
  const { positions, corners } = grid(10, 1);
  for (const y of [2, -3]) {
    const hit = firstHit(positions, corners, [0.33, y, 0.71], [0, -Math.sign(y), 0], Infinity);
    assert.ok(hit);
    assert.ok(Math.abs(hit.distance - Math.abs(y)) < 1e-6);
    const at = [0, 1, 2].map((c) => hit.weights.reduce((sum, w, k) => sum + w * positions[3 * corners[3 * hit.triangle + k]! + c]!, 0));
    assert.ok(Math.hypot(at[0]! - 0.33, at[1]!, at[2]! - 0.71) < 1e-6, String(at));
  }
  assert.equal(firstHit(positions, corners, [0.33, 2, 0.71], [0, 1, 0], Infinity), null, "behind");
  assert.equal(firstHit(positions, corners, [1.2, 2, 0.5], [0, -1, 0], Infinity), null, "beside");
  assert.equal(firstHit(positions, corners, [0.3, 2, 0.5], [0, -1, 0], 1.5), null, "too far");
});

test("picking among 40 000 triangles takes at most 4 ms", () => {
  const { positions, corners } = grid(142, 1);
  assert.ok(corners.length / 3 > 40000);
  const times = Array.from({ length: 40 }, (_, k) => {
    const begun = performance.now();
    assert.ok(firstHit(positions, corners, [0.2 + 0.01 * k, 1, 0.4], [0, -1, 0], Infinity));
    return performance.now() - begun;
  });
  const least = Math.min(...times);
  assert.ok(least < 4, `${least} ms`);
});

test("quality falls where pictures are slow, and does not swing", () => {
  const governor = new Governor(2);
  const tier = (): number => governor.tier;
  const run = (ms: number) => Array.from({ length: 12 }, () => governor.took(ms)).some(Boolean);
  assert.ok(run(30) && tier() === 1);
  assert.ok(run(30) && tier() === 0);
  assert.ok(!run(30) && tier() === 0, "there is nothing below");
  assert.ok(!run(1) && tier() === 0, "not up again to what was too slow");
  governor.choose(2);
  assert.ok(!run(100) && tier() === 2, "by hand");
  governor.choose(null);
  governor.tier = 0;
  assert.ok(run(1) && tier() === 1, "up where there is room");
});

test("latency counts each event once, at the first picture that shows it", () => {
  const latency = new Latency();
  for (const stamp of [100, 110, 120]) latency.sent(stamp);
  latency.shown(110, 150);
  assert.deepEqual(latency.samples, [50, 40]);
  latency.shown(110, 170);
  assert.deepEqual(latency.samples, [50, 40]);
  latency.shown(125, 180);
  assert.deepEqual(latency.samples, [50, 40, 60]);
  assert.equal(latency.median(), 50);
});

test("segments of curves have tangents, and are picked by a ray that passes near", () => {
  // Two strands along x, at z = 0 and z = -1; the ray looks along -z.
  const positions = Float32Array.from([0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0.02, -1, 2, 0.02, -1]);
  const corners = Uint32Array.from([0, 1, 1, 1, 2, 2, 3, 4, 4]);
  assert.ok(areSegments(corners));
  assert.ok(!areSegments(Uint32Array.from([0, 1, 2])) && !areSegments(new Uint32Array()));
  const tangents = new Float32Array(positions.length);
  // The second segment the other way round: tangents do not cancel.
  smoothTangents(positions, Uint32Array.from([0, 1, 2, 1, 3, 4]), tangents);
  for (let v = 0; v < 5; v++) assert.ok(Math.abs(Math.abs(tangents[3 * v]!) - 1) < 1e-6 && tangents[3 * v + 1] === 0);
  const hit = (x: number, y: number, within = Infinity) => nearestSegment(positions, corners, [x, y, 5], [0, 0, -1], 0.01, within);
  const near = hit(1.25, 0.01)!;
  assert.equal(near.triangle, 1);
  assert.ok(Math.abs(near.weights[1] - 0.25) < 1e-6 && near.weights[2] === 0 && Math.abs(near.distance - 5) < 1e-6);
  assert.equal(hit(1.25, 0.06)!.triangle, 2, "out of reach of the first");
  assert.equal(hit(1.25, 0.2), null);
  assert.equal(hit(1.25, 0.01, 4), null, "behind something else");
  assert.equal(hit(2.04, 0)!.weights[1], 1, "past the end");
});

test("a hundred thousand segments are picked and smoothed within a few milliseconds", () => {
  const positions = Float32Array.from({ length: 3 * 100_000 }, (_, k) => Math.sin(k * 12.9898));
  const corners = new Uint32Array(3 * 99_999);
  const segments = new Uint32Array(2 * 99_999);
  for (let s = 0; s < 99_999; s++) {
    corners.set([s, s + 1, s + 1], 3 * s);
    segments.set([s, s + 1], 2 * s);
  }
  const tangents = new Float32Array(positions.length);
  const times: number[] = [];
  for (let round = 0; round < 9; round++) {
    const begun = performance.now();
    smoothTangents(positions, segments, tangents);
    nearestSegment(positions, corners, [0, 0, 5], [0, 0, -1], 0.01, Infinity);
    times.push(performance.now() - begun);
  }
  assert.ok(Math.min(...times) < 12, `${times}`);
});
