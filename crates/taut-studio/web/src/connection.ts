// The WebSocket to the server: connects, reconnects automatically, and detects a dead connection.

import { decode, type Frame, type FromServer, type Mesh, type ToServer } from "./protocol";

export type Link =
  | { kind: "connecting"; attempt: number }
  | { kind: "open" }
  | { kind: "waiting"; attempt: number; seconds: number };

export interface Listener {
  link(link: Link): void;
  message(message: FromServer): void;
  mesh(mesh: Mesh): void;
  frame(frame: Frame): void;
  /** An unreadable message arrived. */
  unreadable(why: string): void;
}

/** Waits between attempts [ms]: short at first, as a restart takes a second; never longer than the last. */
const WAITS = [250, 500, 1000, 2000, 4000];
/** Interval of pings, and silence after which the connection counts as dead [ms]. */
const PING = 2000;
const DEAD = 7000;

export class Connection {
  private socket: WebSocket | null = null;
  private attempt = 0;
  private timer = 0;
  private heard = 0;
  /** Time of the last check for messages. */
  private looked = 0;

  constructor(
    private readonly url: string,
    private readonly listener: Listener,
  ) {
    setInterval(() => this.keepAlive(), PING);
    addEventListener("online", () => this.retryNow());
  }

  get open(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect(): void {
    clearTimeout(this.timer);
    this.listener.link({ kind: "connecting", attempt: this.attempt });
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.heard = performance.now();
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.attempt = 0;
      this.listener.link({ kind: "open" });
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => this.lost(socket);
  }

  /** Retries immediately. */
  retryNow(): void {
    if (this.socket === null) this.connect();
  }

  /** Whether it could be sent. */
  send(message: ToServer): boolean {
    if (!this.socket || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private receive(data: string | ArrayBuffer): void {
    this.heard = performance.now();
    try {
      if (typeof data === "string") {
        this.listener.message(JSON.parse(data) as FromServer);
        return;
      }
      const read = decode(data);
      if (read.kind === "mesh") this.listener.mesh(read.mesh);
      else this.listener.frame(read.frame);
    } catch (error) {
      this.listener.unreadable(error instanceof Error ? error.message : String(error));
    }
  }

  private lost(socket: WebSocket): void {
    if (socket !== this.socket) return;
    this.socket = null;
    const wait = (WAITS[Math.min(this.attempt, WAITS.length - 1)] ?? 4000) * (0.9 + 0.2 * Math.random());
    this.attempt += 1;
    this.listener.link({ kind: "waiting", attempt: this.attempt, seconds: wait / 1000 });
    this.timer = window.setTimeout(() => this.connect(), wait);
  }

  private keepAlive(): void {
    const socket = this.socket;
    if (!socket) return;
    const now = performance.now();
    // A page that was busy itself has messages queued: they are handled before the next check.
    const slept = now - this.looked > 2 * PING;
    this.looked = now;
    if (now - this.heard > DEAD && !slept) {
      // close() waits for the other side, which may be gone: count it as lost now.
      socket.onmessage = null;
      socket.close();
      this.lost(socket);
    } else if (socket.readyState === WebSocket.OPEN) {
      this.send({ type: "ping", stamp: performance.now() });
    }
  }
}

/** Address of the stream, derived from that of the page, with its token. */
export function streamAddress(page: Location): string {
  const url = new URL("/ws", page.href);
  url.protocol = page.protocol === "https:" ? "wss:" : "ws:";
  const token = new URLSearchParams(page.search).get("token");
  if (token) url.searchParams.set("token", token);
  return url.href;
}
