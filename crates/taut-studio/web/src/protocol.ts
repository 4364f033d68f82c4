// Messages between server and page: JSON and binary, see PROTOCOL.md. All numbers little-endian;
// lengths in metres, times in seconds.

export type Vec3 = [number, number, number];
export type Limiter = "off" | "edge" | "isotropic";
export type Colouring = "none" | "strain" | "residual" | "hsv";

/** Parameters that can be changed during the simulation. */
export interface Parameters {
  limiter: Limiter;
  /** Largest strain, e.g. 0.05; null: free. */
  stretch_max: number | null;
  /** Smallest strain, e.g. -0.05; null: free. */
  stretch_min: number | null;
  /** Largest bend [deg/cm]; null: free. */
  bend_max: number | null;
  /** Strain beyond which cloth tears; null: it does not. */
  tear: number | null;
  /** Name of the material of all cloth; null: as in the scene. */
  material: string | null;
  /** Factor on the material's stiffness; 1: as in the scene. */
  stiffness: number;
  /** Downwards [m/s²]. */
  gravity: number;
  /** [m/s] */
  wind: Vec3;
  /** Time for a frame [ms]. */
  budget_ms: number;
  /** 30 or 60; in a replay that of the run. */
  fps: number;
  colouring: Colouring;
  levels_shown: boolean;
  /** Strain or residual of the last colour of the scale; read only. */
  colour_range?: number;
}
export type Key = Exclude<keyof Parameters, "colour_range">;

export interface BodyInfo {
  name: string;
  /** Particles and hair are curves: each of their triangles is a segment, whose second corner is also the third. */
  kind: "cloth" | "solid" | "particles" | "hair";
  model: "fem" | "edge";
  vertices: number;
  triangles: number;
  color: string;
  limited: boolean;
}
export interface ObstacleInfo {
  name: string;
  kind: "plane" | "sphere" | "box" | "capsule" | "cylinder" | "torus" | "mesh";
  triangles: number;
}
export interface LightInfo {
  position: Vec3;
  color: string;
  intensity: number;
}
export interface SceneInfo {
  epoch: number;
  name: string;
  description: string;
  fps: number;
  /** Number of the last frame of a replay; null: live. */
  frames: number | null;
  bodies: BodyInfo[];
  obstacles: ObstacleInfo[];
  /** Whether the first body may have coarser levels; their meshes come when they are first shown. */
  has_levels: boolean;
  /** Materials that cloth can be made of; none in a replay, or without cloth. */
  materials: string[];
  parameters: Parameters;
  playing: boolean;
  bounds: { min: Vec3; max: Vec3 };
  lights: LightInfo[];
  /** Tolerance of strain limits, e.g. 0.01. */
  tolerance?: number;
}

export type FromServer =
  | { type: "hello"; version: number; viewer: number; driving: boolean; mode: "live" | "replay"; viewers: number }
  | ({ type: "scene" } & SceneInfo)
  | ({ type: "parameters" } & Parameters)
  | { type: "state"; playing: boolean; frame: number; driving: boolean; viewers: number }
  | { type: "notice" | "problem"; text: string }
  | { type: "saved"; path: string }
  | { type: "pong"; stamp: number };

export type ToServer =
  | { type: "drive" | "play" | "pause" | "step" | "reset" }
  | { type: "seek"; frame: number }
  | { type: "scene" | "save"; name: string }
  | { type: "set"; key: Key; value: Parameters[Key] }
  | { type: "grab"; body: number; triangle: number; weights: Vec3; point: Vec3; hard: boolean; id: number }
  | { type: "drag"; id: number; point: Vec3; stamp: number }
  | { type: "release"; id: number }
  | { type: "comb"; from: Vec3; to: Vec3; radius: number }
  | { type: "cut"; eye: Vec3; from: Vec3; to: Vec3 }
  | { type: "pin" | "unpin"; body: number; vertex: number }
  | { type: "ping"; stamp: number }
  | { type: "draws"; software: boolean }
  | { type: "ack"; frame: number };

export const VERSION = 1;
export const MAGIC = 0x54555431;
export const KIND_MESH = 1;
export const KIND_FRAME = 2;
export const MESH_BODY = 0;
export const MESH_OBSTACLE = 1;
export const MESH_LEVEL = 2;
/** Stages of a frame's milliseconds; the last is the whole frame. */
export const STAGES = ["velocity", "contact", "limit", "finish", "certificate", "whole"] as const;
export const FLAG_CONVERGED = 1;
export const FLAG_COLOURS = 2;
export const FLAG_LEVELS = 4;
export const FLAG_PINS = 8;
export const FLAG_SHAPES = 16;
export const FLAG_GIVEN_WAY = 32;

export interface Mesh {
  epoch: number;
  what: number;
  index: number;
  positions: Float32Array;
  corners: Uint32Array;
  uv: Float32Array | null;
}

