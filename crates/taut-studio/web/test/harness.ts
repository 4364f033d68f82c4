// Starts a server (the real one, or its stand-in) and a real Chromium for tests of the page.

import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { WebSocket } from "ws";
import { MockServer } from "./mock";

export const DIST = resolve("dist");
export const OUT = resolve("test-out");
/** Whether the stand-in is tested against: `npm run test:mock`. */
export const MOCK = process.env.TAUT_SERVER === "mock";

export interface Running {
  url: string;
  port: number;
  /** Where it runs, and saves scenes. */
  folder: string;
  stop(): Promise<void>;
  mock?: MockServer;
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once("error", fail).listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address ? address.port : 0;
      probe.close(() => done(port));
    });
  });
}

export async function startServer(scene: string, port: number, extra: string[] = []): Promise<Running> {
  const url = `http://127.0.0.1:${port}/`;
  if (MOCK) {
    const mock = await MockServer.start(port, DIST);
    return { url, port, folder: "", mock, stop: () => mock.stop() };
  }
  const program = process.env.TAUT;
  if (!program) throw new Error("TAUT is not set: say where the program is (TAUT=…/target/release/taut), or test against the stand-in (npm run test:mock)");
  accessSync(program, constants.X_OK);
  const folder = mkdtempSync(join(tmpdir(), "taut-studio-"));
  const options = { cwd: folder, stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] };
  const child = spawn(resolve(program), ["view", scene, "--port", String(port), "--no-open", "--page", DIST, ...extra], options);
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()));
  for (let k = 0; k < 300; k++) {
    if (child.exitCode !== null) throw new Error(`taut view ended with ${child.exitCode}: ${said}`);
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return { url, port, folder, stop };
    await sleep(100);
  }
  await stop();
  throw new Error(`taut view did not answer at ${url} within 30 s: ${said}`);
}

/** The best of up to three measurements, of something that other programs on the machine can only make worse; `enough` ends it. */
export async function best(enough: number, measure: () => Promise<number>): Promise<number> {
  let most = 0;
  for (let round = 0; round < 3 && most < enough; round++) most = Math.max(most, await measure());
  return most;
}

/** Share of the processors' time that was spent within `ms` milliseconds, by whatever ran. */
async function spent(ms: number): Promise<number> {
  const sum = () => {
    const times = cpus().map(({ times }) => times);
    const idle = times.reduce((all, { idle }) => all + idle, 0);
    return { idle, all: times.reduce((all, { user, nice, sys, idle, irq }) => all + user + nice + sys + idle + irq, 0) };
  };
  const from = sum();
  await sleep(ms);
  const to = sum();
  return 1 - (to.idle - from.idle) / Math.max(1, to.all - from.all);
}

/** Whether other programs leave the machine to what is to be measured; waits up to a minute for that. Ask it while nothing of the test runs. */
export async function isQuiet(): Promise<boolean> {
  for (let k = 0; k < 60; k++) if ((await spent(1000)) < 0.15) return true;
  console.log("other programs take more than 15 % of the machine: speed is not judged");
  return false;
}

/** How many frames a second are simulated while nothing but this looks on, over 5 s. */
export function rateWithoutPage({ url, port }: Running): Promise<number> {
  return new Promise((done, fail) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { origin: url.slice(0, -1) });
    let first: { frame: number; at: number } | null = null;
    socket.on("error", fail);
    socket.on("message", (data: Buffer, binary: boolean) => {
      if (!binary || data.readUInt32LE(4) !== 2) return;
      const seen = { frame: data.readUInt32LE(12), at: performance.now() };
      socket.send(JSON.stringify({ type: "ack", frame: seen.frame }));
      // The first second is for warming up.
      if (!first) {
        if (seen.frame > 60) first = seen;
      } else if (seen.at - first.at > 5000) {
        socket.close();
        done((1000 * (seen.frame - first.frame)) / (seen.at - first.at));
      }
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
  await gone;
  clearTimeout(timer);
}

/** CHROMIUM, or the first of the usual names in PATH. */
function findChromium(): string {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        continue;
      }
    }
  }
  throw new Error("no Chromium: install it, or set CHROMIUM to where it is");
}

export function startBrowser(): Promise<Browser> {
  // 3D on the processor; the page around it as a browser without a graphics card puts it together, not through a card that is emulated.
  const gl = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-compositing"];
  const args = [...gl, "--no-sandbox"];
  return chromium.launch({ executablePath: findChromium(), args });
}

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Opens the page, waits for its first picture, and collects what goes wrong in it. */
export async function openPage(browser: Browser, url: string, options: Parameters<Browser["newPage"]>[0] = {}): Promise<{ page: Page; faults: string[]; sent: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const faults: string[] = [];
  const sent: string[] = [];
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    // A lost connection and the driver's own remarks about speed are no faults of the page.
    if (message.type() === "error" && !/WebSocket|ERR_CONNECTION|ReadPixels/.test(message.text())) faults.push(message.text());
  });
  await page.goto(url);
  try {
    await until(page, "the first picture", () => (window.__taut?.frame() ?? -1) >= 0, undefined, 30000);
  } catch (error) {
    await page.screenshot({ path: join(OUT, "no-picture.png") });
    const told = await page.evaluate(() => [document.body.innerText.slice(0, 400), window.__taut?.open(), window.__taut?.drawn(), window.__taut?.log().length]);
    throw new Error(`${String(error)}; faults: ${faults.join("; ")}; page: ${JSON.stringify(told)}`);
  }
  return { page, faults, sent };
}

/** Waits until a condition holds in the page; says what it was that did not come. */
export async function until<A>(page: Page, what: string, condition: (argument: A) => boolean, argument?: A, ms = 15000): Promise<void> {
  try {
    await page.waitForFunction(condition as never, argument as never, { timeout: ms, polling: 30 });
  } catch (error) {
    throw new Error(`waited ${ms} ms for ${what}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
