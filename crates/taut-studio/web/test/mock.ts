// A stand-in for `taut view`: serves the built page and speaks the protocol, with a small sheet in place of the simulation.
// Tests of the page run against it where no server has been built.

import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { WebSocketServer, type WebSocket } from "ws";
import type { FromServer, Parameters, SceneInfo, ToServer } from "../src/protocol";
import { encodeFrame, encodeMesh } from "./encode";
import { Sheet, grid } from "./sheet";

const CELLS = 20;
const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const SCENES = [
  { name: "hanging-sheet", description: "A square sheet, held at two corners, swings down.", source: "built-in" },
  { name: "small-sheet", description: "A sheet of 12 cells over a ball.", source: "built-in" },
];
/** Where the floor of the small sheet is: one metre down. */
const FLOOR = Float32Array.from([1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0]);

interface Viewer {
  socket: WebSocket;
  id: number;
  inFlight: number;
}

export class MockServer {
  private readonly http: Server;
  private readonly sockets: WebSocketServer;
  private readonly timer: NodeJS.Timeout;
  private viewers: Viewer[] = [];
  private driver = 0;
  private nextViewer = 1;
  private epoch = 0;
  private sheet = new Sheet(CELLS);
  private scene = SCENES[0]!;
  private parameters!: Parameters;
  private playing = true;
  private levelsBuilt = false;
  private whole = 0;

  static async start(port: number, dist: string): Promise<MockServer> {
    const server = new MockServer(dist);
    await new Promise<void>((resolve, reject) => server.http.once("error", reject).listen(port, "127.0.0.1", resolve));
    return server;
  }

  private constructor(dist: string) {
    this.load(SCENES[0]!.name);
    this.http = createServer(async (request, response) => {
      const path = new URL(request.url ?? "/", "http://localhost").pathname;
      if (path === "/api/scenes") {
        response.setHeader("content-type", "application/json").end(JSON.stringify(SCENES));
      } else if (path === "/api/export") {
        response.setHeader("content-disposition", 'attachment; filename="mock.obj"').end("v 0 0 0\n");
      } else {
        try {
          const file = path === "/" ? "index.html" : path.slice(1);
          response.setHeader("content-type", TYPES[file.split(".").pop() ?? ""] ?? "text/plain").end(await readFile(`${dist}/${file}`));
        } catch {
          response.writeHead(404).end("no such file");
        }
      }
    });
    this.sockets = new WebSocketServer({ server: this.http, path: "/ws", maxPayload: 65536 });
    this.sockets.on("connection", (socket) => this.welcome(socket));
    this.timer = setInterval(() => this.playing && this.advance(), 1000 / 30);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const { socket } of this.viewers) socket.terminate();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Sends bytes as they are to all viewers: what a broken server might send. */
  sendRaw(bytes: Uint8Array | string): void {
    for (const { socket } of this.viewers) socket.send(bytes);
  }

  private load(name: string): void {
    this.scene = SCENES.find((scene) => scene.name === name) ?? this.scene;
    this.sheet = new Sheet(this.scene.name === "small-sheet" ? 12 : CELLS);
    this.epoch += 1;
    this.playing = true;
    this.levelsBuilt = false;
    this.parameters = {
      limiter: "isotropic", stretch_max: 0.05, stretch_min: null, bend_max: null, tear: null, material: null, stiffness: 1, gravity: 9.81, wind: [0, 0, 0],
      budget_ms: 20, fps: 30, colouring: "none", levels_shown: false, colour_range: 0.1,
    };
  }

  private say(viewer: Viewer, message: FromServer): void {
    viewer.socket.send(JSON.stringify(message));
  }

  private sayAll(message: FromServer): void {
    for (const viewer of this.viewers) this.say(viewer, message);
  }

  private tellState(): void {
    for (const viewer of this.viewers) {
      const { length: viewers } = this.viewers;
      this.say(viewer, { type: "state", playing: this.playing, frame: this.sheet.frame, driving: viewer.id === this.driver, viewers });
    }
  }

  private welcome(socket: WebSocket): void {
    const viewer = { socket, id: this.nextViewer++, inFlight: 0 };
    this.viewers.push(viewer);
    if (this.driver === 0) this.driver = viewer.id;
    const driving = this.driver === viewer.id;
    this.say(viewer, { type: "hello", version: 1, viewer: viewer.id, driving, mode: "live", viewers: this.viewers.length });
    this.introduce(viewer);
    this.tellState();
    socket.on("message", (data) => this.obey(viewer, JSON.parse(String(data)) as ToServer));
    socket.on("close", () => {
      this.viewers = this.viewers.filter((other) => other !== viewer);
      if (this.driver === viewer.id) this.driver = this.viewers[0]?.id ?? 0;
      this.tellState();
    });
  }

