// A small sheet for the stand-in server: points, and edges that are kept within a range of lengths. No model of taut: only something
// that hangs, swings, and can be pulled.

import type { Parameters, Vec3 } from "../src/protocol";

const STEPS = 4;
const PASSES = 24;

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
  private readonly edges: [number, number, number][] = [];
  readonly pins = new Map<number, Vec3>();
  readonly grips = new Map<number, { corners: number[]; weights: Vec3; target: Vec3; stamp: number }>();
  time = 0;
  frame = 0;
  echo = 0;

  constructor(readonly cells: number, readonly size = 1) {
    this.mesh = grid(cells, size);
    this.x = Float32Array.from(this.mesh.positions);
    this.old = Float32Array.from(this.x);
    const seen = new Set<string>();
    for (let t = 0; t < this.mesh.corners.length; t += 3) {
      for (let k = 0; k < 3; k++) {
        const [a, b] = [this.mesh.corners[t + k]!, this.mesh.corners[t + ((k + 1) % 3)]!].sort((p, q) => p - q) as [number, number];
        if (seen.has(`${a} ${b}`)) continue;
        seen.add(`${a} ${b}`);
        this.edges.push([a, b, Math.hypot(...[0, 1, 2].map((c) => this.x[3 * a + c]! - this.x[3 * b + c]!))]);
      }
    }
    for (const k of [0, cells]) this.pin(k);
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
    for (let e = 0; e < this.edges.length; e++) {
      const [a, b, rest] = this.edges[pass % 2 === 0 ? e : this.edges.length - 1 - e]!;
      const { x } = this;
      const dx = x[3 * b]! - x[3 * a]!;
      const dy = x[3 * b + 1]! - x[3 * a + 1]!;
      const dz = x[3 * b + 2]! - x[3 * a + 2]!;
      const square = dx * dx + dy * dy + dz * dz;
      const allowed = rest * (1 + most);
      if (square <= allowed * allowed) continue;
      const move = 0.5 - (0.5 * allowed) / Math.sqrt(square);
      x[3 * a]! += move * dx;
      x[3 * a + 1]! += move * dy;
      x[3 * a + 2]! += move * dz;
      x[3 * b]! -= move * dx;
      x[3 * b + 1]! -= move * dy;
      x[3 * b + 2]! -= move * dz;
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
    for (const [a, b, rest] of this.edges) {
      const strain = Math.hypot(...[0, 1, 2].map((c) => this.x[3 * b + c]! - this.x[3 * a + c]!)) / rest - 1;
      most = Math.max(most, strain);
      least = Math.min(least, strain);
      for (const k of [a, b]) around[k] = Math.max(around[k]!, strain);
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
