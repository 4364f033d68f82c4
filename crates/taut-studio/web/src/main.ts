// Connects the parts of the page: messages go to the view, user input goes to the server.

import "./style.css";
import { BodyView } from "./cloth";
import { Connection, streamAddress, type Link } from "./connection";
import { Controls, byId, type LevelsShown, type Shown } from "./controls";
import { GripInput } from "./drag";
import { FrameLog } from "./hook";
import { listenToKeys } from "./keys";
import { Latency } from "./latency";
import { LevelViews } from "./levels";
import { Marks } from "./marks";
import { notice, problem } from "./notices";
import { Plots } from "./plot";
import * as protocol from "./protocol";
import type { Frame, FromServer, Key, Mesh, Parameters, SceneInfo } from "./protocol";
import { showFrameNumbers, showDelay } from "./readout";
import { showScale } from "./scales";
import { Stage } from "./scene";
import * as THREE from "three";

/** Distance, in scene sizes, beyond which a body counts as unstable. */
const FAR = 1000;

class Studio {
  private readonly stage = new Stage(byId<HTMLCanvasElement>("view"));
  private readonly marks = new Marks();
  private readonly latency = new Latency();
  private readonly log = new FrameLog();
  private readonly levels = new LevelViews(this.stage);
  private readonly pictureTimes: number[] = [];
  private readonly plots = new Plots(
    byId("residual-plot"), byId("time-plot"), byId("residual-caption"), byId("time-caption"),
  );
  private readonly connection = new Connection(streamAddress(location), {
    link: (link) => this.onLink(link),
    message: (message) => this.onMessage(message),
    mesh: (mesh) => this.onMesh(mesh),
    frame: (frame) => this.onFrame(frame),
    unreadable: (why) => problem(`The server sent an unreadable message: ${why}. Reload the page if the server is newer.`),
  });
  private readonly gripInput = new GripInput({
    stage: this.stage, marks: this.marks, latency: this.latency,
    bodies: () => this.bodies,
    pins: () => this.pins,
    refusal: () => this.refusal(),
    send: (message) => this.connection.send(message),
    problem,
  });
  private readonly controls = new Controls({
    send: (message) => this.connection.send(message),
    set: (key, value) => this.set(key, value),
    parameters: () => this.parameters,
    initial: () => this.info?.parameters ?? null,
    tool: (tool) => (this.gripInput.tool = tool),
    levels: (shown) => this.showLevels(shown),
    wireframe: (shown) => this.showWireframe(shown),
    quality: (name) => this.stage.chooseTier(name),
    lookAtAll: () => this.stage.lookAtAll(),
    retry: () => this.connection.retryNow(),
    picture: () => this.stage.picture(),
    notice, problem,
  });
  private info: SceneInfo | null = null;
  /** As last received from the server, with changes sent since. */
  private told: Parameters | null = null;
  private parameters: Parameters | null = null;
  private meshes: Mesh[] = [];
  private bodies: BodyView[] = [];
  private pins: { body: number; vertex: number }[] = [];
  /** The newest frame that is not drawn yet, and the number of the one that is. */
  private waiting: Frame | null = null;
  private drawn = -1;
  /** Frames that arrived while the page was hidden; they are acknowledged when it is visible again. */
  private unseen: number[] = [];
  private lastFrame = -Infinity;
  /** Whether a body was too far away to be drawn in the last frame. */
  private lost = false;
  private mode: "live" | "replay" = "live";
  private driving = false;
  private playing = false;
  private viewers = 1;
  private wireframe = false;
  private lookedAt: string | null = null;

