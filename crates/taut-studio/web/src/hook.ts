// `window.__taut`: read-only interface for tests in a browser; not for other programs.

import type { Frame, Parameters, Vec3 } from "./protocol";

/** One received frame. */
export interface Logged {
  frame: number;
  /** Simulated time [s]. */
  time: number;
  /** Arrival time [ms, performance.now]. */
  at: number;
  maxStrain: number;
  minStrain: number;
  residual: number;
  iterations: number;
  /** Milliseconds of the whole frame on the server. */
  whole: number;
}

export interface TestHook {
  /** Version of this hook. */
  version: 1;
  open(): boolean;
  driving(): boolean;
  playing(): boolean;
  sceneName(): string;
  epoch(): number;
  /** As last received from the server. */
  parameters(): Parameters | null;
  /** Number of the frame in the last image; -1: none yet. */
  frame(): number;
  /** Number of rendered images, and the quality tier. */
  drawn(): number;
  tier(): string;
  /** Received frames of the scene, up to the last 5000. */
  log(): Logged[];
  /** Drawn positions of a body, positions of its received mesh, and the corners of its triangles. */
  positions(body: number): number[];
  rest(body: number): number[];
  corners(body: number): number[];
  pins(): { body: number; vertex: number }[];
  /** Largest principal strain in the last frame, as the server measured it. */
  maxStrain(): number;
  /** Latency samples from pointer event to image [ms]. */
  latency(): number[];
  /** Durations of the last picks, and of the last images on the GPU [ms]. */
  pickTimes(): number[];
  pictureTimes(): number[];
  /** Page position of a point [CSS pixels]. */
  project(point: Vec3): { x: number; y: number };
  /** Number of objects that are held. */
  holding(): boolean;
}

declare global {
  interface Window {
    __taut?: TestHook;
  }
}

const KEPT = 5000;

export class FrameLog {
  entries: Logged[] = [];

  add(frame: Frame): void {
    this.entries.push({
      frame: frame.frame, time: frame.time, at: performance.now(), maxStrain: frame.maxStrain, minStrain: frame.minStrain,
      residual: frame.largestResidual, iterations: frame.iterations, whole: frame.milliseconds[5]!,
    });
    if (this.entries.length > KEPT) this.entries.shift();
  }

  /** Simulated frames a second over about the last second; null: not known yet. Counts frames that were never sent, too. */
  rate(): number | null {
    const last = this.entries[this.entries.length - 1];
    if (!last) return null;
    const from = this.entries.find((entry) => entry.at > last.at - 1500);
    if (!from || last.at - from.at < 700 || from.frame >= last.frame) return null;
    return (1000 * (last.frame - from.frame)) / (last.at - from.at);
  }
}
