// Grips: pointers and keys that grip bodies, move and pin them.
//
// A press on a body grips the point under it; the grip then moves in the plane through that point that faces the camera, and the
// wheel moves that plane nearer or away. A press beside all bodies rotates the view. Several fingers may grip at once.
// With the tools for hair, a drag that begins on a body combs, and any drag cuts what it crosses.

import * as THREE from "three";
import type { BodyView } from "./cloth";
import type { Latency } from "./latency";
import type { Marks } from "./marks";
import type { ToServer, Vec3 } from "./protocol";
import type { Stage } from "./scene";

export type Tool = "soft" | "hard" | "pin" | "comb" | "cut" | "look";

export interface Pick {
  body: number;
  triangle: number;
  weights: Vec3;
  point: THREE.Vector3;
}

interface Grip {
  id: number;
  pick: Pick;
  plane: THREE.Plane;
  target: THREE.Vector3;
  /** Where its pointer is [CSS pixels]. */
  x: number;
  y: number;
  /** Time of its last move [ms]. */
  stamp: number;
}

/** A drag that combs or cuts. */
interface Stroke {
  /** The plane in which a brush moves; null: the stroke cuts. */
  plane: THREE.Plane | null;
  /** Where it was last: the brush, or a point far behind what the pointer showed. */
  last: THREE.Vector3;
}

export interface Surroundings {
  stage: Stage;
  marks: Marks;
  latency: Latency;
  bodies(): readonly BodyView[];
  pins(): readonly { body: number; vertex: number }[];
  /** Why gripping is not possible now; null: it is. */
  refusal(): string | null;
  send(message: ToServer): boolean;
  problem(text: string): void;
}

/** Pointer id of the keyboard. */
const KEYS = -1;
/** Distance within which a pin is selected by the pointer [CSS pixels]. */
const PIN_NEAR = 16;
/** Distance within which a curve is picked by the pointer [CSS pixels]. */
const LINE_NEAR = 9;
/** Radius of the brush, over the size of the scene. */
const BRUSH = 0.05;
/** How far behind the eye a cut reaches, over the distance and the size of the scene. */
const REACH = 3;
/** Minimum interval of early moves [ms]. */
const EARLY = 7;

export class GripInput {
  tool: Tool = "soft";
  /** Time of the last picks [ms]. */
  readonly pickTimes: number[] = [];
  private readonly grips = new Map<number, Grip>();
  private readonly strokes = new Map<number, Stroke>();
  private nextId = 1;
  private pointer: { x: number; y: number } | null = null;
  private hoverDue = false;
  private changed = false;