  constructor() {
    this.stage.scene.add(this.marks.group);
    this.stage.onTier = () => this.paint();
    listenToKeys(this.stage, this.gripInput, this.controls);
    const { canvas } = this.stage;
    const aim = () => (byId("aim").hidden = !canvas.matches(":focus-visible"));
    canvas.addEventListener("focus", aim);
    canvas.addEventListener("blur", aim);
    canvas.addEventListener("pointerdown", () => (byId("aim").hidden = true));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      for (const frame of this.unseen.splice(0)) this.connection.send({ type: "ack", frame });
    });
    this.publish();
    this.showState();
    this.connection.connect();
    requestAnimationFrame(() => this.tick());
  }

  private onLink(link: Link): void {
    const chip = byId("link");
    chip.dataset.link = link.kind;
    const waits = link.kind === "waiting" ? `Disconnected, retry in ${link.seconds.toFixed(link.seconds < 1 ? 1 : 0)} s` : "Connecting…";
    chip.textContent = link.kind === "open" ? "Connected" : waits;
    byId("retry").hidden = link.kind !== "waiting";
    byId("stage").toggleAttribute("data-stale", link.kind !== "open");
    if (link.kind === "open") {
      this.connection.send({ type: "draws", software: this.stage.software });
    } else {
      this.unseen = [];
      this.gripInput.letAll();
      this.latency.clear();
    }
    if (link.kind === "waiting" && link.attempt === 1) notice("Connection to the server lost. Retrying automatically.");
    this.showState();
  }

  private onMessage(message: FromServer): void {
    switch (message.type) {
      case "hello":
        if (message.version !== protocol.VERSION) {
          problem(`The server has protocol version ${message.version}, this page ${protocol.VERSION}: reload the page.`);
        }
        ({ driving: this.driving, mode: this.mode, viewers: this.viewers } = message);
        break;
      case "scene":
        this.info = message;
        this.meshes = [];
        this.waiting = null;
        this.playing = message.playing;
        this.controls.showMaterials(message.materials);
        this.setParameters(message.parameters);
        this.buildIfComplete();
        break;
      case "parameters":
        this.setParameters(message);
        return;
      case "state":
        if (message.driving !== this.driving) notice(message.driving ? "You have control." : "Another viewer has control now. You are watching.");
        if (!message.driving) this.gripInput.letAll();
        ({ playing: this.playing, driving: this.driving, viewers: this.viewers } = message);
        break;
      case "notice":
        notice(message.text);
        return;
      case "problem":
        problem(message.text);
        // A refused change is reverted in the display.
        if (this.told) this.apply(this.told);
        return;
      case "saved":
        notice(`Saved as ${message.path}`);
        return;
      case "pong":
        return;
    }
    this.showState();
  }

  private onMesh(mesh: Mesh): void {
    if (mesh.epoch !== this.info?.epoch) return;
    if (mesh.what === protocol.MESH_LEVEL) {
      this.levels.add(mesh, this.bodies[0] ?? null);
      this.paint();
      return;
    }
    const known = this.meshes.findIndex(({ what, index }) => what === mesh.what && index === mesh.index);
    if (known >= 0 && mesh.what === protocol.MESH_BODY && this.complete) {
      this.meshes[known] = mesh;
      this.replace(mesh);
      return;
    }
    this.meshes.push(mesh);
    this.buildIfComplete();
  }

  /** A body has torn, or is whole again: other vertices, and the same triangles between them. */
  private replace(mesh: Mesh): void {
    const old = this.bodies[mesh.index]!;
    const [vertices, triangles] = [mesh.positions.length / 3, mesh.corners.length / 3];
    const view = new BodyView({ ...old.info, vertices, triangles }, mesh, this.stage.weave);
    view.takeShape(old);
    old.dispose();
    this.bodies[mesh.index] = view;
    this.stage.scene.add(view.group);
    this.paint();
  }

  /** Builds the view once all meshes of the scene have arrived. */
  private buildIfComplete(): void {
    const info = this.info;
    if (!info) return;
    const of = (what: number) => this.meshes.filter((mesh) => mesh.what === what).sort((a, b) => a.index - b.index);
    const [bodies, obstacles] = [of(protocol.MESH_BODY), of(protocol.MESH_OBSTACLE)];
    if (bodies.length < info.bodies.length || obstacles.length < info.obstacles.length) return;
    for (const body of this.bodies) body.dispose();
    this.bodies = bodies.map((mesh, k) => new BodyView(info.bodies[k]!, mesh, this.stage.weave));
    for (const body of this.bodies) this.stage.scene.add(body.group);
    this.stage.build(info, obstacles, info.name !== this.lookedAt);
    this.lookedAt = info.name;
    this.levels.clear();
    this.marks.resize(this.stage.size);
    this.pins = [];
    this.drawn = -1;
    this.log.entries = [];
    this.plots.clear();
    this.plots.tolerance = info.tolerance ?? null;
    this.gripInput.letAll();
    this.paint();
  }

  private get complete(): boolean {
    return this.info !== null && this.bodies.length === this.info.bodies.length && this.meshes.length > 0;
  }

  private onFrame(frame: Frame): void {
    // Immediately, so that the newest frame is available when the GPU is ready; a hidden page needs no frames.
    if (document.hidden) this.unseen.push(frame.frame);
    else this.connection.send({ type: "ack", frame: frame.frame });
    if (frame.epoch !== this.info?.epoch || !this.complete) return;
    // Only the newest is drawn, but all are recorded.
    this.waiting = frame;
    const last = this.log.entries[this.log.entries.length - 1];
    if (last && frame.frame < last.frame) {
      this.log.entries = [];
      this.plots.clear();
      this.stage.raiseFloor();
    }
    if (last?.frame !== frame.frame) {
      this.log.add(frame);
      const { largestResidual: largest, meanResidual: mean } = frame;
      this.plots.add({ largest, mean, milliseconds: [...frame.milliseconds] });
    }
    // The browser's next animation frame may be late.
    if (!this.stage.drawing && !document.hidden) this.picture();
  }

  /** Per animation frame: camera damping, moved marks, and a frame that could not be drawn on arrival. */
  private tick(): void {
    requestAnimationFrame(() => this.tick());
    this.picture();
  }

  /** Takes the newest frame, and renders if anything has changed. */
  private picture(): void {
    // A frame that the GPU cannot draw yet waits here, where a newer one may replace it.
    const frame = this.stage.drawing ? null : this.waiting;
    if (frame) {
      this.waiting = null;
      this.take(frame);
    }
    // Where rendering is slow, marks move with the frames: an image for a mark alone would delay the next frame.
    const flowing = this.playing && !this.stage.tier.fine && performance.now() - this.lastFrame < 120;
    if (frame || (this.gripInput.stale && !flowing)) {
      this.gripInput.mark();
      this.stage.invalidate();
    }
    const made = this.stage.draw();
    if (made) this.stage.whenDone((milliseconds) => this.pictureDone(frame, milliseconds));
  }

  private pictureDone(frame: Frame | null, milliseconds: number): void {
    this.stage.took(milliseconds);
    this.pictureTimes.push(milliseconds);
    if (this.pictureTimes.length > 300) this.pictureTimes.shift();
    if (frame && frame.echo !== 0 && this.latency.pending) {
      requestAnimationFrame(() => {
        this.latency.shown(frame.echo, performance.now());
        showDelay(this.latency.median());
      });
    }
    if (this.waiting) this.picture();
  }

  private take(frame: Frame): void {
    const far = FAR * this.stage.size;
    const sound = frame.bodies.map((positions, k) => this.bodies[k]?.update(positions, frame.colours?.[k] ?? null, far) ?? true);
    const lost = sound.indexOf(false);
    if (lost >= 0 && !this.lost) problem(`“${this.info?.bodies[lost]?.name}” has flown apart and cannot be drawn. Reset starts over.`);
    this.lost = lost >= 0;
    const pinned = (k: number) => (frame.pins ?? []).filter((pin) => pin.body === k).map((pin) => pin.vertex);
    this.stage.moveObstacles(frame.obstacles, frame.shapes, () => Math.max(0, ...this.bodies.map((body, k) => body.hang(pinned(k)))));
    this.levels.update(frame.levels);
    this.pins = frame.pins ?? [];
    this.drawn = frame.frame;
    this.lastFrame = performance.now();
    if (lost < 0) this.stage.lowerFloor(Math.min(...this.bodies.map((body) => body.lowest)));
    this.controls.showFrame(frame.frame);
    showFrameNumbers(frame, this.parameters, this.info?.tolerance ?? 0, this.playing ? this.log.rate() : null);
  }

  private set(key: Key, value: Parameters[Key]): void {
    this.connection.send({ type: "set", key, value });
    // The server returns the accepted values; until then, later changes build on this one.
    if (this.parameters) this.apply({ ...this.parameters, [key]: value });
  }

  private setParameters(parameters: Parameters): void {
    this.told = parameters;
    this.apply(parameters);
  }

  private apply(parameters: Parameters): void {
    this.parameters = parameters;
    this.plots.budget = this.mode === "live" ? parameters.budget_ms : 0;
    this.controls.showParameters(parameters);
    showScale(byId("scale"), parameters.colouring, parameters.colour_range);
    if (!parameters.levels_shown) this.levels.show("hidden");
    this.paint();
  }

  private showLevels(shown: LevelsShown): void {
    const wanted = shown !== "hidden";
    if (this.parameters?.levels_shown !== wanted) this.set("levels_shown", wanted);
    this.levels.show(shown);
    this.paint();
  }

  private showWireframe(shown: boolean): void {
    this.wireframe = shown;
    this.paint();
  }

  /** Applies the chosen materials and edges. */
  private paint(): void {
    const colouring = this.parameters?.colouring ?? "none";
    for (const body of this.bodies) {
      body.paint(colouring, this.stage.tier);
      // The cloth's own edges would hide those of coarser levels.
      body.show({ surface: true, edges: this.wireframe && !this.levels.over, through: false });
    }
    this.levels.paint(this.stage.tier, this.wireframe);
    this.stage.invalidate();
  }

  private refusal(): string | null {
    if (!this.connection.open) return "Disconnected: gripping is not possible.";
    if (this.mode === "replay") return "A finished run is read-only: gripping is not possible.";
    if (!this.driving) return "Another viewer has control. “Take control” to grip the cloth.";
    return null;
  }

  private showState(): void {
    const { driving, playing, viewers, info } = this;
    const shown: Shown = {
      open: this.connection.open, driving, live: this.mode === "live", playing, viewers,
      hasLevels: info?.has_levels ?? false, hasHair: info?.bodies.some((body) => body.kind === "hair") ?? false, name: info?.name ?? "", description: info?.description ?? "",
      frames: info?.frames ?? null,
    };
    this.controls.showState(shown);
  }

  private publish(): void {
    const list = (values: ArrayLike<number> | undefined) => Array.from(values ?? []);
    window.__taut = {
      version: 1,
      open: () => this.connection.open,
      driving: () => this.driving,
      playing: () => this.playing,
      sceneName: () => this.info?.name ?? "",
      epoch: () => this.info?.epoch ?? -1,
      parameters: () => this.told,
      frame: () => this.drawn,
      drawn: () => this.stage.drawn,
      tier: () => this.stage.tier.name,
      log: () => this.log.entries,
      positions: (body) => list(this.bodies[body]?.positions),
      rest: (body) => list(this.bodies[body]?.rest),
      corners: (body) => list(this.bodies[body]?.corners),
      pins: () => this.pins,
      maxStrain: () => this.log.entries.at(-1)?.maxStrain ?? Number.NaN,
      latency: () => this.latency.samples,
      pickTimes: () => this.gripInput.pickTimes,
      pictureTimes: () => this.pictureTimes,
      project: (point) => this.stage.project(new THREE.Vector3(...point)),
      holding: () => this.gripInput.holding,
    };
  }
}

try {
  new Studio();
} catch (error) {
  problem(error instanceof Error ? error.message : String(error));
  throw error;
}
