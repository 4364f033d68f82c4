// One drawn body or coarser level: triangles with smooth normals, or curves; edges, colours.

import * as THREE from "three";
import { WEAVE, fabricMaterial, measureMaterial } from "./fabric";
import type { BodyInfo, Colouring, Mesh } from "./protocol";
import type { Tier } from "./quality";
import { Curves } from "./curves";
import { areSegments, edgesOf, firstHit, nearestSegment, smoothNormals, type Hit } from "./surface";

/** sRGB bytes to linear light. */
const LINEAR = Float32Array.from({ length: 256 }, (_, k) => {
  const c = k / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
});

/** Sag between pins over the distance to the nearest pin. */
const SAG = 0.35;

export class BodyView {
  readonly group = new THREE.Group();
  readonly positions: Float32Array;
  readonly corners: Uint32Array;
  readonly rest: Float32Array;
  private readonly geometry = new THREE.BufferGeometry();
  private readonly normals: Float32Array;
  private readonly colours: Float32Array;
  private readonly mesh: THREE.Mesh;
  /** Instead of the mesh, if triangles are segments of curves. */
  private readonly curves: Curves | null;
  private readonly wire: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  /** Height of its lowest point [m]. */
  lowest = Infinity;
  private colouring: Colouring = "none";
  private tier: Tier | null = null;

  constructor(
    readonly info: BodyInfo,
    mesh: Mesh,
    private readonly weave: THREE.Texture,
  ) {
    this.rest = mesh.positions;
    this.corners = mesh.corners;
    this.positions = Float32Array.from(mesh.positions);
    this.normals = new Float32Array(this.positions.length);
    this.colours = new Float32Array(this.positions.length);
    const attribute = (array: Float32Array, size: number) => new THREE.BufferAttribute(array, size);
    this.geometry.setAttribute("position", attribute(this.positions, 3).setUsage(THREE.DynamicDrawUsage));
    this.geometry.setAttribute("normal", attribute(this.normals, 3).setUsage(THREE.DynamicDrawUsage));
    this.geometry.setAttribute("color", attribute(this.colours, 3).setUsage(THREE.DynamicDrawUsage));
    if (mesh.uv) this.geometry.setAttribute("uv", attribute(weaveCoordinates(mesh, mesh.uv), 2));
    this.geometry.setIndex(new THREE.BufferAttribute(this.corners, 1));
    this.mesh = new THREE.Mesh(this.geometry);
    this.mesh.castShadow = this.mesh.receiveShadow = true;

    const lines = new THREE.BufferGeometry();
    lines.setAttribute("position", this.geometry.getAttribute("position"));
    this.curves = areSegments(this.corners) ? new Curves(this.positions, this.corners, this.geometry, info.color, info.kind === "hair") : null;
    lines.setIndex(new THREE.BufferAttribute(this.curves ? new Uint32Array() : edgesOf(this.corners), 1));
    const ink = new THREE.LineBasicMaterial({ color: "#101114", transparent: true, opacity: 0.45, toneMapped: false });
    this.wire = new THREE.LineSegments(lines, ink);
    this.wire.visible = false;
    for (const object of [this.mesh, this.wire]) object.frustumCulled = false;
    this.group.add(this.mesh, this.wire);
    if (this.curves) this.group.add(this.curves.lines);
    this.smooth();
  }

  /** Normals or tangents, after positions have changed. */
  private smooth(): void {
    if (this.curves) this.curves.update();
    else smoothNormals(this.positions, this.corners, this.normals);
  }

  /** Where a ray hits it, nearer than `within`; curves are hit within `slope` of it, over the distance. */
  hit(ray: THREE.Ray, slope: number, within: number): Hit | null {
    const [origin, direction] = [ray.origin.toArray(), ray.direction.toArray()];
    if (this.curves) return nearestSegment(this.positions, this.corners, origin, direction, slope, within);
    return firstHit(this.positions, this.corners, origin, direction, within);
  }

  /** Approximate distance that it may hang below held vertices [m]; its width if none is held. */
  hang(held: readonly number[]): number {
    const all = new THREE.Box3().setFromArray(this.positions);
    const size = all.getSize(new THREE.Vector3());
    const pins = held.map((v) => this.vertex(v));
    if (pins.length === 0) return Math.max(size.x, size.y, size.z, 0);
    const frame = new THREE.Box3().setFromPoints(pins);
    const some = pins.filter((_, k) => k % Math.ceil(pins.length / 64) === 0);
    const step = Math.ceil(this.positions.length / 3 / 2000);
    const at = new THREE.Vector3();
    let most = 0;
    for (let v = 0; v < this.positions.length / 3; v += step) {
      this.vertex(v, at);
      const away = Math.min(...some.map((pin) => pin.distanceTo(at)));
      // Between pins on all sides it sags instead of falling.
      const between = at.x > frame.min.x && at.x < frame.max.x && at.z > frame.min.z && at.z < frame.max.z;
      most = Math.max(most, between ? SAG * away : away);
    }
    return most;
  }

