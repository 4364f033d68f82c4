// A small sheet for the stand-in server: points, and edges that are kept within a range of lengths. No model of taut: only something
// that hangs, swings, and can be pulled.

import type { Parameters, Vec3 } from "../src/protocol";
import { edgesOf } from "../src/surface";

const STEPS = 3;
const PASSES = 40;

export interface Grid {
  positions: Float32Array;
  corners: Uint32Array;
  uv: Float32Array;
}

export function grid(cells: number, size: number): Grid {
  const side = cells + 1;
  const positions = new Float32Array(3 * side * side);
  const uv = new Float32Array(2 * side * side);
  const corners: number[] = [];
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      const k = j * side + i;
      positions.set([(size * i) / cells, 0, (size * j) / cells], 3 * k);
      uv.set([i / cells, j / cells], 2 * k);
      if (i < cells && j < cells) corners.push(k, k + side, k + 1, k + 1, k + side, k + side + 1);
    }
  }
  return { positions, corners: Uint32Array.from(corners), uv };
}

export class Sheet {
  readonly mesh: Grid;
  readonly x: Float32Array;
  private readonly old: Float32Array;
  /** Both ends of each edge (times 3), and its length at rest. */
  private readonly ends: Uint32Array;
  private readonly lengths: Float64Array;
  readonly pins = new Map<number, Vec3>();
  readonly grips = new Map<number, { corners: number[]; weights: Vec3; target: Vec3; stamp: number }>();
  time = 0;
  frame = 0;
  echo = 0;

  constructor(readonly cells: number, readonly size = 1) {
    this.mesh = grid(cells, size);
    this.x = Float32Array.from(this.mesh.positions);
    this.old = Float32Array.from(this.x);
    this.ends = edgesOf(this.mesh.corners).map((k) => 3 * k);
    this.lengths = Float64Array.from({ length: this.ends.length / 2 }, (_, e) => this.length(e));
    for (const k of [0, cells]) this.pin(k);
  }

  private length(e: number): number {
    const [a, b] = [this.ends[2 * e]!, this.ends[2 * e + 1]!];
    return Math.hypot(this.x[b]! - this.x[a]!, this.x[b + 1]! - this.x[a + 1]!, this.x[b + 2]! - this.x[a + 2]!);
  }

  pin(k: number): void {
    this.pins.set(k, [this.x[3 * k]!, this.x[3 * k + 1]!, this.x[3 * k + 2]!]);
  }

  advance(p: Parameters, dt: number): void {
    const h = dt / STEPS;
    for (let step = 0; step < STEPS; step++) {
      for (let k = 0; k < this.x.length; k++) {
        const now = this.x[k]!;
        const pull = k % 3 === 1 ? -p.gravity : 0;
        this.x[k] = now + 0.985 * (now - this.old[k]!) + h * h * (pull + 0.3 * p.wind[k % 3]!);
        this.old[k] = now;
      }
      for (let pass = 0; pass < PASSES; pass++) this.project(p, pass);
    }
    this.time += dt;
    this.frame += 1;
    for (const grip of this.grips.values()) this.echo = Math.max(this.echo, grip.stamp);
  }

  private project(p: Parameters, pass: number): void {
    const most = p.limiter === "off" ? 0.6 : (p.stretch_max ?? 0.6);
    const { x, ends, lengths } = this;
    for (let k = 0; k < lengths.length; k++) {
      const e = pass % 2 === 0 ? k : lengths.length - 1 - k;
      const a = ends[2 * e]!;
      const b = ends[2 * e + 1]!;
      const rest = lengths[e]!;
      const dx = x[b]! - x[a]!;
      const dy = x[b + 1]! - x[a + 1]!;
      const dz = x[b + 2]! - x[a + 2]!;
      const square = dx * dx + dy * dy + dz * dz;
      const allowed = rest * (1 + most);
      if (square <= allowed * allowed) continue;
      const move = 0.5 - (0.5 * allowed) / Math.sqrt(square);
      x[a]! += move * dx;
      x[a + 1]! += move * dy;
      x[a + 2]! += move * dz;
      x[b]! -= move * dx;
      x[b + 1]! -= move * dy;
      x[b + 2]! -= move * dz;
    }
    for (const { corners, weights, target } of this.grips.values()) {
      const share = weights.reduce((sum, w) => sum + w * w, 0);
      for (let c = 0; c < 3; c++) {
        const at = corners.reduce((sum, k, i) => sum + weights[i]! * this.x[3 * k + c]!, 0);
        corners.forEach((k, i) => (this.x[3 * k + c]! += (0.4 * weights[i]! * (target[c]! - at)) / share));
      }
    }
    for (const [k, at] of this.pins) this.x.set(at, 3 * k);
  }

  /** Strain of each edge, and the largest of those around each vertex. */
  strains(): { most: number; least: number; around: Float32Array } {
    const around = new Float32Array(this.x.length / 3);
    let [most, least] = [-Infinity, Infinity];
    for (let e = 0; e < this.lengths.length; e++) {
      const strain = this.length(e) / this.lengths[e]! - 1;
      most = Math.max(most, strain);
      least = Math.min(least, strain);
      const [a, b] = [this.ends[2 * e]! / 3, this.ends[2 * e + 1]! / 3];
      around[a] = Math.max(around[a]!, strain);
      around[b] = Math.max(around[b]!, strain);
    }
    return { most, least, around };
  }

  /** Positions of every `stride`-th row and column. */
  coarse(stride: number): Float32Array {
    const out: number[] = [];
    const side = this.cells + 1;
    for (let j = 0; j < side; j += stride) {
      for (let i = 0; i < side; i += stride) out.push(...this.x.subarray(3 * (j * side + i), 3 * (j * side + i) + 3));
    }
    return Float32Array.from(out);
  }
}
