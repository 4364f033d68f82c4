// The coarser levels of the first cloth: over it as coloured edges, or next to it in a row.

import * as THREE from "three";
import { BodyView } from "./cloth";
import { byId, type LevelsShown } from "./controls";
import type { Frame, Mesh } from "./protocol";
import type { Tier } from "./quality";
import type { Stage } from "./scene";

const INKS = ["#2a7f9e", "#e0a21b", "#6f5aa8", "#4c956c", "#c2557a", "#5f6f7a"];

export class LevelViews {
  private views: { level: number; view: BodyView }[] = [];
  private shown: LevelsShown = "hidden";
  /** Whether positions have arrived since they were requested. */
  private fresh = false;

  constructor(private readonly stage: Stage) {}

  /** Forgets the levels of the scene before. */
  clear(): void {
    for (const { view } of this.views) view.dispose();
    this.views = [];
    byId("level-legend").replaceChildren();
    this.fresh = false;
  }

  /** One more level, of the body `first`. */
  add(mesh: Mesh, first: BodyView | null): void {
    const level = mesh.index + 1;
    const width = first ? widthOf(first.rest) : this.stage.size;
    const color = INKS[mesh.index % INKS.length]!;
    const body = { name: `level ${level}`, kind: "cloth" as const, model: "fem" as const, color, limited: true };
    const [vertices, triangles] = [mesh.positions.length / 3, mesh.corners.length / 3];
    const view = new BodyView({ ...body, vertices, triangles }, mesh, this.stage.weave);
    view.group.userData.offset = new THREE.Vector3(1.25 * width * level, 0, 0);
    this.stage.scene.add(view.group);
    this.views.push({ level, view });
    const row = document.createElement("div");
    const mark = document.createElement("i");
    mark.style.background = color;
    row.append(mark, `level ${level}: ${vertices} vertices, ${triangles} triangles`);
    byId("level-legend").append(row);
    this.fresh = false;
  }

  /** Whether they lie over the cloth. */
  get over(): boolean {
    return this.shown === "over";
  }

  show(shown: LevelsShown): void {
    if (shown === "hidden") this.fresh = false;
    if (shown === this.shown) return;
    const moves = shown === "beside" || this.shown === "beside";
    this.shown = shown;
    this.widen(moves);
  }

  private widen(look: boolean): void {
    const last = this.views[this.views.length - 1];
    this.stage.widen(this.shown === "beside" && last ? (last.view.group.userData.offset as THREE.Vector3).x : 0);
    if (look) this.stage.lookAtAll();
  }

  update(levels: Frame["levels"]): void {
    if (!levels || this.shown === "hidden") return;
    for (const { level, positions } of levels) this.views.find((view) => view.level === level)?.view.update(positions, null, 1000 * this.stage.size);
    if (!this.fresh) {
      this.fresh = true;
      // How many there are, and so how far they reach, was not known when they were asked for.
      if (this.shown === "beside") this.widen(true);
      this.arrange();
    }
  }

  paint(tier: Tier, wireframe: boolean): void {
    this.views.forEach(({ view }, k) => {
      view.paint("none", tier);
      // When overlaid, coarser levels are more opaque: fine edges fill the whole surface.
      const over = { surface: false, edges: true, through: true, ink: view.info.color, opacity: (k + 1) / this.views.length };
      view.show(this.shown === "beside" ? { surface: true, edges: wireframe, through: false } : over);
    });
    this.arrange();
  }

  private arrange(): void {
    const visible = this.shown !== "hidden" && this.fresh;
    for (const { view } of this.views) {
      view.group.visible = visible;
      view.group.position.copy(this.shown === "beside" ? (view.group.userData.offset as THREE.Vector3) : new THREE.Vector3());
    }
    byId("level-legend").hidden = !visible || this.views.length === 0;
    this.stage.invalidate();
  }
}

function widthOf(positions: Float32Array): number {
  let [least, most] = [Infinity, -Infinity];
  for (let k = 0; k < positions.length; k += 3) {
    least = Math.min(least, positions[k]!);
    most = Math.max(most, positions[k]!);
  }
  return Math.max(most - least, 1e-3);
}