  /**
   * Sets the positions of a frame; arrays of the wrong size are ignored. False: they are not finite, or further away than `far` [m], and
   * the body is hidden, because GPUs handle such triangles badly.
   */
  update(positions: Float32Array, colours: Uint8Array | null, far: number): boolean {
    if (positions.length !== this.positions.length) return true;
    const sound = this.measure(positions, far);
    this.group.visible = sound;
    if (!sound) return false;
    this.positions.set(positions);
    this.smooth();
    this.geometry.getAttribute("position").needsUpdate = true;
    this.geometry.getAttribute("normal").needsUpdate = true;
    if (!colours || this.colouring === "none") return true;
    for (let from = 0, to = 0; to < this.colours.length; from += 4, to += 3) {
      this.colours[to] = LINEAR[colours[from]!]!;
      this.colours[to + 1] = LINEAR[colours[from + 1]!]!;
      this.colours[to + 2] = LINEAR[colours[from + 2]!]!;
    }
    this.geometry.getAttribute("color").needsUpdate = true;
    return true;
  }

  /** Whether all positions are finite and within `far`; also records the lowest height. */
  private measure(positions: Float32Array, far: number): boolean {
    let lowest = Infinity;
    let inside = true;
    for (let k = 0; k < positions.length; k += 3) {
      const x = positions[k]!;
      const y = positions[k + 1]!;
      const z = positions[k + 2]!;
      inside &&= Math.abs(x) < far && Math.abs(y) < far && Math.abs(z) < far;
      if (y < lowest) lowest = y;
    }
    this.lowest = lowest;
    return inside;
  }

  paint(colouring: Colouring, tier: Tier): void {
    if (colouring === this.colouring && tier === this.tier) return;
    this.colouring = colouring;
    this.tier = tier;
    if (this.curves) {
      this.curves.paint(colouring);
      return;
    }
    dispose(this.mesh);
    this.mesh.material =
      colouring === "none"
        ? fabricMaterial(this.info, tier, this.geometry.hasAttribute("uv") ? this.weave : null)
        : measureMaterial(this.info, colouring);
  }

  /** Visibility of surface and edges. Edges alone are drawn over another surface, and are visible through it. */
  show(shown: { surface: boolean; edges: boolean; through: boolean; ink?: string; opacity?: number }): void {
    this.mesh.visible = shown.surface && !this.curves;
    if (this.curves) this.curves.lines.visible = shown.surface || shown.edges;
    this.wire.visible = shown.edges;
    this.wire.material.depthTest = !shown.through;
    this.wire.material.opacity = shown.opacity ?? 0.45;
    this.wire.renderOrder = shown.through ? 2 : 0;
    this.wire.material.color.set(shown.ink ?? "#101114");
  }

  /** Lies where `other` does, which has other vertices at the corners of its triangles, until a frame comes. */
  takeShape(other: BodyView): void {
    if (other.corners.length !== this.corners.length) return;
    for (let k = 0; k < this.corners.length; k++) {
      const [to, from] = [3 * this.corners[k]!, 3 * other.corners[k]!];
      for (let axis = 0; axis < 3; axis++) this.positions[to + axis] = other.positions[from + axis]!;
    }
    this.smooth();
    this.lowest = other.lowest;
    this.group.visible = other.group.visible;
  }

  vertex(k: number, out = new THREE.Vector3()): THREE.Vector3 {
    return out.fromArray(this.positions, 3 * k);
  }

  /** The point of a triangle at barycentric weights. */
  point(triangle: number, weights: readonly number[], out = new THREE.Vector3()): THREE.Vector3 {
    out.set(0, 0, 0);
    const corner = new THREE.Vector3();
    for (let k = 0; k < 3; k++) out.addScaledVector(this.vertex(this.corners[3 * triangle + k]!, corner), weights[k]!);
    return out;
  }

  dispose(): void {
    this.group.removeFromParent();
    dispose(this.mesh);
    this.curves?.dispose();
    this.geometry.dispose();
    this.wire.geometry.dispose();
    this.wire.material.dispose();
  }
}

function dispose(mesh: THREE.Mesh): void {
  for (const material of Array.isArray(mesh.material) ? mesh.material : [mesh.material]) material.dispose();
}

/** Texture coordinates, scaled so that a tile of the weave has the same width on every cloth. */
function weaveCoordinates(mesh: Mesh, uv: Float32Array): Float32Array {
  let length = 0;
  let span = 0;
  for (let t = 0; t < mesh.corners.length; t += 3) {
    const a = mesh.corners[t]!;
    const b = mesh.corners[t + 1]!;
    length += Math.hypot(...[0, 1, 2].map((k) => mesh.positions[3 * a + k]! - mesh.positions[3 * b + k]!));
    span += Math.hypot(uv[2 * a]! - uv[2 * b]!, uv[2 * a + 1]! - uv[2 * b + 1]!);
  }
  const scale = span > 0 ? length / span / WEAVE : 1;
  return uv.map((value) => value * scale);
}