export interface Frame {
  epoch: number;
  frame: number;
  time: number;
  /** Newest `drag.stamp` that this frame includes [ms]; 0: none. */
  echo: number;
  /** As `STAGES` [ms]. */
  milliseconds: Float32Array;
  largestResidual: number;
  meanResidual: number;
  maxStrain: number;
  minStrain: number;
  iterations: number;
  converged: boolean;
  /** Positions of each body. */
  bodies: Float32Array[];
  /** sRGB colours (RGBA) of the vertices of each body. */
  colours: Uint8Array[] | null;
  /** Row-major 3×4 matrix of each obstacle, from its mesh to now. */
  obstacles: Float32Array[];
  levels: { level: number; positions: Float32Array }[] | null;
  pins: { body: number; vertex: number }[] | null;
  /** Positions of obstacles that change their shape. */
  shapes: { obstacle: number; positions: Float32Array }[] | null;
  givenWay: GivenWay | null;
}

/** Limits that gave way because they could not be met. */
export interface GivenWay {
  elements: number;
  /** Residual past lower limits: mean over the elements past a limit, and the largest. */
  lower: [number, number];
  /** The same past upper limits. */
  upper: [number, number];
}

/** Reads a message sequentially; returns views into it where possible, not copies. */
class Reader {
  private at = 0;
  private readonly view: DataView;
  constructor(private readonly data: ArrayBuffer) {
    this.view = new DataView(data);
  }
  private take(bytes: number): number {
    const at = this.at;
    if (bytes < 0 || at + bytes > this.data.byteLength) {
      throw new RangeError(`message of ${this.data.byteLength} bytes ends at byte ${at} of a part of ${bytes} bytes`);
    }
    this.at += bytes;
    return at;
  }
  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }
  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }
  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }
  f32s(count: number): Float32Array {
    return new Float32Array(this.data, this.take(4 * count), count);
  }
  u32s(count: number): Uint32Array {
    return new Uint32Array(this.data, this.take(4 * count), count);
  }
  bytes(count: number): Uint8Array {
    return new Uint8Array(this.data, this.take(count), count);
  }
  /** A count of items of at least `least` bytes each: an impossible count throws before memory is allocated. */
  list<T>(count: number, least: number, part: () => T): T[] {
    if (count * least > this.data.byteLength - this.at) {
      throw new RangeError(`${count} parts do not fit into a message of ${this.data.byteLength} bytes`);
    }
    return Array.from({ length: count }, part);
  }
}

/** Parses a binary message; throws a RangeError that names the problem. */
export function decode(data: ArrayBuffer): { kind: "mesh"; mesh: Mesh } | { kind: "frame"; frame: Frame } {
  const reader = new Reader(data);
  const magic = reader.u32();
  if (magic !== MAGIC) throw new RangeError(`a message starts with ${magic.toString(16)} in place of ${MAGIC.toString(16)}`);
  const kind = reader.u32();
  const epoch = reader.u32();
  if (kind === KIND_MESH) return { kind: "mesh", mesh: readMesh(reader, epoch) };
  if (kind === KIND_FRAME) return { kind: "frame", frame: readFrame(reader, epoch) };
  throw new RangeError(`messages of kind ${kind} are not known`);
}

function readMesh(reader: Reader, epoch: number): Mesh {
  const what = reader.u32();
  const index = reader.u32();
  const vertices = reader.u32();
  const triangles = reader.u32();
  const positions = reader.f32s(3 * vertices);
  const corners = reader.u32s(3 * triangles);
  if (corners.some((corner) => corner >= vertices)) {
    throw new RangeError(`a triangle of mesh ${index} has a corner beyond its ${vertices} vertices`);
  }
  const uv = reader.u32() === 1 ? reader.f32s(2 * vertices) : null;
  return { epoch, what, index, positions, corners, uv };
}

function readFrame(reader: Reader, epoch: number): Frame {
  const frame = reader.u32();
  const time = reader.f64();
  const echo = reader.f64();
  const milliseconds = reader.f32s(STAGES.length);
  const largestResidual = reader.f32();
  const meanResidual = reader.f32();
  const maxStrain = reader.f32();
  const minStrain = reader.f32();
  const iterations = reader.u32();
  const flags = reader.u32();
  const bodies = reader.list(reader.u32(), 4, () => reader.f32s(3 * reader.u32()));
  const colours = flags & FLAG_COLOURS ? bodies.map((positions) => reader.bytes((4 * positions.length) / 3)) : null;
  const obstacles = reader.list(reader.u32(), 48, () => reader.f32s(12));
  const level = () => ({ level: reader.u32(), positions: reader.f32s(3 * reader.u32()) });
  const levels = flags & FLAG_LEVELS ? reader.list(reader.u32(), 8, level) : null;
  const pin = () => ({ body: reader.u32(), vertex: reader.u32() });
  const pins = flags & FLAG_PINS ? reader.list(reader.u32(), 8, pin) : null;
  const shape = () => ({ obstacle: reader.u32(), positions: reader.f32s(3 * reader.u32()) });
  const shapes = flags & FLAG_SHAPES ? reader.list(reader.u32(), 8, shape) : null;
  const side = (): [number, number] => [reader.f32(), reader.f32()];
  const givenWay = flags & FLAG_GIVEN_WAY ? { elements: reader.u32(), lower: side(), upper: side() } : null;
  return {
    epoch, frame, time, echo, milliseconds, largestResidual, meanResidual, maxStrain, minStrain, iterations,
    converged: (flags & FLAG_CONVERGED) !== 0,
    bodies, colours, obstacles, levels, pins, shapes, givenWay,
  };
}
