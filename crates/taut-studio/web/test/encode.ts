// Writes binary messages as the server does; the other side of src/protocol.ts.

import { FLAG_COLOURS, FLAG_CONVERGED, FLAG_GIVEN_WAY, FLAG_LEVELS, FLAG_PINS, FLAG_SHAPES, KIND_FRAME, KIND_MESH, MAGIC, type Frame, type Mesh } from "../src/protocol";

class Writer {
  private parts: Uint8Array[] = [];
  u32(...values: number[]): this {
    return this.bytes(new Uint8Array(Uint32Array.from(values).buffer));
  }
  f32(...values: number[]): this {
    return this.bytes(new Uint8Array(Float32Array.from(values).buffer));
  }
  f64(...values: number[]): this {
    return this.bytes(new Uint8Array(Float64Array.from(values).buffer));
  }
  array(values: Float32Array | Uint32Array): this {
    return this.bytes(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  bytes(values: Uint8Array): this {
    this.parts.push(values);
    return this;
  }
  done(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.parts));
  }
}

export function encodeMesh(mesh: Mesh): Uint8Array {
  const w = new Writer().u32(MAGIC, KIND_MESH, mesh.epoch, mesh.what, mesh.index, mesh.positions.length / 3, mesh.corners.length / 3);
  w.array(mesh.positions).array(mesh.corners).u32(mesh.uv ? 1 : 0);
  return (mesh.uv ? w.array(mesh.uv) : w).done();
}

export function encodeFrame(frame: Frame): Uint8Array {
  const flags =
    (frame.converged ? FLAG_CONVERGED : 0) | (frame.colours ? FLAG_COLOURS : 0) | (frame.levels ? FLAG_LEVELS : 0) | (frame.pins ? FLAG_PINS : 0) |
    (frame.shapes ? FLAG_SHAPES : 0) | (frame.givenWay ? FLAG_GIVEN_WAY : 0);
  const w = new Writer().u32(MAGIC, KIND_FRAME, frame.epoch, frame.frame).f64(frame.time, frame.echo).array(frame.milliseconds);
  w.f32(frame.largestResidual, frame.meanResidual, frame.maxStrain, frame.minStrain).u32(frame.iterations, flags);
  w.u32(frame.bodies.length);
  for (const positions of frame.bodies) w.u32(positions.length / 3).array(positions);
  for (const colours of frame.colours ?? []) w.bytes(colours);
  w.u32(frame.obstacles.length);
  for (const matrix of frame.obstacles) w.array(matrix);
  if (frame.levels) {
    w.u32(frame.levels.length);
    for (const { level, positions } of frame.levels) w.u32(level, positions.length / 3).array(positions);
  }
  if (frame.pins) {
    w.u32(frame.pins.length);
    for (const { body, vertex } of frame.pins) w.u32(body, vertex);
  }
  if (frame.shapes) {
    w.u32(frame.shapes.length);
    for (const { obstacle, positions } of frame.shapes) w.u32(obstacle, positions.length / 3).array(positions);
  }
  if (frame.givenWay) w.u32(frame.givenWay.elements).f32(...frame.givenWay.lower, ...frame.givenWay.upper);
  return w.done();
}
