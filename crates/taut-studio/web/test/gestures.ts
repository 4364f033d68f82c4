// What tests do with the page: look at its sheet, take hold of it, and move it.

import type { Page } from "playwright-core";
import { sleep, until } from "./harness";

export interface Point {
  x: number;
  y: number;
}

/** The frame that is drawn, waits for one that is `more` later. */
export async function framesLater(page: Page, more: number): Promise<void> {
  const from = await page.evaluate(() => window.__taut!.frame());
  await until(page, `${more} frames after ${from}`, ([at, n]: [number, number]) => window.__taut!.frame() >= at + n, [from, more] as [number, number], 30000);
}

/** Takes the wheel, where the page does not drive already. */
export async function takeWheel(page: Page): Promise<void> {
  await page.bringToFront();
  await until(page, "the connection", () => window.__taut!.open());
  if (!(await page.evaluate(() => window.__taut!.driving()))) await page.click("#drive");
  await until(page, "the wheel", () => window.__taut!.driving());
}

/** The scene from its start with its own values, whatever tests before have left; soft or hard grip as asked. */
export async function startOver(page: Page, grip: "soft" | "hard"): Promise<void> {
  await takeWheel(page);
  await page.click("#as-scene");
  await page.click("#reset");
  await until(page, "the start", () => window.__taut!.frame() >= 0 && window.__taut!.frame() < 60 && window.__taut!.parameters()?.limiter === "isotropic");
  if (!(await page.evaluate(() => window.__taut!.playing()))) await page.click("#play");
  await page.click(`#pointer label:has([value=${grip}])`);
  await framesLater(page, 40);
}

/** The free vertex of the first body that is furthest from every pin, and the middle of the body. */
export function freeCorner(page: Page): Promise<number> {
  return page.evaluate(() => {
    const [x, pins] = [window.__taut!.rest(0), window.__taut!.pins().map((pin) => pin.vertex)];
    const away = (k: number) => Math.min(...pins.map((p) => Math.hypot(x[3 * k]! - x[3 * p]!, x[3 * k + 1]! - x[3 * p + 1]!, x[3 * k + 2]! - x[3 * p + 2]!)));
    let best = 0;
    for (let k = 0; k < x.length / 3; k++) if (away(k) > away(best) + 1e-6) best = k;
    return best;
  });
}

/** Where a vertex is on the page, and in the scene. */
export function whereIs(page: Page, vertex: number): Promise<{ screen: Point; at: [number, number, number] }> {
  return page.evaluate((k) => {
    const at = window.__taut!.positions(0).slice(3 * k, 3 * k + 3) as [number, number, number];
    return { screen: window.__taut!.project(at), at };
  }, vertex);
}

/** Waits until a vertex moves by less than a pixel a frame. */
export async function settled(page: Page, vertex: number): Promise<Point> {
  let last = (await whereIs(page, vertex)).screen;
  for (let k = 0; k < 60; k++) {
    await framesLater(page, 6);
    const now = (await whereIs(page, vertex)).screen;
    if (Math.hypot(now.x - last.x, now.y - last.y) < 4) return now;
    last = now;
  }
  return last;
}

/** Presses on the body next to a vertex, where a press surely meets it; says where. */
export async function pressAt(page: Page, vertex: number): Promise<Point> {
  for (let attempt = 0; attempt < 5; attempt++) {
    for (const share of [0.015, 0.03, 0.06, 0.12]) {
      const at = await page.evaluate(
        ([k, s]) => {
          const corners = window.__taut!.corners(0);
          const x = window.__taut!.positions(0);
          const t = corners.indexOf(k!) - (corners.indexOf(k!) % 3);
          // From the vertex into its triangle, and on: the middle of the mesh is on the other side of it.
          const middle = [0, 1, 2].map((c) => [0, 1, 2].reduce((sum, i) => sum + x[3 * corners[t + i]! + c]! / 3, 0));
          const own = [0, 1, 2].map((c) => x[3 * k! + c]!);
          const length = Math.hypot(...own.map((v, c) => middle[c]! - v)) || 1;
          return window.__taut!.project(own.map((v, c) => v + ((middle[c]! - v) / length) * s!) as [number, number, number]);
        },
        [vertex, share],
      );
      await page.mouse.move(at.x, at.y);
      await page.mouse.down();
      if (await page.evaluate(() => window.__taut!.holding())) return at;
      await page.mouse.up();
      await sleep(30);
    }
  }
  throw new Error(`no press met the body near vertex ${vertex}`);
}

/** Moves the pointer in small steps. */
export async function glide(page: Page, from: Point, to: Point, milliseconds: number): Promise<void> {
  const begun = performance.now();
  for (;;) {
    const share = Math.min(1, (performance.now() - begun) / milliseconds);
    await page.mouse.move(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
    if (share === 1) return;
    await sleep(8);
  }
}

/** Largest principal strain of the first body, from the positions and the mesh alone. */
export function measureStrain(x: number[], rest: number[], corners: number[]): number {
  let most = -Infinity;
  const edge = (p: number[], a: number, b: number) => [0, 1, 2].map((c) => p[3 * b + c]! - p[3 * a + c]!) as [number, number, number];
  const dot = (u: number[], v: number[]) => u[0]! * v[0]! + u[1]! * v[1]! + u[2]! * v[2]!;
  for (let t = 0; t < corners.length; t += 3) {
    const [a, b, c] = [corners[t]!, corners[t + 1]!, corners[t + 2]!];
    const [u, v] = [edge(rest, a, b), edge(rest, a, c)];
    const [p, q] = [edge(x, a, b), edge(x, a, c)];
    // The rest triangle in its own plane: u along the first axis.
    const length = Math.sqrt(dot(u, u));
    const along = dot(u, v) / length;
    const across = Math.sqrt(Math.max(0, dot(v, v) - along * along));
    if (!(length > 0 && across > 0)) continue;
    const f1 = p.map((value) => value / length);
    const f2 = q.map((value, k) => (value - along * f1[k]!) / across);
    const [e, f, g] = [dot(f1, f1), dot(f1, f2), dot(f2, f2)];
    most = Math.max(most, Math.sqrt((e + g) / 2 + Math.sqrt(((e - g) / 2) ** 2 + f * f)) - 1);
  }
  return most;
}