  private introduce(viewer: Viewer): void {
    const { sheet, epoch } = this;
    const ball = this.scene.name === "small-sheet";
    const info: SceneInfo = {
      epoch, name: this.scene.name, description: this.scene.description, fps: 30, frames: null,
      bodies: [{ name: "sheet", kind: "cloth", model: "fem", color: "#c45842", limited: true, ...sizes(sheet.mesh) }],
      obstacles: ball ? [{ name: "floor", kind: "plane", triangles: 2 }] : [],
      has_levels: !ball, materials: ["polyester", "denim", "silk"], parameters: this.parameters, playing: this.playing,
      bounds: { min: [0, 0, 0], max: [1, 0, 1] }, lights: [], tolerance: 0.01,
    };
    this.say(viewer, { type: "scene", ...info });
    viewer.socket.send(encodeMesh({ epoch, what: 0, index: 0, ...sheet.mesh }));
    const floor = Float32Array.from([-9, 0, -9, -9, 0, 9, 9, 0, 9, 9, 0, -9]);
    if (ball) viewer.socket.send(encodeMesh({ epoch, what: 1, index: 0, positions: floor, corners: Uint32Array.from([0, 1, 2, 0, 2, 3]), uv: null }));
    if (this.levelsBuilt) this.sendLevels(viewer);
    viewer.inFlight = 0;
    this.sendFrame(viewer);
  }

  private sendLevels(viewer: Viewer): void {
    for (const index of [0, 1]) viewer.socket.send(encodeMesh({ epoch: this.epoch, what: 2, index, ...grid(CELLS / 2 ** (index + 1), 1), uv: null }));
  }

  private advance(): void {
    const begun = performance.now();
    this.sheet.advance(this.parameters, 1 / this.parameters.fps);
    this.whole = performance.now() - begun;
    for (const viewer of this.viewers) this.sendFrame(viewer);
  }

  private sendFrame(viewer: Viewer): void {
    if (viewer.inFlight >= 2) return;
    viewer.inFlight += 1;
    const { sheet, parameters: p } = this;
    const { most, least, around } = sheet.strains();
    const past = Math.max(0, most - (p.stretch_max ?? Infinity));
    const byte = (value: number) => Math.round(255 * Math.min(1, Math.max(0, value)));
    const colours = [...around].flatMap((s) => [255, byte(1 - s / 0.1), byte(1 - s / 0.1), 255]);
    const ms = [0.1, 0.1, 0.6, 0.1, 0.05].map((share) => share * this.whole);
    viewer.socket.send(
      encodeFrame({
        epoch: this.epoch, frame: sheet.frame, time: sheet.time, echo: sheet.echo, milliseconds: Float32Array.from([...ms, this.whole]),
        largestResidual: past, meanResidual: past / 20, maxStrain: most, minStrain: least, iterations: 60, converged: past < 0.01,
        bodies: [sheet.x], colours: p.colouring === "none" ? null : [Uint8Array.from(colours)],
        obstacles: this.scene.name === "small-sheet" ? [FLOOR] : [],
        levels: p.levels_shown && sheet.cells === CELLS ? [1, 2].map((level) => ({ level, positions: sheet.coarse(2 ** level) })) : null,
        pins: [...sheet.pins.keys()].map((vertex) => ({ body: 0, vertex })), shapes: null, givenWay: null,
      }),
    );
  }

  private obey(viewer: Viewer, m: ToServer): void {
    if (m.type === "ack") viewer.inFlight = Math.max(0, viewer.inFlight - 1);
    else if (m.type === "ping") this.say(viewer, { type: "pong", stamp: m.stamp });
    else if (m.type === "drive") {
      this.driver = viewer.id;
      this.tellState();
    } else if (viewer.id !== this.driver) this.say(viewer, { type: "problem", text: "Another viewer has control: take control first." });
    else this.change(viewer, m);
  }

  private change(viewer: Viewer, m: ToServer): void {
    const { sheet } = this;
    const again = () => this.viewers.forEach((other) => this.sendFrame(other));
    switch (m.type) {
      case "play": case "pause":
        this.playing = m.type === "play";
        return this.tellState();
      case "step":
        this.playing = false;
        this.advance();
        return this.tellState();
      case "reset": case "scene": {
        const { parameters, playing } = this;
        this.load(m.type === "scene" ? m.name : this.scene.name);
        if (m.type === "reset") [this.parameters, this.playing] = [parameters, playing];
        this.viewers.forEach((other) => this.introduce(other));
        return this.tellState();
      }
      case "set":
        if (m.key === "levels_shown" && m.value && sheet.cells === CELLS && !this.levelsBuilt) {
          this.levelsBuilt = true;
          this.viewers.forEach((other) => this.sendLevels(other));
        }
        this.parameters = { ...this.parameters, [m.key]: m.value };
        this.sayAll({ type: "parameters", ...this.parameters });
        return again();
      case "grab":
        sheet.grips.set(m.id, { corners: [0, 1, 2].map((k) => sheet.mesh.corners[3 * m.triangle + k]!), weights: m.weights, target: m.point, stamp: 0 });
        return;
      case "drag": {
        const grip = sheet.grips.get(m.id);
        if (grip) Object.assign(grip, { target: m.point, stamp: m.stamp });
        return;
      }
      case "release":
        sheet.grips.delete(m.id);
        return;
      case "pin":
        sheet.pin(m.vertex);
        return again();
      case "unpin":
        sheet.pins.delete(m.vertex);
        return again();
      case "save":
        return this.say(viewer, { type: "saved", path: `${m.name}.toml` });
      default:
        return this.say(viewer, { type: "problem", text: `${m.type} is not supported here.` });
    }
  }
}

function sizes(mesh: { positions: Float32Array; corners: Uint32Array }): { vertices: number; triangles: number } {
  return { vertices: mesh.positions.length / 3, triangles: mesh.corners.length / 3 };
}