  constructor(private readonly s: Surroundings) {
    const { canvas } = s.stage;
    // Before the camera's own listeners, so that a press on a body does not rotate the view.
    const frame = canvas.parentElement!;
    frame.addEventListener("pointerdown", (event) => this.press(event), { capture: true });
    frame.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    // If the browser reports moves before its next frame, grips need not wait for that frame.
    canvas.addEventListener("pointerrawupdate", (event) => this.early(event as PointerEvent));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      canvas.addEventListener(end, (event) => this.let(event.pointerId));
    }
    canvas.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.hoverDue = true;
    });
    canvas.addEventListener("blur", () => this.let(KEYS));
  }

  get holding(): boolean {
    return this.grips.size > 0;
  }

  get holdingByKeys(): boolean {
    return this.grips.has(KEYS);
  }

  /** The first body under a point of the page. */
  pick(x: number, y: number): Pick | null {
    const begun = performance.now();
    const ray = this.s.stage.ray(x, y);
    const slope = LINE_NEAR * this.s.stage.pixel();
    let nearest = Infinity;
    let found: Pick | null = null;
    this.s.bodies().forEach((view, body) => {
      const hit = view.hit(ray, slope, nearest);
      if (!hit) return;
      nearest = hit.distance;
      found = { body, triangle: hit.triangle, weights: hit.weights, point: view.point(hit.triangle, hit.weights) };
    });
    this.pickTimes.push(performance.now() - begun);
    if (this.pickTimes.length > 200) this.pickTimes.shift();
    return found;
  }

  private press(event: PointerEvent): void {
    const { stage } = this.s;
    if (event.target !== stage.canvas) return;
    stage.canvas.focus({ preventScroll: true });
    if (event.button !== 0 || event.altKey || event.ctrlKey || event.metaKey || this.tool === "look") return;
    if (this.tool === "pin") {
      if (!this.pinAt(event.clientX, event.clientY)) return;
    } else if (this.tool === "comb" || this.tool === "cut") {
      if (!this.beginStroke(event)) return;
    } else {
      const pick = this.pick(event.clientX, event.clientY);
      if (!pick) return;
      const refusal = this.s.refusal();
      if (refusal) {
        this.s.problem(refusal);
        return;
      }
      this.take(event.pointerId, pick, event.clientX, event.clientY, (this.tool === "hard") !== event.shiftKey);
      stage.canvas.setPointerCapture(event.pointerId);
    }
    event.stopPropagation();
    event.preventDefault();
  }

  private take(pointer: number, pick: Pick, x: number, y: number, hard: boolean): void {
    const { stage, send } = this.s;
    const facing = stage.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, pick.point);
    const grip = { id: this.nextId++, pick, plane, target: pick.point.clone(), x, y, stamp: 0 };
    this.grips.set(pointer, grip);
    const { body, triangle, weights, point } = pick;
    send({ type: "grab", body, triangle, weights, point: point.toArray(), hard, id: grip.id });
    stage.canvas.dataset.over = "held";
    this.s.marks.showHover(null);
    this.changed = true;
  }

  /** False: there is nothing to comb here. */
  private beginStroke(event: PointerEvent): boolean {
    const { stage, problem } = this.s;
    const [x, y] = [event.clientX, event.clientY];
    const pick = this.tool === "comb" ? this.pick(x, y) : null;
    if (this.tool === "comb" && !pick) return false;
    const refusal = this.s.refusal();
    if (refusal) {
      problem(refusal);
      return true;
    }
    const facing = stage.camera.getWorldDirection(new THREE.Vector3());
    const plane = pick && new THREE.Plane().setFromNormalAndCoplanarPoint(facing, pick.point);
    this.strokes.set(event.pointerId, { plane, last: pick?.point.clone() ?? this.behind(x, y) });
    stage.canvas.setPointerCapture(event.pointerId);
    this.s.marks.showHover(null);
    return true;
  }

  /** A point far behind what is shown at a point of the page. */
  private behind(x: number, y: number): THREE.Vector3 {
    const { stage } = this.s;
    return stage.ray(x, y).at(REACH * (stage.camera.position.length() + stage.size), new THREE.Vector3());
  }

  private stroke(stroke: Stroke, x: number, y: number): void {
    const { stage, send } = this.s;
    const at = stroke.plane ? stage.ray(x, y).intersectPlane(stroke.plane, new THREE.Vector3()) : this.behind(x, y);
    if (!at || at.equals(stroke.last)) return;
    const [from, to] = [stroke.last.toArray(), at.toArray()];
    if (stroke.plane) send({ type: "comb", from, to, radius: BRUSH * stage.size });
    else send({ type: "cut", eye: stage.camera.position.toArray(), from, to });
    stroke.last.copy(at);
    this.changed = true;
  }

  private move(event: PointerEvent): void {
    this.pointer = { x: event.clientX, y: event.clientY };
    const stroke = this.strokes.get(event.pointerId);
    if (stroke) {
      this.stroke(stroke, event.clientX, event.clientY);
      return;
    }
    const grip = this.grips.get(event.pointerId);
    if (grip) this.pull(grip, event.clientX, event.clientY, event.timeStamp);
    else if (event.buttons === 0) this.hoverDue = true;
  }

  private early(event: PointerEvent): void {
    const grip = this.grips.get(event.pointerId);
    if (grip && event.timeStamp - grip.stamp >= EARLY) this.pull(grip, event.clientX, event.clientY, event.timeStamp);
  }

  /** Moves a grip to a point of the page. */
  private pull(grip: Grip, x: number, y: number, stamp: number): void {
    // The same move is reported twice: early, and again with the browser's next frame.
    if (stamp <= grip.stamp && x === grip.x && y === grip.y) return;
    [grip.x, grip.y, grip.stamp] = [x, y, stamp];
    const at = this.s.stage.ray(x, y).intersectPlane(grip.plane, new THREE.Vector3());
    if (!at) return;
    grip.target.copy(at);
    if (this.s.send({ type: "drag", id: grip.id, point: at.toArray(), stamp })) this.s.latency.sent(stamp);
    this.changed = true;
  }

  private wheel(event: WheelEvent): void {
    if (!this.holding) return;
    event.preventDefault();
    event.stopPropagation();
    for (const grip of this.grips.values()) {
      grip.plane.constant += 0.0006 * event.deltaY * this.s.stage.size;
      this.pull(grip, grip.x, grip.y, event.timeStamp);
    }
  }

  private let(pointer: number): void {
    if (this.strokes.delete(pointer)) this.hoverDue = true;
    const grip = this.grips.get(pointer);
    if (!grip) return;
    this.grips.delete(pointer);
    this.s.send({ type: "release", id: grip.id });
    if (!this.holding) delete this.s.stage.canvas.dataset.over;
    this.hoverDue = true;
  }

  /** Releases all grips. */
  letAll(): void {
    for (const pointer of [...this.grips.keys()]) this.let(pointer);
  }

  /** Grips at the centre of the view, or releases. */
  holdByKeys(hard: boolean): void {
    if (this.holdingByKeys) {
      this.let(KEYS);
      return;
    }
    const { x, y } = this.middle();
    const pick = this.pick(x, y);
    const refusal = pick ? this.s.refusal() : "Nothing at the centre of the view: rotate it with the arrow keys until the ring is on the cloth.";
    if (refusal) this.s.problem(refusal);
    else if (pick) this.take(KEYS, pick, x, y, hard);
  }

  /** Moves the keyboard's grip [CSS pixels]. */
  pullByKeys(dx: number, dy: number): void {
    const grip = this.grips.get(KEYS);
    if (grip) this.pull(grip, grip.x + dx, grip.y + dy, performance.now());
  }

  /** Pins or unpins the vertex under the pointer, or at the centre of the view without a pointer. */
  pinHere(): void {
    const { x, y } = this.pointer ?? this.middle();
    if (!this.pinAt(x, y)) this.s.problem("Nothing to pin here: point at cloth or a soft body.");
  }

  /** False: nothing is there. */
  private pinAt(x: number, y: number): boolean {
    const { send } = this.s;
    const near = this.pinNear(x, y);
    const pick = near ? null : this.pick(x, y);
    if (!near && !pick) return false;
    const refusal = this.s.refusal();
    if (refusal) {
      this.s.problem(refusal);
    } else if (near) {
      send({ type: "unpin", ...near });
    } else if (pick) {
      const corner = pick.weights.indexOf(Math.max(...pick.weights));
      send({ type: "pin", body: pick.body, vertex: this.s.bodies()[pick.body]!.corners[3 * pick.triangle + corner]! });
    }
    this.changed = true;
    return true;
  }

  private pinNear(x: number, y: number): { body: number; vertex: number } | null {
    let nearest = PIN_NEAR;
    let found = null;
    for (const pin of this.s.pins()) {
      const view = this.s.bodies()[pin.body];
      if (!view) continue;
      const at = this.s.stage.project(view.vertex(pin.vertex));
      const away = Math.hypot(at.x - x, at.y - y);
      if (away >= nearest) continue;
      nearest = away;
      found = pin;
    }
    return found;
  }

  private middle(): { x: number; y: number } {
    const box = this.s.stage.canvas.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  }

  /** Once per image: updates the marks. */
  mark(): void {
    const { bodies, marks, stage, pins } = this.s;
    const held = [...this.grips.values()].map(({ pick, target }) => {
      const view = bodies()[pick.body];
      return { at: view ? view.point(pick.triangle, pick.weights) : target, target };
    });
    marks.showHeld(held);
    const points = [];
    for (const pin of pins()) {
      const view = bodies()[pin.body];
      if (view && 3 * pin.vertex < view.positions.length) points.push(view.vertex(pin.vertex));
    }
    marks.showPins(points);
    this.changed = false;
    if (!this.hoverDue || this.holding) return;
    this.hoverDue = false;
    const pick = this.pointer && this.tool !== "look" ? this.pick(this.pointer.x, this.pointer.y) : null;
    marks.showHover(pick?.point ?? null);
    if (pick) stage.canvas.dataset.over = "cloth";
    else delete stage.canvas.dataset.over;
  }

  /** Whether grips or the pointer have moved since the last image, so that the marks are stale. */
  get stale(): boolean {
    return this.changed || this.hoverDue;
  }
}
